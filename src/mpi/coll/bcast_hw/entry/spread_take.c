/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_take: see spread_take.h.
 */

#include "spread_take.h"

#include "spread_select.h"
#include "trial_call.h"

static int try_way(struct hwmc_spread *s, bool by_hwmc)
{
    const uint64_t begun = hwmc_trial_call_begin();
    int mpi_errno;

    if (!by_hwmc)
        hwmc_trial_call_aside(s->c);
    mpi_errno = by_hwmc ? hwmc_spread_run(s) : s->ops->by_mpich(s);
    return hwmc_trial_call_end(s->comm, s->c, begun, mpi_errno);
}

bool hwmc_spread_take(struct hwmc_spread *s, MPIR_Comm *comm, MPI_Aint bytes, int *mpi_errno)
{
    bool goes;

    s->comm = comm;
    if (hwmc_spread_is_mpichs(s->coll) || !hwmc_comm_spreads(comm, bytes, &s->c))
        return false;
    if (!s->c) {
        MPIR_ERR_SET(*mpi_errno, MPI_ERR_OTHER, "**hwmc_setup");
        return true;
    }
    goes = hwmc_spread_goes(s, true);
    if (s->c->trials.under_way)
        *mpi_errno = try_way(s, goes);
    else if (goes)
        *mpi_errno = hwmc_spread_run(s);
    else
        return false;
    return true;
}
