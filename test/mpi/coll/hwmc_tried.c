/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Trials: calls of a collective over hosts go by each of its ways in turn. Whichever way one goes
 * its data are right; all ranks have as many trials; the bits of a sum of floating-point numbers
 * change once at most; and an operation of the program's is not tried.
 *
 * All kinds of collectives in turn, many times, among nonblocking and persistent ones on the same
 * communicator, while some rank is late. Which way wins is not asked: that is time's to say.
 *
 *   -none     fail if there was a trial
 *   -least=N  fail if there were fewer
 *   -kinds    print how many each kind had */

#define COUNT 1600 /* ints of a part: of an alltoallv some are long, which go by themselves */
#define CALLS 150

static int rank, size;
static int *in, *out;
static double *reals, *sums; /* sums: those of the call before */
static int changes;
static MPI_Op own_sum;
static MPI_Comm comm;
static MPI_Request again; /* persistent */
static int *again_data;

static int value(int from, int to, int i)
{
    return from * 1000 + to * 37 + i;
}

static int is_part(const int *part, int from, int to)
{
    for (int i = 0; i < COUNT; i++)
        if (part[i] != value(from, to, i))
            return 0;
    return 1;
}

static int are_parts(const int *all, bool alike)
{
    for (int r = 0; r < size; r++)
        if (!is_part(all + r * COUNT, r, alike ? 0 : rank))
            return 0;
    return 1;
}

/* The sum of what ranks below `end` have for `to`. */
static int is_sum(const int *part, int end, int to)
{
    for (int i = 0; i < COUNT; i++) {
        int sum = 0;

        for (int r = 0; r < end; r++)
            sum += value(r, to, i);
        if (part[i] != sum)
            return 0;
    }
    return 1;
}

static void fill(void)
{
    for (int to = 0; to < size; to++)
        for (int i = 0; i < COUNT; i++)
            in[to * COUNT + i] = value(rank, to, i);
    memset(out, 0xff, (size_t) size * COUNT * sizeof(*out));
}

static int call_barrier(int root)
{
    (void) root;
    MPI_Barrier(comm);
    return 1;
}

static int call_bcast(int root)
{
    if (rank == root)
        memcpy(out, in, COUNT * sizeof(*out));
    MPI_Bcast(out, COUNT, MPI_INT, root, comm);
    return is_part(out, root, 0);
}

static int call_reduce(int root)
{
    MPI_Reduce(in, out, COUNT, MPI_INT, MPI_SUM, root, comm);
    return rank != root || is_sum(out, size, 0);
}

static int call_allreduce(int root)
{
    (void) root;
    memcpy(out, in, COUNT * sizeof(*out));
    MPI_Allreduce(MPI_IN_PLACE, out, COUNT, MPI_INT, MPI_SUM, comm);
    return is_sum(out, size, 0);
}

static int call_gather(int root)
{
    MPI_Gather(in, COUNT, MPI_INT, out, COUNT, MPI_INT, root, comm);
    return rank != root || are_parts(out, true);
}

static int call_scatter(int root)
{
    MPI_Scatter(in, COUNT, MPI_INT, rank == root ? MPI_IN_PLACE : out, COUNT, MPI_INT, root, comm);
    return rank == root || is_part(out, root, rank);
}

static int call_allgather(int root)
{
    if (root % 2 == 0) {
        MPI_Allgather(in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
        return are_parts(out, true);
    }
    memcpy(out + rank * COUNT, in, COUNT * sizeof(*out));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, COUNT, MPI_INT, comm);
    return are_parts(out, true);
}

static int *counts, *displs;

static int call_allgatherv(int root)
{
    (void) root;
    MPI_Allgatherv(in, COUNT, MPI_INT, out, counts, displs, MPI_INT, comm);
    return are_parts(out, true);
}

