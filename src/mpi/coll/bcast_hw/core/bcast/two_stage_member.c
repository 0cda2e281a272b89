/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage_member: the broadcast at a member: what comes, what is lost, and when it is asked for.
 */
#include "two_stage_impl.h"

#include <assert.h>

#include "../base/mask.h"
#include "../place/kary.h"

#define QUESTIONS_MAX 12 /* doublings; more than from the shortest wait to the longest */

/* Places order all fragments of a communicator by when they were sent: by broadcast, then index. */
#define PLACE_BITS 16
#define REACH_ALL UINT16_MAX /* more than a broadcast has */

static uint64_t place_of(uint64_t bid, uint32_t index)
{
    return bid << PLACE_BITS | index;
}

/* The place that this rail has reached, as far as it says something of this broadcast. */
static uint64_t seen_on(const struct hwmc_two_stage *m, const struct hwmc_ring *ring, uint32_t r)
{
    const uint64_t own = m->reach[r] == REACH_ALL ? place_of(m->bid + 1, 0)
                         : m->reach[r] > 0        ? place_of(m->bid, m->reach[r])
                                                  : 0;

    return own > ring->seen[r] ? own : ring->seen[r];
}

static struct hwmc_loss_estimate_cast cast_of(const struct hwmc_two_stage *m,
                                              const struct hwmc_ring *ring)
{
    struct hwmc_loss_estimate_cast cast = {
        .rails = m->rails, .frags = m->frags, .heard = m->heard, .excused = ring->anew};

    FOR_EACH (r, m->rails)
        cast.later |= seen_on(m, ring, r) > place_of(m->bid, 0) ? (uint8_t) (1u << r) : 0;
    return cast;
}

void hwmc_two_stage_over(const struct hwmc_two_stage *m, struct hwmc_ring *ring)
{
    const struct hwmc_loss_estimate_cast cast = cast_of(m, ring);

    if (m->phase == HWMC_DONE && m->root != ring->rank)
        hwmc_loss_estimate_over(&ring->watch, &cast);
}

/* The rails on which this broadcast may come. */
static uint32_t rails_of(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    return hwmc_two_stage_rails(m, ring) & ~(uint32_t) ring->watch.suspects;
}

/* So long nothing came between two fragments of one message. The longest counts, and is forgotten
 * slowly. */
static void hear_gap(struct hwmc_ring *ring, uint64_t gap)
{
    ring->gap -= ring->gap / 1024;
    if (gap > ring->gap)
        ring->gap = gap < HWMC_RTT_MAX_NS / 2 ? gap : HWMC_RTT_MAX_NS / 2;
}

/* A fragment came by multicast, and its root is apart. */
static void hear_apart(struct hwmc_two_stage *m, struct hwmc_ring *ring, const struct hwmc_msg *msg,
                       uint64_t now)
{
    hear_gap(ring, m->n_got > 0 ? now - m->moved_at : 0);
    if (m->reach[msg->rail] <= msg->data.index)
        m->reach[msg->rail] = (uint16_t) (msg->data.index + 1);
    hwmc_loss_estimate_heard(&ring->watch, msg->rail);
    ring->heard[msg->rail] = now;
}

/* A fragment came by multicast. */
static void ring_hear(struct hwmc_ring *ring, const struct hwmc_msg *msg, uint64_t now)
{
    uint64_t at = place_of(msg->bid, msg->data.index + 1), *seen = &ring->seen[msg->rail];
    const bool goes_on = *seen > 0 && msg->bid - (*seen >> PLACE_BITS) <= ring->more;

    hear_gap(ring, goes_on ? now - ring->heard[msg->rail] : 0);
    ring->more = msg->flags & HWMC_FLAG_MORE;
    hwmc_loss_estimate_heard(&ring->watch, msg->rail);
    ring->heard[msg->rail] = now;
    if (at > *seen)
        *seen = at;
}

void hwmc_two_stage_after_seen(const struct hwmc_ring *ring, uint32_t rail, uint64_t *bid,
                               uint32_t *index)
{
    *bid = ring->seen[rail] >> PLACE_BITS;
    *index = (uint32_t) (ring->seen[rail] - place_of(*bid, 0));
}

/* The place that all rails in use have reached. */
static uint64_t reached_place(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    uint64_t low = UINT64_MAX;

    FOR_EACH (r, rails_of(m, ring))
        low = seen_on(m, ring, r) < low ? seen_on(m, ring, r) : low;
    return low == UINT64_MAX ? 0 : low;
}

/* When something came last on a rail that may still bring some of this broadcast; 0: on none. */
static uint64_t last_flow(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    uint64_t last = 0;

    FOR_EACH (r, rails_of(m, ring))
        if (seen_on(m, ring, r) < place_of(m->bid + 1, 0) && ring->heard[r] > last)
            last = ring->heard[r];
    return last;
}

/* What a broadcast waits for by rtt.h; one of many fragments at least twice as long as pauses in it
 * last. */
