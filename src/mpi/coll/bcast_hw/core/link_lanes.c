/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * link, its lanes: by which one a stream goes, and whether each of them lives; see link.h.
 */
#include "link_impl.h"

#include <assert.h>

/* The first lane in the stream's order that is in `state`; NO_LANE. */
static uint8_t first_in(const struct bcast_hw_link *l, uint32_t stream,
                        enum bcast_hw_link_lane_state state)
{
    for (uint32_t k = 0; k < l->cfg->lanes; k++) {
        uint8_t lane = l->cfg->prefers[stream][k];

        if (lane == BCAST_HW_LINK_NO_LANE)
            break;
        if (l->lanes[lane].state == state)
            return lane;
    }
    return BCAST_HW_LINK_NO_LANE;
}

uint8_t bcast_hw_link_choose(const struct bcast_hw_link *l, uint32_t stream)
{
    uint8_t lane = first_in(l, stream, BCAST_HW_LINK_GOOD);

    if (lane == BCAST_HW_LINK_NO_LANE)
        lane = first_in(l, stream, BCAST_HW_LINK_ASKED);
    if (lane == BCAST_HW_LINK_NO_LANE)
        lane = first_in(l, stream, BCAST_HW_LINK_DEAD);
    return lane;
}

/* When the lane is to be asked: something of a stream has been under way for too long; NEVER. */
static uint64_t suspect_at(const struct bcast_hw_link *l, uint32_t lane)
{
    uint64_t at = BCAST_HW_NEVER;

    if (bcast_hw_link_tells(l, lane))
        return at;
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        const struct bcast_hw_link_stream *s = &l->streams[i];
        uint64_t since = s->since > l->lanes[lane].moved ? s->since : l->lanes[lane].moved;

        if (s->via == lane && bcast_hw_link_is_under_way(s) && since + l->cfg->suspect_ns < at)
            at = since + l->cfg->suspect_ns;
    }
    return at;
}

/* When an ASKED lane is outlived, and after that dead; NEVER while no other has answered. */
static uint64_t verdict_at(const struct bcast_hw_link *l, uint32_t lane)
{
    const struct bcast_hw_link_lane *p = &l->lanes[lane];

    return p->spread || p->until == BCAST_HW_NEVER ? p->until : p->until - l->cfg->grace_ns / 2;
}

uint64_t bcast_hw_link_lane_timer(const struct bcast_hw_link *l, uint32_t lane)
{
    switch (l->lanes[lane].state) {
        case BCAST_HW_LINK_GOOD:
            return suspect_at(l, lane);
        case BCAST_HW_LINK_ASKED:
            return verdict_at(l, lane);
        case BCAST_HW_LINK_DEAD:
            return l->lanes[lane].until;
        default:
            return BCAST_HW_NEVER;
    }
}

void bcast_hw_link_try_return(struct bcast_hw_link *l, uint32_t stream)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];
    uint8_t lane = first_in(l, stream, BCAST_HW_LINK_GOOD);

    if (!s->returning || bcast_hw_link_is_under_way(s))
        return;
    s->returning = false;
    l->due = true;
    if (lane != BCAST_HW_LINK_NO_LANE && lane != s->via) {
        s->via = lane;
        s->mark = s->acked;
        l->changed = true;
        l->counts->returns++;
    }
}

void bcast_hw_link_replay(struct bcast_hw_link *l, uint32_t stream)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];

    s->sent = s->mark = s->acked;
    l->due = true;
    bcast_hw_link_try_return(l, stream);
}

/* The peer may not have heard what it was told by a lane that was lost. */
static void tell_again(struct bcast_hw_link *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++)
        if (l->streams[i].heard != BCAST_HW_LINK_NO_LANE)
            l->streams[i].ack_due = l->due = true;
}

static void leave(struct bcast_hw_link *l, uint32_t lane)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct bcast_hw_link_stream *s = &l->streams[i];

        if (s->via != lane)
            continue;
        s->via = bcast_hw_link_choose(l, i);
        s->returning = false;
        l->counts->moves += s->via != BCAST_HW_LINK_NO_LANE;
        bcast_hw_link_replay(l, i);
    }
}

/* A lane became GOOD: who would rather use it does. One that has no better is left at once. */
static void attract(struct bcast_hw_link *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct bcast_hw_link_stream *s = &l->streams[i];
        uint8_t lane = first_in(l, i, BCAST_HW_LINK_GOOD);

        if (lane == BCAST_HW_LINK_NO_LANE || lane == s->via)
            continue;
        if (s->via == BCAST_HW_LINK_NO_LANE || l->lanes[s->via].state == BCAST_HW_LINK_DEAD) {
            s->via = lane;
            bcast_hw_link_replay(l, i);
            continue;
        }
        s->returning = true;
        if (bcast_hw_link_is_under_way(s))
            l->lanes[s->via].probe_due = true; /* to be told of the last of it at once */
        bcast_hw_link_try_return(l, i);
    }
    l->due = true;
}