static int call_alltoall(int root)
{
    (void) root;
    MPI_Alltoall(in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
    return are_parts(out, false);
}

/* What follows has parts of lengths that differ from call to call: of COUNT elements at most. */
static int turn; /* the call */
static int *in_counts, *out_counts, *byte_displs;
static MPI_Datatype *types;

static int length(int from, int to)
{
    return (from * 7 + to * 3 + turn * 5) % (COUNT + 1);
}

static int is_part_of(const int *part, int from, int to, int num)
{
    for (int i = 0; i < COUNT; i++)
        if (part[i] != (i < num ? value(from, to, i) : -1))
            return 0;
    return 1;
}

static int call_gatherv(int root)
{
    int ok = 1;

    for (int r = 0; r < size; r++)
        out_counts[r] = length(r, 0);
    MPI_Gatherv(in, length(rank, 0), MPI_INT, out, out_counts, displs, MPI_INT, root, comm);
    for (int r = 0; rank == root && r < size; r++)
        ok &= is_part_of(out + r * COUNT, r, 0, out_counts[r]);
    return ok;
}

static int call_scatterv(int root)
{
    for (int r = 0; r < size; r++)
        out_counts[r] = length(root, r);
    MPI_Scatterv(in, out_counts, displs, MPI_INT, out, length(root, rank), MPI_INT, root, comm);
    return is_part_of(out, root, rank, length(root, rank));
}

/* Of all parts that this rank sends to each, and gets from each. */
static void set_lengths(void)
{
    for (int r = 0; r < size; r++) {
        in_counts[r] = length(rank, r);
        out_counts[r] = length(r, rank);
    }
}

static int are_parts_of(void)
{
    int ok = 1;

    for (int r = 0; r < size; r++)
        ok &= is_part_of(out + r * COUNT, r, rank, length(r, rank));
    return ok;
}

static int call_alltoallv(int root)
{
    (void) root;
    set_lengths();
    MPI_Alltoallv(in, in_counts, displs, MPI_INT, out, out_counts, displs, MPI_INT, comm);
    return are_parts_of();
}

static int call_alltoallw(int root)
{
    (void) root;
    set_lengths();
    MPI_Alltoallw(in, in_counts, byte_displs, types, out, out_counts, byte_displs, types, comm);
    return are_parts_of();
}

/* In place, which cannot go directly: a trial apart from that of the same call otherwise. */

static int call_alltoall_in_place(int root)
{
    (void) root;
    memcpy(out, in, (size_t) size * COUNT * sizeof(*out));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, COUNT, MPI_INT, comm);
    return are_parts(out, false);
}

/* Two ranks have as much for each other. */
static int length_between(int a, int b)
{
    return a < b ? length(a, b) : length(b, a);
}

static int call_alltoallv_in_place(int root)
{
    int ok = 1;

    (void) root;
    for (int r = 0; r < size; r++) {
        out_counts[r] = length_between(rank, r);
        memcpy(out + r * COUNT, in + r * COUNT, (size_t) out_counts[r] * sizeof(*out));
    }
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, out_counts, displs, MPI_INT,
                  comm);
    for (int r = 0; r < size; r++)
        ok &= is_part_of(out + r * COUNT, r, rank, out_counts[r]);
    return ok;
}

static int call_reduce_scatter(int root)
{
    if (root % 2 == 0)
        MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm);
    else
        MPI_Reduce_scatter_block(in, out, COUNT, MPI_INT, MPI_SUM, comm);
    return is_sum(out, size, rank);
}

static int call_scan(int root)
{
    if (root % 2 == 0) {
        MPI_Scan(in, out, COUNT, MPI_INT, MPI_SUM, comm);
        return is_sum(out, rank + 1, 0);
    }
    MPI_Exscan(in, out, COUNT, MPI_INT, MPI_SUM, comm);
    return rank == 0 || is_sum(out, rank, 0);
}

/* What each order of adding brings other last bits of. In place and not, which is one trial. */
static int call_of_reals(int root)
{
    double got[COUNT];
    bool near = true;

    memcpy(got, reals, sizeof(got));
    MPI_Allreduce(root % 2 ? MPI_IN_PLACE : reals, got, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    changes += sums[0] != 0 && memcmp(got, sums, sizeof(got)) != 0;
    memcpy(sums, got, sizeof(got));
    for (int i = 0; i < COUNT; i++) {
        double sum = 0;

        for (int r = 0; r < size; r++)
            sum += 1.0 / (r * COUNT + i + 3);
        near &= got[i] > sum * (1 - 1e-12) && got[i] < sum * (1 + 1e-12);
    }
    return near;
}

static void add(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *n; i++)
        ((int *) b)[i] += ((int *) a)[i];
}

static int call_of_own(int root)
{
    (void) root;
    MPI_Allreduce(in, out, COUNT, MPI_INT, own_sum, comm);
    return is_sum(out, size, 0);
}

static const struct kind {
    const char *name;
    int (*call)(int root);
} kinds[] = {
    {"barrier", call_barrier},
    {"bcast", call_bcast},
    {"reduce", call_reduce},
    {"allreduce", call_allreduce},
    {"gather", call_gather},
    {"scatter", call_scatter},
    {"allgather", call_allgather},
    {"allgatherv", call_allgatherv},
    {"gatherv", call_gatherv},
    {"scatterv", call_scatterv},
    {"alltoallv", call_alltoallv},
    {"alltoallw", call_alltoallw},
    {"alltoallv in place", call_alltoallv_in_place},
    {"alltoall", call_alltoall},
    {"alltoall in place", call_alltoall_in_place},
    {"reduce_scatter", call_reduce_scatter},
    {"scan", call_scan},
    {"reals", call_of_reals},
    {"own", call_of_own},
};