static uint64_t long_wait(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    const uint64_t wait = hwmc_rtt_wait(&ring->rtt);

    return m->frags > HWMC_STANDING_FRAGS && wait < 2 * ring->gap ? 2 * ring->gap : wait;
}

/* How long nothing may come before the rest is asked for. While nothing is known of the broadcast
 * it may be that the root is late: then the question is repeated, less and less often. */
static uint64_t tail_wait(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    uint64_t wait;

    if (m->questions == 0 && hwmc_two_stage_no_multicast(m, ring))
        return 0;
    if (m->frags > HWMC_STANDING_FRAGS)
        return long_wait(m, ring);
    wait = hwmc_tail_wait(&ring->tail, &ring->rtt);
    if (m->frags > 0)
        return wait;
    wait <<= m->questions;
    return wait < HWMC_RTT_MAX_NS ? wait : HWMC_RTT_MAX_NS;
}

static void arm_tail(struct hwmc_two_stage *m, const struct hwmc_ring *ring, uint64_t now)
{
    bool armed = !m->push && !hwmc_two_stage_asks_rest(m);

    m->tail_at = armed ? now + tail_wait(m, ring) : HWMC_NEVER;
}

/* Until others are asked: long enough for those to answer that were asked before. */
static uint64_t seek_pause(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    return (m->frags == 0 ? 8 : 2) * long_wait(m, ring);
}

/* Something came, or the program waits from now on. */
static void put_off_seek(struct hwmc_two_stage *m, const struct hwmc_ring *ring, uint64_t now)
{
    if (m->phase == HWMC_WAIT && ring->size > 2)
        hwmc_seek_wait(&m->seek, seek_pause(m, ring), now);
}

/* Asks for everything that is missing. */
void hwmc_two_stage_ask_rest(struct hwmc_two_stage *m)
{
    if (m->frags > 0) {
        m->tail_at = HWMC_NEVER;
        m->ask_below = m->lost = m->frags;
    } else {
        m->unknown.ask = HWMC_ASK_ALL_DUE;
    }
}

/* Everything missing is late or lost. */
static void ask_late(struct hwmc_two_stage *m, struct hwmc_ring *ring)
{
    ring->counts->lost_later++;
    hwmc_two_stage_ask_rest(m);
}

void hwmc_two_stage_post_member(struct hwmc_two_stage *m, uint32_t root, bool chosen,
                                struct hwmc_ring *ring, uint64_t now)
{
    ring->counts->two_stage++;
    ring->counts->pushed += m->push;
    m->ready = chosen ? HWMC_READY_DUE : HWMC_READY_NONE;
    if (m->phase == HWMC_STORED) {
        hwmc_two_stage_set_phase(m, HWMC_DONE);
        return;
    }
    hwmc_two_stage_set_phase(m, HWMC_WAIT);
    m->called_at = now;
    if (m->frags == 0)
        m->root = root;
    if (m->unknown.late)
        ask_late(m, ring);
    arm_tail(m, ring, now);
    put_off_seek(m, ring, now);
}

/* Every fragment is here. */
static void member_complete(struct hwmc_two_stage *m, struct hwmc_ring *ring, uint64_t now)
{
    m->tail_at = HWMC_NEVER;
    hwmc_seek_end(&m->seek);
    if (m->repaired) {
        ring->counts->repaired++;
        hwmc_rtt_needed(&ring->rtt);
        if (m->asked_at)
            ring->counts->recovery_ns += now - m->asked_at;
    } else if (m->asked_at) {
        ring->counts->needless++;
        hwmc_rtt_needless(&ring->rtt);
    }
    hwmc_two_stage_set_phase(m, m->phase == HWMC_WAIT ? HWMC_DONE : HWMC_STORED);
}

/* The message says otherwise than what is known of this broadcast. */
static bool data_contradicts(const struct hwmc_two_stage *m, const struct hwmc_msg *msg)
{
    bool more = msg->flags & HWMC_FLAG_MORE;

    if (m->frags > 0)
        return msg->data.frags != m->frags || msg->data.bytes != m->bytes ||
               msg->data.root != m->root || more != m->more;
    return m->phase == HWMC_WAIT && msg->data.root != m->root;
}

/* Gap: what all rails in use have passed and is missing is lost. */
static void note_gap(struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    uint64_t at = reached_place(m, ring);

    if (at >= place_of(m->bid, m->frags))
        m->passed = m->frags;
    else if (at > place_of(m->bid, m->passed))
        m->passed = (uint32_t) (at - place_of(m->bid, 0));
    if (m->ask_below < m->passed)
        m->ask_below = m->passed;
    if (m->lost < m->passed)
        m->lost = m->passed;
    if (hwmc_two_stage_asks_rest(m))
        m->tail_at = HWMC_NEVER;
}

enum hwmc_verdict hwmc_two_stage_on_data(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                         struct hwmc_ring *ring, uint64_t now)
{
    bool from_prev = msg->peer == hwmc_ring_prev(ring->rank, ring->size);

