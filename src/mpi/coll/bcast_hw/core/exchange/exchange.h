/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * exchange: blocks from member to member of a group: the part of a collective at one rank that
 * multicast cannot carry. What a collective makes of it is its plan's (combine.h, op/): a
 * reduction sends partial results to a parent, a gather its block to the root, an all-to-all a
 * block to each.
 *
 * All members number their exchanges alike: 0, 1, 2, ... One is under way at a rank at a time. A
 * block is named by its exchange, sender, receiver and port, where there may be several between
 * the same two. Sender and receiver know its length, and cut it into the same parts.
 *
 *   eager block   of at most `eager` bytes and one part, sent at once. A rank that has not begun
 *                 the exchange keeps it (HWMC_KEEP); so that this is bounded, a peer may have
 *                 CREDIT such blocks on the way or kept, and gets credit for more as they are
 *                 taken. It needs no message for that where it knows by something else that all
 *                 members have had all blocks (hwmc_exchange_settle): the outcome of a barrier.
 *                 One of `spread` bytes or more goes by some lane, as parts do, by the ranks of its
 *                 ends: so what a member sends, or gets, goes by all.
 *   long block    parts are sent as far as the receiver grants: `window` parts beyond those that
 *                 it has taken. Nothing comes that there is no memory for. Parts go by all lanes,
 *                 by their shares (core/path/wrr.h), so they come in any order.
 *
 * The receiver paces: of its incoming long blocks, in the order of the plan, as many are granted at
 * a time as bring `budget` bytes, and at least one. With rank r asking r - 1 first, then r - 2 and
 * so on, each rank hears few others at a time, and is heard by few.
 *
 * `ready` of an outgoing block says how many of its parts can be sent yet; `take` of an incoming
 * one that parts are used up, and their memory free. So a reduction passes on part by part what it
 * has combined so far.
 *
 * Example, p = 3, gather to rank 0, two parts each, a budget of two:
 *   0: GRANT 2 to 1                      1: parts 0 1 to 0
 *   0: has both of 1: GRANT 2 to 2       2: parts 0 1 to 0
 *
 * Ranks may disagree about a block's length. Parts and grants name it, so either learns so, and
 * fails: it takes nothing more (VOID to the senders) and sends nothing more (VOID to the
 * receivers), which fail in turn. Nobody waits for it. A program that takes its memory back before
 * the end fails in the same way. Where one takes a block for eager and the other one for long, each
 * would wait for the other; so who has waited ANNOUNCE_NS for a grant says how long the block is.
 *
 * Where there are several ways to do a collective, ranks may also disagree about the way: each has
 * blocks that the others have not. So that they find out, the ways have plans of their own, each
 * with ports of its own: port / HWMC_EXCHANGE_PORTS. A rank that gets a message of another plan
 * sets `astray`, and its driver gives the group up. So does one that gets a part of a block that it
 * does not have, a grant for one, or its announcement: the peer waits for what does not come. Such
 * a rank may be through with the exchange. So each end remembers of the last one which blocks came
 * and went; where that did not fail, all did.
 *
 *   IDLE --begin--> RUN --all here and taken, all sent, the lanes through with it--> IDLE
 *
 * Invariants (hwmc_exchange_check): a part that was sent was ready and granted; taken <= have <=
 * told <= taken + window; a peer was told of at most CREDIT eager blocks beyond those taken of it.
 * The blocks of an exchange that failed may still be on the way when a later one settles, so as
 * many again are not taken for an error.
 */
#ifndef HWMC_CORE_EXCHANGE_EXCHANGE_H_INCLUDED
#define HWMC_CORE_EXCHANGE_EXCHANGE_H_INCLUDED

#include "../base/counts.h"
#include "../base/msg.h"
#include "../path/wrr.h"
#include "parts.h"

#define HWMC_EXCHANGE_PORTS 128u /* of a pair of members, each way, in a plan */
#define HWMC_EXCHANGE_NO_PLAN UINT8_MAX
#define HWMC_EXCHANGE_CREDIT 32u /* eager blocks of a peer that are on the way or kept */
#define HWMC_EXCHANGE_KEPT 32u   /* other messages of a peer that are kept: grants, VOID */
#define HWMC_EXCHANGE_WINDOW 64u /* parts of a block that are on the way, at most */
#define HWMC_EXCHANGE_BLOCKS 0x7fffu
#define HWMC_EXCHANGE_ANNOUNCE_NS UINT64_C(100000000)

