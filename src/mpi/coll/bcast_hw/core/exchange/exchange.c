/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * exchange: its blocks, and what comes; see exchange.h.
 */
#include "exchange_impl.h"

#include <assert.h>
#include <string.h>

#include "../base/prng.h"

void hwmc_exchange_init(struct hwmc_exchange *x, const struct hwmc_exchange_cfg *cfg,
                        struct hwmc_exchange_link *links)
{
    assert(cfg->size >= 2 && cfg->rank < cfg->size && (cfg->links & (cfg->links - 1)) == 0);
    memset(x, 0, sizeof(*x));
    memset(links, 0, cfg->links * sizeof(*links));
    x->cfg = *cfg;
    x->links = links;
}

struct hwmc_exchange_link *hwmc_exchange_link(struct hwmc_exchange *x, uint32_t peer)
{
    const uint32_t mask = x->cfg.links - 1;
    uint32_t at = (uint32_t) hwmc_prng(peer, 0) & mask;

    while (x->links[at].peer != 0 && x->links[at].peer != peer + 1)
        at = (at + 1) & mask;
    if (x->links[at].peer == 0)
        x->links[at] = (struct hwmc_exchange_link){
            .peer = peer + 1, .credit = HWMC_EXCHANGE_CREDIT, .told = HWMC_EXCHANGE_CREDIT};
    return &x->links[at];
}

void hwmc_exchange_finish(struct hwmc_exchange *x)
{
    if (x->left_in > 0 || x->left_out > 0 || x->grants_due > 0 ||
        (x->failed && (x->voids_in < x->num_in || x->voids_out < x->num_out)))
        return;
    x->running = false;
    x->next++;
}

/* A grant is renewed when half of the window is used up: few messages, and the sender goes on. */
static void renew_grant(struct hwmc_exchange *x, struct hwmc_block_in *b)
{
    const uint32_t limit = hwmc_exchange_limit(x, b);

    if (b->grant_due || b->over || limit == b->told || b->told - b->taken > b->window / 2)
        return;
    b->grant_due = true;
    x->grants_due++;
}

/* Bytes of the block that can be on the way at a time. */
static uint64_t burst_of(const struct hwmc_exchange *x, const struct hwmc_block_in *b)
{
    const uint64_t window = (uint64_t) b->window * x->part;

    return window < b->bytes ? window : b->bytes;
}

/* The next incoming blocks are granted, as far as others leave room. */
static void open_more(struct hwmc_exchange *x)
{
    for (; x->first_in < x->num_in && !x->failed; x->first_in++) {
        struct hwmc_block_in *b = &x->in[x->first_in];

        if (!hwmc_exchange_is_eager(x, b->bytes)) {
            if (x->open_in > 0 && x->open_bytes + burst_of(x, b) > x->budget)
                return;
            x->open_in++;
            x->open_bytes += burst_of(x, b);
            b->opened = true;
            renew_grant(x, b);
        }
    }
}

/* It is all here, or does not come: the next one may. */
static void block_shut(struct hwmc_exchange *x, struct hwmc_block_in *b)
{
    if (!b->opened)
        return;
    b->opened = false;
    x->open_in--;
    x->open_bytes -= burst_of(x, b);
    open_more(x);
}

static void end_in(struct hwmc_exchange *x, struct hwmc_block_in *b)
{
    if (b->over)
        return;
    b->over = true;
    if (b->grant_due) {
        b->grant_due = false;
        x->grants_due--;
    }
    x->left_in--;
    block_shut(x, b);
}

/* Blocks disagree with those of others, or memory is of no use: all else is called off. */
static void exchange_fail(struct hwmc_exchange *x, uint32_t theirs, uint32_t ours)
{
    if (x->failed)
        return;
    x->failed = true;
    x->theirs = theirs;
    x->ours = ours;
    x->voids_in = x->voids_out = 0;
    for (uint32_t i = 0; i < x->num_in; i++)
        end_in(x, &x->in[i]);
    x->left_out = 0;
    for (uint32_t i = 0; i < x->num_out; i++)
        x->left_out += !hwmc_exchange_out_is_over(x, &x->out[i]);
}

static uint8_t plan_of(const struct hwmc_exchange *x)
{
    if (x->num_in + x->num_out == 0)
        return HWMC_EXCHANGE_NO_PLAN;
    return (x->num_in > 0 ? x->in[0].port : x->out[0].port) / HWMC_EXCHANGE_PORTS;
}

