/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stream, what comes: a message goes to the part of the stream that it is for; see stream.h.
 */
#include "stream_impl.h"

/* Broadcasts before `bid` were multicast before it was: what is missing of them is late or lost. */
static void on_later(struct hwmc_stream *s, uint64_t bid)
{
    for (uint64_t b = s->channel.consumed; b < bid; b++) {
        struct hwmc_two_stage *m = hwmc_stream_claim(s, b);

        hwmc_two_stage_on_later(m, &s->ring);
        hwmc_stream_attend(s, m);
    }
}

/* Its root may have overtaken others: it says something of what it multicast itself. */
static void on_later_apart(struct hwmc_stream *s, const struct hwmc_msg *msg)
{
    for (uint64_t b = s->channel.consumed; b < msg->bid; b++) {
        struct hwmc_two_stage *m = hwmc_stream_slot(s, b);

        if (m->bid != b || (m->frags == 0 && m->phase != HWMC_WAIT) || m->root != msg->data.root)
            continue;
        hwmc_two_stage_on_passed(m, msg->rail, &s->ring);
        hwmc_stream_attend(s, m);
    }
}

static enum hwmc_verdict on_broadcast(struct hwmc_stream *s, const struct hwmc_msg *msg,
                                      uint64_t now)
{
    struct hwmc_two_stage *m;
    enum hwmc_verdict verdict;

    if (s->epoch.cfg.policy.first.rails == 0 || !hwmc_two_stage_formed(msg, &s->ring))
        return HWMC_BAD;
    if (msg->bid < s->channel.floor)
        return HWMC_STALE;
    if (hwmc_epoch_policy(&s->epoch, msg->bid).rails == 0)
        return HWMC_BAD;
    if (msg->type == HWMC_MSG_DATA && msg->data.root == s->ring.rank && msg->bid >= s->posted)
        return HWMC_BAD;
    if (((msg->type == HWMC_MSG_DATA && !msg->multicast) || msg->type == HWMC_MSG_OFFER) &&
        !hwmc_two_stage_expects(hwmc_stream_slot(s, msg->bid), msg, &s->ring))
        return HWMC_BAD;
    if (!hwmc_channel_hear(&s->channel, msg->bid))
        return HWMC_BAD;
    m = hwmc_stream_claim(s, msg->bid);
    if (m->phase == HWMC_BYPASSED)
        return HWMC_BAD;
    switch (msg->type) {
        case HWMC_MSG_DATA:
            verdict = hwmc_two_stage_on_data(m, msg, &s->ring, now);
            if (verdict == HWMC_PLACE && msg->multicast && (msg->flags & HWMC_FLAG_APART))
                on_later_apart(s, msg);
            else if (verdict == HWMC_PLACE)
                on_later(s, msg->bid);
            break;
        case HWMC_MSG_NACK:
            verdict = hwmc_two_stage_on_nack(m, msg, &s->ring, now);
            break;
        case HWMC_MSG_ROOT_NACK:
            verdict = hwmc_two_stage_on_root_nack(m, msg, &s->ring);
            break;
        case HWMC_MSG_SEEK:
            verdict = hwmc_two_stage_on_seek(m, msg, &s->ring, now);
            break;
        case HWMC_MSG_OFFER:
            verdict = hwmc_two_stage_on_offer(m, msg, &s->ring, now);
            break;
        default:
            verdict = hwmc_two_stage_on_ready(m);
            break;
    }
    if (verdict != HWMC_BAD)
        hwmc_stream_attend(s, m);
    return verdict;
}

/* GRANT, or SEGMENT with VOID, of a broadcast that is not posted yet. */
static void note_unexpected(struct hwmc_multilane_unexpected *e, const struct hwmc_msg *msg)
{
    if (msg->type == HWMC_MSG_SEGMENT)
        e->voided = true;
    else if (msg->flags & HWMC_FLAG_VOID)
        e->refused[msg->grant.tree] |= 1u << msg->grant.slot;
    else
        e->granted[msg->grant.tree] |= 1u << msg->grant.slot;
}