struct hwmc_exchange_cfg {
    uint32_t size; /* ranks, 2 or more */
    uint32_t rank;
    uint32_t eager;      /* bytes, alike on all members */
    uint32_t spread;     /* bytes: hwmc_exchange_spread */
    uint32_t links;      /* peers that there can be, a power of 2, more than there will be */
    struct hwmc_wrr wrr; /* the lanes of parts */
    struct hwmc_counts *counts;
};

/* Bytes from which on eager blocks go by lanes: of shorter ones heads are the most. */
static inline uint32_t hwmc_exchange_spread(uint32_t rails)
{
    return rails > 1 ? 512 : UINT32_MAX;
}

/* A block from `peer`. The caller sets the first fields, zero the others. */
struct hwmc_block_in {
    uint32_t peer;
    uint32_t bytes;
    uint32_t window; /* parts that there is memory for at a time, 1 to HWMC_EXCHANGE_WINDOW */
    uint8_t port;

    bool opened;    /* it counts for the budget */
    bool grant_due; /* to the peer */
    bool over;      /* nothing comes any more: all is taken, or it failed */
    uint32_t have;  /* the parts below are here */
    uint32_t taken; /* the parts below were taken */
    uint32_t told;  /* the parts below were granted */
    uint64_t got;   /* of the parts from `have` on, a bit each: those that are here */
};

/* A block to `peer`. */
struct hwmc_block_out {
    uint32_t peer;
    uint32_t bytes;
    uint32_t ready; /* the parts below can be sent */
    uint8_t port;

    bool refused;   /* the peer takes no more */
    uint32_t limit; /* the parts below are granted */
    uint32_t next;  /* the parts below are with lanes, or through */
    uint32_t done;  /* parts that lanes are through with */
};

/* Blocks that came from a peer, or went to it, in the last exchange that had any. */
struct hwmc_exchange_trail {
    uint64_t of;
    uint64_t ports; /* a bit each, without the plan; the last one for all from there on */
};

/* What is remembered of a peer from exchange to exchange. */
struct hwmc_exchange_link {
    uint32_t peer;   /* plus 1; 0: the place is free */
    uint32_t sent;   /* eager blocks to it, */
    uint32_t credit; /* ... and how many it takes */
    uint32_t came;   /* eager blocks of it, */
    uint32_t taken;  /* ... of which this rank has these behind it, */
    uint32_t told;   /* ... and how many it was told that this rank takes */
    uint32_t kept;   /* messages of it that the driver keeps, without eager blocks */
    bool credit_due; /* to it */
    struct hwmc_exchange_trail in, out;
};

struct hwmc_exchange {
    struct hwmc_exchange_cfg cfg;
    struct hwmc_exchange_link *links; /* cfg.links, by peer; the caller's memory */
    uint32_t credits_due;             /* links that have one */
    uint64_t next;                    /* number of the next exchange, or of the one under way */
    bool running;
    bool failed;           /* the one under way, or the last */
    bool failed_before;    /* the one before that under way */
    bool astray;           /* a member had other blocks in one of them */
    uint8_t plan;          /* of the one under way, or the last; NO_PLAN: it had no blocks */
    uint32_t theirs, ours; /* failed: the length of a block there and here; alike: not known */
    uint32_t part;         /* bytes of a part */
    uint64_t budget;
    struct hwmc_block_in *in;
    struct hwmc_block_out *out;
    uint32_t num_in, num_out;
    uint32_t left_in, left_out;   /* of them, those that are not over */
    uint32_t first_in;            /* the blocks before are opened */
    uint32_t open_in;             /* of them, those that are long and not all here */
    uint64_t open_bytes;          /* that these may bring at a time */
    uint32_t grants_due;          /* incoming blocks that have one */
    uint32_t voids_in, voids_out; /* failed: of the blocks before these the peers know */
    uint32_t turn_in, turn_out;   /* the block looked at next for a message */
    uint32_t turn;                /* the outgoing block to be served next */
    uint32_t came;                /* parts that were placed, ever; wraps */
    uint64_t announce_at;         /* ns; NEVER */
    uint32_t announced;           /* the outgoing blocks before are, or need not be */
};

/* `links`: cfg->links of them, the caller's as long as the machine is used. */
void hwmc_exchange_init(struct hwmc_exchange *x, const struct hwmc_exchange_cfg *cfg,
                        struct hwmc_exchange_link *links);

/* Begins the next exchange, of these blocks, all of one plan, which are the machine's until it is
 * over; of none, if this rank has no part in it. `part`: alike on all ranks. A driver then gives
 * what it has kept of it. Not running. */
