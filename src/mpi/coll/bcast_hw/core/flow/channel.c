/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * channel: see channel.h.
 */
#include "channel.h"

#include <assert.h>

void hwmc_channel_init(struct hwmc_channel *c, uint32_t size, uint32_t rank, uint32_t n,
                       uint32_t fanout, const struct hwmc_policy *first, struct hwmc_counts *counts)
{
    *c = (struct hwmc_channel){
        .size = size,
        .rank = rank,
        .n = n,
        .period = first->period,
        .period_before = first->period,
        .fanout = fanout,
        .way_down = first->rails == 0 ? HWMC_CHANNEL_BY_LANES : HWMC_CHANNEL_BY_CAST,
        .limit = UINT64_MAX,
        .ask_at = HWMC_NEVER,
        .counts = counts,
    };
    hwmc_direct_init(&c->direct);
    hwmc_channel_check(c);
}

static uint32_t channel_children(const struct hwmc_channel *c)
{
    return hwmc_tree_children(c->rank, c->size, c->fanout);
}

static uint16_t all_children(const struct hwmc_channel *c)
{
    return hwmc_tree_all_children(c->rank, c->size, c->fanout);
}

/* What the whole subtree has consumed. */
static uint64_t subtree_count(const struct hwmc_channel *c)
{
    uint64_t min = c->consumed;

    for (uint32_t i = 0; i < channel_children(c); i++)
        min = c->child[i] < min ? c->child[i] : min;
    return min;
}

static void raise_floor(struct hwmc_channel *c, uint64_t floor)
{
    if (floor <= c->floor)
        return;
    c->floor = floor;
    c->ask_at = HWMC_NEVER;
    c->stalled = false;
    c->ask = HWMC_CHANNEL_ASK_NONE;
    c->owed |= c->asking;
    c->asking = 0;
}

/* The last count up to this one that is worth a message. In a long message so are those between: a
 * quarter. */
static uint64_t sync_point(const struct hwmc_channel *c, uint64_t count)
{
    uint64_t from = count >= c->from ? c->from : c->from_before;
    uint32_t period = count >= c->from ? c->period : c->period_before;

    if (count < from)
        return 0;
    if (c->fine && period % 4 == 0)
        period /= 4;
    return count - (count - from) % period;
}

static bool is_worth_sync(const struct hwmc_channel *c, uint64_t count)
{
    return count > c->up && (sync_point(c, count) > c->up ||
                             (c->end >= HWMC_CHANNEL_CLOSING && count == c->consumed));
}

bool hwmc_channel_due(const struct hwmc_channel *c, uint64_t count)
{
    return sync_point(c, count) == count;
}

/* The whole subtree is ready for what a floor of `count` lets go. */
static bool is_direct(const struct hwmc_channel *c, uint64_t count)
{
    return hwmc_direct_is_ready(&c->direct, count, c->n, all_children(c));
}

/* All children are to hear the last floor by lane: a parent that is gone cannot be asked. */
static void channel_finish(struct hwmc_channel *c)
{
    if (c->end != HWMC_CHANNEL_CLOSING || c->floor < c->consumed || (c->rank != 0 && !c->last))
        return;
    c->end = HWMC_CHANNEL_CLOSED;
    c->owed = all_children(c);
}

/* The floor has come from above, or was found here: it goes on to the children. */
static void pass_down(struct hwmc_channel *c, uint64_t floor)
{
    if (c->way_down == HWMC_CHANNEL_BY_LANES && floor > c->down) {
        c->down = floor;
        c->owed = all_children(c);
    }
}

/* Rank 0: the counts may have moved the floor by a period, or to the end. */
static void publish_floor(struct hwmc_channel *c)
{
    uint64_t count = subtree_count(c);

    if (c->rank != 0)
        return;
    count = count < c->limit ? count : c->limit;
    if (is_worth_sync(c, count)) {
        c->up = count;
        c->counts->syncs++;
        c->epoch_lost = c->lost;
        c->lost = 0;
        raise_floor(c, count);
        hwmc_direct_on_floor(&c->direct, count, is_direct(c, count));
        if (c->way_down != HWMC_CHANNEL_BY_LANES)
            c->way_down = c->size > 1 ? HWMC_CHANNEL_CAST_DUE : HWMC_CHANNEL_BY_CAST;
        pass_down(c, count);
    }
    channel_finish(c);
}

