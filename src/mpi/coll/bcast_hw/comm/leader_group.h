/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * leader_group: one group of a communicator, and how it comes to be used. A communicator of one
 * rank a host has one leader group, all its ranks. Over several hosts each leader group is of one
 * rank of each host (core/place/leaders), and a broadcast goes by the leader group that its root is
 * on.
 *
 *     COUNTING -> SETUP -> ON
 *                     |--> OFF
 *                     \--> BROKEN
 *
 * When set-up begins, and from which broadcast on the leader group is used, must be the same at all
 * ranks. Either by weight: each broadcast weighs what hwmc would save on it, as the cost model has
 * it (core/model/model) for the shape that the communicator is expected to have.
 *
 *   those so far weigh what set-up costs,   set-up begins, in the background; MPI_COMM_WORLD's
 *                                           in MPI_Init
 *   or are `after`
 *   those since then do, or are `ahead`     waits for the outcome; from here on by this leader
 *                                           group, or never. So a message that pays for set-up by
 *                                           itself begins it and waits for it
 *   from number agreed.from on              likewise (core/negotiation): all ranks know the
 *                                           outcome, or learn it in a broadcast that none of them
 *                                           has left. Not over several hosts: who is not in the
 *                                           leader group has no part in what is agreed
 *   others                                  not by this leader group
 *
 * Or by number, where the user says so, where one of hwmc's algorithms is forced, and for other
 * leader groups than the first:
 *
 *   broadcast number   0 ... after - 1          not by this leader group
 *                      after                    set-up begins, in the background
 *                      ... after + ahead - 1    not by it: ranks may run ahead of the slowest
 *                                               member
 *                      after + ahead            waits for the outcome; from here on by it, or never
 *
 * Counted, and weighed, are: for the first leader group all broadcasts that hwmc could take; what
 * does not go by it is MPICH's. For another one those that hwmc takes and whose root has its place
 * there; what does not go by it goes by the first: the root hands it inside its host to the one
 * that is in that.
 *
 * Invariants: at the same broadcast each leader group is ON at all ranks of the communicator or at
 * none (but where it is BROKEN), at those that are not in it by what those on their host tell them;
 * only who is in a leader group has a group for it. Another one is ON only if the first is, and
 * multicasts if that does.
 *
 * A rank that has no memory for its group declines it (engine/group/decline): set-up ends with OFF
 * at all members, for that reason.
 *
 * BROKEN is where set-up failed for this rank alone, or for one that it goes by: for want of memory
 * even to decline the group, or because a member cannot be reached. The others may not know, and
 * wait for it; so it does not go on by another way, and each broadcast by the leader group is an
 * error.
 *
 * Set-up messages name a leader group by a key that its members compute alike without talking: the
 * hash of context id and members, and how many leader groups with the same two this process has
 * seen come so far. Members have seen equally many, since each began its set-up on every one of
 * them.
 */

#ifndef HWMC_COMM_LEADER_GROUP_H_INCLUDED
#define HWMC_COMM_LEADER_GROUP_H_INCLUDED

#include "mpiimpl.h"
#include "../core/model/model.h"
#include "../engine/engine.h"

#define HWMC_LEADERS_MAX 8u

enum hwmc_leader_group_state {
    HWMC_LEADER_GROUP_COUNTING,
    HWMC_LEADER_GROUP_SETUP,
    HWMC_LEADER_GROUP_ON,
    HWMC_LEADER_GROUP_OFF,
    HWMC_LEADER_GROUP_BROKEN
};

struct hwmc_leader_group {
    enum hwmc_leader_group_state state;
    /* Until SETUP is over: */
    uint64_t counted; /* broadcasts */
    uint64_t begun;   /* SETUP: how many there were before it */
    uint64_t weight;  /* ns: of all of them; SETUP: of those from begun on */
    /* SETUP, ON: at who is on this leader group; NULL for want of memory: `declined`, or BROKEN. */
    struct hwmc_group *group;
    bool declined;
    struct hwmc_shape shape; /* ON: of the group; no fragments: it does not multicast */
};

struct hwmc_comm;

/* Fills in what control variables and the network say of a group. `rails` are there. */
void hwmc_configure_group(struct hwmc_group_cfg *cfg);

/* One more broadcast, of `bytes`, could go by leader group `which` of what `comm` carries; whether
 * it does, or must fail. May begin set-up, or wait for its end. All ranks of `comm` ask with the
 * same broadcast. Waits. hierarchy.h asks the same step by step. */
bool hwmc_leader_group_ready(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t which, MPI_Aint bytes);

/* Sets up the first leader group before any broadcast, if that is by weight. All ranks of `comm`
 * call it at the same place. */
void hwmc_leader_group_prepare(MPIR_Comm *comm, struct hwmc_comm *c);

/* The MPI error of a member that one of this rank's groups has lost; MPI_SUCCESS. `of`: a struct
 * hwmc_comm. */
int hwmc_leader_groups_lost(const void *of);

/* The MPI error of a leader group that is BROKEN; MPI_SUCCESS of others. */
int hwmc_leader_group_error(const struct hwmc_leader_group *s);

/* Over several hosts: the rank of `host` on leader group `which`. */
uint32_t hwmc_leader_group_at(const struct hwmc_comm *c, uint32_t which, uint32_t host);

/* Over several hosts: the leader group that broadcasts from `root` are to go by, if it is ready for
 * them; else they go by the first. */
uint32_t hwmc_leader_group_of_root(const struct hwmc_comm *c, int root);

/* No broadcast follows on it. */
void hwmc_leader_group_drop(struct hwmc_leader_group *s);

/* Frees what is remembered of past leader groups. */
void hwmc_forget_seen(void);

#endif /* HWMC_COMM_LEADER_GROUP_H_INCLUDED */
