/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * session, its streams: what goes and what comes; see session.h.
 */
#include "session_impl.h"

#include <assert.h>
#include <string.h>

void hwmc_session_init(struct hwmc_session *l, const struct hwmc_session_cfg *cfg,
                       struct hwmc_session_counts *counts, uint32_t usable, uint64_t now)
{
    assert(cfg->lanes >= 1 && cfg->lanes <= HWMC_SESSION_LANES_MAX);
    assert(cfg->streams >= 1 && cfg->streams <= HWMC_SESSION_STREAMS_MAX);
    memset(l, 0, sizeof(*l));
    l->cfg = cfg;
    l->counts = counts;
    l->ack_at = l->wake = HWMC_NEVER;
    l->changed = true;
    for (uint32_t i = 0; i < cfg->lanes; i++) {
        l->lanes[i].state = usable >> i & 1 ? HWMC_SESSION_GOOD : HWMC_SESSION_OFF;
        l->lanes[i].moved = now;
    }
    for (uint32_t i = 0; i < cfg->streams; i++) {
        l->streams[i].via = hwmc_session_choose(l, i);
        l->streams[i].heard = HWMC_SESSION_NO_LANE;
        l->streams[i].missed = UINT32_MAX;
    }
}

uint32_t hwmc_session_post(struct hwmc_session *l, uint32_t stream)
{
    l->due = true;
    return l->streams[stream].next++;
}

/* Sending: answers, with what they vouch for ahead of them; probes; what was taken; frames. */

static void carry_ack(struct hwmc_session *l, uint32_t stream, enum hwmc_session_kind kind,
                      uint8_t lane, struct hwmc_session_tx *tx)
{
    struct hwmc_session_stream *s = &l->streams[stream];

    s->told = s->expects;
    s->ack_due = false;
    *tx = (struct hwmc_session_tx){
        .kind = kind, .lane = lane, .stream = (uint8_t) stream, .ack = s->expects};
}

static bool send_answer(struct hwmc_session *l, uint8_t lane, struct hwmc_session_tx *tx)
{
    struct hwmc_session_lane *p = &l->lanes[lane];

    while (p->told < l->cfg->streams) {
        uint8_t stream = p->told++;

        if (l->streams[stream].heard != HWMC_SESSION_NO_LANE) {
            carry_ack(l, stream, HWMC_SESSION_ACK, lane, tx);
            return true;
        }
    }
    p->answer_due = false;
    *tx = (struct hwmc_session_tx){.kind = HWMC_SESSION_ANSWER, .lane = lane, .number = p->answer};
    return true;
}

/* What the peer is not told by its own word. */
static uint32_t own_doubts(const struct hwmc_session *l)
{
    uint32_t lanes = 0;

    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (l->lanes[i].state == HWMC_SESSION_SUSPECTED && !l->lanes[i].hinted)
            lanes |= 1u << i;
    return lanes;
}

static bool send_probe(struct hwmc_session *l, uint8_t lane, struct hwmc_session_tx *tx)
{
    struct hwmc_session_lane *p = &l->lanes[lane];

    if (p->asking == HWMC_SESSION_PROBE_DUE) {
        p->probe++;
        for (uint32_t i = 0; i < l->cfg->streams; i++)
            if (l->streams[i].via == lane)
                l->streams[i].mark = l->streams[i].sent;
    }
    p->asking = HWMC_SESSION_PROBE_OUT;
    l->counts->probes++;
    *tx = (struct hwmc_session_tx){
        .kind = HWMC_SESSION_PROBE, .lane = lane, .number = p->probe, .doubts = own_doubts(l)};
    return true;
}

static bool send_ack(struct hwmc_session *l, uint32_t stream, struct hwmc_session_tx *tx)
{
    struct hwmc_session_stream *s = &l->streams[stream];
    enum hwmc_session_kind kind = s->nak_due ? HWMC_SESSION_NAK : HWMC_SESSION_ACK;
    uint8_t lane = s->heard;

    s->nak_due = false;
    if (l->lanes[lane].state == HWMC_SESSION_OFF)
        lane = hwmc_session_choose(l, stream);
    if (lane == HWMC_SESSION_NO_LANE) { /* until one is usable */
        s->ack_due = false;
        return false;
    }
    carry_ack(l, stream, kind, lane, tx);
    return true;
}

static bool send_frame(struct hwmc_session *l, uint32_t stream, struct hwmc_session_tx *tx,
                       uint64_t now)
{
    struct hwmc_session_stream *s = &l->streams[stream];

    if (s->via == HWMC_SESSION_NO_LANE || s->returning || s->sent == s->next ||
        s->sent - s->acked >= HWMC_SESSION_WINDOW)
        return false;
    if (!hwmc_session_is_under_way(s)) {
        s->since = now;
        if (!hwmc_session_tells(l, s->via))
            hwmc_session_wake_at(l, now + l->cfg->suspect_ns);
    }
    carry_ack(l, stream, HWMC_SESSION_FRAME, s->via, tx);
    tx->number = s->sent++;
    if (hwmc_session_before(tx->number, s->high))
        l->counts->replays++;
    else
        s->high = s->sent;
    return true;
}

