/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * channel: how far a root may run ahead of the slowest member (Yu et al. 2005, sections 4.3 and 5).
 *
 * A communicator has N channels. Broadcast `bid` uses channel bid mod N until every member has
 * consumed it, since its data may be requested until then. `floor` is a count that a rank knows all
 * members to have consumed. So a rank may begin broadcast b only if b < floor + N. One delayed
 * synchronization moves the floor for up to N broadcasts. Counts combine by minimum up a k-ary
 * tree, one message per edge each `period` broadcasts; rank 0 multicasts the new floor. That
 * multicast may be lost, which costs nothing until a rank is out of channels. The rank then asks
 * its parent, which answers when it knows more, and meanwhile asks its own parent. Without
 * multicast the floor goes down the same tree by lanes.
 *
 * A message that names broadcast b proves that its sender knew floor > b - N, so the floor also
 * moves by what arrives (hwmc_channel_hear). A message that names b >= consumed + N is invalid, as
 * the floor never passes this rank's own count.
 *
 * The counts at which ranks send are the same on all ranks: multiples of the period, from the
 * broadcast with which it began. Any N in a row contain one, so a rank that is out of channels
 * always gets a floor that moved.
 *
 * A decision that all ranks must know before they begin a certain broadcast (epoch.h) holds the
 * floor below a limit until they do.
 *
 * Freeing a communicator is one last synchronization, sent down the tree over lanes. A rank that
 * has passed it on to its children is done.
 *
 * Example, p = 3, k = 2, N = 4, period 2: rank 0 broadcasts 0 1 2 3 and stalls at 4 = floor + N.
 * Ranks 1 and 2 consume 0 1: each sends UP 2 to rank 0, which has 4 itself: floor = 2, DOWN 2,
 * and broadcasts 4 and 5.
 *
 * Invariants (hwmc_channel_check): floor <= consumed <= floor + N; what went up is never more
 * than the subtree's minimum; N >= period >= 1.
 */
#ifndef HWMC_CORE_FLOW_CHANNEL_H_INCLUDED
#define HWMC_CORE_FLOW_CHANNEL_H_INCLUDED

#include "../base/counts.h"
#include "../base/msg.h"
#include "../base/policy.h"
#include "../place/kary.h"
#include "direct.h"

/* How a floor goes to the other members. */
enum hwmc_channel_down {
    HWMC_CHANNEL_BY_LANES, /* there is no multicast, or none any more */
    HWMC_CHANNEL_BY_CAST,
    HWMC_CHANNEL_CAST_DUE /* rank 0: and it is to be multicast now */
};

/* The question to the parent how high the floor is. */
enum hwmc_channel_ask { HWMC_CHANNEL_ASK_NONE, HWMC_CHANNEL_ASK_DUE, HWMC_CHANNEL_ASK_OUT };

enum hwmc_channel_end {
    HWMC_CHANNEL_IN_USE,
    HWMC_CHANNEL_CLOSING, /* no broadcast follows; the last count is `consumed` */
    HWMC_CHANNEL_CLOSED   /* the last floor is known and passed on to `owed` */
};