static enum hwmc_verdict on_trees(struct hwmc_stream *s, const struct hwmc_msg *msg, uint64_t now)
{
    if (!s->unexpected || !hwmc_multilane_formed(msg, &s->multilane.cfg))
        return HWMC_BAD;
    if (msg->bid < s->channel.floor)
        return HWMC_STALE;
    if (!hwmc_channel_hear(&s->channel, msg->bid))
        return HWMC_BAD;
    if (s->multilane.phase == HWMC_MULTILANE_RUN && msg->bid == s->multilane.bid)
        return msg->type == HWMC_MSG_GRANT ? hwmc_multilane_on_grant(&s->multilane, msg)
                                           : hwmc_multilane_on_segment(&s->multilane, msg, now);
    if (msg->bid < s->posted)
        return HWMC_STALE;
    if (msg->type == HWMC_MSG_SEGMENT && !(msg->flags & HWMC_FLAG_VOID))
        return HWMC_BAD;
    hwmc_stream_claim(s, msg->bid);
    note_unexpected(hwmc_stream_unexpected(s, msg->bid), msg);
    if (s->multilane.cfg.shares && msg->type == HWMC_MSG_GRANT)
        hwmc_rail_weight_on_told(&s->multilane.cfg.shares->weights, msg->peer, msg->grant.rails,
                                 msg->grant.late_rails);
    return HWMC_TAKEN;
}

static enum hwmc_verdict on_sync(struct hwmc_stream *s, const struct hwmc_msg *msg, uint64_t now)
{
    uint64_t floor = s->channel.floor;
    uint32_t child = hwmc_channel_child(&s->channel, msg->peer);
    enum hwmc_verdict verdict;

    if (msg->type == HWMC_MSG_SYNC_UP && msg->up.worst >= s->ring.size)
        return HWMC_BAD;
    verdict = hwmc_channel_on_recv(&s->channel, msg);
    if (msg->type == HWMC_MSG_SYNC_UP && verdict == HWMC_TAKEN) {
        hwmc_epoch_on_report(&s->epoch, msg, child);
        hwmc_stream_judge(s, floor, now);
    }
    return verdict;
}

static enum hwmc_verdict on_epoch(struct hwmc_stream *s, const struct hwmc_msg *msg)
{
    bool begun;
    enum hwmc_verdict verdict =
        hwmc_epoch_on_recv(&s->epoch, msg, s->posted, s->channel.consumed, &begun);

    if (begun) {
        hwmc_channel_learn(&s->channel, s->epoch.from - s->channel.n);
        hwmc_stream_follow(s);
    } else if (verdict == HWMC_TAKEN && s->channel.rank == 0) {
        hwmc_channel_limit(&s->channel, hwmc_epoch_limit(&s->epoch));
    }
    return verdict;
}

enum hwmc_verdict hwmc_stream_on_recv(struct hwmc_stream *s, const struct hwmc_msg *msg,
                                      uint64_t now)
{
    enum hwmc_verdict verdict = HWMC_BAD;

    switch (msg->type) {
        case HWMC_MSG_DATA:
        case HWMC_MSG_NACK:
        case HWMC_MSG_READY:
        case HWMC_MSG_ROOT_NACK:
        case HWMC_MSG_SEEK:
        case HWMC_MSG_OFFER:
            verdict = on_broadcast(s, msg, now);
            break;
        case HWMC_MSG_SYNC_UP:
        case HWMC_MSG_SYNC_DOWN:
        case HWMC_MSG_SYNC_ASK:
            verdict = on_sync(s, msg, now);
            break;
        case HWMC_MSG_EPOCH:
            verdict = on_epoch(s, msg);
            break;
        case HWMC_MSG_PROBE:
            verdict = hwmc_epoch_on_probe(&s->epoch, msg);
            break;
        case HWMC_MSG_GRANT:
        case HWMC_MSG_SEGMENT:
            verdict = on_trees(s, msg, now);
            break;
        default:
            break;
    }
    s->counts->dup += verdict == HWMC_DUP;
    s->counts->stale += verdict == HWMC_STALE;
    s->counts->bad += verdict == HWMC_BAD;
    return verdict;
}