    if (!hwmc_two_stage_formed(msg, ring) || data_contradicts(m, msg) ||
        (!msg->multicast && !hwmc_two_stage_expects(m, msg, ring)))
        return HWMC_BAD;
    if (msg->data.root == ring->rank && hwmc_two_stage_incomplete(m))
        return HWMC_BAD;
    if (msg->multicast) {
        if (msg->flags & HWMC_FLAG_APART)
            hear_apart(m, ring, msg, now);
        else
            ring_hear(ring, msg, now);
        m->heard[msg->rail] += m->repaired || !hwmc_bitmap_test(m->got, msg->data.index);
    }
    if (!hwmc_two_stage_incomplete(m))
        return HWMC_DUP;
    if (m->phase == HWMC_EMPTY)
        hwmc_two_stage_set_phase(m, HWMC_UNEXPECTED);
    if (m->frags == 0) {
        hwmc_two_stage_learn(m, msg->data.root, msg->data.frags, msg->data.bytes,
                             hwmc_two_stage_holds(msg->data.frags, msg->multicast), ring);
        m->more = msg->flags & HWMC_FLAG_MORE;
    }
    if (msg->data.rails)
        m->rails = ring->rails = msg->data.rails;
    if (hwmc_bitmap_test(m->got, msg->data.index)) {
        if (msg->multicast && !m->push)
            note_gap(m, ring);
        return HWMC_DUP;
    }

    hwmc_bitmap_set(m->got, msg->data.index);
    m->n_got++;
    m->moved_at = now;
    if (msg->multicast) {
        ring->counts->got_cast++;
        if (m->phase == HWMC_WAIT && m->n_got == 1)
            hwmc_tail_sample(&ring->tail, now - m->called_at);
    } else {
        ring->counts->got_repair++;
        ring->counts->found += !from_prev;
        /* Who had others asked meanwhile was not in MPI: that says nothing of the way to it. */
        if (from_prev && (msg->flags & HWMC_FLAG_AT_ONCE) && m->asked_at && !m->repaired &&
            m->seek.asked == 0)
            hwmc_rtt_sample(&ring->rtt, now - m->asked_at);
        m->repaired = true;
    }
    if (m->n_got == m->frags) {
        member_complete(m, ring, now);
        return HWMC_PLACE;
    }
    if (msg->multicast && !m->push)
        note_gap(m, ring);
    arm_tail(m, ring, now);
    put_off_seek(m, ring, now);
    return HWMC_PLACE;
}

void hwmc_two_stage_on_later(struct hwmc_two_stage *m, struct hwmc_ring *ring)
{
    if (m->push || !hwmc_two_stage_incomplete(m) || hwmc_two_stage_asks_rest(m) || m->unknown.ask)
        return;
    if (reached_place(m, ring) < place_of(m->bid + 1, 0)) {
        if (m->frags > 0)
            note_gap(m, ring);
        return;
    }
    if (m->phase == HWMC_EMPTY)
        m->unknown.late = true;
    else
        ask_late(m, ring);
}

void hwmc_two_stage_on_passed(struct hwmc_two_stage *m, uint32_t rail, struct hwmc_ring *ring)
{
    m->reach[rail] = REACH_ALL;
    hwmc_two_stage_on_later(m, ring);
}

/* Others are asked, as far as there is something that the predecessor was asked for in vain. */
static void seek_further(struct hwmc_two_stage *m, const struct hwmc_ring *ring, uint64_t now)
{
    bool any = m->frags == 0;

    for (uint32_t w = 0; w < hwmc_bitmap_words(m->frags); w++)
        any = any || hwmc_two_stage_sought(m, w);
    if (any)
        hwmc_seek_on_timer(&m->seek, ring->size, m->frags == 0, seek_pause(m, ring), now);
    else
        put_off_seek(m, ring, now);
}

void hwmc_two_stage_member_on_timer(struct hwmc_two_stage *m, struct hwmc_ring *ring, uint64_t now)
{
    if (m->seek.at <= now)
        seek_further(m, ring, now);
    if (m->tail_at <= now) {
        uint64_t until = last_flow(m, ring) + tail_wait(m, ring);

        if (until > now) {
            m->tail_at = until;
            return;
        }
        if (m->questions == 0 && hwmc_two_stage_no_multicast(m, ring))
            ring->counts->nacks_no_multicast++;
        else
            ring->counts->lost_tail += m->questions == 0;
        m->questions += m->questions < QUESTIONS_MAX;
        hwmc_two_stage_ask_rest(m);
        arm_tail(m, ring, now);
    }
}

void hwmc_two_stage_consumed(const struct hwmc_two_stage *m, struct hwmc_ring *ring)
{
    const struct hwmc_loss_estimate_cast cast = cast_of(m, ring);

    assert(m->phase == HWMC_DONE);
    if (m->root != ring->rank)
        hwmc_loss_estimate_here(&ring->watch, &cast);
}
