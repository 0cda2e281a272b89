/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage_member: the broadcast at a member: what comes, what is lost, and when it is asked for.
 */
#include "two_stage_impl.h"

#include <assert.h>

#include "mask.h"
#include "topo.h"

#define QUESTIONS_MAX 6 /* doublings from 1 to 64 ms */

/* Places order all fragments of a communicator by when they were sent: by broadcast, then index. */
#define PLACE_BITS 16

static uint64_t place(uint64_t bid, uint32_t index)
{
    return bid << PLACE_BITS | index;
}

static struct bcast_hw_watch_cast cast_of(const struct bcast_hw_two_stage *m,
                                          const struct bcast_hw_ring *ring)
{
    struct bcast_hw_watch_cast cast = {.rails = m->rails, .frags = m->frags, .heard = m->heard};

    FOR_EACH (r, m->rails)
        cast.later |= ring->seen[r] > place(m->bid, 0) ? (uint8_t) (1u << r) : 0;
    return cast;
}

void bcast_hw_two_stage_over(const struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring)
{
    const struct bcast_hw_watch_cast cast = cast_of(m, ring);

    if (m->phase == BCAST_HW_DONE && m->root != ring->rank)
        bcast_hw_watch_over(&ring->watch, &cast);
}

/* The rails on which this broadcast may come. */
static uint32_t rails_of(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    return bcast_hw_two_stage_rails(m, ring) & ~(uint32_t) ring->watch.suspects;
}

/* A fragment came by multicast. */
static void hear(struct bcast_hw_ring *ring, const struct bcast_hw_msg *msg, uint64_t now)
{
    uint64_t at = place(msg->bid, msg->index + 1), *seen = &ring->seen[msg->rail];
    uint64_t gap = now - ring->heard[msg->rail];

    /* What is between fragments of one message; the longest counts, and is forgotten slowly. */
    ring->gap -= ring->gap / 1024;
    if (*seen > 0 && msg->bid - (*seen >> PLACE_BITS) <= ring->more && gap > ring->gap)
        ring->gap = gap < BCAST_HW_RTT_MAX_NS / 2 ? gap : BCAST_HW_RTT_MAX_NS / 2;
    ring->more = msg->flags & BCAST_HW_FLAG_MORE;
    bcast_hw_watch_heard(&ring->watch, msg->rail);
    ring->heard[msg->rail] = now;
    if (at > *seen)
        *seen = at;
}

/* The place that all rails in use have reached. */
static uint64_t reached(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    uint64_t low = UINT64_MAX;

    FOR_EACH (r, rails_of(m, ring))
        low = ring->seen[r] < low ? ring->seen[r] : low;
    return low == UINT64_MAX ? 0 : low;
}

/* When something came last on a rail that may still bring some of this broadcast; 0: on none. */
static uint64_t flowing(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    uint64_t last = 0;

    FOR_EACH (r, rails_of(m, ring))
        if (ring->seen[r] < place(m->bid + 1, 0) && ring->heard[r] > last)
            last = ring->heard[r];
    return last;
}

/* How long nothing may come before the rest is asked for. While nothing is known of the broadcast
 * it may be that the root is late: then the question is repeated, less and less often. */
static uint64_t patience(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    uint64_t wait = bcast_hw_rtt_wait(&ring->rtt);

    if (m->questions == 0 && bcast_hw_two_stage_deaf(m, ring))
        return 0;
    if (m->frags > BCAST_HW_STANDING_FRAGS && wait < 2 * ring->gap)
        return 2 * ring->gap;
    if (m->frags > 0)
        return wait;
    wait <<= m->questions;
    return wait < BCAST_HW_RTT_MAX_NS ? wait : BCAST_HW_RTT_MAX_NS;
}

static void arm_tail(struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring, uint64_t now)
{
    bool armed = !m->push && !bcast_hw_two_stage_asks_rest(m);

    m->tail_at = armed ? now + patience(m, ring) : BCAST_HW_NEVER;
}

