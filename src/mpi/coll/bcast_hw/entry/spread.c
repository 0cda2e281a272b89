/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread: see spread.h.
 */

#include "spread.h"

#include "spread_select.h"
#include "../op/wait_stage.h"
#include "../select/network.h"
#include "../stats/counters.h"
#include "../stats/epoch.h"

uint32_t hwmc_spread_part(void)
{
    return hwmc_coll_part(hwmc_network_now());
}

uint64_t hwmc_spread_mean(const MPI_Aint *counts, MPI_Aint count, int num, MPI_Datatype type)
{
    MPI_Aint all = 0, size;

    MPIR_Datatype_get_size_macro(type, size);
    for (int i = 0; counts && i < num; i++)
        all += counts[i];
    return (uint64_t) ((counts ? all / num : count) * size);
}

uint32_t hwmc_spread_leader(const struct hwmc_spread *s, uint32_t member)
{
    return s->c->by_hosts ? hwmc_leader_group_at(s->c, 0, member) : member;
}

uint32_t hwmc_spread_leader_place(const struct hwmc_spread *s)
{
    const struct hwmc_leaders *l = &s->c->leaders;

    return l->place[hwmc_spread_leader(s, l->host_of[s->comm->rank])];
}

bool hwmc_spread_in_order(const struct hwmc_spread *s)
{
    const struct hwmc_leaders *l = &s->c->leaders;

    for (int i = 1; s->c->by_hosts && i < s->comm->local_size; i++)
        if (l->host_of[i] < l->host_of[i - 1])
            return false;
    return true;
}

int hwmc_spread_begin(struct hwmc_spread *s)
{
    int mpi_errno = hwmc_leader_group_error(&s->c->leader_group[0]);
    struct hwmc_shm_host *n = hwmc_spread_host(s);

    if (!mpi_errno && n)
        mpi_errno = hwmc_shm_broken(s->c->shm);
    if (!mpi_errno)
        mpi_errno = s->ops->begin(s);
    if (mpi_errno && n) /* others of the host may wait for this rank */
        hwmc_shm_fail(n);
    return mpi_errno;
}

int hwmc_spread_end(struct hwmc_spread *s, int mpi_errno)
{
    struct hwmc_group *g = s->c->leader_group[0].group;

    mpi_errno = s->ops->end(s, mpi_errno);
    if (mpi_errno)
        return mpi_errno;
    if (g && g->casts)
        hwmc_note_epoch(g);
    if (hwmc_spread_host(s))
        hwmc_shm_note_call();
    return MPI_SUCCESS;
}

static int run_spread(struct hwmc_spread *s)
{
    int mpi_errno = hwmc_spread_begin(s);

    return mpi_errno ? mpi_errno
                     : hwmc_spread_end(s, hwmc_wait_stage(&s->chain.stage, hwmc_spread_host(s)));
}

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
    *mpi_errno = run_spread(s);
    return true;
}
