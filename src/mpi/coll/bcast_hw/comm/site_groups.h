/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * site_groups: groups beside that of a communicator's first leader group, where the members are at
 * several sites and multicast does not reach all of them. A broadcast then goes by multicast inside
 * each site and along trees between the sites (op/bcast.h).
 *
 *   inside       the members of a site: a member has that of its own, or none if it is alone
 *                there
 *   between[0]   the first member of each site; others have none
 *   between[1]   the second one of each site, or the first where that is alone: a long message of
 *                which a site's first member is the root goes by it, for its line would have to
 *                carry the message twice
 *
 * How they come into use, as a machine that is stepped and never waits. All ranks of the
 * communicator begin it for the same collective, once set-up of the leader group has ended:
 *
 *   GROUPS   at members: set-up of the groups
 *   AGREE    all ranks tell what came of theirs, and take the least
 *   ENDED    the shape of the leader group says: site_frag_bytes
 *
 * Invariants: they are in use on all ranks or on none. In use: each is set up at every member that
 * is to have it, and multicast works inside at least one site; a site where it does not has trees
 * inside. The leader group's own group stays, for exchanges, for broadcasts along trees only, and
 * for its failures: it is BROKEN on all members once a group of these is on one.
 */

#ifndef HWMC_COMM_SITE_GROUPS_H_INCLUDED
#define HWMC_COMM_SITE_GROUPS_H_INCLUDED

#include "await.h"
#include "messages.h"

#define HWMC_SITE_GATEWAYS 2u /* of a site, at most */

enum hwmc_site_groups_state {
    HWMC_SITE_GROUPS_NONE,
    HWMC_SITE_GROUPS_GROUPS,
    HWMC_SITE_GROUPS_AGREE,
    HWMC_SITE_GROUPS_ENDED
};

struct hwmc_site_groups {
    enum hwmc_site_groups_state state;
    struct hwmc_messages messages;
    int own, least; /* AGREE: what this rank tells, and the least that any does */
    struct hwmc_group *inside, *between[HWMC_SITE_GATEWAYS];
};

struct hwmc_comm;
struct hwmc_shape;

/* Whether a leader group of this shape, which has come into use, is to have them. Alike on all
 * ranks. */
bool hwmc_site_groups_wanted(const struct hwmc_shape *shape);

/* `tag`: of the operation (messages.h). */
void hwmc_site_groups_begin(MPIR_Comm *comm, struct hwmc_comm *c, int tag);

/* True: it has ended, with this MPI error, and `shape` says how; false: it waits for `a`.
 * *mpi_errno is that of having waited, MPI_SUCCESS at first. */
bool hwmc_site_groups_step(struct hwmc_comm *c, struct hwmc_shape *shape, struct hwmc_await *a,
                           int *mpi_errno);

/* The place among the members of a site of its gateway in between[which]. */
uint32_t hwmc_site_gateway(const struct hwmc_sites *sites, uint32_t site, uint32_t which);

/* No broadcast follows on them. */
void hwmc_site_groups_drop(struct hwmc_site_groups *s);

#endif /* HWMC_COMM_SITE_GROUPS_H_INCLUDED */
