/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The end of a job. The ucx netmod closes its endpoints one by one, and waits; over TCP a close can
 * wait for the peer. MPICH 4.0 then enters a barrier of the process manager, in which a process makes
 * no progress: who gets there first leaves the others waiting for ever. Later versions enter it before,
 * and destroy their worker while others may still wait for it.
 *
 * So, before the ucx netmod closes anything, every process flushes what it has, and goes on making
 * progress until all have said in a barrier that theirs is flushed. The barrier blocks, so a thread of
 * its own enters it. From then on nobody needs anything: endpoints go with their worker, which asks
 * nobody.
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_am.h"
#include "hwmc_meeting.h"
#include "../ucx/ucx_impl.h"

#include <pthread.h>
#include <stdatomic.h>

static void on_flushed(void *request, ucs_status_t status, void *user_data)
{
    (void) status; /* an error: there is nothing more to flush */
    --*(int *) user_data;
    ucp_request_free(request);
}

static void start_flush(int *pending)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_flushed,
        .user_data = pending,
    };

    for (int rank = 0; rank < MPIR_Process.size; rank++) {
        MPIDI_UCX_addr_t *av = &MPIDI_HWMC_UCX_AV(rank);

        for (int i = 0; i < MPIDI_HWMC_NUM_VCIS; i++) {
            for (int j = 0; j < MPIDI_HWMC_NUM_VCIS; j++) {
                if (av->dest[i][j] && UCS_PTR_IS_PTR(ucp_ep_flush_nbx(av->dest[i][j], &param)))
                    ++*pending;
            }
        }
    }
}

/* One step of waiting: progress of every worker and of the engine. */
static void step(void)
{
    MPIDI_HWMC_poll_begins();
    for (int i = 0; i < MPIDI_HWMC_NUM_VCIS; i++)
        ucp_worker_progress(MPIDI_UCX_global.ctx[i].worker);
    MPIDI_HWMC_poll_ends(0);
}

struct barrier {
    int mpi_errno;
    atomic_bool done;
};

static void *enter_barrier(void *arg)
{
    struct barrier *b = arg;

    b->mpi_errno = MPIR_pmi_barrier();
    atomic_store(&b->done, true);
    return NULL;
}

/* A barrier, with progress. Without a thread for it, one without. If it fails as a host is gone the thread stays. */
static int wait_for_all(void)
{
    static struct barrier b;
    int mpi_errno = MPI_SUCCESS;
    pthread_t thread;

    atomic_store(&b.done, false);
    MPIDI_HWMC_global.pmi_in_use = true;
    if (pthread_create(&thread, NULL, enter_barrier, &b) == 0) {
        while (!atomic_load(&b.done)) {
            step();
            mpi_errno = MPIR_Bcast_hw_all_there();
            MPIR_ERR_CHECK(mpi_errno);
        }
        pthread_join(thread, NULL);
    } else {
        enter_barrier(&b);
    }
    MPIDI_HWMC_global.pmi_in_use = false;
    mpi_errno = b.mpi_errno;

fn_exit:
    return mpi_errno;
fn_fail:
    pthread_detach(thread);
    goto fn_exit;
}

static bool all_flushed;

#undef ucp_disconnect_nb
void *MPIDI_HWMC_ucp_disconnect_nb(ucp_ep_h ep)
{
    return all_flushed ? NULL : ucp_disconnect_nb(ep);
}

int MPIDI_HWMC_quiesce(void)
{
    int mpi_errno = MPI_SUCCESS;
    static int pending; /* the flushes of UCX that run, also after an error */

    pending = 0;
    MPIR_Bcast_hw_drain();
    /* What links carry is flushed when they say so. The endpoints of the ucx netmod have then carried nothing
     * since the job began, and one over a rail that died since would never be. */
    if (!MPIDI_HWMC_carries)
        start_flush(&pending);
    while (pending > 0 || (MPIDI_HWMC_global.links && !MPIDI_HWMC_am_idle()) ||
           !MPIR_Bcast_hw_drained()) {
        step();
        mpi_errno = MPIR_Bcast_hw_all_there();
        MPIR_ERR_CHECK(mpi_errno);
    }
    while (MPIDI_HWMC_global.links && !MPIDI_HWMC_met()) {
        step();
        mpi_errno = MPIR_Bcast_hw_all_there();
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = wait_for_all();
    MPIR_ERR_CHECK(mpi_errno);
    all_flushed = true;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
