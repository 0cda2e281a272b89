/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * link, its streams: what goes and what comes; see link.h.
 */
#include "link_impl.h"

#include <assert.h>
#include <string.h>

void bcast_hw_link_init(struct bcast_hw_link *l, const struct bcast_hw_link_cfg *cfg,
                        struct bcast_hw_link_counts *counts, uint32_t usable, uint64_t now)
{
    assert(cfg->lanes >= 1 && cfg->lanes <= BCAST_HW_LINK_LANES_MAX);
    assert(cfg->streams >= 1 && cfg->streams <= BCAST_HW_LINK_STREAMS_MAX);
    memset(l, 0, sizeof(*l));
    l->cfg = cfg;
    l->counts = counts;
    l->ack_at = l->wake = BCAST_HW_NEVER;
    l->changed = true;
    for (uint32_t i = 0; i < cfg->lanes; i++) {
        l->lanes[i].state = usable >> i & 1 ? BCAST_HW_LINK_GOOD : BCAST_HW_LINK_OFF;
        l->lanes[i].moved = now;
    }
    for (uint32_t i = 0; i < cfg->streams; i++) {
        l->streams[i].via = bcast_hw_link_choose(l, i);
        l->streams[i].heard = BCAST_HW_LINK_NO_LANE;
        l->streams[i].missed = UINT32_MAX;
    }
}

uint32_t bcast_hw_link_post(struct bcast_hw_link *l, uint32_t stream)
{
    l->due = true;
    return l->streams[stream].next++;
}

/* Sending: answers, with what they vouch for ahead of them; probes; what was taken; frames. */

static void carry_ack(struct bcast_hw_link *l, uint32_t stream, enum bcast_hw_link_kind kind,
                      uint8_t lane, struct bcast_hw_link_tx *tx)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];

    s->told = s->expects;
    s->ack_due = false;
    *tx = (struct bcast_hw_link_tx){
        .kind = kind, .lane = lane, .stream = (uint8_t) stream, .ack = s->expects};
}

static bool send_answer(struct bcast_hw_link *l, uint8_t lane, struct bcast_hw_link_tx *tx)
{
    struct bcast_hw_link_lane *p = &l->lanes[lane];

    while (p->told < l->cfg->streams) {
        uint8_t stream = p->told++;

        if (l->streams[stream].heard != BCAST_HW_LINK_NO_LANE) {
            carry_ack(l, stream, BCAST_HW_LINK_ACK, lane, tx);
            return true;
        }
    }
    p->answer_due = false;
    *tx =
        (struct bcast_hw_link_tx){.kind = BCAST_HW_LINK_ANSWER, .lane = lane, .number = p->answer};
    return true;
}

/* What the peer is not told by its own word. */
static uint32_t own_doubts(const struct bcast_hw_link *l)
{
    uint32_t lanes = 0;

    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (l->lanes[i].state == BCAST_HW_LINK_ASKED && !l->lanes[i].hinted)
            lanes |= 1u << i;
    return lanes;
}

static bool send_probe(struct bcast_hw_link *l, uint8_t lane, struct bcast_hw_link_tx *tx)
{
    struct bcast_hw_link_lane *p = &l->lanes[lane];

    p->probe_due = false;
    if (!p->probed) {
        p->probed = true;
        p->probe++;
        for (uint32_t i = 0; i < l->cfg->streams; i++)
            if (l->streams[i].via == lane)
                l->streams[i].mark = l->streams[i].sent;
    }
    l->counts->probes++;
    *tx = (struct bcast_hw_link_tx){
        .kind = BCAST_HW_LINK_PROBE, .lane = lane, .number = p->probe, .doubts = own_doubts(l)};
    return true;
}

static bool send_ack(struct bcast_hw_link *l, uint32_t stream, struct bcast_hw_link_tx *tx)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];
    enum bcast_hw_link_kind kind = s->nak_due ? BCAST_HW_LINK_NAK : BCAST_HW_LINK_ACK;
    uint8_t lane = s->heard;

    s->nak_due = false;
    if (l->lanes[lane].state == BCAST_HW_LINK_OFF)
        lane = bcast_hw_link_choose(l, stream);
    if (lane == BCAST_HW_LINK_NO_LANE) { /* until one is usable */
        s->ack_due = false;
        return false;
    }
    carry_ack(l, stream, kind, lane, tx);
    return true;
}

static bool send_frame(struct bcast_hw_link *l, uint32_t stream, struct bcast_hw_link_tx *tx,
                       uint64_t now)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];

    if (s->via == BCAST_HW_LINK_NO_LANE || s->returning || s->sent == s->next ||
        s->sent - s->acked >= BCAST_HW_LINK_WINDOW)
        return false;
    if (!bcast_hw_link_is_under_way(s)) {
        s->since = now;
        if (!bcast_hw_link_tells(l, s->via))
            bcast_hw_link_wake_at(l, now + l->cfg->suspect_ns);
    }
    carry_ack(l, stream, BCAST_HW_LINK_FRAME, s->via, tx);
    tx->number = s->sent++;
    if (bcast_hw_link_before(tx->number, s->high))
        l->counts->replays++;
    else
        s->high = s->sent;
    return true;
}