static void set_state(struct bcast_hw_link *l, uint32_t lane, enum bcast_hw_link_lane_state to,
                      uint64_t now)
{
    struct bcast_hw_link_lane *p = &l->lanes[lane];
    enum bcast_hw_link_lane_state from = p->state;

    assert(from != to);
    assert(from != BCAST_HW_LINK_OFF || to == BCAST_HW_LINK_DEAD);
    assert(to != BCAST_HW_LINK_ASKED || from == BCAST_HW_LINK_GOOD);
    p->state = to;
    l->changed = true;
    switch (to) {
        case BCAST_HW_LINK_OFF:
            p->probe_due = p->probed = p->answer_due = false;
            leave(l, lane);
            tell_again(l);
            break;
        case BCAST_HW_LINK_GOOD:
            p->moved = now;
            attract(l);
            bcast_hw_link_wake_at(l, suspect_at(l, lane));
            break;
        case BCAST_HW_LINK_ASKED:
            p->until = BCAST_HW_NEVER;
            p->spread = false;
            break;
        case BCAST_HW_LINK_DEAD:
            p->interval = BCAST_HW_LINK_PROBE_FIRST_NS;
            p->until = now + p->interval;
            bcast_hw_link_wake_at(l, p->until);
            leave(l, lane);
            break;
    }
}

void bcast_hw_link_moved(struct bcast_hw_link *l, uint32_t lane, bool lately, uint64_t now)
{
    l->lanes[lane].moved = now;
    if (lately && l->lanes[lane].state == BCAST_HW_LINK_ASKED)
        set_state(l, lane, BCAST_HW_LINK_GOOD, now);
}

/* Whether the lane lives, unless that is asked already or known. */
static void ask(struct bcast_hw_link *l, uint32_t lane, bool hinted, uint64_t now)
{
    if (l->lanes[lane].state != BCAST_HW_LINK_GOOD)
        return;
    set_state(l, lane, BCAST_HW_LINK_ASKED, now);
    l->lanes[lane].hinted = hinted;
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (l->lanes[i].state != BCAST_HW_LINK_OFF && !l->lanes[i].probed)
            l->lanes[i].probe_due = true;
    l->due = true;
}

void bcast_hw_link_on_probe(struct bcast_hw_link *l, uint32_t lane, uint32_t number,
                            uint32_t doubts, uint64_t now)
{
    struct bcast_hw_link_lane *p = &l->lanes[lane];

    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (doubts >> i & 1)
            ask(l, i, true, now);
    if (p->state == BCAST_HW_LINK_OFF) /* nothing goes by it: that is an answer too */
        return;
    p->answer = number;
    p->answer_due = l->due = true;
    p->told = 0;
}

void bcast_hw_link_on_answer(struct bcast_hw_link *l, uint32_t lane, uint32_t number, uint64_t now)
{
    struct bcast_hw_link_lane *p = &l->lanes[lane];

    if (!p->probed || number != p->probe)
        return;
    p->probed = p->probe_due = false;
    p->moved = now;
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct bcast_hw_link_stream *s = &l->streams[i];

        if (s->via == lane && bcast_hw_link_before(s->acked, s->mark))
            bcast_hw_link_replay(l, i);
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (i != lane && l->lanes[i].state == BCAST_HW_LINK_ASKED &&
            l->lanes[i].until == BCAST_HW_NEVER) {
            l->lanes[i].until = now + l->cfg->grace_ns;
            bcast_hw_link_wake_at(l, verdict_at(l, i));
        }
    if (p->state != BCAST_HW_LINK_GOOD)
        set_state(l, lane, BCAST_HW_LINK_GOOD, now);
}

void bcast_hw_link_on_lost(struct bcast_hw_link *l, uint32_t lane, uint64_t now)
{
    if (l->lanes[lane].state == BCAST_HW_LINK_OFF)
        return;
    l->counts->losses++;
    set_state(l, lane, BCAST_HW_LINK_OFF, now);
}

void bcast_hw_link_on_usable(struct bcast_hw_link *l, uint32_t lane, uint64_t now)
{
    set_state(l, lane, BCAST_HW_LINK_DEAD, now);
    l->lanes[lane].probe_due = l->due = true;
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct bcast_hw_link_stream *s = &l->streams[i];

        if (s->via == BCAST_HW_LINK_NO_LANE)
            s->via = bcast_hw_link_choose(l, i);
    }
    tell_again(l);
}

void bcast_hw_link_on_lane_timer(struct bcast_hw_link *l, uint32_t lane, uint64_t now)
{
    struct bcast_hw_link_lane *p = &l->lanes[lane];

    switch (p->state) {
        case BCAST_HW_LINK_OFF:
            break;
        case BCAST_HW_LINK_GOOD:
            if (suspect_at(l, lane) <= now)
                ask(l, lane, false, now);
            break;
        case BCAST_HW_LINK_ASKED:
            if (verdict_at(l, lane) <= now && !p->spread) {
                p->spread = true;
                l->outlived |= 1u << lane;
            }
            if (p->until <= now) {
                l->counts->deaths++;
                set_state(l, lane, BCAST_HW_LINK_DEAD, now);
            }
            break;
        case BCAST_HW_LINK_DEAD:
            if (p->until <= now) {
                p->probe_due = l->due = true;
                if (p->interval < BCAST_HW_LINK_PROBE_LAST_NS)
                    p->interval *= 2;
                p->until = now + p->interval;
            }
            break;
    }
}

void bcast_hw_link_doubt(struct bcast_hw_link *l, uint32_t lane, uint64_t now)
{
    ask(l, lane, false, now);
}
