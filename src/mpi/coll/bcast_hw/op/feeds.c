/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Messages in parts, where ranks of a host are near to different rails (core/feeds). Each feed is a
 * side, with a group on its rails only, and its part goes on inside each host by memory of its own,
 * since it comes beside the others. All feeds are set up by the same messages; they are used when
 * all are ON, and given up when one is OFF.
 */

#include "../comm/shm.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_BCAST_HW_FEED_BYTES
      category    : BCAST_HW
      type        : int
      default     : 524288
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Where ranks of a host are near to different rails, messages from this length (in bytes) on
        go in parts, each by the ranks that are near to its rail. -1: none do.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* A feed that is OFF on one rank is so on all, or the ranks of its host have failed; then the
 * others are of no use. */
static void give_up(struct hwmc_comm *c)
{
    for (uint32_t i = 0; i < c->feeds.num; i++) {
        struct hwmc_leader_group *s = &c->leader_group[hwmc_feed(i)];

        s->state = HWMC_LEADER_GROUP_OFF;
        hwmc_leader_group_drop(s);
    }
    hwmc_forget_feeds(c);
    c->feeds.num = 0;
}

bool hwmc_feeds_ready(MPIR_Comm *comm, struct hwmc_comm *c, MPI_Aint bytes)
{
    bool ready = true, off = false;

    if (c->leader_group[0].state == HWMC_LEADER_GROUP_BROKEN || MPIR_CVAR_BCAST_HW_FEED_BYTES < 0 ||
        bytes < MPIR_CVAR_BCAST_HW_FEED_BYTES || !hwmc_feeds_fit(&c->feeds, (uint64_t) bytes))
        return false;
    for (uint32_t i = 0; i < c->feeds.num; i++) {
        ready &= hwmc_leader_group_ready(comm, c, hwmc_feed(i), bytes);
        off |= c->leader_group[hwmc_feed(i)].state == HWMC_LEADER_GROUP_OFF;
    }
    if (off)
        give_up(c);
    return ready;
}

bool hwmc_feed_begin(MPIR_Comm *comm, struct hwmc_comm *c, uint32_t feed)
{
    struct hwmc_shm_comm *n;

    if (feed == 0)
        return true;
    n = c->feed_node[feed] = hwmc_shm_another(c->shm);
    if (n)
        (void) hwmc_shm_setup(n, comm);
    if (!n || n->state == HWMC_SHM_BROKEN) { /* others may have theirs, and wait for this rank */
        hwmc_shm_fail(c->shm);
        return false;
    }
    return n->state != HWMC_SHM_SPREAD;
}

void hwmc_forget_feeds(struct hwmc_comm *c)
{
    for (uint32_t i = 0; i < HWMC_RAIL_BITS; i++) {
        if (c->feed_node[i])
            hwmc_shm_free(c->feed_node[i]);
        c->feed_node[i] = NULL;
    }
}
