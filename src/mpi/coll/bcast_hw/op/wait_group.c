/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Waiting for a group of the network, with MPICH's progress, and for what an error leaves behind.
 */

#include "wait.h"
#include "wait_failure.h"
#include "retreat.h"

uint64_t hwmc_deadline(void)
{
    uint64_t at = hwmc_process_deadline(), look;

    if (!hwmc_active())
        return at;
    hwmc_lock();
    look = hwmc_wait_failure_deadline();
    hwmc_unlock();
    return MPL_MIN(at, look);
}

/* Under the lock, for who is about to return with an error: what is under way goes on for a
 * moment. */
static void give_way(void)
{
    hwmc_unlock();
    hwmc_wait_begins();
    MPID_Progress_test(NULL);
    hwmc_wait_polled();
    hwmc_wait_ends();
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    hwmc_lock();
}

/* Under the lock: others get to know that the group is broken, as in a retreat. */
static void tell(const struct hwmc_group *g)
{
    while (hwmc_now() < g->loss.at + HWMC_TELL_NS && !hwmc_engine_told(hwmc_process_engine()))
        give_way();
}

int hwmc_wait_group(struct hwmc_group *g, bool (*ready)(struct hwmc_group *g))
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_wait_failure failure = {0};

    hwmc_wait_begins();
    hwmc_lock();
    while (g->state != HWMC_GROUP_BROKEN && !ready(g)) {
        hwmc_unlock();
        mpi_errno = MPID_Progress_test(NULL);
        hwmc_wait_polled();
        /* Other threads of the program take their turn. */
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
        hwmc_lock();
        MPIR_ERR_CHECK(mpi_errno);
        if (g->wires->now >= failure.wake)
            hwmc_wait_failure_step(&failure, g);
    }
    if (g->state == HWMC_GROUP_BROKEN) {
        hwmc_group_pump(g, g->wires->now);
        tell(g);
        mpi_errno = hwmc_failure_error(g);
    }
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    hwmc_wait_ends();
    hwmc_wait_failure_end(&failure);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}
