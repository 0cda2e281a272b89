/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Ranks that call MPI_Allreduce with different counts get errors, all of them, and nobody waits for
 * ever. With one rank a host the communicator stays usable; inside a host that has failed it does
 * not, and each further call is an error.
 *
 *   -usable   it is to stay so
 *
 * In the end it prints how many exchanges there were: that hwmc ran it. */

#define MOST 50000
#define WARM 40 /* calls after which hwmc runs them */

static int in[MOST], out[MOST];

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

static bool is_exchanges(const char *name)
{
    return strcmp(name, "hwmc_exchanges") == 0;
}

int main(int argc, char **argv)
{
    const bool usable = hwtest_flag(argc, argv, "-usable");
    int errs = 0, provided;
    MPI_Comm comm;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < WARM; i++)
        MPI_Allreduce(in, out, 100, MPI_INT, MPI_SUM, comm);
    errs += disagree(comm, 10, 7);
    errs += usable ? still_works(comm) : 0;
    errs += disagree(comm, MOST, MOST - 3);
    errs += usable ? still_works(comm) : 0;
    errs += disagree(comm, 10, MOST);
    errs += usable ? still_works(comm) : 0;
    MPI_Comm_free(&comm);
    hwtest_print_counters(is_exchanges);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
