/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * call: one collective inside a host as MPI knows it: its arguments and, once it is begun, the
 * steps over shared memory. The struct of each collective begins with struct hwmc_call;
 * `..._call_init` sets its arguments. Then whoever runs it calls
 *
 *     fits     whether the collectives inside a host can run it; else MPICH has to
 *     begin    packs or finds buffers, chooses the algorithm and begins `op`
 *              now the caller steps `op` until it does not answer AGAIN (shm/segment/op.h)
 *     end      stores the result and frees what begin made
 *
 * A blocking collective has it on the stack and waits in between (hwmc_call_run). One that is to be
 * finished later has it in memory of its own, where it is initialized in place: parts of the struct
 * point at each other, so it does not move from init on. After end it may be begun again.
 *
 * Buffers, counts, displacements, datatypes and operations are the caller's, and stay as they are
 * from init until the last end.
 */

#ifndef HWMC_ENTRY_CALL_H_INCLUDED
#define HWMC_ENTRY_CALL_H_INCLUDED

#include "../comm/shm.h"
#include "../stats/counters.h"

struct hwmc_call;

struct hwmc_call_ops {
    /* Before begin: whether the collective can run at `n`. Depends on the operation, the datatype
     * and the layout of the segment alone, so it is alike on all ranks. NULL: it always can. */
    bool (*fits)(const struct hwmc_call *c, const struct hwmc_shm_host *n);
    /* c->host is set, and its last collective is over. Packs or finds buffers, chooses the
     * algorithm and begins c->op. Returns MPICH's error code; on an error there is nothing to end,
     * and the group of the ranks has not begun the collective, here. */
    int (*begin)(struct hwmc_call *c);
    /* c->op is over, with this code of MPICH's: stores the result if that is MPI_SUCCESS, and frees
     * what begin made. Returns MPICH's error code: the one given, or the first that was met. */
    int (*end)(struct hwmc_call *c, int mpi_errno);
};

struct hwmc_call {
    const struct hwmc_call_ops *ops;
    struct hwmc_shm_host *host; /* where it runs; set by the caller before begin */
    struct hwmc_shm_op *op;     /* begun: what is stepped; part of the collective's struct */
};

/* Whether this collective can run at `n`; false: it is left to MPICH, alike on all ranks. */
ATTRIBUTE((always_inline))
static inline bool hwmc_call_fits(const struct hwmc_call *c, const struct hwmc_shm_host *n)
{
    return !c->ops->fits || c->ops->fits(c, n);
}

/* Runs it at `n`, with MPICH's progress where it has to wait. Returns MPICH's error code; after an
 * error of the wait `n` is broken, as hwmc_shm_wait says. Always inline, and `ops` is read once: so
 * the compiler sees which ones these are before it decides what to inline, and has begin and end in
 * the hooks where they are `static inline`. */
ATTRIBUTE((always_inline))
static inline int hwmc_call_run(struct hwmc_call *c, struct hwmc_shm_host *n)
{
    const struct hwmc_call_ops *ops = c->ops;
    int mpi_errno = MPI_SUCCESS;

    c->host = n;
    mpi_errno = ops->begin(c);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = ops->end(c, hwmc_shm_wait(n, c->op));
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* The blocking hooks' end: runs it at `n`, which was admitted, and sets *mpi_errno. False: it does
 * not fit, which is counted, and *mpi_errno is as it was. */
ATTRIBUTE((always_inline))
static inline bool hwmc_call_take(struct hwmc_call *c, struct hwmc_shm_host *n, int *mpi_errno)
{
    if (!hwmc_call_fits(c, n)) {
        hwmc_shm_note_left();
        return false;
    }
    *mpi_errno = hwmc_call_run(c, n);
    return true;
}

#endif /* HWMC_ENTRY_CALL_H_INCLUDED */
