/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * comm: what a communicator carries.
 */

#ifndef HWMC_COMM_COMM_H_INCLUDED
#define HWMC_COMM_COMM_H_INCLUDED

#include "mpiimpl.h"
#include "../core/place/leaders.h"
#include "../stats/export.h"
#include "ask.h"
#include "hierarchy.h"
#include "leader_group.h"
#include "site_groups.h"
#include "twin.h"
#include "../op/queue.h"
#include "trials.h"

enum hwmc_worth { HWMC_WORTH_UNKNOWN, HWMC_WORTH_YES, HWMC_WORTH_NO };

/* One per communicator, made at the first collective that hwmc may take; and one per persistent
 * collective (twin.h). */
struct hwmc_comm {
    struct hwmc_shm_comm *shm;         /* shm.h; NULL before the first of its collectives */
    struct hwmc_queue queue;           /* operations that are not over */
    struct hwmc_export_place place;    /* where it is shown */
    enum hwmc_worth worth;             /* its shape gains from multicast */
    uint32_t hosts;                    /* that its ranks run on; once `worth` is known */
    struct hwmc_twin twin;             /* of a persistent collective */
    struct hwmc_trials trials;         /* which ways are the fastest */
    struct hwmc_reduce_memo reduction; /* the way of the last one */
    uint32_t row;     /* direct calls to a root since ranks waited for each other: entry/direct.h */
    bool admitted;    /* the broadcast under way is to be taken */
    bool along_trees; /* ... by multilane */

    /* Hierarchical: a leader group has one rank of each host. The others on its host get messages
     * from that one, or from the root if it is among them, by `shm` (op/bcast.h), of which a
     * rank is number leaders.number. If not, there is one leader group, of all ranks. */
    bool by_hosts;
    struct hwmc_hierarchy hierarchy;
    struct hwmc_leaders leaders;
    uint32_t *leaders_mem; /* theirs */
    struct hwmc_leader_group leader_group[HWMC_LEADERS_MAX];
    struct hwmc_site_groups site_groups; /* of the first one */
};

/* What `comm` carries; NULL when nothing yet, or where the device has no place for it. */
struct hwmc_comm *hwmc_comm_state(MPIR_Comm *comm);

/* Where that is kept; NULL: the device has no place. */
struct hwmc_comm **hwmc_comm_slot(MPIR_Comm *comm);

/* The same, made if it can be. */
struct hwmc_comm *hwmc_state_of(MPIR_Comm *comm);

/* Frees what a communicator has for collectives inside hosts. */
struct hwmc_shm_comm;
void hwmc_shm_free(struct hwmc_shm_comm *n);

/* Collectives inside a host: from now on, at the same point of all processes; no more. */
void hwmc_shm_open(void);
void hwmc_shm_shut(void);

/* Frees what a process has of it. */
void hwmc_shm_close(void);

/* Whether hwmc runs this broadcast: MPIR_Hwmc_takes (entry/hooks.h). */
bool hwmc_comm_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm);

/* Whether a collective between hosts, other than a broadcast, that weighs as a broadcast of
 * `bytes`, 1 or more, goes by the first leader group of *c, which `comm` carries; NULL: no memory,
 * and it is an error. The same answer on all ranks. May wait, as hwmc_comm_takes. */
bool hwmc_comm_spreads(MPIR_Comm *comm, MPI_Aint bytes, struct hwmc_comm **c);

/* Whether a nonblocking one goes to the queue of `comm`, where that is asked: likewise. */
bool hwmc_comm_queues_spread(MPIR_Comm *comm, struct hwmc_comm **c);

/* Whether a nonblocking or persistent broadcast goes to the queue of `comm`, where it is decided
 * who runs it: the same answer on all ranks, whatever else they have called. *queues: what `comm`
 * carries; NULL: no memory, and the broadcast is an error. */
bool hwmc_comm_queues(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm,
                      struct hwmc_comm **queues);

/* The plan of a broadcast: hwmc or MPICH runs it, and how. It is made when the broadcast is the
 * first of its queue. */
enum hwmc_plan_state { HWMC_PLAN_FIRST, HWMC_PLAN_ANOTHER, HWMC_PLAN_MADE };

struct hwmc_plan {
    enum hwmc_plan_state state; /* about which leader group it is asked */
    struct hwmc_ask ask;
    int root;
    uint32_t leader_group; /* MADE: that the message goes by */
    bool by_hwmc;          /* MADE: or by MPICH */
    bool along_trees;      /* MADE: by multilane */
};

static inline struct hwmc_plan hwmc_plan_of(int root, MPI_Aint bytes, int tag)
{
    return (struct hwmc_plan){.ask = hwmc_ask_of(0, bytes, tag), .root = root};
}

/* True: it is made; false: it waits for `a`. `mpi_errno`: of having waited. */
bool hwmc_comm_plan(MPIR_Comm *comm, struct hwmc_comm *c, struct hwmc_plan *p, struct hwmc_await *a,
                    int mpi_errno);

/* Waits until all operations of the communicator are over: a blocking collective that follows them
 * goes after them. */
void hwmc_comm_drain(struct hwmc_comm *c);

/* Shows how the collectives of `comm`, which carries `c`, go from now on: stats/export.h. */
void hwmc_comm_show(MPIR_Comm *comm, struct hwmc_comm *c);

/* At the same place of all processes, once the network is known: begins to set up MPI_COMM_WORLD's
 * multicast, in the background. Returns an MPI error code. */
int hwmc_prepare(MPIR_Comm *world);

/* `comm` is about to go: drops what hwmc holds for it. Local, and never waits for another rank. */
void hwmc_comm_free(MPIR_Comm *comm);

/* Drops `c`, which nothing uses any more. Likewise. */
void hwmc_comm_release(struct hwmc_comm *c);

#endif /* HWMC_COMM_COMM_H_INCLUDED */