/* Until others are asked: long enough for those to answer that were asked before. */
static uint64_t seek_pause(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    uint64_t wait = bcast_hw_rtt_wait(&ring->rtt);

    if (m->frags == 0)
        return 8 * wait;
    return 2 * (m->frags > BCAST_HW_STANDING_FRAGS && wait < 2 * ring->gap ? 2 * ring->gap : wait);
}

/* Something came, or the program waits from now on. */
static void put_off_seek(struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring,
                         uint64_t now)
{
    if (m->phase == BCAST_HW_WAIT && ring->size > 2)
        bcast_hw_seek_wait(&m->seek, seek_pause(m, ring), now);
}

/* Asks for everything that is missing. */
void bcast_hw_two_stage_ask_rest(struct bcast_hw_two_stage *m)
{
    if (m->frags > 0) {
        m->tail_at = BCAST_HW_NEVER;
        m->ask_below = m->lost = m->frags;
    } else {
        m->ask_all = true;
        m->asked_all = false;
    }
}

/* Everything missing is late or lost. */
static void ask_late(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring)
{
    ring->counts->lost_later++;
    bcast_hw_two_stage_ask_rest(m);
}

void bcast_hw_two_stage_post_member(struct bcast_hw_two_stage *m, uint32_t root, bool chosen,
                                    struct bcast_hw_ring *ring, uint64_t now)
{
    ring->counts->two_stage++;
    ring->counts->pushed += m->push;
    m->ready_due = chosen;
    if (m->phase == BCAST_HW_STORED) {
        bcast_hw_two_stage_set_phase(m, BCAST_HW_DONE);
        return;
    }
    bcast_hw_two_stage_set_phase(m, BCAST_HW_WAIT);
    if (m->frags == 0)
        m->root = root;
    if (m->late)
        ask_late(m, ring);
    arm_tail(m, ring, now);
    put_off_seek(m, ring, now);
}

/* Every fragment is here. */
static void complete(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring, uint64_t now)
{
    m->tail_at = BCAST_HW_NEVER;
    bcast_hw_seek_end(&m->seek);
    if (m->repaired) {
        ring->counts->repaired++;
        bcast_hw_rtt_needed(&ring->rtt);
        if (m->asked_at)
            ring->counts->recovery_ns += now - m->asked_at;
    } else if (m->asked_at) {
        ring->counts->needless++;
        bcast_hw_rtt_needless(&ring->rtt);
    }
    bcast_hw_two_stage_set_phase(m, m->phase == BCAST_HW_WAIT ? BCAST_HW_DONE : BCAST_HW_STORED);
}

/* The message says otherwise than what is known of this broadcast. */
static bool contradicts(const struct bcast_hw_two_stage *m, const struct bcast_hw_msg *msg)
{
    bool more = msg->flags & BCAST_HW_FLAG_MORE;

    if (m->frags > 0)
        return msg->frags != m->frags || msg->bytes != m->bytes || msg->root != m->root ||
               more != m->more;
    return m->phase == BCAST_HW_WAIT && msg->root != m->root;
}

/* Gap: what all rails in use have passed and is missing is lost. */
static void note_gap(struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    uint64_t at = reached(m, ring);

    if (at >= place(m->bid, m->frags))
        m->passed = m->frags;
    else if (at > place(m->bid, m->passed))
        m->passed = (uint32_t) (at - place(m->bid, 0));
    if (m->ask_below < m->passed)
        m->ask_below = m->passed;
    if (m->lost < m->passed)
        m->lost = m->passed;
    if (bcast_hw_two_stage_asks_rest(m))
        m->tail_at = BCAST_HW_NEVER;
}

enum bcast_hw_verdict bcast_hw_two_stage_on_data(struct bcast_hw_two_stage *m,
                                                 const struct bcast_hw_msg *msg,
                                                 struct bcast_hw_ring *ring, uint64_t now)
{
    bool from_prev = msg->peer == bcast_hw_ring_prev(ring->rank, ring->size);