void hwmc_channel_stall(struct hwmc_channel *c, uint64_t ask_at)
{
    if (c->stalled)
        return;
    c->stalled = true;
    c->counts->stalls++;
    if (c->rank != 0 && c->ask == HWMC_CHANNEL_ASK_NONE)
        c->ask_at = ask_at;
}

void hwmc_channel_consume(struct hwmc_channel *c, bool repaired, bool more)
{
    c->consumed++;
    c->fine = more;
    c->lost += repaired;
    publish_floor(c);
}

bool hwmc_channel_hear(struct hwmc_channel *c, uint64_t bid)
{
    if (bid >= c->consumed + c->n)
        return false;
    if (bid >= c->n)
        raise_floor(c, bid - c->n + 1);
    return true;
}

/* Which child `peer` is, or the fanout if it is none. */
uint32_t hwmc_channel_child(const struct hwmc_channel *c, uint32_t peer)
{
    return hwmc_tree_child_number(c->rank, peer, c->size, c->fanout);
}

static enum hwmc_verdict on_up(struct hwmc_channel *c, const struct hwmc_msg *msg, uint32_t i)
{
    if (msg->bid < c->child[i] || msg->bid > c->floor + 2 * (uint64_t) c->n)
        return HWMC_BAD;
    if (msg->bid == c->child[i])
        return HWMC_DUP;
    c->child[i] = msg->bid;
    hwmc_direct_on_up(&c->direct, i, msg->flags & HWMC_FLAG_DIRECT);
    c->lost += msg->up.repaired;
    publish_floor(c);
    return HWMC_TAKEN;
}

static enum hwmc_verdict on_ask(struct hwmc_channel *c, const struct hwmc_msg *msg, uint32_t i)
{
    if (msg->bid > c->consumed)
        return HWMC_BAD;
    raise_floor(c, msg->bid); /* the child may know more: only what is above its floor helps it */
    if (msg->bid < c->floor) {
        c->owed |= (uint16_t) (1u << i);
        return HWMC_TAKEN;
    }
    c->asking |= (uint16_t) (1u << i);
    if (c->rank != 0 && c->ask == HWMC_CHANNEL_ASK_NONE) {
        c->ask = HWMC_CHANNEL_ASK_DUE;
        c->ask_at = HWMC_NEVER;
    }
    return HWMC_TAKEN;
}

static enum hwmc_verdict on_down(struct hwmc_channel *c, const struct hwmc_msg *msg)
{
    if (c->rank == 0 || msg->bid > c->consumed ||
        msg->peer != (msg->multicast ? 0 : hwmc_tree_parent(c->rank, c->fanout)))
        return HWMC_BAD;
    pass_down(c, msg->bid);
    if (msg->bid < c->floor)
        return HWMC_STALE;
    if (msg->bid > c->floor)
        c->counts->syncs++;
    c->epoch_lost = msg->down.repaired;
    raise_floor(c, msg->bid);
    hwmc_direct_on_floor(&c->direct, msg->bid, msg->flags & HWMC_FLAG_DIRECT);
    if (!msg->multicast && (msg->flags & HWMC_FLAG_LAST))
        c->last = true;
    channel_finish(c);
    return HWMC_TAKEN;
}

enum hwmc_verdict hwmc_channel_on_recv(struct hwmc_channel *c, const struct hwmc_msg *msg)
{
    uint32_t i;

    if (msg->type == HWMC_MSG_SYNC_DOWN)
        return on_down(c, msg);
    i = hwmc_channel_child(c, msg->peer);
    if (i == c->fanout || msg->multicast)
        return HWMC_BAD;
    return msg->type == HWMC_MSG_SYNC_UP ? on_up(c, msg, i) : on_ask(c, msg, i);
}

