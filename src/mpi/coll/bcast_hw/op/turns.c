/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * turns: see turns.h.
 */

#include "turns.h"

#include <assert.h>

#include "../process/process.h"

#define TREES_PIECE (UINT64_C(1) << 30) /* bytes of one broadcast along trees */

static uint32_t rank_of(const struct hwmc_turns *t)
{
    return t->cfg.group->cfg.rank;
}

static bool is_end(const struct hwmc_turns *t, const struct hwmc_turns_at *a)
{
    return a->member == t->cfg.group->cfg.size;
}

static uint64_t bytes_of(const struct hwmc_turns *t, const struct hwmc_turns_at *a)
{
    return t->cfg.turn[a->member].bytes;
}

static unsigned char *memory_of(const struct hwmc_turns *t, const struct hwmc_turns_at *a)
{
    const struct hwmc_turn *turn = &t->cfg.turn[a->member];

    return turn->bytes > 0 ? (unsigned char *) turn->memory + a->at : turn->memory;
}

/* The bytes of a piece, of at most `most`. */
static uint32_t piece_of(const struct hwmc_turns *t, const struct hwmc_turns_at *a, uint64_t most)
{
    const uint64_t left = bytes_of(t, a) - a->at;

    return (uint32_t) (left < most ? left : most);
}

static void advance(const struct hwmc_turns *t, struct hwmc_turns_at *a, uint32_t bytes)
{
    a->at += bytes;
    if (a->at < bytes_of(t, a))
        return;
    a->member++;
    a->at = 0;
}

static void enter(struct hwmc_turns *t, enum hwmc_turns_state state)
{
    t->state = state;
    t->stage.over = state == HWMC_TURNS_OVER;
}

/* The others wait for its broadcasts: the group is given up. */
static void fail(struct hwmc_turns *t, enum hwmc_err err, uint64_t now)
{
    hwmc_stage_note(&t->stage, err, false);
    if (t->state != HWMC_TURNS_RUN)
        return;
    hwmc_group_give_up(t->cfg.group);
    t->retreat = (struct hwmc_retreat){.engine = t->cfg.engine,
                                       .group = t->cfg.group,
                                       .withdraw_ns = t->cfg.withdraw_ns,
                                       .by_lanes = t->by_trees};
    hwmc_retreat_begin(&t->retreat, now);
    enter(t, HWMC_TURNS_RETREAT);
}

static void mismatch(struct hwmc_turns *t, uint64_t theirs, uint64_t ours)
{
    if (t->stage.err == HWMC_OK) {
        t->stage.theirs = theirs;
        t->stage.ours = ours;
    }
    hwmc_stage_note(&t->stage, HWMC_ERR_INVAL, false);
}

static void take_from_trees(struct hwmc_turns *t, uint64_t now)
{
    struct hwmc_group *g = t->cfg.group;
    const uint32_t n = piece_of(t, &t->taken, TREES_PIECE);
    uint32_t theirs;

    if (hwmc_stream_failed(&g->stream, &theirs))
        mismatch(t, theirs, n);
    hwmc_group_consume(g, now);
    advance(t, &t->taken, n);
}

static void take_cast(struct hwmc_turns *t, uint64_t now)
{
    struct hwmc_group *g = t->cfg.group;
    const uint32_t n = piece_of(t, &t->taken, g->piece_bytes);
    const uint32_t got = hwmc_stream_bytes(&g->stream);
    const bool more = t->taken.at + n < bytes_of(t, &t->taken);
    const bool in_step = more == hwmc_stream_more(&g->stream);

    if (got != n || !in_step)
        mismatch(t, t->taken.at + got, bytes_of(t, &t->taken));
    else if (n > 0 && t->taken.member != rank_of(t))
        memcpy(memory_of(t, &t->taken), hwmc_group_last_bytes(g), n);
    hwmc_group_consume(g, now);
    if (in_step)
        advance(t, &t->taken, n);
    else /* members do not agree on the number of broadcasts: none can go on */
        fail(t, HWMC_ERR_PEER, now);
}

static uint64_t under_way(const struct hwmc_turns *t)
{
    const struct hwmc_stream *s = &t->cfg.group->stream;

    return s->posted - s->channel.consumed;
}

static bool is_takeable(const struct hwmc_turns *t)
{
    return under_way(t) > 0 && hwmc_group_done(t->cfg.group);
}

/* This member's next piece is one of the next `num`. */
static bool own_is_near(const struct hwmc_turns *t, uint64_t num)
{
    const uint32_t piece = t->cfg.group->piece_bytes;
    struct hwmc_turns_at a = t->next;

    for (; a.member < rank_of(t) && num > 0; num--)
        advance(t, &a, piece_of(t, &a, piece));
    return a.member == rank_of(t) && num > 0;
}

/* This member's last piece is sent. */
static bool own_is_sent(const struct hwmc_turns *t)
{
    const struct hwmc_stream *s = &t->cfg.group->stream;

    return t->own <= s->channel.consumed || hwmc_stream_has(s, t->own - 1);
}

