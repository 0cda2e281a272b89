/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * session, its lanes: by which one a stream goes, and whether each of them lives; see session.h.
 */
#include "session_impl.h"
#include "../base/trace.h"

#include <assert.h>

/* The lane is asked whether it lives; if it is asked already, once more. */
static void let_probe(struct hwmc_session_lane *p)
{
    p->asking =
        p->asking < HWMC_SESSION_PROBE_OUT ? HWMC_SESSION_PROBE_DUE : HWMC_SESSION_PROBE_AGAIN;
}

/* The first lane in the stream's order that is in `state`; NO_LANE. */
static uint8_t first_in(const struct hwmc_session *l, uint32_t stream,
                        enum hwmc_session_lane_state state)
{
    for (uint32_t k = 0; k < l->cfg->lanes; k++) {
        uint8_t lane = l->cfg->prefers[stream][k];

        if (lane == HWMC_SESSION_NO_LANE)
            break;
        if (l->lanes[lane].state == state)
            return lane;
    }
    return HWMC_SESSION_NO_LANE;
}

uint8_t hwmc_session_choose(const struct hwmc_session *l, uint32_t stream)
{
    uint8_t lane = first_in(l, stream, HWMC_SESSION_GOOD);

    if (lane == HWMC_SESSION_NO_LANE)
        lane = first_in(l, stream, HWMC_SESSION_SUSPECTED);
    if (lane == HWMC_SESSION_NO_LANE)
        lane = first_in(l, stream, HWMC_SESSION_DEAD);
    return lane;
}

/* When the lane is to be asked: something of a stream has been under way for too long; NEVER. */
static uint64_t suspect_at(const struct hwmc_session *l, uint32_t lane)
{
    uint64_t at = HWMC_NEVER;

    if (hwmc_session_tells(l, lane))
        return at;
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        const struct hwmc_session_stream *s = &l->streams[i];
        uint64_t since = s->since > l->lanes[lane].moved ? s->since : l->lanes[lane].moved;

        if (s->via == lane && hwmc_session_is_under_way(s) && since + l->cfg->suspect_ns < at)
            at = since + l->cfg->suspect_ns;
    }
    return at;
}

/* When an ASKED lane is suspected, and after that dead; NEVER while no other has answered. */
static uint64_t verdict_at(const struct hwmc_session *l, uint32_t lane)
{
    const struct hwmc_session_lane *p = &l->lanes[lane];

    return p->spread || p->until == HWMC_NEVER ? p->until : p->until - l->cfg->grace_ns / 2;
}

uint64_t hwmc_session_lane_timer(const struct hwmc_session *l, uint32_t lane)
{
    switch (l->lanes[lane].state) {
        case HWMC_SESSION_GOOD:
            return suspect_at(l, lane);
        case HWMC_SESSION_SUSPECTED:
            return verdict_at(l, lane);
        case HWMC_SESSION_DEAD:
            return l->lanes[lane].until;
        default:
            return HWMC_NEVER;
    }
}

void hwmc_session_try_return(struct hwmc_session *l, uint32_t stream)
{
    struct hwmc_session_stream *s = &l->streams[stream];
    uint8_t lane = first_in(l, stream, HWMC_SESSION_GOOD);

    if (!s->returning || hwmc_session_is_under_way(s))
        return;
    s->returning = false;
    l->due = true;
    if (lane != HWMC_SESSION_NO_LANE && lane != s->via) {
        s->via = lane;
        s->mark = s->acked;
        l->changed = true;
        l->counts->returns++;
    }
}

void hwmc_session_replay(struct hwmc_session *l, uint32_t stream)
{
    struct hwmc_session_stream *s = &l->streams[stream];

    s->sent = s->mark = s->acked;
    l->due = true;
    hwmc_session_try_return(l, stream);
}

/* The peer may not have heard what it was told by a lane that was lost. */
static void tell_again(struct hwmc_session *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++)
        if (l->streams[i].heard != HWMC_SESSION_NO_LANE)
            l->streams[i].ack_due = l->due = true;
}

static void leave_lane(struct hwmc_session *l, uint32_t lane)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct hwmc_session_stream *s = &l->streams[i];

        if (s->via != lane)
            continue;
        s->via = hwmc_session_choose(l, i);
        s->returning = false;
        l->counts->moves += s->via != HWMC_SESSION_NO_LANE;
        hwmc_session_replay(l, i);
    }
}

/* A lane became GOOD: who would rather use it does. One that has no better is left at once. */
static void attract_streams(struct hwmc_session *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct hwmc_session_stream *s = &l->streams[i];
        uint8_t lane = first_in(l, i, HWMC_SESSION_GOOD);

        if (lane == HWMC_SESSION_NO_LANE || lane == s->via)
            continue;
        if (s->via == HWMC_SESSION_NO_LANE || l->lanes[s->via].state == HWMC_SESSION_DEAD) {
            s->via = lane;
            hwmc_session_replay(l, i);
            continue;
        }
        s->returning = true;
        if (hwmc_session_is_under_way(s))
            let_probe(&l->lanes[s->via]); /* to be told of the last of it at once */
        hwmc_session_try_return(l, i);
    }
    l->due = true;
}

static const char *const state_names[] = {
    [HWMC_SESSION_OFF] = "OFF",
    [HWMC_SESSION_GOOD] = "GOOD",
    [HWMC_SESSION_SUSPECTED] = "SUSPECTED",
    [HWMC_SESSION_DEAD] = "DEAD",
};

