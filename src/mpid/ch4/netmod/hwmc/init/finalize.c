/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The end of a job. The ucx netmod closes its endpoints one by one, and waits; over TCP a close can
 * wait for the peer. MPICH 4.0 then enters a barrier of the process manager, in which a process
 * makes no progress. So the first process there leaves the others waiting for ever. Later versions
 * enter it before, and destroy their worker while others may still wait for it.
 *
 * So every process enters a barrier before the ucx netmod closes anything, and makes progress until
 * all have entered. The barrier blocks, so a thread of its own enters it. A process that has
 * entered has got all it waits for. When all have, nobody needs anything: messages still under way
 * are not flushed (they may be so for ever, over a connection that could not be made), and
 * endpoints vanish with their worker, which asks nobody.
 */

#include "mpidimpl.h"
#include "../../../../../mpi/coll/bcast_hw/op/wait_failure.h"
#include "../base/global.h"
#include "../am/am.h"
#include "exit_pmi.h"
#include "exit_barrier.h"
#include "../../ucx/ucx_impl.h"

/* A step of a wait for all processes: progress of every worker and of the engine. The error that
 * one of them has failed. */
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
    return hwmc_all_there();
}

/* A barrier, with progress. If that fails, as a host has failed, the thread stays in it. */
static int wait_for_all(void)
{
    int mpi_errno = MPI_SUCCESS, outcome = MPI_SUCCESS;

    mpi_errno = hwmc_exit_pmi_enter();
    MPIR_ERR_CHECK(mpi_errno);
    while (!hwmc_exit_pmi_is_over(&outcome)) {
        mpi_errno = step();
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = outcome;

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

int hwmc_quiesce(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_HWMC_poll.eager++;
    hwmc_drain();
    while ((hwmc_global.sessions && !hwmc_am_idle()) || !hwmc_drained()) {
        mpi_errno = step();
        MPIR_ERR_CHECK(mpi_errno);
    }
    while (hwmc_global.sessions && !hwmc_exit_barrier_met()) {
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