void hwmc_exchange_begin(struct hwmc_exchange *x, struct hwmc_block_in *in, uint32_t num_in,
                         struct hwmc_block_out *out, uint32_t num_out, uint32_t part,
                         uint64_t budget, uint64_t now)
{
    assert(!x->running && part > 0);
    assert(num_in <= HWMC_EXCHANGE_BLOCKS && num_out <= HWMC_EXCHANGE_BLOCKS);
    x->in = in;
    x->out = out;
    x->num_in = x->left_in = num_in;
    x->num_out = x->left_out = num_out;
    x->plan = plan_of(x);
    x->part = part;
    x->budget = budget;
    x->open_bytes = 0;
    x->running = true;
    x->failed_before = x->failed;
    x->failed = false;
    x->first_in = x->open_in = x->grants_due = 0;
    x->turn_in = x->turn_out = x->turn = 0;
    x->announced = num_out;
    x->announce_at = num_out > 0 ? now + HWMC_EXCHANGE_ANNOUNCE_NS : HWMC_NEVER;
    open_more(x);
    x->cfg.counts->exchanges++;
    hwmc_exchange_finish(x);
}

void hwmc_exchange_ready(struct hwmc_exchange *x, uint32_t i, uint32_t parts)
{
    if (!x->running)
        return;
    assert(i < x->num_out && parts <= hwmc_exchange_parts_of(x, x->out[i].bytes) &&
           parts >= x->out[i].ready);
    x->out[i].ready = parts;
}

void hwmc_exchange_take(struct hwmc_exchange *x, uint32_t i, uint32_t parts)
{
    struct hwmc_block_in *b = &x->in[i];

    if (!x->running || b->over || parts == b->taken)
        return;
    assert(i < x->num_in && parts <= b->have);
    b->taken = parts;
    if (parts == hwmc_exchange_parts_of(x, b->bytes))
        end_in(x, b);
    else if (b->opened)
        renew_grant(x, b);
    hwmc_exchange_finish(x);
}

void hwmc_exchange_give_up(struct hwmc_exchange *x)
{
    if (!x->running)
        return;
    exchange_fail(x, 0, 0);
    hwmc_exchange_finish(x);
}

/* Which block it is; their number: none. They come about in the row's order, so the search begins
 * behind the last one found. */

static uint32_t find_in(const struct hwmc_exchange *x, uint32_t peer, uint8_t port)
{
    for (uint32_t n = 0, at = x->turn_in; n < x->num_in; n++, at++) {
        at = at < x->num_in ? at : 0;
        if (x->in[at].peer == peer && x->in[at].port == port)
            return at;
    }
    return x->num_in;
}

static uint32_t find_out(const struct hwmc_exchange *x, uint32_t peer, uint8_t port)
{
    for (uint32_t n = 0, at = x->turn_out; n < x->num_out; n++, at++) {
        at = at < x->num_out ? at : 0;
        if (x->out[at].peer == peer && x->out[at].port == port)
            return at;
    }
    return x->num_out;
}

static bool is_formed(const struct hwmc_exchange *x, const struct hwmc_msg *msg)
{
    return !msg->multicast && msg->peer < x->cfg.size && msg->peer != x->cfg.rank;
}

/* It is of an exchange that this rank has not begun. */
static bool is_early(const struct hwmc_exchange *x, const struct hwmc_msg *msg)
{
    return msg->bid > x->next || (msg->bid == x->next && !x->running);
}

/* Of the exchange under way, or of the last one. */
static void look_at_plan(struct hwmc_exchange *x, const struct hwmc_msg *msg)
{
    const uint64_t now = x->running ? x->next : x->next - 1;

    if (msg->bid == now && x->plan != HWMC_EXCHANGE_NO_PLAN &&
        msg->block.port / HWMC_EXCHANGE_PORTS != x->plan)
        x->astray = true;
}

/* The peer waits for something of a block, of an exchange that is over here. It waits in vain if
 * that was the last one, and had no such block. A later block of the trail shows that the peer is
 * through with it. */
static void look_back(struct hwmc_exchange *x, const struct hwmc_msg *msg,
                      const struct hwmc_exchange_trail *t)
{
    const bool had = t->of > msg->bid ||
                     (t->of == msg->bid && (t->ports & hwmc_exchange_trail_bit(msg->block.port)));

    if (msg->bid + 1 == x->next && !(x->running ? x->failed_before : x->failed) && !had)
        x->astray = true;
}

/* Of a later exchange: something other than an eager block. `again`: it is kept already. */
static enum hwmc_verdict keep_early(struct hwmc_exchange_link *l, bool again)
{
    if (again)
        return HWMC_KEEP;
    if (l->kept == HWMC_EXCHANGE_KEPT)
        return HWMC_BAD;
    l->kept++;
    return HWMC_KEEP;
}

