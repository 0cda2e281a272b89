/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stream, what comes: a message goes to the part of the stream that it is for; see stream.h.
 */
#include "stream_impl.h"

/* Broadcasts before `bid` were multicast before it was: what is missing of them is late or lost. */
static void on_later(struct bcast_hw_stream *s, uint64_t bid)
{
    for (uint64_t b = s->channel.consumed; b < bid; b++) {
        struct bcast_hw_two_stage *m = bcast_hw_stream_claim(s, b);

        bcast_hw_two_stage_on_later(m, &s->ring);
        bcast_hw_stream_attend(s, m);
    }
}

static enum bcast_hw_verdict on_broadcast(struct bcast_hw_stream *s, const struct bcast_hw_msg *msg,
                                          uint64_t now)
{
    struct bcast_hw_two_stage *m;
    enum bcast_hw_verdict verdict;

    if (s->epoch.cfg.first.rails == 0 || !bcast_hw_two_stage_formed(msg, &s->ring))
        return BCAST_HW_BAD;
    if (msg->bid < s->channel.floor)
        return BCAST_HW_STALE;
    if (bcast_hw_epoch_manner(&s->epoch, msg->bid).rails == 0)
        return BCAST_HW_BAD;
    if (msg->type == BCAST_HW_MSG_DATA && msg->root == s->ring.rank && msg->bid >= s->posted)
        return BCAST_HW_BAD;
    if (((msg->type == BCAST_HW_MSG_DATA && !msg->multicast) || msg->type == BCAST_HW_MSG_OFFER) &&
        !bcast_hw_two_stage_expects(bcast_hw_stream_slot(s, msg->bid), msg, &s->ring))
        return BCAST_HW_BAD;
    if (!bcast_hw_channel_hear(&s->channel, msg->bid))
        return BCAST_HW_BAD;
    m = bcast_hw_stream_claim(s, msg->bid);
    if (m->phase == BCAST_HW_AWAY)
        return BCAST_HW_BAD;
    switch (msg->type) {
        case BCAST_HW_MSG_DATA:
            verdict = bcast_hw_two_stage_on_data(m, msg, &s->ring, now);
            if (verdict == BCAST_HW_PLACE)
                on_later(s, msg->bid);
            break;
        case BCAST_HW_MSG_REQUEST:
            verdict = bcast_hw_two_stage_on_request(m, msg, &s->ring, now);
            break;
        case BCAST_HW_MSG_AGAIN:
            verdict = bcast_hw_two_stage_on_again(m, msg, &s->ring);
            break;
        case BCAST_HW_MSG_SEEK:
            verdict = bcast_hw_two_stage_on_seek(m, msg, &s->ring, now);
            break;
        case BCAST_HW_MSG_OFFER:
            verdict = bcast_hw_two_stage_on_offer(m, msg, &s->ring, now);
            break;
        default:
            verdict = bcast_hw_two_stage_on_ready(m);
            break;
    }
    if (verdict != BCAST_HW_BAD)
        bcast_hw_stream_attend(s, m);
    return verdict;
}

/* GRANT, or SEGMENT with VOID, of a broadcast that is not posted yet. */
static void note_early(struct bcast_hw_multilane_early *e, const struct bcast_hw_msg *msg)
{
    if (msg->type == BCAST_HW_MSG_SEGMENT)
        e->voided = true;
    else if (msg->flags & BCAST_HW_FLAG_VOID)
        e->refused[msg->tree] |= 1u << msg->slot;
    else
        e->granted[msg->tree] |= 1u << msg->slot;
}