static void set_state(struct hwmc_session *l, uint32_t lane, enum hwmc_session_lane_state to,
                      uint64_t now)
{
    struct hwmc_session_lane *p = &l->lanes[lane];
    enum hwmc_session_lane_state from = p->state;

    assert(from != to);
    assert(from != HWMC_SESSION_OFF || to == HWMC_SESSION_DEAD);
    assert(to != HWMC_SESSION_SUSPECTED || from == HWMC_SESSION_GOOD);
    hwmc_trace_change(HWMC_TRACE_SESSION, lane, state_names, from, to);
    p->state = to;
    l->changed = true;
    switch (to) {
        case HWMC_SESSION_OFF:
            p->asking = HWMC_SESSION_PROBE_NONE;
            p->answer_due = false;
            leave_lane(l, lane);
            tell_again(l);
            break;
        case HWMC_SESSION_GOOD:
            p->moved = now;
            attract_streams(l);
            hwmc_session_wake_at(l, suspect_at(l, lane));
            break;
        case HWMC_SESSION_SUSPECTED:
            p->until = HWMC_NEVER;
            p->spread = false;
            break;
        case HWMC_SESSION_DEAD:
            p->interval = HWMC_SESSION_PROBE_FIRST_NS;
            p->until = now + p->interval;
            hwmc_session_wake_at(l, p->until);
            leave_lane(l, lane);
            break;
    }
}

void hwmc_session_moved(struct hwmc_session *l, uint32_t lane, bool lately, uint64_t now)
{
    l->lanes[lane].moved = now;
    if (lately && l->lanes[lane].state == HWMC_SESSION_SUSPECTED)
        set_state(l, lane, HWMC_SESSION_GOOD, now);
}

/* Whether the lane lives, unless that is asked already or known. */
static void ask_lane(struct hwmc_session *l, uint32_t lane, bool hinted, uint64_t now)
{
    if (l->lanes[lane].state != HWMC_SESSION_GOOD)
        return;
    set_state(l, lane, HWMC_SESSION_SUSPECTED, now);
    l->lanes[lane].hinted = hinted;
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (l->lanes[i].state != HWMC_SESSION_OFF && l->lanes[i].asking == HWMC_SESSION_PROBE_NONE)
            l->lanes[i].asking = HWMC_SESSION_PROBE_DUE;
    l->due = true;
}

void hwmc_session_on_probe(struct hwmc_session *l, uint32_t lane, uint32_t number, uint32_t doubts,
                           uint64_t now)
{
    struct hwmc_session_lane *p = &l->lanes[lane];

    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (doubts >> i & 1)
            ask_lane(l, i, true, now);
    if (p->state == HWMC_SESSION_OFF) /* nothing goes by it: that is an answer too */
        return;
    p->answer = number;
    p->answer_due = l->due = true;
    p->told = 0;
}

void hwmc_session_on_answer(struct hwmc_session *l, uint32_t lane, uint32_t number, uint64_t now)
{
    struct hwmc_session_lane *p = &l->lanes[lane];

    if (p->asking < HWMC_SESSION_PROBE_OUT || number != p->probe)
        return;
    p->asking = HWMC_SESSION_PROBE_NONE;
    p->moved = now;
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct hwmc_session_stream *s = &l->streams[i];

        if (s->via == lane && hwmc_session_before(s->acked, s->mark))
            hwmc_session_replay(l, i);
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (i != lane && l->lanes[i].state == HWMC_SESSION_SUSPECTED &&
            l->lanes[i].until == HWMC_NEVER) {
            l->lanes[i].until = now + l->cfg->grace_ns;
            hwmc_session_wake_at(l, verdict_at(l, i));
        }
    if (p->state != HWMC_SESSION_GOOD)
        set_state(l, lane, HWMC_SESSION_GOOD, now);
}

void hwmc_session_on_lost(struct hwmc_session *l, uint32_t lane, uint64_t now)
{
    if (l->lanes[lane].state == HWMC_SESSION_OFF)
        return;
    l->counts->losses++;
    set_state(l, lane, HWMC_SESSION_OFF, now);
}

void hwmc_session_on_usable(struct hwmc_session *l, uint32_t lane, uint64_t now)
{
    set_state(l, lane, HWMC_SESSION_DEAD, now);
    let_probe(&l->lanes[lane]);
    l->due = true;
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        struct hwmc_session_stream *s = &l->streams[i];

        if (s->via == HWMC_SESSION_NO_LANE)
            s->via = hwmc_session_choose(l, i);
    }
    tell_again(l);
}

void hwmc_session_on_lane_timer(struct hwmc_session *l, uint32_t lane, uint64_t now)
{
    struct hwmc_session_lane *p = &l->lanes[lane];

    switch (p->state) {
        case HWMC_SESSION_OFF:
            break;
        case HWMC_SESSION_GOOD:
            if (suspect_at(l, lane) <= now)
                ask_lane(l, lane, false, now);
            break;
        case HWMC_SESSION_SUSPECTED:
            if (verdict_at(l, lane) <= now && !p->spread) {
                p->spread = true;
                l->suspect |= 1u << lane;
            }
            if (p->until <= now) {
                l->counts->deaths++;
                set_state(l, lane, HWMC_SESSION_DEAD, now);
            }
            break;
        case HWMC_SESSION_DEAD:
            if (p->until <= now) {
                let_probe(p);
                l->due = true;
                if (p->interval < HWMC_SESSION_PROBE_LAST_NS)
                    p->interval *= 2;
                p->until = now + p->interval;
            }
            break;
    }
}

void hwmc_session_suspect(struct hwmc_session *l, uint32_t lane, uint64_t now)
{
    ask_lane(l, lane, false, now);
}
