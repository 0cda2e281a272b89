/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * usage: coll_bench OPTION...
 *
 * How long collectives take over hosts, blocking, on MPI_COMM_WORLD, from and to rank 0. Works with
 * any MPI. Options, output and what is timed: cells.h.
 *
 * Elements are doubles; reductions are sums. BYTES of a cell, a multiple of 8:
 *
 *   bcast, reduce, allreduce, scan    the message
 *   allgather, gather, scatter        a rank's part
 *   alltoall, alltoallv, alltoallw    what a rank has for each rank; all alike
 *   reduce_scatter_block              the vectors that are summed; each rank gets a part of at
 *                                     least one element
 *   barrier                           0
 */
#include <mpi.h>

#include "cells.h"

static int rank, size;
static double *out, *in; /* of the cell */
static int count;        /* elements of a part */

static void fail(const char *what)
{
    fprintf(stderr, "coll_bench: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void call_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void call_bcast(void)
{
    MPI_Bcast(rank == 0 ? out : in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void call_reduce(void)
{
    MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void call_allreduce(void)
{
    MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call_scan(void)
{
    MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call_reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call_allgather(void)
{
    MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void call_gather(void)
{
    MPI_Gather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void call_scatter(void)
{
    MPI_Scatter(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void call_alltoall(void)
{
    MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void call_alltoallv(void)
{
    static int *counts, *displs;

    if (!counts) {
        counts = malloc((size_t) size * sizeof(*counts));
        displs = malloc((size_t) size * sizeof(*displs));
    }
    if (!counts || !displs)
        fail("no memory");
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        displs[i] = i * count;
    }
    MPI_Alltoallv(out, counts, displs, MPI_DOUBLE, in, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void call_alltoallw(void)
{
    static int *counts, *displs;
    static MPI_Datatype *types;

    if (!counts) {
        counts = malloc((size_t) size * sizeof(*counts));
        displs = malloc((size_t) size * sizeof(*displs));
        types = malloc((size_t) size * sizeof(*types));
    }
    if (!counts || !displs || !types)
        fail("no memory");
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        displs[i] = i * count * (int) sizeof(double);
        types[i] = MPI_DOUBLE;
    }
    MPI_Alltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD);
}

enum sums { NO_SUM, SUM_OF_ALL, SUM_SO_FAR };

static const struct op {
    const char *name;
    void (*call)(void);
    int send_all, recv_all; /* a part for, or from, every rank */
    int at_root, at_others; /* who receives */
    enum sums sums;
} ops[] = {
    {"barrier", call_barrier, 0, 0, 0, 0, NO_SUM},
    {"bcast", call_bcast, 0, 0, 0, 1, NO_SUM},
    {"reduce", call_reduce, 0, 0, 1, 0, SUM_OF_ALL},
    {"allreduce", call_allreduce, 0, 0, 1, 1, SUM_OF_ALL},
    {"scan", call_scan, 0, 0, 1, 1, SUM_SO_FAR},
    {"reduce_scatter_block", call_reduce_scatter_block, 1, 0, 1, 1, SUM_OF_ALL},
    {"allgather", call_allgather, 0, 1, 1, 1, NO_SUM},
    {"gather", call_gather, 0, 1, 1, 0, NO_SUM},
    {"scatter", call_scatter, 1, 0, 1, 1, NO_SUM},
    {"alltoall", call_alltoall, 1, 1, 1, 1, NO_SUM},
    {"alltoallv", call_alltoallv, 1, 1, 1, 1, NO_SUM},
    {"alltoallw", call_alltoallw, 1, 1, 1, 1, NO_SUM},
};

static const struct op *op;

/* Small integers, so that sums are exact: what `from` has for `to`, the same for all where there is
 * one part. */
static double value(int from, int to, int i)
{
    return from * 3 + (op->send_all ? to * 5 : 0) + i % 1000;
}

static void begin(const char *name, size_t bytes)
{
    size_t elements = bytes / sizeof(double), all = (size_t) size;

    op = NULL;
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (strcmp(ops[i].name, name) == 0)
            op = &ops[i];
    if (op == NULL)
        fail("no such operation");
    if (op->sums != NO_SUM && op->send_all)
        elements = elements < all ? 1 : elements / all;
    count = (int) elements;
    out = malloc((op->send_all ? all : 1) * elements * sizeof(double) + 1);
    in = malloc((op->recv_all ? all : 1) * elements * sizeof(double) + 1);
    if (out == NULL || in == NULL)
        fail("no memory");
    for (int to = 0; to < (op->send_all ? size : 1); to++)
        for (int i = 0; i < count; i++)
            out[(size_t) to * elements + (size_t) i] = value(rank, to, i);
}

static int receives(void)
{
    return rank == 0 ? op->at_root : op->at_others;
}

static void poison(void)
{
    memset(in, 0xff, (op->recv_all ? (size_t) size : 1) * (size_t) count * sizeof(double));
}

static void once(void)
{
    op->call();
}

/* Element i of the part that `from` has sent, or of the sum. */
static double wanted(int from, int i)
{
    double sum = 0;

    if (op->sums == NO_SUM)
        return value(from, rank, i);
    for (int r = 0; r < (op->sums == SUM_OF_ALL ? size : rank + 1); r++)
        sum += value(r, rank, i);
    return sum;
}

static void verify(void)
{
    for (int from = 0; receives() && from < (op->recv_all ? size : 1); from++)
        for (int i = 0; i < count; i++)
            if (in[(size_t) from * (size_t) count + (size_t) i] != wanted(from, i))
                fail(op->name);
}

static void probe(void)
{
    int found;

    MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

static void end(void)
{
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static struct cells cells;
    struct cells_work work = {.begin = begin,
                              .poison = poison,
                              .once = once,
                              .verify = verify,
                              .probe = probe,
                              .end = end};

    cells_before(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    work.rank = rank;
    work.size = size;
    if (!cells_parse(&cells, argc, argv))
        fail("wrong options; see cells.h");
    if (cells_run(&cells, &work) != 0)
        fail("cannot write the file given as -out");
    MPI_Finalize();
    return 0;
}