/* An eager block of the peer is neither kept nor on the way any more. */
static void take_eager(struct hwmc_exchange *x, struct hwmc_exchange_link *l)
{
    l->taken++;
    if (!l->credit_due && l->taken + HWMC_EXCHANGE_CREDIT - l->told >= HWMC_EXCHANGE_CREDIT / 2) {
        l->credit_due = true;
        x->credits_due++;
    }
}

static bool is_void(const struct hwmc_msg *msg)
{
    return (msg->flags & HWMC_FLAG_VOID) != 0;
}

/* Says how long the block is, and brings nothing. */
static bool is_announcement(const struct hwmc_msg *msg)
{
    return (msg->flags & HWMC_FLAG_AT_ONCE) != 0;
}

/* A part of block `i` of the exchange under way. */
static enum hwmc_verdict on_part(struct hwmc_exchange *x, const struct hwmc_msg *msg, uint32_t i)
{
    struct hwmc_block_in *b = &x->in[i];
    const bool eager = hwmc_exchange_is_eager(x, b->bytes);
    const uint32_t index = msg->block.index;

    if (b->over)
        return x->failed ? HWMC_STALE : HWMC_DUP;
    if (eager != hwmc_exchange_is_unasked(x, msg))
        return HWMC_BAD;
    if (eager) {
        if (index != 0 || b->have > 0)
            return HWMC_BAD;
        b->have = 1;
        return HWMC_PLACE;
    }
    if (index >= b->told)
        return HWMC_BAD;
    if (index < b->have || (b->got >> (index - b->have) & 1))
        return HWMC_DUP;
    b->got |= UINT64_C(1) << (index - b->have);
    while (b->got & 1) {
        b->got >>= 1;
        b->have++;
    }
    if (b->have == hwmc_exchange_parts_of(x, b->bytes))
        block_shut(x, b);
    return HWMC_PLACE;
}

/* An eager block: false: the peer had no credit for it. */
static bool came_eager(struct hwmc_exchange_link *l)
{
    if (l->came - l->taken == 2 * HWMC_EXCHANGE_CREDIT)
        return false;
    l->came++;
    return true;
}

enum hwmc_verdict hwmc_exchange_on_block(struct hwmc_exchange *x, const struct hwmc_msg *msg,
                                         bool kept, uint32_t *i)
{
    const bool bare = is_void(msg) || is_announcement(msg);
    const bool eager = !bare && hwmc_exchange_is_unasked(x, msg);
    struct hwmc_exchange_link *l;
    enum hwmc_verdict verdict;

    if (!is_formed(x, msg))
        return HWMC_BAD;
    l = hwmc_exchange_link(x, msg->peer);
    if (eager && !kept && !came_eager(l))
        return HWMC_BAD;
    if (is_early(x, msg)) {
        if (eager)
            return HWMC_KEEP;
        return bare ? keep_early(l, kept) : HWMC_BAD;
    }
    if (eager)
        take_eager(x, l);
    else
        l->kept -= kept;
    look_at_plan(x, msg);
    if (msg->bid < x->next) {
        if (is_announcement(msg) && !is_void(msg))
            look_back(x, msg, &l->in);
        return HWMC_STALE;
    }
    *i = find_in(x, msg->peer, msg->block.port);
    if (*i == x->num_in) {
        x->astray = x->astray || !is_void(msg); /* of what is void nobody waits for more */
        return HWMC_BAD;
    }
    x->turn_in = *i + 1;
    if (is_void(msg) || msg->block.bytes != x->in[*i].bytes) {
        if (x->in[*i].over || x->in[*i].have == hwmc_exchange_parts_of(x, x->in[*i].bytes))
            return HWMC_STALE;
        exchange_fail(x, msg->block.bytes, x->in[*i].bytes);
        hwmc_exchange_finish(x);
        return HWMC_TAKEN;
    }
    if (bare)
        return HWMC_TAKEN;
    verdict = on_part(x, msg, *i);
    if (verdict == HWMC_PLACE) {
        hwmc_exchange_trace(&l->in, msg->bid, msg->block.port);
        x->cfg.counts->got_parts++;
        x->came++;
    }
    return verdict;
}

