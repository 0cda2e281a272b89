/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * link: see link.h.
 */
#include "link.h"

#include <assert.h>
#include <string.h>

/* a is before b, in numbers that wrap. */
static bool before(uint32_t a, uint32_t b)
{
    return (int32_t) (a - b) < 0;
}

static void wake_at(struct bcast_hw_link *l, uint64_t at)
{
    l->wake = at < l->wake ? at : l->wake;
}

static bool tells(const struct bcast_hw_link *l, uint32_t lane)
{
    return l->cfg->tells >> lane & 1;
}

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

static uint8_t choose(const struct bcast_hw_link *l, uint32_t stream)
{
    uint8_t lane = first_in(l, stream, BCAST_HW_LINK_GOOD);

    if (lane == BCAST_HW_LINK_NO_LANE)
        lane = first_in(l, stream, BCAST_HW_LINK_ASKED);
    if (lane == BCAST_HW_LINK_NO_LANE)
        lane = first_in(l, stream, BCAST_HW_LINK_DEAD);
    return lane;
}

static bool is_under_way(const struct bcast_hw_link_stream *s)
{
    return s->acked != s->sent;
}

/* When the lane is to be asked: something of a stream has been under way for too long; NEVER. */
static uint64_t suspect_at(const struct bcast_hw_link *l, uint32_t lane)
{
    uint64_t at = BCAST_HW_NEVER;

    if (tells(l, lane))
        return at;
    for (uint32_t i = 0; i < l->cfg->streams; i++) {
        const struct bcast_hw_link_stream *s = &l->streams[i];
        uint64_t since = s->since > l->lanes[lane].moved ? s->since : l->lanes[lane].moved;

        if (s->via == lane && is_under_way(s) && since + l->cfg->suspect_ns < at)
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

/* When the lane's state has something to do next; NEVER. */
static uint64_t lane_timer(const struct bcast_hw_link *l, uint32_t lane)
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

/* The stream goes over to the lane that it prefers, when nothing of it is under way. */
static void try_return(struct bcast_hw_link *l, uint32_t stream)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];
    uint8_t lane = first_in(l, stream, BCAST_HW_LINK_GOOD);

    if (!s->returning || is_under_way(s))
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

/* What is not acknowledged goes again. */
static void replay(struct bcast_hw_link *l, uint32_t stream)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];

    s->sent = s->mark = s->acked;
    l->due = true;
    try_return(l, stream);
}

/* What the peer was told by a lane that was lost it may not have heard. */
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
        s->via = choose(l, i);
        s->returning = false;
        l->counts->moves += s->via != BCAST_HW_LINK_NO_LANE;
        replay(l, i);
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
            replay(l, i);
            continue;
        }
        s->returning = true;
        if (is_under_way(s))
            l->lanes[s->via].probe_due = true; /* to be told of the last of it at once */
        try_return(l, i);
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
            wake_at(l, suspect_at(l, lane));
            break;
        case BCAST_HW_LINK_ASKED:
            p->until = BCAST_HW_NEVER;
            p->spread = false;
            break;
        case BCAST_HW_LINK_DEAD:
            p->interval = BCAST_HW_LINK_PROBE_FIRST_NS;
            p->until = now + p->interval;
            wake_at(l, p->until);
            leave(l, lane);
            break;
    }
}

/* Something that went by the lane came; `lately`: not perhaps before it died. */
static void moved(struct bcast_hw_link *l, uint32_t lane, bool lately, uint64_t now)
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
        l->streams[i].via = choose(l, i);
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
        lane = choose(l, stream);
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
    if (!is_under_way(s)) {
        s->since = now;
        if (!tells(l, s->via))
            wake_at(l, now + l->cfg->suspect_ns);
    }
    carry_ack(l, stream, BCAST_HW_LINK_FRAME, s->via, tx);
    tx->number = s->sent++;
    if (before(tx->number, s->high))
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
    if (before(number, s->expects)) {
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
        wake_at(l, l->ack_at);
    }
    return BCAST_HW_PLACE;
}

enum bcast_hw_verdict bcast_hw_link_on_ack(struct bcast_hw_link *l, uint32_t lane, uint32_t stream,
                                           uint32_t ack, bool nak, uint64_t now)
{
    struct bcast_hw_link_stream *s = &l->streams[stream];
    const bool lately = s->via == lane || before(s->mark, ack);

    if (before(s->high, ack))
        return BCAST_HW_BAD;
    if (before(ack, s->acked))
        return BCAST_HW_STALE;
    if (ack != s->acked) {
        s->acked = ack;
        if (before(s->mark, ack))
            s->mark = ack;
        if (before(s->sent, ack))
            s->sent = ack;
        s->since = now;
        l->due = true;
        if (s->via != BCAST_HW_LINK_NO_LANE)
            moved(l, s->via, lately, now);
    }
    if (nak && is_under_way(s))
        replay(l, stream);
    try_return(l, stream);
    return BCAST_HW_TAKEN;
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

        if (s->via == lane && before(s->acked, s->mark))
            replay(l, i);
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        if (i != lane && l->lanes[i].state == BCAST_HW_LINK_ASKED &&
            l->lanes[i].until == BCAST_HW_NEVER) {
            l->lanes[i].until = now + l->cfg->grace_ns;
            wake_at(l, verdict_at(l, i));
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
            s->via = choose(l, i);
    }
    tell_again(l);
}

/* Timers. */

static void on_lane_timer(struct bcast_hw_link *l, uint32_t lane, uint64_t now)
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
        on_lane_timer(l, i, now);
    l->wake = l->ack_at;
    for (uint32_t i = 0; i < l->cfg->lanes; i++)
        wake_at(l, lane_timer(l, i));
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

        assert(!before(s->sent, s->acked) && !before(s->high, s->sent));
        assert(!before(s->next, s->high));
        assert(s->sent - s->acked <= BCAST_HW_LINK_WINDOW);
        assert(!before(s->mark, s->acked) || s->mark == s->acked);
        assert(!before(s->expects, s->told));
        assert(s->via == BCAST_HW_LINK_NO_LANE || l->lanes[s->via].state != BCAST_HW_LINK_OFF);
        assert(s->via != BCAST_HW_LINK_NO_LANE || choose(l, i) == BCAST_HW_LINK_NO_LANE);
        assert(!s->ack_due || s->heard != BCAST_HW_LINK_NO_LANE);
        assert(!(s->ack_due || s->nak_due) || l->due);
        assert(s->told == s->expects || s->ack_due || l->ack_at != BCAST_HW_NEVER ||
               choose(l, i) == BCAST_HW_LINK_NO_LANE);
    }
    for (uint32_t i = 0; i < l->cfg->lanes; i++) {
        const struct bcast_hw_link_lane *p = &l->lanes[i];

        assert(!(p->probe_due || p->answer_due) || (l->due && p->state != BCAST_HW_LINK_OFF));
        assert(l->wake <= lane_timer(l, i));
    }
    assert(l->wake <= l->ack_at);
}
