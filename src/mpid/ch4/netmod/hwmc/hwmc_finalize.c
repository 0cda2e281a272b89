/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The end of a job. The ucx netmod closes its endpoints one by one, and waits; over TCP a close can
 * wait for the peer. MPICH 4.0 then enters a barrier of the process manager, in which a process makes
 * no progress: who gets there first leaves the others waiting for ever. Later versions enter it before,
 * and destroy their worker while others may still wait for it.
 *
 * So, before the ucx netmod closes anything, every process enters a barrier, and goes on making progress
 * until all have. The barrier blocks, so a thread of its own enters it. Who has entered has got all it waits
 * for, and when all have nobody needs anything: what is still on its way is flushed for nobody (it may be
 * on its way for ever, over a connection that could not be made), and endpoints go with their worker, which
 * asks nobody.
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_am.h"
#include "hwmc_meeting.h"
#include "../ucx/ucx_impl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define STACK_BYTES (256 * 1024)
#define STACK_ALIGN 4096 /* a page's, on most machines; the platform asks for less */

/* A step of a wait for all processes: progress of every worker and of the engine. The error that one of them is gone. */
static int step(void)
{
    struct MPIDI_HWMC_poll *p = &MPIDI_HWMC_poll;

    MPIDI_HWMC_poll_begins();
    p->polling = true;
    for (int i = 0; i < MPIDI_HWMC_NUM_VCIS; i++)
        ucp_worker_progress(MPIDI_UCX_global.ctx[i].worker);
    p->polling = false;
    MPIDI_HWMC_poll_ends(0);
    MPIDI_HWMC_wait_polled();
    return MPIR_Bcast_hw_all_there();
}

/* The process manager's barrier, and the thread that is in it: with a stack that needs no memory any more. */
static struct {
    bool entered;
    pthread_t thread;
    int mpi_errno;
    atomic_bool done;
} barrier;
static unsigned char barrier_stack[STACK_BYTES] __attribute__((aligned(STACK_ALIGN)));

static void *enter_barrier(void *unused)
{
    barrier.mpi_errno = MPIR_pmi_barrier();
    atomic_store(&barrier.done, true);
    return unused;
}

static int start_barrier(void)
{
    int err, mpi_errno = MPI_SUCCESS;
    pthread_attr_t attributes;

    atomic_store(&barrier.done, false);
    pthread_attr_init(&attributes);
    err = pthread_attr_setstack(&attributes, barrier_stack, sizeof(barrier_stack));
    if (err == 0)
        err = pthread_create(&barrier.thread, &attributes, enter_barrier, NULL);
    pthread_attr_destroy(&attributes);
    MPIR_ERR_CHKANDJUMP1(err != 0, mpi_errno, MPI_ERR_OTHER, "**hwmc_end_thread",
                         "**hwmc_end_thread %s", strerror(err));
    barrier.entered = true;
    MPIDI_HWMC_global.pmi_in_use = true;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* A barrier, with progress. If that fails, as a host is gone, the thread stays in it. */
static int wait_for_all(void)
{
    int mpi_errno = MPI_SUCCESS;

    if (!barrier.entered) {
        mpi_errno = start_barrier();
        MPIR_ERR_CHECK(mpi_errno);
    }
    while (!atomic_load(&barrier.done)) {
        mpi_errno = step();
        MPIR_ERR_CHECK(mpi_errno);
    }
    pthread_join(barrier.thread, NULL);
    barrier.entered = false;
    MPIDI_HWMC_global.pmi_in_use = false;
    mpi_errno = barrier.mpi_errno;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static bool all_met;

#undef ucp_disconnect_nb
void *MPIDI_HWMC_ucp_disconnect_nb(ucp_ep_h ep)
{
    return all_met ? NULL : ucp_disconnect_nb(ep);
}

int MPIDI_HWMC_quiesce(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_HWMC_poll.eager++;
    MPIR_Bcast_hw_drain();
    while ((MPIDI_HWMC_global.links && !MPIDI_HWMC_am_idle()) || !MPIR_Bcast_hw_drained()) {
        mpi_errno = step();
        MPIR_ERR_CHECK(mpi_errno);
    }
    while (MPIDI_HWMC_global.links && !MPIDI_HWMC_met()) {
        mpi_errno = step();
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = wait_for_all();
    MPIR_ERR_CHECK(mpi_errno);
    all_met = true;

fn_exit:
    MPIDI_HWMC_poll.eager--;
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