void hwmc_exchange_begin(struct hwmc_exchange *x, struct hwmc_block_in *in, uint32_t num_in,
                         struct hwmc_block_out *out, uint32_t num_out, uint32_t part,
                         uint64_t budget, uint64_t now);

/* Of outgoing block `i` the parts below `parts` can be sent; never fewer than before. */
void hwmc_exchange_ready(struct hwmc_exchange *x, uint32_t i, uint32_t parts);

/* Of incoming block `i` the parts below `parts`, which are here, are used up. */
void hwmc_exchange_take(struct hwmc_exchange *x, uint32_t i, uint32_t parts);

/* The program's memory is of no use any more: as after an error. What lanes have they have until
 * on_sent. */
void hwmc_exchange_give_up(struct hwmc_exchange *x);

/* It is over, whatever others wait for: the rows may go. */
static inline void hwmc_exchange_drop(struct hwmc_exchange *x)
{
    x->next += x->running;
    x->running = false;
    x->num_in = x->num_out = 0;
}

/* BLOCK. PLACE: the payload belongs to part msg->block.index of incoming block *i. KEEP: it is to
 * be given again, `kept`, once exchange msg->bid has begun. TAKEN, STALE, DUP, BAD. */
enum hwmc_verdict hwmc_exchange_on_block(struct hwmc_exchange *x, const struct hwmc_msg *msg,
                                         bool kept, uint32_t *i);

/* BLOCK_GRANT: TAKEN, KEEP as above, STALE or BAD. BLOCK_CREDIT: TAKEN or BAD. */
enum hwmc_verdict hwmc_exchange_on_grant(struct hwmc_exchange *x, const struct hwmc_msg *msg,
                                         bool kept);
enum hwmc_verdict hwmc_exchange_on_credit(struct hwmc_exchange *x, const struct hwmc_msg *msg);

/* This rank knows that all members have had all eager blocks of the exchanges so far, as the
 * outcome of the last one, which all have a part in, has come here: credit of that one's blocks is
 * renewed. Each member calls it. None is under way; the last one's blocks are still there. */
void hwmc_exchange_settle(struct hwmc_exchange *x);

/* Fills `tx` and returns true, or returns false. BLOCK with payload (hwmc_block_has_payload):
 * tx->block.token is the number of the outgoing block. One that is eager is copied at once; another
 * one is the lane's, by tx->block.lane, until on_sent. */
bool hwmc_exchange_next_send(struct hwmc_exchange *x, struct hwmc_msg *tx);
void hwmc_exchange_on_sent(struct hwmc_exchange *x, uint32_t token);

/* It brings a part of a block. */
static inline bool hwmc_block_has_payload(const struct hwmc_msg *msg)
{
    return msg->type == HWMC_MSG_BLOCK && !(msg->flags & (HWMC_FLAG_VOID | HWMC_FLAG_AT_ONCE));
}

static inline uint64_t hwmc_exchange_next_timer(const struct hwmc_exchange *x)
{
    return x->running ? x->announce_at : HWMC_NEVER;
}
void hwmc_exchange_on_timer(struct hwmc_exchange *x, uint64_t now);

/* A block of the exchange under way, or of the last one. */
static inline bool hwmc_exchange_is_eager(const struct hwmc_exchange *x, uint32_t bytes)
{
    return bytes <= x->cfg.eager && hwmc_exchange_parts(bytes, x->part) == 1;
}

/* It goes by lanes, from where it lies. */
static inline bool hwmc_exchange_by_lanes(const struct hwmc_exchange *x, uint32_t bytes)
{
    return bytes >= x->cfg.spread || !hwmc_exchange_is_eager(x, bytes);
}

/* BLOCK with payload, of whatever exchange: an eager block, and not a part of a long one. */
static inline bool hwmc_exchange_is_unasked(const struct hwmc_exchange *x,
                                            const struct hwmc_msg *msg)
{
    return !(msg->flags & HWMC_FLAG_GRANTED) && msg->block.bytes <= x->cfg.eager;
}

/* All is here, taken and sent; failed or not. */
static inline bool hwmc_exchange_over(const struct hwmc_exchange *x)
{
    return !x->running;
}

/* It waits for a block that goes by lanes, or to be through with one. */
bool hwmc_exchange_waits_for_lanes(const struct hwmc_exchange *x);

void hwmc_exchange_check(const struct hwmc_exchange *x);

#endif /* HWMC_CORE_EXCHANGE_EXCHANGE_H_INCLUDED */
