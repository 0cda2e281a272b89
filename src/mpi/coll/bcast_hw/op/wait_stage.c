/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A rank that waits for the network has MPICH make progress between two steps, as MPICH's own waits
 * do: the netmod looks how (wait/). One that waits for others of its host looks at their memory
 * (op/wait.c).
 */

#include "wait_stage.h"
#include "host_loss.h"
#include "wait_failure.h"
#include "../core/failure/detector.h"
#include "../process/errors.h"
#include "../shm/segment/wakeup.h"

#define WITHDRAW_NS UINT64_C(1000000000)
#define POLLS 4 /* from step to step, where nothing comes */

/* What a wait is at. */
struct wait {
    struct hwmc_op_stage *s;
    struct hwmc_shm_host *n;
    struct hwmc_wait_failure failure;
    struct hwmc_shm_wait in_host;
    bool for_net;  /* MPICH's wait has begun, */
    uint64_t mark; /* ... for this */
    bool failed;   /* the stage has been told so, and comes to its end */
};

uint64_t hwmc_withdraw_ns(void)
{
    return MPL_MAX(WITHDRAW_NS, hwmc_peer_timeout_ns() / HWMC_DETECTOR_PARTS);
}

static void leave_net(struct wait *w)
{
    if (w->for_net)
        hwmc_wait_ends();
    w->for_net = false;
}

/* Each piece is waited for by itself: how long it takes says how the next one is to be. */
static void enter_net(struct wait *w)
{
    if (w->s->mark != w->mark)
        leave_net(w);
    if (w->for_net)
        return;
    if (w->n)
        hwmc_shm_awake(w->n, &w->in_host);
    hwmc_wait_begins();
    w->for_net = true;
    w->mark = w->s->mark;
}

/* A few polls, as far as they find nothing and do not sleep: the stage has nothing to do then, but
 * for what it sees by its clock. Memory of the host's may change without a message. */
static int poll_some(const struct hwmc_op_stage *s)
{
    int mpi_errno, polls = 0;

    hwmc_shm_watch(s->behind);
    do
        mpi_errno = MPID_Progress_test(NULL);
    while (!hwmc_wait_polled() && mpi_errno == MPI_SUCCESS && !s->behind && ++polls < POLLS);
    hwmc_shm_watch(false);
    return mpi_errno;
}

/* Between two steps that wait for the network. */
static int poll_net(struct wait *w)
{
    const struct hwmc_op_stage *s = w->s;
    int mpi_errno;

    enter_net(w);
    mpi_errno = poll_some(s);
    /* Other threads of the program take their turn. */
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (s->now >= w->failure.wake) {
        hwmc_lock();
        hwmc_wait_failure_step(&w->failure, s->group);
        hwmc_unlock();
    }
    /* Once: MPICH keeps the texts of the last 128 errors, so that more would displace the first. */
    if (mpi_errno == MPI_SUCCESS && w->n && !w->failed && hwmc_shm_group_failed(&w->n->group))
        mpi_errno = hwmc_shm_failed(w->n, HWMC_ERR_PEER);
    return mpi_errno;
}

static int pause_(struct wait *w)
{
    if (w->s->waits == HWMC_STAGE_FOR_NET)
        return poll_net(w);
    leave_net(w);
    return hwmc_shm_idle(w->n, &w->in_host);
}

static void end_wait(struct wait *w)
{
    leave_net(w);
    if (w->n) {
        hwmc_shm_awake(w->n, &w->in_host);
        hwmc_shm_wakeup_ring(&w->n->group);
    }
    hwmc_wait_failure_over(&w->failure);
}

int hwmc_wait_stage(struct hwmc_op_stage *s, struct hwmc_shm_host *n)
{
    int mpi_errno = MPI_SUCCESS;
    struct wait w = {.s = s, .n = n};

    while (!hwmc_stage_step(s)) {
        int err = pause_(&w);

        if (err && !mpi_errno) {
            mpi_errno = err;
            w.failed = true;
            hwmc_host_loss_fail(s, n);
        }
    }
    end_wait(&w);
    if (mpi_errno && n)
        hwmc_shm_fail(n);
    return mpi_errno ? mpi_errno : hwmc_stage_error(s, n);
}

int hwmc_stage_error(const struct hwmc_op_stage *s, struct hwmc_shm_host *n)
{
    if (likely(s->err == HWMC_OK))
        return MPI_SUCCESS;
    if (s->in_host)
        return hwmc_shm_failed(n, s->err);
    if (n && s->err == HWMC_ERR_PEER)
        hwmc_host_loss_note(n, s->group);
    if (n)
        hwmc_shm_fail(n);
    if (s->err == HWMC_ERR_PEER)
        return hwmc_failure_error(s->group);
    if (s->err == HWMC_ERR_NOMEM)
        return hwmc_error_nomem();
    return hwmc_error_lengths(s->theirs, s->ours);
}
