/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_take: see spread_take.h.
 */

#include "spread_take.h"

#include "rehearse.h"
#include "spread_select.h"

/* A call that a trial is made of, or that one is made beside. False: MPICH is to run it. */
static bool take_tried(struct hwmc_spread *s, bool by_hwmc, int *mpi_errno)
{
    int agreed;

    if (s->tries == HWMC_TRIES_CALLS) {
        *mpi_errno = hwmc_try_call(s, by_hwmc, &agreed);
        if (*mpi_errno == MPI_SUCCESS)
            *mpi_errno = agreed;
        return true;
    }
    *mpi_errno = hwmc_rehearse(s, &by_hwmc);
    if (*mpi_errno == MPI_SUCCESS && by_hwmc)
        *mpi_errno = hwmc_spread_run(s);
    else if (*mpi_errno == MPI_SUCCESS)
        return false;
    return true;
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
        return take_tried(s, goes, mpi_errno);
    if (goes)
        *mpi_errno = hwmc_spread_run(s);
    else
        return false;
    return true;
}