void hwmc_channel_cast(struct hwmc_channel *c, bool cast)
{
    const bool due = c->way_down == HWMC_CHANNEL_CAST_DUE;

    if (!due || !cast)
        c->way_down = cast ? HWMC_CHANNEL_BY_CAST : HWMC_CHANNEL_BY_LANES;
    if (due && !cast)
        pass_down(c, c->floor);
}

void hwmc_channel_pace(struct hwmc_channel *c, uint64_t from, uint32_t period)
{
    c->from_before = c->from;
    c->period_before = c->period;
    c->from = from;
    c->period = period;
}

void hwmc_channel_limit(struct hwmc_channel *c, uint64_t limit)
{
    assert(c->rank == 0);
    c->limit = limit;
    publish_floor(c);
}

void hwmc_channel_learn(struct hwmc_channel *c, uint64_t floor)
{
    assert(floor <= c->consumed);
    raise_floor(c, floor);
}

void hwmc_channel_close(struct hwmc_channel *c)
{
    if (c->end == HWMC_CHANNEL_IN_USE)
        c->end = HWMC_CHANNEL_CLOSING;
    publish_floor(c);
    channel_finish(c);
}

void hwmc_channel_on_timer(struct hwmc_channel *c, uint64_t now)
{
    if (c->ask_at <= now) {
        c->ask_at = HWMC_NEVER;
        c->ask = HWMC_CHANNEL_ASK_DUE;
    }
}

/* SYNC_DOWN, with the floor. */
static void fill_down(const struct hwmc_channel *c, struct hwmc_msg *tx, uint32_t peer)
{
    const bool direct = c->floor > 0 && c->direct.floor == c->floor;

    *tx = (struct hwmc_msg){.type = HWMC_MSG_SYNC_DOWN,
                            .flags = direct ? HWMC_FLAG_DIRECT : 0,
                            .peer = peer,
                            .bid = c->floor,
                            .down = {.repaired = c->epoch_lost}};
}

int hwmc_channel_next_send(struct hwmc_channel *c, uint8_t rails, struct hwmc_msg *tx)
{
    uint64_t count = subtree_count(c);

    if (c->rank != 0 && is_worth_sync(c, count)) {
        c->up = count;
        *tx = (struct hwmc_msg){.type = HWMC_MSG_SYNC_UP,
                                .flags = is_direct(c, count) ? HWMC_FLAG_DIRECT : 0,
                                .peer = hwmc_tree_parent(c->rank, c->fanout),
                                .bid = c->up,
                                .up = {.repaired = c->lost}};
        c->lost = 0;
        return 1;
    }
    if (c->way_down == HWMC_CHANNEL_CAST_DUE && rails) {
        c->way_down = HWMC_CHANNEL_BY_CAST;
        fill_down(c, tx, c->rank);
        tx->multicast = true;
        tx->rail = (uint8_t) __builtin_ctz(rails);
        return 1;
    }
    if (c->ask == HWMC_CHANNEL_ASK_DUE) {
        c->ask = HWMC_CHANNEL_ASK_OUT;
        *tx = (struct hwmc_msg){.type = HWMC_MSG_SYNC_ASK,
                                .peer = hwmc_tree_parent(c->rank, c->fanout),
                                .bid = c->floor};
        return 1;
    }
    if (c->owed) {
        fill_down(c, tx, hwmc_tree_take_child(c->rank, &c->owed, c->fanout));
        tx->flags |= c->end == HWMC_CHANNEL_CLOSED ? HWMC_FLAG_LAST : 0;
        return 1;
    }
    return 0;
}

void hwmc_channel_check(const struct hwmc_channel *c)
{
    assert(c->size >= 1 && c->rank < c->size);
    assert(c->n >= 1 && c->period >= 1 && c->period <= c->n && c->from >= c->from_before);
    assert(c->fanout >= 1 && c->fanout <= HWMC_FANOUT_MAX);
    assert(c->floor <= c->consumed && c->consumed <= c->floor + c->n);
    assert(c->up <= subtree_count(c) || c->rank == 0);
    assert(c->end != HWMC_CHANNEL_CLOSED || c->floor == c->consumed);
    assert(c->direct.floor <= c->floor);
    assert(c->direct.from < HWMC_NEVER || (c->direct.ready == 0 && !c->direct.broken));
}
