/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Ranks that call MPI_Allreduce with different counts get errors, all of them, and nobody waits for
 * ever. With one rank a host the communicator stays usable; inside a host that has failed it does
 * not, and each further call is an error.
 *
 *   -usable   it is to stay so, unless lengths differ so much that ranks go by different ways
 *   -each     instead, each collective, on communicators of its own: some rank gets an error, of
 *             an allgather all do, and nobody waits for ever, then, in the calls that follow, or
 *             when all is freed
 *
 * In the end it prints how many exchanges there were: that hwmc ran it. */

#define MOST 50000
#define LONG 150000 /* bytes, of up to 6 ranks: several pieces */
#define WARM 40     /* calls after which hwmc runs them */

static int in[6 * LONG / sizeof(int)], out[6 * LONG / sizeof(int)];

/* Rank 1 has `odd` elements, the others `even`. */
static int disagree(MPI_Comm comm, int even, int odd)
{
    int rank, code;

    MPI_Comm_rank(comm, &rank);
    code = MPI_Allreduce(in, out, rank == 1 ? odd : even, MPI_INT, MPI_SUM, comm);
    if (code != MPI_SUCCESS)
        return 0;
    printf("rank %d: %d and %d elements are no error\n", rank, even, odd);
    fflush(stdout);
    return 1;
}

static int still_works(MPI_Comm comm)
{
    int errs = 0, rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 3; i++) {
        int sum = -1;
        const int code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);

        errs += code != MPI_SUCCESS || sum != size * (size - 1) / 2;
    }
    if (errs > 0) {
        printf("rank %d: %d of 3 calls after an error are wrong\n", rank, errs);
        fflush(stdout);
    }
    return errs;
}

static int disagree_by_counts(MPI_Comm comm, bool usable)
{
    int errs = disagree(comm, 10, 7);

    errs += usable ? still_works(comm) : 0;
    errs += disagree(comm, MOST, MOST - 3);
    errs += usable ? still_works(comm) : 0;
    return errs + disagree(comm, 10, MOST);
}

static bool is_exchanges(const char *name)
{
    return strcmp(name, "hwmc_exchanges") == 0;
}

enum call { ALLREDUCE, REDUCE, SCAN, SCATTER_SUM, ALLGATHER, GATHER, SCATTER, BCAST, CALLS };
static const char *const names[] = {"allreduce", "reduce", "scan",    "reduce_scatter_block",
                                    "allgather", "gather", "scatter", "bcast"};

/* Where the short call is MPICH's there is nothing to see. */
static bool is_hwmc(enum call call, int count)
{
    return call <= SCAN || count > 1000;
}

static int call_it(enum call call, int n, int root, MPI_Comm comm)
{
    switch (call) {
        case ALLREDUCE:
            return MPI_Allreduce(in, out, n, MPI_CHAR, MPI_MAX, comm);
        case REDUCE:
            return MPI_Reduce(in, out, n, MPI_CHAR, MPI_MAX, root, comm);
        case SCAN:
            return MPI_Scan(in, out, n, MPI_CHAR, MPI_MAX, comm);
        case SCATTER_SUM:
            return MPI_Reduce_scatter_block(in, out, n, MPI_CHAR, MPI_MAX, comm);
        case ALLGATHER:
            return MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, comm);
        case GATHER:
            return MPI_Gather(in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm);
        case SCATTER:
            return MPI_Scatter(in, n, MPI_CHAR, out, n, MPI_CHAR, root, comm);
        default:
            return MPI_Bcast(in, n, MPI_CHAR, root, comm);
    }
}

/* `odd`: this rank has `other` bytes, the others `count`. */
static int disagree_in(enum call call, int root, bool odd, int count, int other)
{
    int failed, right = 0, rank;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    failed = call_it(call, odd ? other : count, root, comm) != MPI_SUCCESS;
    for (int i = 0; i < 3; i++)
        call_it(call, count, root, comm);
    MPI_Comm_free(&comm);
    /* In an allgather each has to do with the odd one. */
    MPI_Allreduce(&failed, &right, 1, MPI_INT, call == ALLGATHER ? MPI_LAND : MPI_LOR,
                  MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (right || rank > 0)
        return 0;
    printf("%s of root %d: %d and %d bytes are no error\n", names[call], root, count, other);
    fflush(stdout);
    return 1;
}

/* The odd one is a leader or not, in the root's host, or there is a host of them. */
static int disagree_in_each(void)
{
    int errs = 0, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int call = 0; call < CALLS; call++)
        for (int root = 0; root < 2; root++)
            for (int who = 0; who < 3; who++) {
                const bool odd = who < 2 ? rank == who : rank >= size / 2;

                if (is_hwmc((enum call) call, 40))
                    errs += disagree_in((enum call) call, root, odd, 40, 28);
                errs += disagree_in((enum call) call, root, odd, LONG, LONG / 3);
                errs += disagree_in((enum call) call, root, odd, LONG / 3, LONG);
            }
    return errs;
}

int main(int argc, char **argv)
{
    const bool usable = hwtest_flag(argc, argv, "-usable");
    const bool each = hwtest_flag(argc, argv, "-each");
    int errs = 0, provided;
    MPI_Comm comm;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < WARM; i++)
        MPI_Allreduce(in, out, 100, MPI_INT, MPI_SUM, comm);
    errs += each ? disagree_in_each() : disagree_by_counts(comm, usable);
    MPI_Comm_free(&comm);
    hwtest_print_counters(is_exchanges);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