/* The next piece may be posted. */
static bool is_postable(const struct hwmc_turns *t)
{
    const uint64_t num = under_way(t);

    if (is_end(t, &t->next) || hwmc_stream_by_trees(&t->cfg.group->stream))
        return false;
    if (t->next.member == rank_of(t) && !own_is_sent(t))
        return false;
    return num == 0 || (num < t->cfg.ahead && own_is_near(t, t->cfg.ahead - num));
}

/* Along trees nothing is sent that is empty: who has no block sends another length than is known.
 * */
static void post_none(struct hwmc_turns *t, uint32_t n, uint64_t now)
{
    static unsigned char none[2];

    hwmc_group_post_trees(t->cfg.group, t->next.member, none, n == 1 ? 2 : 1, now);
}

static void post_trees(struct hwmc_turns *t, uint64_t now)
{
    const uint32_t n = piece_of(t, &t->next, TREES_PIECE);

    t->by_trees = t->by_trees || n > 0;
    if (n == 0)
        advance(t, &t->taken, 0); /* all know that there is nothing */
    else if (t->cfg.failed && t->next.member == rank_of(t))
        post_none(t, n, now);
    else
        hwmc_group_post_trees(t->cfg.group, t->next.member, memory_of(t, &t->next), n, now);
    advance(t, &t->next, n);
}

static void post_cast(struct hwmc_turns *t, uint64_t now)
{
    struct hwmc_group *g = t->cfg.group;
    const uint32_t n = piece_of(t, &t->next, g->piece_bytes);
    const bool more = t->next.at + n < bytes_of(t, &t->next);

    if (t->next.member == rank_of(t)) {
        const uint32_t sent = t->cfg.failed ? 0 : n;

        memcpy(hwmc_group_next_bytes(g, sent),
               sent > 0 ? memory_of(t, &t->next) : (const void *) "", sent);
        t->own = hwmc_stream_next_bid(&g->stream) + 1;
        hwmc_group_post_root(g, sent, more, now);
    } else {
        hwmc_group_post_member(g, t->next.member, now);
    }
    advance(t, &t->next, n);
}

/* False: it has to wait. */
static bool post(struct hwmc_turns *t, uint64_t now)
{
    struct hwmc_group *g = t->cfg.group;

    if (!hwmc_group_open(g)) {
        hwmc_group_stall(g, now);
        return false;
    }
    if (hwmc_group_casts_next(g))
        post_cast(t, now);
    else if (under_way(t) == 0)
        post_trees(t, now);
    else
        return false;
    return true;
}

/* One piece; false: there is nothing to do now. */
static bool move(struct hwmc_turns *t, uint64_t now)
{
    if (is_takeable(t)) {
        if (hwmc_stream_by_trees(&t->cfg.group->stream))
            take_from_trees(t, now);
        else
            take_cast(t, now);
        return true;
    }
    return is_postable(t) && post(t, now);
}

/* Under the lock. */
static void run(struct hwmc_turns *t)
{
    struct hwmc_group *g = t->cfg.group;

    if (g->state == HWMC_GROUP_BROKEN) {
        fail(t, HWMC_ERR_PEER, hwmc_now());
        return;
    }
    if (is_takeable(t) || is_postable(t)) {
        const uint64_t now = hwmc_now();

        while (t->state == HWMC_TURNS_RUN && move(t, now))
            ;
    }
    if (t->state == HWMC_TURNS_RUN && is_end(t, &t->taken))
        enter(t, HWMC_TURNS_OVER);
}

static bool turns_step(struct hwmc_op_stage *stage)
{
    struct hwmc_turns *t = (struct hwmc_turns *) stage;

    hwmc_lock();
    stage->now = t->cfg.group->wires->now;
    if (t->state == HWMC_TURNS_RUN)
        run(t);
    if (t->state == HWMC_TURNS_RETREAT && hwmc_retreat_step(&t->retreat, hwmc_now()))
        enter(t, HWMC_TURNS_OVER);
    stage->mark = (uint64_t) t->state + t->retreat.state;
    hwmc_unlock();
    return stage->over;
}

static void turns_fail(struct hwmc_op_stage *stage, enum hwmc_err err)
{
    hwmc_lock();
    fail((struct hwmc_turns *) stage, err, hwmc_now());
    hwmc_unlock();
}

static const struct hwmc_stage_ops turns_ops = {.step = turns_step, .fail = turns_fail};

void hwmc_turns_begin(struct hwmc_turns *t, const struct hwmc_turns_cfg *cfg)
{
    assert(cfg->ahead >= 1);
    memset(t, 0, sizeof(*t));
    hwmc_stage_init(&t->stage, &turns_ops);
    t->stage.waits = HWMC_STAGE_FOR_NET;
    t->stage.group = cfg->group;
    t->cfg = *cfg;
    t->state = HWMC_TURNS_RUN;
    hwmc_lock();
    cfg->group->wires->counts->turns++;
    hwmc_unlock();
}

void hwmc_turns_check(const struct hwmc_turns *t)
{
    const struct hwmc_turns_at *a = &t->taken, *b = &t->next;

    assert(a->member < b->member || (a->member == b->member && a->at <= b->at));
    assert(t->state != HWMC_TURNS_RUN ||
           (a->member == b->member && a->at == b->at) == (under_way(t) == 0));
    assert(t->state != HWMC_TURNS_OVER || t->stage.err != HWMC_OK || is_end(t, a));
}
