/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Messages in parts, where ranks of a host are near to different rails (core/feeds). Each feed is a
 * side, with a group on its rails only, and its part goes on inside each host by memory of its own,
 * since it comes beside the others. All feeds are set up by the same messages; they are used when
 * all are ON, and given up when one is OFF.
 */

#include "node_glue.h"

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
static void give_up(struct bcast_hw_comm *c)
{
    for (uint32_t i = 0; i < c->feeds.num; i++) {
        struct bcast_hw_side *s = &c->side[MPIR_Bcast_hw_feed(i)];

        s->state = BCAST_HW_SIDE_OFF;
        MPIR_Bcast_hw_side_drop(s);
    }
    MPIR_Bcast_hw_forget_feeds(c);
    c->feeds.num = 0;
}

bool MPIR_Bcast_hw_feeds_ready(MPIR_Comm *comm, struct bcast_hw_comm *c, MPI_Aint bytes)
{
    bool ready = true, off = false;

    if (c->side[0].state == BCAST_HW_SIDE_BROKEN || MPIR_CVAR_BCAST_HW_FEED_BYTES < 0 ||
        bytes < MPIR_CVAR_BCAST_HW_FEED_BYTES || !bcast_hw_feeds_fit(&c->feeds, (uint64_t) bytes))
        return false;
    for (uint32_t i = 0; i < c->feeds.num; i++) {
        ready &= MPIR_Bcast_hw_side_ready(comm, c, MPIR_Bcast_hw_feed(i), bytes);
        off |= c->side[MPIR_Bcast_hw_feed(i)].state == BCAST_HW_SIDE_OFF;
    }
    if (off)
        give_up(c);
    return ready;
}

bool MPIR_Bcast_hw_feed_begin(MPIR_Comm *comm, struct bcast_hw_comm *c, uint32_t feed)
{
    struct bcast_hw_node_comm *n;

    if (feed == 0)
        return true;
    n = c->feed_node[feed] = MPIR_Bcast_hw_node_another(c->node);
    if (n)
        (void) MPIR_Bcast_hw_node_setup(n, comm);
    if (!n ||
        n->state == BCAST_HW_NODE_BROKEN) { /* others may have theirs, and wait for this rank */
        MPIR_Bcast_hw_node_fail(c->node);
        return false;
    }
    return n->state != BCAST_HW_NODE_SPREAD;
}

void MPIR_Bcast_hw_forget_feeds(struct bcast_hw_comm *c)
{
    for (uint32_t i = 0; i < BCAST_HW_RAIL_BITS; i++) {
        if (c->feed_node[i])
            MPIR_Bcast_hw_node_free(c->feed_node[i]);
        c->feed_node[i] = NULL;
    }
}
