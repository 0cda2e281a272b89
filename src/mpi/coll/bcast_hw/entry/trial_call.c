/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trial_call: see trial_call.h.
 */

#include "trial_call.h"

#include "spread_reduce.h"
#include "../core/base/trace.h"
#include "../process/mpich.h"
#include "../process/process.h"
#include "../stats/counters.h"

uint64_t hwmc_trial_call_begin(void)
{
    return hwmc_now();
}

void hwmc_trial_call_aside(struct hwmc_comm *c)
{
    c->trials.stands_aside = true;
}

int hwmc_trial_call_agree(MPIR_Comm *comm, struct hwmc_comm *c, uint64_t *most)
{
    struct hwmc_spread_reduce r;
    int mpi_errno;

    hwmc_spread_reduce_init(&r, MPI_IN_PLACE, most, 1, HWMC_UINT64, MPI_MAX, -1);
    r.spread.comm = comm;
    r.spread.c = c;
    mpi_errno = hwmc_spread_run(&r.spread);
    if (mpi_errno)
        *most = UINT64_MAX;
    c->row = 0;
    return mpi_errno;
}

/* Waits for ranks that are behind this one. */
static int settle(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_trial *t)
{
    const uint64_t begun = hwmc_now();
    uint64_t nothing = 0;
    const int mpi_errno = hwmc_trial_call_agree(comm, c, &nothing);

    hwmc_trial_settled(t, mpi_errno ? UINT64_MAX : hwmc_now() - begun);
    return mpi_errno;
}

/* For who traces: what was found for which collective. */
static const char *way_text(const struct hwmc_trials_key *key, uint32_t way)
{
    static const char *const texts[HWMC_COLL_LIMIT][HWMC_TRIAL_WAYS] = {
#define X(name, lower)                                                                             \
    [HWMC_COLL_##name] = {[HWMC_WAY_HWMC] = #lower " by hwmc",                                     \
                          [HWMC_WAY_MPICH] = #lower " by MPICH",                                   \
                          [HWMC_WAY_DIRECT] = #lower " by MPICH, directly"},
        HWMC_COLLS(X)
#undef X
    };
    static const char *const bcasts[HWMC_ALGORITHM_BINOMIAL + 1] = {
        "bcast by two_stage", "bcast by multilane", "bcast by MPICH"};

    if (key->coll == HWMC_COLL_ALLREDUCE && way == HWMC_WAY_DIRECT)
        return "allreduce by hwmc, by blocks";
    return key->coll == HWMC_COLL_LIMIT ? bcasts[way] : texts[key->coll][way];
}

int hwmc_trial_call_end(MPIR_Comm *comm, struct hwmc_comm *c, uint64_t begun, int mpi_errno)
{
    const struct hwmc_trials_key *key = &c->trials.under_way->key;
    struct hwmc_trial *t = &c->trials.under_way->trial;
    const uint32_t used = t->used;
    uint64_t sum;
    int err;

    c->trials.under_way = NULL;
    c->trials.stands_aside = false;
    if (!hwmc_trial_end(t, mpi_errno ? UINT64_MAX : hwmc_now() - begun))
        return MPI_SUCCESS;
    mpi_errno = hwmc_trial_settles(t) ? settle(comm, c, t) : MPI_SUCCESS;
    sum = t->sum;
    err = hwmc_trial_call_agree(comm, c, &sum);
    mpi_errno = mpi_errno ? mpi_errno : err;
    if (hwmc_trial_agreed(t, sum)) {
        hwmc_note_trial(t->used != used);
        hwmc_lock();
        hwmc_trace_note(HWMC_TRACE_TRIAL, key->bytes, way_text(key, t->used), t->cost[t->used]);
        hwmc_unlock();
    }
    return mpi_errno;
}
