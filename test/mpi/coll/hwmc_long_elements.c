/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Reductions and scans of elements of some kilobytes, by an operation of the program's, as sums of
 * matrices are: blocking and not, whatever memory the ranks of each host share. Every rank must
 * select alike, whether its own host's memory has room for such an element or not.
 *
 *   -element=BYTES  of an element, a multiple of 8 (6000)
 *   -rounds=N       (20)
 *   -report         all counters in the end */

#define MOST 3 /* elements */

static int words; /* of an element */
static int rank, size;

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const int64_t *from = in;
    int64_t *to = inout;

    (void) type;
    for (int i = 0; i < *len * words; i++)
        to[i] += from[i];
}

static int64_t word_of(int round, int from, int i)
{
    return (int64_t) (hwtest_mix((uint64_t) (round * 1000 + from) * 1000003 + (uint64_t) i) >> 8);
}

static void fill(int64_t *buf, int round, int from, int num)
{
    for (int i = 0; i < num; i++)
        buf[i] = word_of(round, from, i);
}

/* Of the ranks below `end`, words from `at` on. */
static int check(const int64_t *buf, int round, int end, int at, int num, const char *what)
{
    for (int i = 0; i < num; i++) {
        int64_t sum = 0;

        for (int r = 0; r < end; r++)
            sum += word_of(round, r, at + i);
        if (buf[i] != sum) {
            fprintf(stderr, "%s, round %d, rank %d: word %d is wrong\n", what, round, rank, i);
            return 1;
        }
    }
    return 0;
}

static bool is_ours(const char *name)
{
    return strncmp(name, "hwmc_", strlen("hwmc_")) == 0;
}

static int one_round(int round, int64_t *in, int64_t *out, MPI_Datatype type, MPI_Op op)
{
    const int count = 1 + round % MOST, num = count * words, root = round % size;
    MPI_Request request;
    int errs = 0;

    fill(in, round, rank, num);
    MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
    errs += check(out, round, size, 0, num, "allreduce");
    MPI_Reduce(in, out, count, type, op, root, MPI_COMM_WORLD);
    if (rank == root)
        errs += check(out, round, size, 0, num, "reduce");
    MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD);
    errs += check(out, round, rank + 1, 0, num, "scan");
    MPI_Iallreduce(in, out, count, type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    errs += check(out, round, size, 0, num, "iallreduce");
    fill(in, round, rank, size * words);
    MPI_Reduce_scatter_block(in, out, 1, type, op, MPI_COMM_WORLD);
    return errs + check(out, round, size, rank * words, words, "reduce_scatter_block");
}

int main(int argc, char **argv)
{
    int errs = 0, rounds, provided;
    MPI_Datatype type;
    int64_t *in, *out;
    size_t bytes;
    MPI_Op op;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* it is not begun twice */
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    words = (int) hwtest_option(argc, argv, "-element", 6000) / (int) sizeof(*in);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 20);
    bytes = (size_t) (size > MOST ? size : MOST) * (size_t) words * sizeof(*in);
    in = hwtest_alloc(bytes);
    out = hwtest_alloc(bytes);
    MPI_Type_contiguous(words, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);

    for (int round = 0; round < rounds; round++)
        errs += one_round(round, in, out, type, op);

    if (hwtest_flag(argc, argv, "-report"))
        hwtest_print_counters(is_ours);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(in);
    free(out);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
