/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Barrier over the memory that a host's ranks share.
 */

#include "mpiimpl.h"
#include "barrier.h"
#include "hooks.h"
#include "spread_reduce.h"
#include "spread_take.h"

static inline int begin_barrier(struct hwmc_call *call)
{
    struct hwmc_barrier_call *c = (struct hwmc_barrier_call *) call;
    struct hwmc_shm_host *n = call->host;
    const struct hwmc_shm_choice *choice = hwmc_shm_choose(n, HWMC_SHM_KIND_BARRIER, 0);
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, 0);

    hwmc_shm_barrier_begin(&c->barrier, &n->group, &tree);
    call->op = &c->barrier.op;
    return MPI_SUCCESS;
}

static inline int end_barrier(struct hwmc_call *call, int mpi_errno)
{
    (void) call;
    return mpi_errno;
}

static const struct hwmc_call_ops barrier_ops = {.begin = begin_barrier, .end = end_barrier};

void hwmc_barrier_call_init(struct hwmc_barrier_call *c)
{
    c->call.ops = &barrier_ops;
}

static bool take_over_hosts(MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_spread_reduce r;

    hwmc_spread_barrier_init(&r);
    return hwmc_spread_take(&r.spread, comm, 1, mpi_errno);
}

bool MPIR_Hwmc_barrier(MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(BARRIER, comm, mpi_errno);
    struct hwmc_barrier_call c;

    if (!n)
        return HWMC_SPREADS(BARRIER) && take_over_hosts(comm, mpi_errno);
    if (*mpi_errno)
        return true;
    hwmc_barrier_call_init(&c);
    return hwmc_call_take(&c.call, n, mpi_errno);
}
