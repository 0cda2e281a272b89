/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_NETMOD_BASE_GLOBAL_H_INCLUDED
#define HWMC_NETMOD_BASE_GLOBAL_H_INCLUDED

#include <stdatomic.h>

#include "versions.h"
#include "../../../../../mpi/coll/bcast_hw/entry/netmod.h"
#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "../../../../../mpi/coll/bcast_hw/port/lane.h"
#include "../../../../../mpi/coll/bcast_hw/port/rail.h"

#define MPIDI_HWMC_COMM(comm) ((comm)->dev.ch4.netmod.hwmc)

#define HWMC_JOB_LANES_MAX 32 /* HWMC_LANES_MAX of engine/wire/wires.h */

/* What the netmod has once a process. Fabrics and lane are the engine's; from here only their
 * descriptors are asked for. */
struct hwmc_global {
    struct hwmc_fabric *fabrics[HWMC_RAILS_MAX]; /* NULL: no multicast on that rail */
    struct hwmc_lane *lane;                      /* NULL: nothing is registered */
    struct hwmc_lane *lanes[HWMC_JOB_LANES_MAX]; /* for long broadcasts, num_lanes of them */
    int num_lanes;
    bool sessions; /* lanes are streams of sessions, which have progress to make at any time */
    /* Of MPICH's messages over sessions; NULL: there are none. `polled`: after a poll of MPICH's.
     * Sets *events. MPI error code. */
    int (*am_progress)(bool polled, int *events);
    bool pmi_in_use; /* another thread waits in PMI: ask it nothing */
};

extern struct hwmc_global hwmc_global;

/* This thread is the helper: it calls nothing of MPICH. */
extern __thread bool hwmc_is_helper __attribute__((tls_model("initial-exec")));

/* Messages of the engine or of sessions may come: their descriptors are to be looked at. */
static inline bool hwmc_engine_in_use(void)
{
    return hwmc_global.sessions || hwmc_active();
}

/* Communicators whose messages sessions do not carry. Any thread makes and frees some. */
extern atomic_int hwmc_num_strange;

/* Reads the control variables of waiting. */
void hwmc_wait_init(void);

/* Opens rail, fabric and lane of this process and registers them. Collective over MPI_COMM_WORLD,
 * which is `world` and is connected. */
int hwmc_setup(MPIR_Comm *world);

/* Gets the engine out of use and the connections of the ucx netmod to a point from which closing
 * them needs nobody else. Collective over MPI_COMM_WORLD. */
int hwmc_quiesce(void);

#endif /* HWMC_NETMOD_BASE_GLOBAL_H_INCLUDED */
