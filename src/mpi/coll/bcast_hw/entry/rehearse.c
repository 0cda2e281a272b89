/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rehearse: see rehearse.h.
 */

#include "rehearse.h"

#include "combination.h"
#include "direct.h"
#include "spread_reduce.h"
#include "trial_call.h"

/* A barrier of the ranks of `s`, by that way. */
static int meet(const struct hwmc_spread *s, enum hwmc_way way)
{
    struct hwmc_spread_reduce barrier;

    hwmc_spread_barrier_init(&barrier);
    barrier.spread.comm = s->comm;
    barrier.spread.c = s->c;
    return hwmc_run_way(&barrier.spread, way);
}

/* Messages to a root that may be behind are not too many (direct.h). */
static int run_directly(struct hwmc_spread *s)
{
    const bool to_root = s->coll == HWMC_COLL_GATHER || s->coll == HWMC_COLL_REDUCE;
    int mpi_errno = MPI_SUCCESS;

    if (to_root && s->c->row == HWMC_DIRECT_ROW)
        mpi_errno = meet(s, HWMC_WAY_HWMC);
    s->c->row += to_root;
    return mpi_errno ? mpi_errno : s->ops->directly(s);
}

int hwmc_run_way(struct hwmc_spread *s, enum hwmc_way way)
{
    if (s->coll != HWMC_COLL_SCAN && s->root < 0)
        s->c->row = 0; /* each waits for all */
    switch (way) {
        case HWMC_WAY_HWMC:
            return hwmc_spread_run(s);
        case HWMC_WAY_DIRECT:
            return run_directly(s);
        default:
            hwmc_trial_call_aside(s->c);
            return s->ops->by_mpich(s);
    }
}

int hwmc_try_call(struct hwmc_spread *s, enum hwmc_way way, int *agreed)
{
    const uint64_t begun = hwmc_trial_call_begin();
    const int mpi_errno = hwmc_run_way(s, way);

    *agreed = hwmc_trial_call_end(s->comm, s->c, begun, mpi_errno);
    return mpi_errno;
}

/* What runs return counts in the trial, as time without end. */
static int run_all(struct hwmc_spread *s, enum hwmc_way *way)
{
    struct hwmc_trials *t = &s->c->trials;
    struct hwmc_trials_entry *e = t->under_way;
    uint64_t late = e->trial.late;
    /* A rank without memory for this does not come. */
    int agreed = hwmc_trial_call_agree(s->comm, s->c, &late);

    if (agreed == MPI_SUCCESS)
        hwmc_trial_late_agreed(&e->trial, late);
    while (t->under_way && agreed == MPI_SUCCESS) {
        if (!e->trial.in_row)
            agreed = meet(s, hwmc_way_is_hwmcs(s->coll, *way) ? HWMC_WAY_MPICH : HWMC_WAY_HWMC);
        if (agreed == MPI_SUCCESS)
            hwmc_try_call(s, *way, &agreed);
        *way = (enum hwmc_way) hwmc_trials_begin(t, e);
    }
    t->under_way = NULL;
    return agreed;
}

int hwmc_rehearse(struct hwmc_spread *s, enum hwmc_way *way)
{
    MPI_Aint num = 0;
    struct hwmc_combination *x = s->ops->combines(s, &num);
    const void *sendbuf = x->sendbuf;
    void *recvbuf = x->recvbuf, *result;
    int mpi_errno;

    result = MPL_malloc((size_t) MPL_MAX(num * x->operation.extent, 1), MPL_MEM_COLL);
    if (!result) { /* others wait for this rank */
        s->c->trials.under_way = NULL;
        hwmc_leader_groups_break(s->c);
        *way = HWMC_WAY_HWMC;
        return MPI_SUCCESS;
    }
    if (sendbuf == MPI_IN_PLACE)
        x->sendbuf = recvbuf;
    x->recvbuf = result;
    mpi_errno = run_all(s, way);
    x->sendbuf = sendbuf;
    x->recvbuf = recvbuf;
    MPL_free(result);
    return mpi_errno;
}
