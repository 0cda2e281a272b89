/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * state: where a communicator keeps what hwmc has for it, and waiting for its operations.
 */

#include "comm.h"
#include "../process/mpich.h"
#include "../process/process.h"

struct hwmc_comm **hwmc_comm_slot(MPIR_Comm *comm)
{
#ifdef HAVE_CH4_NETMOD_HWMC
    return &comm->dev.ch4.netmod.hwmc.group;
#else
    return NULL;
#endif
}

struct hwmc_comm *hwmc_comm_state(MPIR_Comm *comm)
{
    struct hwmc_comm **slot = hwmc_comm_slot(comm);

    return slot ? *slot : NULL;
}

struct hwmc_comm *hwmc_state_of(MPIR_Comm *comm)
{
    struct hwmc_comm **slot = hwmc_comm_slot(comm);

    if (!slot)
        return NULL;
    if (!*slot)
        *slot = MPL_calloc(1, sizeof(**slot), MPL_MEM_COMM);
    return *slot;
}

void hwmc_comm_drain(struct hwmc_comm *c)
{
    if (likely(hwmc_queue_is_empty(&c->queue)))
        return;
    hwmc_wait_begins();
    while (!hwmc_queue_is_empty(&c->queue) && MPID_Progress_test(NULL) == MPI_SUCCESS) {
        hwmc_wait_polled();
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    }
    hwmc_wait_ends();
}