    if (!bcast_hw_two_stage_formed(msg, ring) || contradicts(m, msg) ||
        (!msg->multicast && !bcast_hw_two_stage_expects(m, msg, ring)))
        return BCAST_HW_BAD;
    if (msg->root == ring->rank && bcast_hw_two_stage_incomplete(m))
        return BCAST_HW_BAD;
    if (msg->multicast) {
        hear(ring, msg, now);
        m->heard[msg->rail] += m->repaired || !bcast_hw_bitmap_test(m->got, msg->index);
    }
    if (!bcast_hw_two_stage_incomplete(m))
        return BCAST_HW_DUP;
    if (m->phase == BCAST_HW_EMPTY)
        bcast_hw_two_stage_set_phase(m, BCAST_HW_EARLY);
    if (m->frags == 0) {
        bcast_hw_two_stage_learn(m, msg->root, msg->frags, msg->bytes,
                                 bcast_hw_two_stage_holds(msg->frags, msg->multicast), ring);
        m->more = msg->flags & BCAST_HW_FLAG_MORE;
    }
    if (msg->rails)
        m->rails = ring->rails = msg->rails;
    if (bcast_hw_bitmap_test(m->got, msg->index)) {
        if (msg->multicast && !m->push)
            note_gap(m, ring);
        return BCAST_HW_DUP;
    }

    bcast_hw_bitmap_set(m->got, msg->index);
    m->n_got++;
    m->moved_at = now;
    if (msg->multicast) {
        ring->counts->got_cast++;
    } else {
        ring->counts->got_repair++;
        ring->counts->found += !from_prev;
        /* Who had others asked meanwhile was not in MPI: that says nothing of the way to it. */
        if (from_prev && (msg->flags & BCAST_HW_FLAG_AT_ONCE) && m->asked_at && !m->repaired &&
            m->seek.asked == 0)
            bcast_hw_rtt_sample(&ring->rtt, now - m->asked_at);
        m->repaired = true;
    }
    if (m->n_got == m->frags) {
        complete(m, ring, now);
        return BCAST_HW_PLACE;
    }
    if (msg->multicast && !m->push)
        note_gap(m, ring);
    arm_tail(m, ring, now);
    put_off_seek(m, ring, now);
    return BCAST_HW_PLACE;
}

void bcast_hw_two_stage_on_later(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring)
{
    if (m->push || !bcast_hw_two_stage_incomplete(m) || bcast_hw_two_stage_asks_rest(m) ||
        m->ask_all)
        return;
    if (reached(m, ring) < place(m->bid + 1, 0)) {
        if (m->frags > 0)
            note_gap(m, ring);
        return;
    }
    if (m->phase == BCAST_HW_EMPTY)
        m->late = true;
    else
        ask_late(m, ring);
}

/* Others are asked, as far as there is something that the predecessor was asked for in vain. */
static void seek_further(struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring,
                         uint64_t now)
{
    bool any = m->frags == 0;

    for (uint32_t w = 0; w < bcast_hw_bitmap_words(m->frags); w++)
        any = any || bcast_hw_two_stage_sought(m, w);
    if (any)
        bcast_hw_seek_on_timer(&m->seek, ring->size, m->frags == 0, seek_pause(m, ring), now);
    else
        put_off_seek(m, ring, now);
}

void bcast_hw_two_stage_member_on_timer(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                                        uint64_t now)
{
    if (m->seek.at <= now)
        seek_further(m, ring, now);
    if (m->tail_at <= now) {
        uint64_t until = flowing(m, ring) + patience(m, ring);

        if (until > now) {
            m->tail_at = until;
            return;
        }
        if (m->questions == 0 && bcast_hw_two_stage_deaf(m, ring))
            ring->counts->asked_deaf++;
        else
            ring->counts->lost_tail += m->questions == 0;
        m->questions += m->questions < QUESTIONS_MAX;
        bcast_hw_two_stage_ask_rest(m);
        arm_tail(m, ring, now);
    }
}

void bcast_hw_two_stage_consumed(const struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring)
{
    const struct bcast_hw_watch_cast cast = cast_of(m, ring);

    assert(m->phase == BCAST_HW_DONE);
    if (m->root != ring->rank)
        bcast_hw_watch_here(&ring->watch, &cast);
}