bool hwmc_session_next_send(struct hwmc_session *l, struct hwmc_session_tx *tx, uint64_t now)
{
    if (!l->due)
        return false;
    for (uint8_t i = 0; i < l->cfg->lanes; i++) {
        if (l->lanes[i].answer_due)
            return send_answer(l, i, tx);
        if (hwmc_session_probe_due(&l->lanes[i]))
            return send_probe(l, i, tx);
    }
    for (uint32_t i = 0; i < l->cfg->streams; i++)
        if ((l->streams[i].ack_due || l->streams[i].nak_due) && send_ack(l, i, tx))
            return true;
    for (uint32_t i = 0; i < l->cfg->streams; i++)
        if (send_frame(l, i, tx, now))
            return true;
    l->due = false;
    return false;
}

/* Receiving. */

enum hwmc_verdict hwmc_session_on_frame(struct hwmc_session *l, uint32_t lane, uint32_t stream,
                                        uint32_t number, uint64_t now)
{
    struct hwmc_session_stream *s = &l->streams[stream];

    s->heard = (uint8_t) lane;
    if (hwmc_session_before(number, s->expects)) {
        l->counts->repeats++;
        s->ack_due = l->due = true;
        return HWMC_DUP;
    }
    if (number != s->expects) {
        l->counts->gaps++;
        if (s->missed != s->expects) {
            s->missed = s->expects;
            s->nak_due = l->due = true;
        }
        return HWMC_STALE;
    }
    s->expects++;
    if (s->expects - s->told >= HWMC_SESSION_ACK_FRAMES) {
        s->ack_due = l->due = true;
    } else if (l->ack_at == HWMC_NEVER) {
        l->ack_at = now + HWMC_SESSION_ACK_NS;
        hwmc_session_wake_at(l, l->ack_at);
    }
    return HWMC_PLACE;
}

enum hwmc_verdict hwmc_session_on_ack(struct hwmc_session *l, uint32_t lane, uint32_t stream,
                                      uint32_t ack, bool nak, uint64_t now)
{
    struct hwmc_session_stream *s = &l->streams[stream];
    const bool lately = s->via == lane || hwmc_session_before(s->mark, ack);

    if (hwmc_session_before(s->high, ack))
        return HWMC_BAD;
    if (hwmc_session_before(ack, s->acked))
        return HWMC_STALE;
    if (ack != s->acked) {
        s->acked = ack;
        if (hwmc_session_before(s->mark, ack))
            s->mark = ack;
        if (hwmc_session_before(s->sent, ack))
            s->sent = ack;
        s->since = now;
        l->due = true;
        if (s->via != HWMC_SESSION_NO_LANE)
            hwmc_session_moved(l, s->via, lately, now);
    }
    if (nak && hwmc_session_is_under_way(s))
        hwmc_session_replay(l, stream);
    hwmc_session_try_return(l, stream);
    return HWMC_TAKEN;
}

/* Timers. */

void hwmc_session_on_timer(struct hwmc_session *l, uint64_t now)
{
    if (now < l->wake)
        return;
    if (l->ack_at <= now) {
        l->ack_at = HWMC_NEVER;
        for (uint32_t i = 0; i < l->cfg->streams; i++)
            if (l->streams[i].told != l->streams[i].expects)
                l->streams[i].ack_due = l->due = true;
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        hwmc_session_on_lane_timer(l, i, now);
    l->wake = l->ack_at;
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        hwmc_session_wake_at(l, hwmc_session_lane_timer(l, i));
}

bool hwmc_session_is_clear(const struct hwmc_session *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++)
        if (l->streams[i].acked != l->streams[i].next)
            return false;
    return true;
}

void hwmc_session_check(const struct hwmc_session *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        const struct hwmc_session_stream *s = &l->streams[i];

        assert(!hwmc_session_before(s->sent, s->acked) && !hwmc_session_before(s->high, s->sent));
        assert(!hwmc_session_before(s->next, s->high));
        assert(s->sent - s->acked <= HWMC_SESSION_WINDOW);
        assert(!hwmc_session_before(s->mark, s->acked) || s->mark == s->acked);
        assert(!hwmc_session_before(s->expects, s->told));
        assert(s->via == HWMC_SESSION_NO_LANE || l->lanes[s->via].state != HWMC_SESSION_OFF);
        assert(s->via != HWMC_SESSION_NO_LANE || hwmc_session_choose(l, i) == HWMC_SESSION_NO_LANE);
        assert(!s->ack_due || s->heard != HWMC_SESSION_NO_LANE);
        assert(!(s->ack_due || s->nak_due) || l->due);
        assert(s->told == s->expects || s->ack_due || l->ack_at != HWMC_NEVER ||
               hwmc_session_choose(l, i) == HWMC_SESSION_NO_LANE);
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++) {
        const struct hwmc_session_lane *p = &l->lanes[i];

        assert(!(hwmc_session_probe_due(p) || p->answer_due) ||
               (l->due && p->state != HWMC_SESSION_OFF));
        assert(l->wake <= hwmc_session_lane_timer(l, i));
    }
    assert(l->wake <= l->ack_at);
}
