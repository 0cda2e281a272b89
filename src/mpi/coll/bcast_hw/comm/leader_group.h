/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * leader_group: one group of a communicator, and how it comes into use. A communicator of one rank
 * a host has one leader group, all its ranks. With several ranks a host, each leader group has one
 * rank of each host (core/place/leaders), and a broadcast uses the leader group of its root.
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
 *   or are `after`                          in MPI_Init
 *   those since then do, or are `ahead`     waits for the outcome; from here on by this leader
 *                                           group, or never. So a message that pays for set-up by
 *                                           itself begins it and waits for it
 *   from number agreed.from on              likewise (core/negotiation): all ranks know the
 *                                           outcome, or learn it in a broadcast that none of them
 *                                           has left. Not with several ranks a host: ranks outside
 *                                           the leader group take no part in the agreement
 *   others                                  not by this leader group
 *
 * Or by number, if the user says so, if one of hwmc's algorithms is forced, and for leader groups
 * other than the first:
 *
 *   broadcast number   0 ... after - 1          not by this leader group
 *                      after                    set-up begins, in the background
 *                      ... after + ahead - 1    not by it: ranks may run ahead of the slowest
 *                                               member
 *                      after + ahead            waits for the outcome; from here on by it, or never
 *
 * What is counted and weighed: for the first leader group, all broadcasts that hwmc could take;
 * those that do not use it are MPICH's. For another one, those that hwmc takes and whose root has
 * its place there; those that do not use it use the first one: the root hands the message inside
 * its host to the leader of that.
 *
 * Invariants: at the same broadcast each leader group is ON at all ranks of the communicator or at
 * none (except where it is BROKEN). Ranks that are not in it learn its state from the leader of
 * their host. Only ranks in a leader group have a group for it. Another one is ON only if the first
 * is, and multicasts if that does.
 *
 * A rank that has no memory for its group declines it (engine/group/decline): set-up ends with OFF
 * at all members, for that reason.
 *
 * BROKEN: set-up failed for this rank alone, or for a leader that it depends on: it has no memory
 * even to decline the group, or a member cannot be reached. The others may not know, and wait for
 * it. So this rank uses no other way, and each broadcast on the leader group is an error.
 *
 * Set-up messages name a leader group by a key that its members compute alike without
 * communication: the hash of context id and members, and how many leader groups with the same two
 * this process has come across so far. Members have come across equally many, since each began its
 * set-up on every one of them.
 *
 * The group of a persistent collective (twin.h) is set up in an order that differs from rank to
 * rank. Its key is that of the request, which is made where the request is: the hash of context id
 * and the communicator's ranks, and how many persistent collectives with the same two were
 * initialized in this process.
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

/* Fills in what control variables and the network say of a group. `only`: the
 * bytes of the one message that the group carries again and again; 0: it carries any. Few such
 * messages are under way, unless all ranks multicast one (by_all). */
void hwmc_configure_group(struct hwmc_group_cfg *cfg, MPI_Aint only, bool by_all);

/* The same of a group inside a site, whose members get messages as they come from other sites. */
void hwmc_configure_site(struct hwmc_group_cfg *cfg, MPI_Aint only, bool by_all);

/* A key for the group of a persistent collective on `comm`: see above. False: no memory. */
bool hwmc_leader_group_name(MPIR_Comm *comm, uint64_t *name);

/* How set-up of a leader group ended. */
struct hwmc_outcome {
    enum hwmc_leader_group_state state;
    struct hwmc_shape shape;
};

/* How many members each leader group has. */
uint32_t hwmc_leader_group_members(const MPIR_Comm *comm, const struct hwmc_comm *c);

/* Whether rank `rank` of the communicator is in leader group `which`. */
bool hwmc_leader_group_has(const struct hwmc_comm *c, uint32_t which, uint32_t rank);

/* Set-up begins: makes the group, at who is in it. `comm` carries `c`, and all its ranks call it at
 * the same place. */
void hwmc_leader_group_begin(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t which);

/* The outcome of set-up, at who is in the leader group; its group has settled. */
struct hwmc_outcome hwmc_leader_group_outcome(const struct hwmc_comm *c, uint32_t which);

/* Set-up has ended so, as all members know. */
void hwmc_leader_group_end(struct hwmc_leader_group *s, uint32_t which,
                           const struct hwmc_outcome *outcome);

/* The MPI error of a member that one of this rank's groups has lost; MPI_SUCCESS. `of`: a struct
 * hwmc_comm. */
int hwmc_leader_groups_lost(const void *of);

/* This rank takes no part in further collectives of `c`, as it could not begin one, or its host has
 * failed. Those on other hosts, which would wait for it, end with an error. */
void hwmc_leader_groups_leave(struct hwmc_comm *c);

/* The same, and whatever `c` does from here on is an error at this rank: it has no memory for what
 * others do. */
void hwmc_leader_groups_break(struct hwmc_comm *c);

/* A collective over hosts has ended at this rank with this error of its stages: leaves, if it is
 * not in step with the others any more. */
void hwmc_leader_groups_settle(struct hwmc_comm *c, enum hwmc_err err);

/* The MPI error of a leader group that is BROKEN; MPI_SUCCESS of others. */
int hwmc_leader_group_error(const struct hwmc_leader_group *s);

/* Over several hosts: the rank of `host` on leader group `which`. */
uint32_t hwmc_leader_group_at(const struct hwmc_comm *c, uint32_t which, uint32_t host);

/* Over several hosts: the leader group that broadcasts from `root` are to go by, if it is ready for
 * them; else they go by the first. */
uint32_t hwmc_leader_group_of_root(const struct hwmc_comm *c, int root);

/* No broadcast follows on *g, which may be NULL, and is NULL then. */
void hwmc_drop_group(struct hwmc_group **g);

/* Frees what is remembered of past leader groups. */
void hwmc_forget_seen(void);

#endif /* HWMC_COMM_LEADER_GROUP_H_INCLUDED */
