/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What node_bench times: collectives, and copies beside them. For node_bench.c alone, whose rank,
 * size and processors it goes by.
 */
#ifndef HWMC_TEST_LAB_NODE_BENCH_OPS_H_INCLUDED
#define HWMC_TEST_LAB_NODE_BENCH_OPS_H_INCLUDED

#include <mpi.h>
#include <string.h>

static int rank, size, processors;

struct op {
    const char *name;
    void (*call)(double *send, double *recv, int count, int root);
    int send_all, recv_all; /* a block for, or from, every rank */
    int sum;
    int at_root, at_others; /* who receives */
};

static void call_barrier(double *send, double *recv, int count, int root)
{
    (void) send, (void) recv, (void) count, (void) root;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void call_bcast(double *send, double *recv, int count, int root)
{
    MPI_Bcast(rank == root ? send : recv, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void call_reduce(double *send, double *recv, int count, int root)
{
    MPI_Reduce(send, recv, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void call_allreduce(double *send, double *recv, int count, int root)
{
    (void) root;
    MPI_Allreduce(send, recv, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void call_allgather(double *send, double *recv, int count, int root)
{
    (void) root;
    MPI_Allgather(send, count, MPI_DOUBLE, recv, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void call_alltoall(double *send, double *recv, int count, int root)
{
    (void) root;
    MPI_Alltoall(send, count, MPI_DOUBLE, recv, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void call_gather(double *send, double *recv, int count, int root)
{
    MPI_Gather(send, count, MPI_DOUBLE, recv, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

static void call_scatter(double *send, double *recv, int count, int root)
{
    MPI_Scatter(send, count, MPI_DOUBLE, recv, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

/* The same as nonblocking collectives, each waited for at once. */

static void call_ibarrier(double *send, double *recv, int count, int root)
{
    MPI_Request r;

    (void) send, (void) recv, (void) count, (void) root;
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void call_ibcast(double *send, double *recv, int count, int root)
{
    MPI_Request r;

    MPI_Ibcast(rank == root ? send : recv, count, MPI_DOUBLE, root, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void call_ireduce(double *send, double *recv, int count, int root)
{
    MPI_Request r;

    MPI_Ireduce(send, recv, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void call_iallreduce(double *send, double *recv, int count, int root)
{
    MPI_Request r;

    (void) root;
    MPI_Iallreduce(send, recv, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void call_iallgather(double *send, double *recv, int count, int root)
{
    MPI_Request r;

    (void) root;
    MPI_Iallgather(send, count, MPI_DOUBLE, recv, count, MPI_DOUBLE, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void call_ialltoall(double *send, double *recv, int count, int root)
{
    MPI_Request r;

    (void) root;
    MPI_Ialltoall(send, count, MPI_DOUBLE, recv, count, MPI_DOUBLE, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void call_copy(double *send, double *recv, int count, int root)
{
    (void) root;
    if (rank == 0)
        memcpy(recv, send, (size_t) count * sizeof *send);
}

static void call_copies(double *send, double *recv, int count, int root)
{
    (void) root;
    if (rank < processors)
        memcpy(recv, send, (size_t) count * sizeof *send);
}

static const struct op ops[] = {
    {.name = "barrier", .call = call_barrier},
    {.name = "bcast", .call = call_bcast, .at_others = 1},
    {.name = "reduce", .call = call_reduce, .sum = 1, .at_root = 1},
    {.name = "allreduce", .call = call_allreduce, .sum = 1, .at_root = 1, .at_others = 1},
    {.name = "allgather", .call = call_allgather, .recv_all = 1, .at_root = 1, .at_others = 1},
    {.name = "alltoall",
     .call = call_alltoall,
     .send_all = 1,
     .recv_all = 1,
     .at_root = 1,
     .at_others = 1},
    {.name = "gather", .call = call_gather, .recv_all = 1, .at_root = 1},
    {.name = "scatter", .call = call_scatter, .send_all = 1, .at_root = 1, .at_others = 1},
    {.name = "ibarrier", .call = call_ibarrier},
    {.name = "ibcast", .call = call_ibcast, .at_others = 1},
    {.name = "ireduce", .call = call_ireduce, .sum = 1, .at_root = 1},
    {.name = "iallreduce", .call = call_iallreduce, .sum = 1, .at_root = 1, .at_others = 1},
    {.name = "iallgather", .call = call_iallgather, .recv_all = 1, .at_root = 1, .at_others = 1},
    {.name = "ialltoall",
     .call = call_ialltoall,
     .send_all = 1,
     .recv_all = 1,
     .at_root = 1,
     .at_others = 1},
    {.name = "copy", .call = call_copy},
    {.name = "copies", .call = call_copies},
};

#endif /* HWMC_TEST_LAB_NODE_BENCH_OPS_H_INCLUDED */
