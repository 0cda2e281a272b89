/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_take: see spread_take.h.
 */

#include "spread_take.h"

#include "rehearse.h"
#include "spread_select.h"

/* False: MPICH is to run it. */
static bool take_way(struct hwmc_spread *s, enum hwmc_way way, int *mpi_errno)
{
    if (way == HWMC_WAY_MPICH)
        return false;
    *mpi_errno = hwmc_run_way(s, way);
    return true;
}

/* One that comes before a trial, which is to know how soon the next one follows. */
static void take_watched(struct hwmc_spread *s, enum hwmc_way way, int *mpi_errno)
{
    *mpi_errno = hwmc_run_way(s, way);
    s->c->trials.stands_aside = false;
    hwmc_trials_ended(&s->c->trials);
}

/* A call that a trial is made of, or that one is made beside. False: MPICH is to run it. */
static bool take_tried(struct hwmc_spread *s, enum hwmc_way way, int *mpi_errno)
{
    int agreed;

    if (s->tries == HWMC_TRIES_CALLS) {
        *mpi_errno = hwmc_try_call(s, way, &agreed);
        if (*mpi_errno == MPI_SUCCESS)
            *mpi_errno = agreed;
        return true;
    }
    *mpi_errno = hwmc_rehearse(s, &way);
    return *mpi_errno || take_way(s, way, mpi_errno);
}

bool hwmc_spread_take(struct hwmc_spread *s, MPIR_Comm *comm, MPI_Aint bytes, int *mpi_errno)
{
    enum hwmc_way way;

    s->comm = comm;
    if (hwmc_spread_is_mpichs(s->coll) || !hwmc_comm_spreads(comm, bytes, &s->c))
        return false;
    if (!s->c) {
        MPIR_ERR_SET(*mpi_errno, MPI_ERR_OTHER, "**hwmc_setup");
        return true;
    }
    way = hwmc_spread_way(s);
    if (s->c->trials.under_way)
        return take_tried(s, way, mpi_errno);
    if (!s->c->trials.watched)
        return take_way(s, way, mpi_errno);
    take_watched(s, way, mpi_errno);
    return true;
}
