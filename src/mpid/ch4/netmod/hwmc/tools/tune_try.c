/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What is tried, and how a process is told to go by it: control variables, which are read when a
 * communicator is made, and which each communicator looks at when a collective has another length
 * than the one before.
 */
#include "tune.h"

#include <limits.h>
#include <string.h>

/* What is tried besides the segment's own: a page or two, and what stays in a first-level cache,
 * where processors share that. */
static const int small_chunks[] = {2048, 8192};

static void call_barrier(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) from, (void) to, (void) bytes, (void) ranks;
    MPI_Barrier(comm);
}

static void call_bcast(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) to, (void) ranks;
    MPI_Bcast(from, bytes, MPI_BYTE, 0, comm);
}

static void call_reduce(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) ranks;
    MPI_Reduce(from, to, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm);
}

static void call_allreduce(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) ranks;
    MPI_Allreduce(from, to, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

/* Of all ranks' blocks together, `bytes` or a little less. */
static void call_reduce_scatter(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    MPI_Reduce_scatter_block(from, to, bytes / 8 / ranks, MPI_DOUBLE, MPI_SUM, comm);
}

static void call_gather(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) ranks;
    MPI_Gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm);
}

static void call_allgather(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) ranks;
    MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
}

static void call_scatter(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) ranks;
    MPI_Scatter(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm);
}

static void call_alltoall(MPI_Comm comm, char *from, char *to, int bytes, int ranks)
{
    (void) ranks;
    MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm);
}

#define BARRIERS HWMC_SHM_TABLE_BARRIERS
#define BCASTS HWMC_SHM_TABLE_BCASTS
#define REDUCTIONS HWMC_SHM_TABLE_REDUCTIONS
#define NONE HWMC_SHM_TABLE_NONE
#define BLOCK_MOST (1 << 20)

const struct tune_op tune_ops[] = {
    {"barrier", "MPIR_CVAR_HWMC_BARRIER_ALGORITHM", BARRIERS, NULL, false, false, 0, call_barrier},
    {"bcast", "MPIR_CVAR_HWMC_BCAST_ALGORITHM", BCASTS, "avg_msg_size", false, false, INT_MAX,
     call_bcast},
    {"reduce", "MPIR_CVAR_HWMC_REDUCE_ALGORITHM", REDUCTIONS, "avg_msg_size", false, false, INT_MAX,
     call_reduce},
    {"allreduce", "MPIR_CVAR_HWMC_REDUCE_ALGORITHM", REDUCTIONS, "avg_msg_size", false, false,
     INT_MAX, call_allreduce},
    {"reduce_scatter", "MPIR_CVAR_HWMC_REDUCE_ALGORITHM", REDUCTIONS, "total_msg_size", false,
     false, INT_MAX, call_reduce_scatter},
    {"gather", NULL, NONE, NULL, true, false, BLOCK_MOST, call_gather},
    {"allgather", NULL, NONE, NULL, true, false, BLOCK_MOST, call_allgather},
    {"scatter", NULL, NONE, NULL, true, false, BLOCK_MOST, call_scatter},
    {"alltoall", NULL, NONE, NULL, true, false, BLOCK_MOST, call_alltoall},
};
const int tune_num_ops = sizeof(tune_ops) / sizeof(tune_ops[0]);

static struct tune_candidate *add(struct tune_candidate *at, const char *algorithm, int degree,
                                  bool binary, bool direct)
{
    *at = (struct tune_candidate){algorithm, degree, binary, 0, direct};
    return at + 1;
}

/* Along all trees that differ: a chain, degrees 2 and 4 of both shapes, and a star. */
static struct tune_candidate *add_trees(struct tune_candidate *at, const char *algorithm, int ranks,
                                        bool direct)
{
    for (int degree = 1; degree < ranks && degree <= 4; degree *= 2)
        at = add(at, algorithm, degree, false, direct);
    if (ranks > 2 && ranks - 1 != 2 && ranks - 1 != 4)
        at = add(at, algorithm, ranks - 1, false, direct);
    for (int degree = 2; degree < ranks && degree <= 4; degree *= 2)
        at = add(at, algorithm, degree, true, direct);
    return at;
}