static enum bcast_hw_verdict on_trees(struct bcast_hw_stream *s, const struct bcast_hw_msg *msg,
                                      uint64_t now)
{
    if (!s->early || !bcast_hw_multilane_formed(msg, &s->multilane.cfg))
        return BCAST_HW_BAD;
    if (msg->bid < s->channel.floor)
        return BCAST_HW_STALE;
    if (!bcast_hw_channel_hear(&s->channel, msg->bid))
        return BCAST_HW_BAD;
    if (s->multilane.phase == BCAST_HW_MULTILANE_RUN && msg->bid == s->multilane.bid)
        return msg->type == BCAST_HW_MSG_GRANT
                   ? bcast_hw_multilane_on_grant(&s->multilane, msg)
                   : bcast_hw_multilane_on_segment(&s->multilane, msg, now);
    if (msg->bid < s->posted)
        return BCAST_HW_STALE;
    if (msg->type == BCAST_HW_MSG_SEGMENT && !(msg->flags & BCAST_HW_FLAG_VOID))
        return BCAST_HW_BAD;
    bcast_hw_stream_claim(s, msg->bid);
    note_early(bcast_hw_stream_early(s, msg->bid), msg);
    if (s->multilane.cfg.shares && msg->type == BCAST_HW_MSG_GRANT)
        bcast_hw_lag_on_told(&s->multilane.cfg.shares->lag, msg->peer, msg->rails, msg->late);
    return BCAST_HW_TAKEN;
}

static enum bcast_hw_verdict on_sync(struct bcast_hw_stream *s, const struct bcast_hw_msg *msg,
                                     uint64_t now)
{
    uint64_t floor = s->channel.floor;
    uint32_t child = bcast_hw_channel_child(&s->channel, msg->peer);
    enum bcast_hw_verdict verdict;

    if (msg->type == BCAST_HW_MSG_SYNC_UP && msg->root >= s->ring.size)
        return BCAST_HW_BAD;
    verdict = bcast_hw_channel_on_recv(&s->channel, msg);
    if (msg->type == BCAST_HW_MSG_SYNC_UP && verdict == BCAST_HW_TAKEN) {
        bcast_hw_epoch_on_report(&s->epoch, msg, child);
        bcast_hw_stream_judge(s, floor, now);
    }
    return verdict;
}

static enum bcast_hw_verdict on_epoch(struct bcast_hw_stream *s, const struct bcast_hw_msg *msg)
{
    bool begun;
    enum bcast_hw_verdict verdict =
        bcast_hw_epoch_on_recv(&s->epoch, msg, s->posted, s->channel.consumed, &begun);

    if (begun) {
        bcast_hw_channel_learn(&s->channel, s->epoch.from - s->channel.n);
        bcast_hw_stream_follow(s);
    } else if (verdict == BCAST_HW_TAKEN && s->channel.rank == 0) {
        bcast_hw_channel_limit(&s->channel, bcast_hw_epoch_limit(&s->epoch));
    }
    return verdict;
}

enum bcast_hw_verdict bcast_hw_stream_on_recv(struct bcast_hw_stream *s,
                                              const struct bcast_hw_msg *msg, uint64_t now)
{
    enum bcast_hw_verdict verdict = BCAST_HW_BAD;

    switch (msg->type) {
        case BCAST_HW_MSG_DATA:
        case BCAST_HW_MSG_REQUEST:
        case BCAST_HW_MSG_READY:
        case BCAST_HW_MSG_AGAIN:
        case BCAST_HW_MSG_SEEK:
        case BCAST_HW_MSG_OFFER:
            verdict = on_broadcast(s, msg, now);
            break;
        case BCAST_HW_MSG_SYNC_UP:
        case BCAST_HW_MSG_SYNC_DOWN:
        case BCAST_HW_MSG_SYNC_ASK:
            verdict = on_sync(s, msg, now);
            break;
        case BCAST_HW_MSG_EPOCH:
            verdict = on_epoch(s, msg);
            break;
        case BCAST_HW_MSG_PROBE:
            verdict = bcast_hw_epoch_on_probe(&s->epoch, msg);
            break;
        case BCAST_HW_MSG_GRANT:
        case BCAST_HW_MSG_SEGMENT:
            verdict = on_trees(s, msg, now);
            break;
        default:
            break;
    }
    s->counts->dup += verdict == BCAST_HW_DUP;
    s->counts->stale += verdict == BCAST_HW_STALE;
    s->counts->bad += verdict == BCAST_HW_BAD;
    return verdict;
}
