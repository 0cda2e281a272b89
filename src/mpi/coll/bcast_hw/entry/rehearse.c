/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rehearse: see rehearse.h.
 */

#include "rehearse.h"

#include "combination.h"
#include "trial_call.h"
#include "../process/errors.h"

int hwmc_try_call(struct hwmc_spread *s, bool by_hwmc, int *agreed)
{
    const uint64_t begun = hwmc_trial_call_begin();
    int mpi_errno;

    if (!by_hwmc)
        hwmc_trial_call_aside(s->c);
    mpi_errno = by_hwmc ? hwmc_spread_run(s) : s->ops->by_mpich(s);
    *agreed = hwmc_trial_call_end(s->comm, s->c, begun, mpi_errno);
    return mpi_errno;
}

/* What runs return counts in the trial, as time without end. */
static int run_all(struct hwmc_spread *s, bool *by_hwmc)
{
    struct hwmc_trials *t = &s->c->trials;
    int agreed = MPI_SUCCESS;

    while (t->under_way && agreed == MPI_SUCCESS) {
        struct hwmc_trials_entry *e = t->under_way;

        hwmc_try_call(s, *by_hwmc, &agreed);
        *by_hwmc = hwmc_trials_begin(t, e) == HWMC_WAY_HWMC;
    }
    t->under_way = NULL;
    return agreed;
}

int hwmc_rehearse(struct hwmc_spread *s, bool *by_hwmc)
{
    MPI_Aint num = 0;
    struct hwmc_combination *x = s->ops->combines(s, &num);
    const void *sendbuf = x->sendbuf;
    void *recvbuf = x->recvbuf, *result;
    int mpi_errno;

    result = MPL_malloc((size_t) MPL_MAX(num * x->operation.extent, 1), MPL_MEM_COLL);
    if (!result) { /* others wait for this rank */
        s->c->trials.under_way = NULL;
        s->c->leader_group[0].state = HWMC_LEADER_GROUP_BROKEN;
        hwmc_leader_groups_leave(s->c);
        return hwmc_error_nomem();
    }
    if (sendbuf == MPI_IN_PLACE)
        x->sendbuf = recvbuf;
    x->recvbuf = result;
    mpi_errno = run_all(s, by_hwmc);
    x->sendbuf = sendbuf;
    x->recvbuf = recvbuf;
    MPL_free(result);
    return mpi_errno;
}