/* Those from `first` on, once more with each of the small chunks. */
static struct tune_candidate *add_chunks(struct tune_candidate *first, struct tune_candidate *at)
{
    struct tune_candidate *end = at;

    for (size_t i = 0; i < sizeof(small_chunks) / sizeof(small_chunks[0]); i++)
        for (struct tune_candidate *c = first; c < end; c++, at++) {
            *at = *c;
            at->chunk = small_chunks[i];
        }
    return at;
}

int tune_candidates(const struct tune_op *op, int ranks, struct tune_candidate *to)
{
    struct tune_candidate *at = to;

    if (op->over_hosts)
        return tune_host_candidates(op, to);
    if (op->table == NONE) {
        at = add(at, "auto", 0, false, false);
        return (int) (add(at, "auto", 0, false, true) - to);
    }
    if (op->call == call_reduce_scatter) {
        at = add_chunks(to, add(at, "tree", 1, false, false));
        return (int) (add(at, "tree", 1, false, true) - to);
    }
    at = add_trees(at, "tree", ranks, false);
    if (op->table == BARRIERS) {
        static const char *const others[] = {"ota", "sig", "pe"};

        for (int i = 0; i < 3; i++)
            at = add(at, others[i], 0, false, false);
        for (int ways = 1; ways < ranks - 1; ways = 2 * ways + 1)
            at = add(at, "dis", ways, false, false);
        at = add(at, "dis", ranks - 1, false, false);
        return (int) (at - to);
    }
    if (op->call == call_allreduce)
        at = add(at, "each", 1, false, false);
    at = add_chunks(to, at);
    at = add_trees(at, "treemm", ranks, true);
    at = add(at, "ag", 0, false, true);
    if (op->call != call_reduce)
        at = add_trees(at, "tree", ranks, true);
    if (op->table == BCASTS) {
        at = add(at, "ota", 0, false, true);
        at = add(at, "g", 0, false, true);
        at = add(at, "g", 0, false, false);
        at = add(at, "ag", 0, false, false);
    }
    return (int) (at - to);
}

bool tune_fits(const struct tune_op *op, const struct tune_candidate *c, int64_t bytes)
{
    if (op->over_hosts)
        return op->most == 0 || tune_host_fits(c, bytes);
    if (op->table == BARRIERS)
        return true;
    if (bytes <= TUNE_INLINE)
        return !c->direct && c->chunk == 0 && (c->degree > 0 || op->table == NONE);
    return bytes > c->chunk && (!c->direct || bytes >= 1024);
}

static void set(const char *name, const char *value)
{
    MPI_T_cvar_handle handle;
    int index, count;

    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        tune_fail("a control variable is missing; is this MPICH with hwmc?");
    if (MPI_T_cvar_write(handle, value) != MPI_SUCCESS)
        tune_fail("a control variable cannot be written");
    MPI_T_cvar_handle_free(&handle);
}

/* What was written is read when a communicator is made: any one. */
static void have_it_read(void)
{
    MPI_Comm self;

    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_free(&self);
}

void tune_apply(const struct tune_op *op, const struct tune_candidate *c)
{
    char keys[128], algorithm[64];

    if (op->over_hosts) {
        snprintf(algorithm, sizeof(algorithm), "%s=%s", op->name, c->algorithm);
        set(op->cvar, algorithm);
        have_it_read();
        return;
    }
    snprintf(keys, sizeof(keys),
             TUNE_KEYS ",shm_shape=%s,shm_degree=%d,shm_chunk=%d,shm_copy_min=%d",
             c->binary ? "knomial" : "kary", c->degree, c->chunk, c->direct ? 0 : INT_MAX);
    if (op->cvar)
        set(op->cvar, c->algorithm);
    set("MPIR_CVAR_HWMC_TUNE", keys);
    have_it_read();
}

void tune_reset(void)
{
    for (int o = 0; o < tune_num_ops; o++)
        if (tune_ops[o].cvar)
            set(tune_ops[o].cvar, "auto");
    set("MPIR_CVAR_HWMC_ALGORITHMS", "");
    set("MPIR_CVAR_HWMC_TUNE", TUNE_KEYS);
    have_it_read();
}
