/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Each rank is the root in turn, on communicators with ranks in several orders and unequally many
 * to a host.
 *
 *   -max=BYTES    the largest message (1048577)
 *   -near=N       rank r is near to rail r mod N
 *   -itself=N     so many ranks of MPI_COMM_WORLD, as roots there, hand their broadcasts to the
 *                 network themselves, and all others do not: where all broadcasts go by hosts */

static const size_t lengths[] = {1, 100, 1400, 5000, 65536, 65537, 200000, 1048577};

#define LENGTHS ((int) (sizeof(lengths) / sizeof(lengths[0])))

static int lengths_up_to(size_t max)
{
    int n = 0;

    while (n < LENGTHS && lengths[n] <= max)
        n++;
    return n;
}

static int each_root(void *buf, int num, MPI_Comm comm, const char *what)
{
    int size, errs = 0;

    MPI_Comm_size(comm, &size);
    for (int i = 0; i < num; i++)
        for (int root = 0; root < size; root++)
            errs += hwtest_bcast(buf, lengths[i], root, comm, (uint64_t) (i * size + root), what);
    return errs;
}

/* The same root some times, then all: what is set up for one root is not for others. */
static int one_root_then_each(void *buf, int num, MPI_Comm comm)
{
    int size, errs = 0;

    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 30; i++)
        errs += hwtest_bcast(buf, 100, size - 1, comm, (uint64_t) i, "one root");
    return errs + each_root(buf, num, comm, "then each");
}

/* Of the ranks of MPI_COMM_WORLD, those of a color, in an order by key. */
static int on_part(void *buf, int num, int color, int key, const char *what)
{
    MPI_Comm comm;
    int errs;

    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    if (comm == MPI_COMM_NULL)
        return 0;
    errs = each_root(buf, num, comm, what);
    MPI_Comm_free(&comm);
    return errs;
}

static int expect_sum(const char *counter, unsigned long long expected)
{
    unsigned long long value = hwtest_counter(counter), sum = 0;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&value, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0 || sum == expected)
        return 0;
    printf("%s is %llu on all ranks together, not %llu\n", counter, sum, expected);
    return 1;
}

int main(int argc, char **argv)
{
    int errs = 0, rank, size, num, itself, provided;
    MPI_Comm dup;
    void *buf;

    hwtest_settle(argc, argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* counters are read more than once */
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    num = lengths_up_to((size_t) hwtest_option(argc, argv, "-max", 1048577));
    itself = (int) hwtest_option(argc, argv, "-itself", -1);
    buf = hwtest_alloc(lengths[LENGTHS - 1]);

    errs += each_root(buf, num, MPI_COMM_WORLD, "world");
    if (itself >= 0) {
        errs += expect_sum("hwmc_root_itself", (unsigned long long) (itself * num));
        errs += expect_sum("hwmc_root_by_another", (unsigned long long) ((size - itself) * num));
    }
    errs += on_part(buf, num, 0, -rank, "backwards");
    errs += on_part(buf, num, rank == 1 ? MPI_UNDEFINED : 0, rank * 5 % size, "without one");
    errs += on_part(buf, num, rank < (size + 1) / 2 ? 0 : 1, rank, "halves");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    errs += one_root_then_each(buf, num, dup);
    MPI_Comm_free(&dup);

    free(buf);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