struct hwmc_channel {
    uint32_t size; /* ranks */
    uint32_t rank;
    uint32_t n;      /* channels N */
    uint32_t period; /* broadcasts to a synchronization, from `from` on, 1 to N */
    uint64_t from;
    uint32_t period_before; /* the same of those from `from_before` to there */
    uint64_t from_before;
    uint32_t fanout;   /* k, 1 to HWMC_FANOUT_MAX */
    uint64_t consumed; /* broadcasts below are consumed here */
    uint64_t floor;    /* broadcasts below are consumed by every member */
    uint64_t up;       /* count last sent to the parent; rank 0: last floor published */
    uint64_t down;     /* BY_LANES: the floor last sent to the children */
    uint64_t child[HWMC_FANOUT_MAX]; /* count last reported by each child's subtree */
    uint64_t ask_at;                 /* stalled: when to ask the parent; NEVER otherwise */
    uint32_t lost;                   /* repaired broadcasts in the subtree since the last report */
    uint32_t epoch_lost;             /* of all members, as the last floor's sender had it */
    uint16_t asking;                 /* children that wait for an answer, a bit each */
    uint16_t owed;                   /* children to be sent the floor, a bit each */
    uint64_t limit;                  /* rank 0: no floor above this is published */
    enum hwmc_channel_down way_down;
    enum hwmc_channel_ask ask;
    enum hwmc_channel_end end;
    bool fine;    /* the last broadcast consumed was part of a long message */
    bool stalled; /* a broadcast waits for a channel */
    bool last;    /* the parent said that its floor is the last */
    struct hwmc_direct direct;
    struct hwmc_counts *counts;
};

/* `first`: the policy to begin with. */
void hwmc_channel_init(struct hwmc_channel *c, uint32_t size, uint32_t rank, uint32_t n,
                       uint32_t fanout, const struct hwmc_policy *first,
                       struct hwmc_counts *counts);

/* Broadcast `bid` may begin here. */
static inline bool hwmc_channel_open(const struct hwmc_channel *c, uint64_t bid)
{
    return bid < c->floor + c->n;
}

/* This rank waits for a channel; asks at `ask_at` ns unless the floor moves before. */
void hwmc_channel_stall(struct hwmc_channel *c, uint64_t ask_at);

/* The program has what broadcast `consumed` brought, which went `repaired` or not. `more`: it is
 * part of a long message, whose root waits for channels: the period is a quarter. */
void hwmc_channel_consume(struct hwmc_channel *c, bool repaired, bool more);

/* A message named `bid`: the floor may move. False when no honest sender can have named it. */
bool hwmc_channel_hear(struct hwmc_channel *c, uint64_t bid);

/* SYNC_UP, SYNC_DOWN, SYNC_ASK. TAKEN, STALE or BAD. */
enum hwmc_verdict hwmc_channel_on_recv(struct hwmc_channel *c, const struct hwmc_msg *msg);

/* No broadcast follows on this communicator; `consumed` is how many there were, on every rank. */
void hwmc_channel_close(struct hwmc_channel *c);

/* Closing is over: every member has consumed everything and the children know. */
static inline bool hwmc_channel_closed(const struct hwmc_channel *c)
{
    return c->end == HWMC_CHANNEL_CLOSED && c->owed == 0 && c->way_down != HWMC_CHANNEL_CAST_DUE;
}

void hwmc_channel_on_timer(struct hwmc_channel *c, uint64_t now);

/* Floors go down by multicast, or by lanes: the driver has told the children before. */
void hwmc_channel_cast(struct hwmc_channel *c, bool cast);

/* From broadcast `from` on, which nobody has begun, the period is this. */
void hwmc_channel_pace(struct hwmc_channel *c, uint64_t from, uint32_t period);

/* This count is worth a synchronization. */
bool hwmc_channel_due(const struct hwmc_channel *c, uint64_t count);

/* Rank 0: the highest floor that may be published. */
void hwmc_channel_limit(struct hwmc_channel *c, uint64_t limit);

/* All members have consumed the broadcasts below `floor`, rank 0 says. */
void hwmc_channel_learn(struct hwmc_channel *c, uint64_t floor);

/* Which child `peer` is, or the fanout if it is none. */
uint32_t hwmc_channel_child(const struct hwmc_channel *c, uint32_t peer);

/* Fills `tx` and returns 1, or returns 0. `rails`: that take a multicast now. */
int hwmc_channel_next_send(struct hwmc_channel *c, uint8_t rails, struct hwmc_msg *tx);

void hwmc_channel_check(const struct hwmc_channel *c);

#endif /* HWMC_CORE_FLOW_CHANNEL_H_INCLUDED */