enum hwmc_verdict hwmc_exchange_on_grant(struct hwmc_exchange *x, const struct hwmc_msg *msg,
                                         bool kept)
{
    struct hwmc_exchange_link *l;
    struct hwmc_block_out *b;
    uint32_t i, parts;

    if (!is_formed(x, msg))
        return HWMC_BAD;
    l = hwmc_exchange_link(x, msg->peer);
    if (is_early(x, msg))
        return keep_early(l, kept);
    l->kept -= kept;
    look_at_plan(x, msg);
    if (msg->bid < x->next) {
        if (!is_void(msg))
            look_back(x, msg, &l->out);
        return HWMC_STALE;
    }
    i = find_out(x, msg->peer, msg->block.port);
    if (i == x->num_out) {
        x->astray = x->astray || !is_void(msg);
        return HWMC_BAD;
    }
    x->turn_out = i + 1;
    b = &x->out[i];
    if (is_void(msg) || msg->block.bytes != b->bytes) {
        const bool was_over = hwmc_exchange_out_is_over(x, b);

        b->refused = true;
        x->left_out -= !was_over && hwmc_exchange_out_is_over(x, b);
        if (!was_over)
            exchange_fail(x, msg->block.bytes, b->bytes);
        hwmc_exchange_finish(x);
        return HWMC_TAKEN;
    }
    parts = hwmc_exchange_parts_of(x, b->bytes);
    if (msg->block.index > parts || hwmc_exchange_is_eager(x, b->bytes))
        return HWMC_BAD;
    hwmc_exchange_trace(&l->out, msg->bid, b->port);
    if (msg->block.index > b->limit)
        b->limit = msg->block.index;
    return HWMC_TAKEN;
}

enum hwmc_verdict hwmc_exchange_on_credit(struct hwmc_exchange *x, const struct hwmc_msg *msg)
{
    struct hwmc_exchange_link *l;

    if (!is_formed(x, msg))
        return HWMC_BAD;
    l = hwmc_exchange_link(x, msg->peer);
    /* By difference: counts wrap. Less than before: this rank has settled meanwhile. */
    if ((int32_t) (msg->block.index - l->sent) > (int32_t) HWMC_EXCHANGE_CREDIT)
        return HWMC_BAD;
    if ((int32_t) (msg->block.index - l->credit) > 0)
        l->credit = msg->block.index;
    return HWMC_TAKEN;
}

void hwmc_exchange_settle(struct hwmc_exchange *x)
{
    assert(!x->running);
    for (uint32_t i = 0; i < x->num_out; i++) {
        struct hwmc_exchange_link *l = hwmc_exchange_link(x, x->out[i].peer);

        l->credit = l->sent + HWMC_EXCHANGE_CREDIT;
    }
    for (uint32_t i = 0; i < x->num_in; i++) {
        struct hwmc_exchange_link *l = hwmc_exchange_link(x, x->in[i].peer);

        l->told = l->taken + HWMC_EXCHANGE_CREDIT;
        x->credits_due -= l->credit_due;
        l->credit_due = false;
    }
}

bool hwmc_exchange_waits_for_lanes(const struct hwmc_exchange *x)
{
    for (uint32_t i = 0; x->running && i < x->num_in; i++)
        if (!x->in[i].over && hwmc_exchange_by_lanes(x, x->in[i].bytes))
            return true;
    for (uint32_t i = 0; x->running && i < x->num_out; i++) {
        const struct hwmc_block_out *b = &x->out[i];

        if (!b->refused && hwmc_exchange_by_lanes(x, b->bytes) &&
            b->done < hwmc_exchange_parts_of(x, b->bytes))
            return true;
    }
    return false;
}

void hwmc_exchange_check(const struct hwmc_exchange *x)
{
    uint32_t left_in = 0, left_out = 0, grants = 0, credits = 0, open = 0;

    for (uint32_t i = 0; i < x->cfg.links; i++) {
        const struct hwmc_exchange_link *l = &x->links[i];

        credits += l->credit_due;
        assert(l->credit - l->sent <= HWMC_EXCHANGE_CREDIT);
        assert(l->told - l->taken <= HWMC_EXCHANGE_CREDIT);
        assert(l->came - l->taken <= 2 * HWMC_EXCHANGE_CREDIT);
    }
    assert(credits == x->credits_due);
    if (!x->running)
        return;
    for (uint32_t i = 0; i < x->num_in; i++) {
        const struct hwmc_block_in *b = &x->in[i];
        const bool eager = hwmc_exchange_is_eager(x, b->bytes);

        left_in += !b->over;
        grants += b->grant_due;
        open += b->opened;
        assert(b->taken <= b->have && b->have <= hwmc_exchange_parts_of(x, b->bytes));
        assert(eager || (b->have <= b->told && b->told <= b->taken + b->window));
    }
    for (uint32_t i = 0; i < x->num_out; i++) {
        const struct hwmc_block_out *b = &x->out[i];

        left_out += !hwmc_exchange_out_is_over(x, b);
        assert(b->done <= b->next && b->next <= b->ready);
        assert(hwmc_exchange_is_eager(x, b->bytes) || b->next <= b->limit);
    }
    assert(left_in == x->left_in && left_out == x->left_out);
    assert(grants == x->grants_due && open == x->open_in);
    assert(open <= 1 || x->open_bytes <= x->budget);
}
