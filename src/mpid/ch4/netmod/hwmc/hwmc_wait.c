/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "../ucx/ucx_impl.h"
#include "../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "../../../../mpi/coll/bcast_hw/port/lane.h"

#include <poll.h>
#include <sched.h>
#include <time.h>

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

categories :
    - name : CH4_HWMC
      description : A category for CH4 HWMC netmod variables

cvars:
    - name        : MPIR_CVAR_HWMC_WAIT
      category    : CH4_HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : |-
        What a process does while it waits for a message.
        auto  - Poll, then give the processor away between polls, then sleep until one comes.
        spin  - Poll, as MPICH does without hwmc.
        yield - Poll, then give the processor away between polls, but never sleep.
        block - Poll, then sleep until one comes.

    - name        : MPIR_CVAR_HWMC_WAIT_SPINS
      category    : CH4_HWMC
      type        : int
      default     : 16
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        How many polls that find nothing come before a waiting process gives the processor away.

    - name        : MPIR_CVAR_HWMC_WAIT_YIELD_US
      category    : CH4_HWMC
      type        : int
      default     : 1000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        How many microseconds a waiting process gives the processor away between polls before it
        sleeps.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* From the end of one poll of a wait to the begin of the next passes no more than this; after a sleep
 * the caches are cold. A program that computes between its tests takes longer. */
#define LOOP_NS 5000u
#define LOOP_COLD_NS 50000u

/* The first sleep of a wait is short and the next ones longer, so that what no descriptor tells (a
 * flag in memory, a generalized request) is noticed late by no more than the wait has taken. */
#define SLEEP_FIRST_NS 100000u
#define SLEEP_MAX_NS 10000000u

#define FDS_MAX 16

__thread struct MPIDI_HWMC_wait MPIDI_HWMC_wait;
int MPIDI_HWMC_wait_spins = INT_MAX;

static bool wakeup; /* MPICH's UCX context can be waited for */
static bool may_sleep;
static uint64_t yield_ns;

/* A shmmod, hcoll or UCC makes progress that none of our descriptors tells of. */
#if !defined(MPIDI_CH4_DIRECT_NETMOD) || defined(HAVE_HCOLL) || defined(HAVE_UCC)
#define SLEEP_IS_SAFE false
#else
#define SLEEP_IS_SAFE true
#endif

void MPIDI_HWMC_wait_init(void)
{
    if (MPIR_CVAR_HWMC_WAIT == MPIR_CVAR_HWMC_WAIT_spin)
        return;
    may_sleep = SLEEP_IS_SAFE && MPIR_CVAR_HWMC_WAIT != MPIR_CVAR_HWMC_WAIT_yield;
    yield_ns = MPIR_CVAR_HWMC_WAIT == MPIR_CVAR_HWMC_WAIT_block
                   ? 0
                   : (uint64_t) MPL_MAX(MPIR_CVAR_HWMC_WAIT_YIELD_US, 0) * 1000;
    MPIDI_HWMC_wait_spins = MPL_MAX(MPIR_CVAR_HWMC_WAIT_SPINS, 0);
}

/* UCX gives a descriptor to wait on only to who asked for that when the context was made, and the
 * ucx netmod does not ask. Where UCX cannot, waiting goes without. */
#undef ucp_init
ucs_status_t MPIDI_HWMC_ucp_init(const ucp_params_t *params, const ucp_config_t *config,
                                 ucp_context_h *context)
{
    ucp_params_t more = *params;

    if (may_sleep) {
        more.features |= UCP_FEATURE_WAKEUP;
        if (ucp_init(&more, config, context) == UCS_OK) {
            wakeup = true;
            return UCS_OK;
        }
    }
    return ucp_init(params, config, context);
}

/* Fills in what the engine waits for; false: there is something to do first. */
static bool add_engine(struct pollfd *fds, int *num, uint64_t *until)
{
    struct bcast_hw_lane *lane = MPIDI_HWMC_global.lane;
    struct bcast_hw_fabric *fabric = MPIDI_HWMC_global.fabric;
    uint64_t deadline;

    if (!MPIR_Bcast_hw_active())
        return true;
    deadline = MPIR_Bcast_hw_deadline();
    if (deadline < *until)
        *until = deadline;
    if (fabric) {
        int from_fabric[FDS_MAX];
        int n = fabric->ops->fds(fabric, from_fabric, FDS_MAX - *num);

        if (n > FDS_MAX - *num)
            return false;
        for (int i = 0; i < n; i++)
            fds[(*num)++].fd = from_fabric[i];
    }
    if (lane->ops->arm(lane) != BCAST_HW_OK)
        return false;
    fds[(*num)++].fd = lane->ops->fd(lane);
    return true;
}

/* Sleeps until something comes or `until`; does nothing when there is something to do already. */
static void sleep_until(uint64_t now, uint64_t until)
{
    ucp_worker_h worker = MPIDI_UCX_global.ctx[0].worker;
    struct pollfd fds[FDS_MAX];
    struct timespec t;
    int num = 1;

    if (ucp_worker_get_efd(worker, &fds[0].fd) != UCS_OK) {
        may_sleep = false;
        return;
    }
    if (!add_engine(fds, &num, &until) || until <= now || ucp_worker_arm(worker) != UCS_OK)
        return;
    for (int i = 0; i < num; i++)
        fds[i].events = POLLIN;
    t.tv_sec = (time_t) ((until - now) / 1000000000u);
    t.tv_nsec = (long) ((until - now) % 1000000000u);
    ppoll(fds, (nfds_t) num, &t, NULL);
}

static bool can_sleep(void)
{
    return may_sleep && wakeup && !MPIR_IS_THREADED && MPIDI_HWMC_NUM_VCIS == 1;
}

void MPIDI_HWMC_wait_enter(struct MPIDI_HWMC_wait *w)
{
    w->entered = MPIR_Bcast_hw_now();
}

/* Whether the empty poll belongs to the wait under way. */
static bool goes_on(const struct MPIDI_HWMC_wait *w)
{
    uint64_t allowed = w->sleep_ns > SLEEP_FIRST_NS ? LOOP_COLD_NS : LOOP_NS;

    return w->since != 0 && w->entered - w->left <= allowed;
}

void MPIDI_HWMC_wait_step(struct MPIDI_HWMC_wait *w)
{
    uint64_t now = MPIR_Bcast_hw_now();

    w->polls_left = 0;
    if (!goes_on(w)) {
        w->since = now;
        w->sleep_ns = SLEEP_FIRST_NS;
        w->left = now;
        return;
    }
    if (now - w->since < yield_ns || !can_sleep()) {
        sched_yield();
    } else {
        sleep_until(now, now + w->sleep_ns);
        w->sleep_ns = MPL_MIN(2 * w->sleep_ns, SLEEP_MAX_NS);
    }
    w->left = MPIR_Bcast_hw_now();
}
