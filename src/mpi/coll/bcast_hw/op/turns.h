/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * turns: every member of a group broadcasts a block of its own, as a stage: an allgather. Each
 * block is multicast once, whatever the number of members.
 *
 * The blocks are broadcasts of the group's stream, in the order of members, each of one piece or
 * more (a block of no bytes has one). A member takes them in that order. It begins a piece of its
 * own when fewer than `ahead` broadcasts before it are not here: so up to `ahead` are on their way
 * at a time, of several members, and the links are not idle from one member to the next. Those of a
 * collective of few short blocks are all on their way at once. The window of the stream bounds what
 * receivers have unread in any case (core/flow/channel.h). What is lost is repaired as in any
 * broadcast (core/bcast/two_stage.h).
 *
 * Others' broadcasts are posted only as their turn comes, or where one of this member's own follows
 * soon: before, their roots have no reason to have begun.
 *
 *   RUN -> OVER
 *     \-> RETREAT -> OVER     it cannot go on at this rank
 *
 *   RUN      pieces are posted, and taken as they come
 *   RETREAT  after an error: retreat.h
 *
 * From the broadcast on that is not multicast, if the group's rails stop working, the rest of each
 * block goes along trees, one after the other.
 *
 * Lengths are known to all. A member whose own figure disagrees ends with ERR_INVAL: in step with
 * the others, if the number of pieces is the same, else it breaks the group.
 *
 * Invariants: `taken` is not beyond `next`; between them lie the broadcasts that are posted and not
 * consumed; OVER: no lane or rail touches the blocks.
 *
 * Cost, n being the sum of the other blocks, l a latency, b the bandwidth of all rails, o a host's
 * time for a message, p members: l + p o + n / b.
 */

#ifndef HWMC_OP_TURNS_H_INCLUDED
#define HWMC_OP_TURNS_H_INCLUDED

#include "../engine/engine.h"
#include "retreat.h"
#include "stage.h"

enum hwmc_turns_state { HWMC_TURNS_RUN, HWMC_TURNS_RETREAT, HWMC_TURNS_OVER };

struct hwmc_turn {
    void *memory; /* where the block is, or goes */
    uint64_t bytes;
};

struct hwmc_turns_cfg {
    struct hwmc_engine *engine;
    struct hwmc_group *group;
    const struct hwmc_turn *turn; /* by member; the caller's until it is over */
    uint32_t ahead;               /* broadcasts; 1 or more */
    uint64_t withdraw_ns;         /* how long lanes may have blocks after an error */
    bool failed; /* this member has no block: its pieces go without bytes, in step with the others,
                  * which end with ERR_INVAL */
};

/* The piece that is next. */
struct hwmc_turns_at {
    uint32_t member;
    uint64_t at; /* it begins there in the member's block */
};

struct hwmc_turns {
    struct hwmc_op_stage stage;
    struct hwmc_turns_cfg cfg;
    enum hwmc_turns_state state;
    struct hwmc_turns_at next;  /* to be posted */
    struct hwmc_turns_at taken; /* to be taken */
    uint64_t own;  /* the broadcast of this member's last piece that is posted, plus 1 */
    bool by_trees; /* lanes may have blocks */
    struct hwmc_retreat retreat;
};

/* Begins it. The group is ON, multicasts, and no other stage of it runs. */
void hwmc_turns_begin(struct hwmc_turns *t, const struct hwmc_turns_cfg *cfg);

/* Asserts what is said above. */
void hwmc_turns_check(const struct hwmc_turns *t);

#endif /* HWMC_OP_TURNS_H_INCLUDED */
