/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hierarchy: whether a communicator broadcasts over several hosts by leaders, and who these are, as
 * a machine that is stepped and never waits:
 *
 *   GATHER   every rank tells all others how near it is to which rail
 *   SEGMENT  the ranks of each host share a segment (shm_setup.h)
 *   ENDED    c->by_hosts says how it ended
 */

#ifndef HWMC_COMM_HIERARCHY_H_INCLUDED
#define HWMC_COMM_HIERARCHY_H_INCLUDED

#include "await.h"
#include "leader_group.h"
#include "../engine/wire/rails.h"
#include "../shm/coll/bcast.h"

/* What a rank tells all others of itself. */
struct hwmc_near {
    int distance[HWMC_RAIL_BITS]; /* from each rail, in any unit; INT_MAX: not known */
    int casts;                    /* rails that it has multicast on, a bit each */
};

enum hwmc_hierarchy_state {
    HWMC_HIERARCHY_UNKNOWN,
    HWMC_HIERARCHY_GATHER,
    HWMC_HIERARCHY_SEGMENT,
    HWMC_HIERARCHY_ENDED
};

struct hwmc_hierarchy {
    enum hwmc_hierarchy_state state;
    struct hwmc_messages messages;
    struct hwmc_near own, *near; /* what this rank tells; what all do, until it has ended */
    uint32_t *host_of;           /* by rank, likewise */
};

struct hwmc_comm;

/* All members begin it for the same operation, whose tag this is (messages.h). MPI error code; it
 * has ended then. */
int hwmc_hierarchy_begin(MPIR_Comm *comm, struct hwmc_comm *c, int tag);

/* True: it has ended, with this MPI error; false: it waits for `a`. *mpi_errno is that of having
 * waited, MPI_SUCCESS at first. */
bool hwmc_hierarchy_step(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_await *a,
                         int *mpi_errno);

void hwmc_hierarchy_forget(struct hwmc_comm *c);

/* A leader tells it to the ranks of its host that are not in the leader group. */
struct hwmc_outcome_told {
    struct hwmc_outcome outcome; /* at others than the leader once it is over */
    struct hwmc_shm_tree star;
    struct hwmc_shm_bcast bcast;
    struct hwmc_await_shm shm; /* its err is the result */
};
void hwmc_outcome_begin(struct hwmc_comm *c, uint32_t leader_group, struct hwmc_outcome_told *t);
bool hwmc_outcome_step(struct hwmc_comm *c, struct hwmc_outcome_told *t, struct hwmc_await *a);

#endif /* HWMC_COMM_HIERARCHY_H_INCLUDED */