bool bcast_hw_link_next_send(struct bcast_hw_link *l, struct bcast_hw_link_tx *tx, uint64_t now)
{
    if (!l->due)
        return false;
    for (uint8_t i = 0; i < l->cfg->lanes; i++) {
        if (l->lanes[i].answer_due)
            return send_answer(l, i, tx);
        if (l->lanes[i].probe_due)
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

enum bcast_hw_verdict bcast_hw_link_on_frame(struct bcast_hw_link *l, uint32_t lane,
                                             uint32_t stream, uint32_t number, uint64_t now)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];

    s->heard = (uint8_t) lane;
    if (bcast_hw_link_before(number, s->expects)) {
        l->counts->repeats++;
        s->ack_due = l->due = true;
        return BCAST_HW_DUP;
    }
    if (number != s->expects) {
        l->counts->gaps++;
        if (s->missed != s->expects) {
            s->missed = s->expects;
            s->nak_due = l->due = true;
        }
        return BCAST_HW_STALE;
    }
    s->expects++;
    if (s->expects - s->told >= BCAST_HW_LINK_ACK_FRAMES) {
        s->ack_due = l->due = true;
    } else if (l->ack_at == BCAST_HW_NEVER) {
        l->ack_at = now + BCAST_HW_LINK_ACK_NS;
        bcast_hw_link_wake_at(l, l->ack_at);
    }
    return BCAST_HW_PLACE;
}

enum bcast_hw_verdict bcast_hw_link_on_ack(struct bcast_hw_link *l, uint32_t lane, uint32_t stream,
                                           uint32_t ack, bool nak, uint64_t now)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];
    const bool lately = s->via == lane || bcast_hw_link_before(s->mark, ack);

    if (bcast_hw_link_before(s->high, ack))
        return BCAST_HW_BAD;
    if (bcast_hw_link_before(ack, s->acked))
        return BCAST_HW_STALE;
    if (ack != s->acked) {
        s->acked = ack;
        if (bcast_hw_link_before(s->mark, ack))
            s->mark = ack;
        if (bcast_hw_link_before(s->sent, ack))
            s->sent = ack;
        s->since = now;
        l->due = true;
        if (s->via != BCAST_HW_LINK_NO_LANE)
            bcast_hw_link_moved(l, s->via, lately, now);
    }
    if (nak && bcast_hw_link_is_under_way(s))
        bcast_hw_link_replay(l, stream);
    bcast_hw_link_try_return(l, stream);
    return BCAST_HW_TAKEN;
}

/* Timers. */

void bcast_hw_link_on_timer(struct bcast_hw_link *l, uint64_t now)
{
    if (now < l->wake)
        return;
    if (l->ack_at <= now) {
        l->ack_at = BCAST_HW_NEVER;
        for (uint32_t i = 0; i < l->cfg->streams; i++)
            if (l->streams[i].told != l->streams[i].expects)
                l->streams[i].ack_due = l->due = true;
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        bcast_hw_link_on_lane_timer(l, i, now);
    l->wake = l->ack_at;
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        bcast_hw_link_wake_at(l, bcast_hw_link_lane_timer(l, i));
}

bool bcast_hw_link_is_clear(const struct bcast_hw_link *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++)
        if (l->streams[i].acked != l->streams[i].next)
            return false;
    return true;
}

void bcast_hw_link_check(const struct bcast_hw_link *l)
{
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        const struct bcast_hw_link_stream *s = &l->streams[i];

        assert(!bcast_hw_link_before(s->sent, s->acked) && !bcast_hw_link_before(s->high, s->sent));
        assert(!bcast_hw_link_before(s->next, s->high));
        assert(s->sent - s->acked <= BCAST_HW_LINK_WINDOW);
        assert(!bcast_hw_link_before(s->mark, s->acked) || s->mark == s->acked);
        assert(!bcast_hw_link_before(s->expects, s->told));
        assert(s->via == BCAST_HW_LINK_NO_LANE || l->lanes[s->via].state != BCAST_HW_LINK_OFF);
        assert(s->via != BCAST_HW_LINK_NO_LANE ||
               bcast_hw_link_choose(l, i) == BCAST_HW_LINK_NO_LANE);
        assert(!s->ack_due || s->heard != BCAST_HW_LINK_NO_LANE);
        assert(!(s->ack_due || s->nak_due) || l->due);
        assert(s->told == s->expects || s->ack_due || l->ack_at != BCAST_HW_NEVER ||
               bcast_hw_link_choose(l, i) == BCAST_HW_LINK_NO_LANE);
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++) {
        const struct bcast_hw_link_lane *p = &l->lanes[i];

        assert(!(p->probe_due || p->answer_due) || (l->due && p->state != BCAST_HW_LINK_OFF));
        assert(l->wake <= bcast_hw_link_lane_timer(l, i));
    }
    assert(l->wake <= l->ack_at);
}
