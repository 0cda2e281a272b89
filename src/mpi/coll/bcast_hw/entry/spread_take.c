/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_take: see spread_take.h.
 */

#include "spread_take.h"

#include "spread_select.h"

bool hwmc_spread_take(struct hwmc_spread *s, MPIR_Comm *comm, MPI_Aint bytes, int *mpi_errno)
{
    s->comm = comm;
    if (hwmc_spread_is_mpichs(s->coll) || !hwmc_comm_spreads(comm, bytes, &s->c))
        return false;
    if (!s->c) {
        MPIR_ERR_SET(*mpi_errno, MPI_ERR_OTHER, "**hwmc_setup");
        return true;
    }
    if (!hwmc_spread_goes(s))
        return false;
    *mpi_errno = hwmc_spread_run(s);
    return true;
}