#define KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))
#define REALS (KINDS - 2)
#define OWN (KINDS - 1)

/* Others under way while the blocking one is called: it follows them. */
static int among_others(int call, const struct kind *k)
{
    const int root = call % size;
    int sent = value(root, 0, call), received = rank == root ? sent : -1, ok;
    MPI_Request request;

    MPI_Ibcast(&received, 1, MPI_INT, root, comm, &request);
    if (rank > 0)
        memset(again_data, 0xff, COUNT * sizeof(int));
    MPI_Start(&again);
    ok = k->call(root);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    return ok && received == sent && is_part(again_data, 0, 0);
}

static int call_kind(int call, const struct kind *k)
{
    int ok;

    turn = call;
    fill();
    if (call % 16 == 0 && rank == call / 16 % size)
        hwtest_compute(1e-3);
    ok = call % 7 == 3 ? among_others(call, k) : k->call(call % size);
    if (!ok)
        printf("rank %d: call %d, %s: wrong data\n", rank, call, k->name);
    return !ok;
}

/* As many on all ranks; none where they are not allowed, or some. */
static int check_trials(const unsigned long long *trials, int argc, char **argv)
{
    const unsigned long long all = hwtest_counter("hwmc_trials");
    unsigned long long most, least;
    int errs = 0;

    MPI_Allreduce(&all, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm);
    MPI_Allreduce(&all, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm);
    if (most != least && ++errs)
        printf("rank %d: %llu trials; others %llu to %llu\n", rank, all, least, most);
    if (hwtest_flag(argc, argv, "-none") && all > 0 && ++errs)
        printf("rank %d: %llu trials\n", rank, all);
    if (all < (unsigned long long) hwtest_option(argc, argv, "-least", 0) && ++errs)
        printf("rank %d: only %llu trials\n", rank, all);
    if (trials[REALS] > 1 && ++errs)
        printf("rank %d: sums of reals were tried %llu times\n", rank, trials[REALS]);
    if (changes > 1 && ++errs)
        printf("rank %d: sums of reals have changed %d times\n", rank, changes);
    if (trials[OWN] > 0 && ++errs)
        printf("rank %d: an operation of the program's was tried\n", rank);
    for (int k = 0; hwtest_flag(argc, argv, "-kinds") && rank == 0 && k < KINDS; k++)
        fprintf(stderr, "%s: %llu\n", kinds[k].name, trials[k]);
    return errs;
}

static void begin(void)
{
    const size_t bytes = (size_t) size * COUNT * sizeof(int);

    in = malloc(bytes);
    out = malloc(bytes);
    again_data = malloc(COUNT * sizeof(int));
    counts = malloc((size_t) size * sizeof(int));
    displs = malloc((size_t) size * sizeof(int));
    in_counts = malloc((size_t) size * sizeof(int));
    out_counts = malloc((size_t) size * sizeof(int));
    byte_displs = malloc((size_t) size * sizeof(int));
    types = malloc((size_t) size * sizeof(*types));
    reals = malloc(COUNT * sizeof(double));
    sums = calloc(COUNT, sizeof(double));
    for (int i = 0; i < COUNT; i++)
        reals[i] = 1.0 / (rank * COUNT + i + 3);
    MPI_Op_create(add, 1, &own_sum);
    for (int r = 0; r < size; r++) {
        counts[r] = COUNT;
        displs[r] = r * COUNT;
        byte_displs[r] = r * COUNT * (int) sizeof(int);
        types[r] = MPI_INT;
    }
    fill();
    memcpy(again_data, in, COUNT * sizeof(int));
#if MPI_VERSION >= 4
    MPI_Bcast_init(again_data, COUNT, MPI_INT, 0, comm, MPI_INFO_NULL, &again);
#endif
}

static void end(void)
{
#if MPI_VERSION >= 4
    MPI_Request_free(&again);
#endif
    free(in);
    free(out);
    free(again_data);
    free(counts);
    free(displs);
    free(in_counts);
    free(out_counts);
    free(byte_displs);
    free(types);
    free(reals);
    free(sums);
    MPI_Op_free(&own_sum);
}

int main(int argc, char **argv)
{
    unsigned long long trials[KINDS] = {0};
    int errs = 0, provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    begin();
    for (int call = 0; call < CALLS && errs == 0; call++)
        for (int k = 0; k < KINDS; k++) {
            const unsigned long long before = hwtest_counter("hwmc_trials");

            errs += call_kind(call, &kinds[k]);
            trials[k] += hwtest_counter("hwmc_trials") - before;
        }
    errs += check_trials(trials, argc, argv);
    end();
    MPI_Comm_free(&comm);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
