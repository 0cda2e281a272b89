/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage: see two_stage.h.
 */
#include "two_stage_impl.h"

#include <assert.h>

#include "bitmap.h"
#include "mask.h"
#include "topo.h"

/* Which phase may follow which, a bit each. */
static const uint8_t legal[] = {
    [BCAST_HW_EMPTY] =
        1u << BCAST_HW_EARLY | 1u << BCAST_HW_WAIT | 1u << BCAST_HW_HOLD | 1u << BCAST_HW_AWAY,
    [BCAST_HW_EARLY] =
        1u << BCAST_HW_STORED | 1u << BCAST_HW_WAIT | 1u << BCAST_HW_HOLD | 1u << BCAST_HW_AWAY,
    [BCAST_HW_STORED] = 1u << BCAST_HW_DONE | 1u << BCAST_HW_HOLD | 1u << BCAST_HW_AWAY,
    [BCAST_HW_WAIT] = 1u << BCAST_HW_DONE,
    [BCAST_HW_HOLD] = 1u << BCAST_HW_CAST,
    [BCAST_HW_CAST] = 1u << BCAST_HW_DONE,
    [BCAST_HW_DONE] = 1u << BCAST_HW_EMPTY,
    [BCAST_HW_AWAY] = 1u << BCAST_HW_EMPTY,
};

void bcast_hw_two_stage_set_phase(struct bcast_hw_two_stage *m, enum bcast_hw_phase to)
{
    assert(legal[m->phase] >> to & 1);
    m->phase = to;
}

uint32_t bcast_hw_two_stage_words(uint32_t max_frags)
{
    return 8 * bcast_hw_bitmap_words(max_frags);
}

static void forget_askers(struct bcast_hw_two_stage *m, uint32_t max_frags)
{
    bcast_hw_bitmap_clear(m->given, max_frags);
    m->num_askers = 0;
    m->give_to = BCAST_HW_NOBODY;
}

static void clear(struct bcast_hw_two_stage *m, uint64_t bid, const struct bcast_hw_ring *ring,
                  bool push)
{
    const uint32_t max_frags = ring->max_frags;

    memset(m->got, 0, bcast_hw_two_stage_words(max_frags) * sizeof(*m->got));
    m->bid = bid;
    m->push = push;
    bcast_hw_seek_init(&m->seek, bid, ring->rank);
    forget_askers(m, max_frags);
    m->more = false;
    m->root = m->frags = m->bytes = m->n_got = m->passed = m->next_cast = m->ask_below = m->lost =
        0;
    m->again = 0;
    m->rails = m->ends = m->questions = 0;
    m->ask_all = m->asked_all = m->want_all = m->at_once = m->late = m->told_all = false;
    m->ready_due = m->ready_got = m->repaired = m->want_deaf = false;
    memset(m->heard, 0, sizeof(m->heard));
    m->hold_until = m->tail_at = BCAST_HW_NEVER;
    m->asked_at = m->moved_at = 0;
}

void bcast_hw_two_stage_init(struct bcast_hw_two_stage *m, uint64_t bid, uint64_t *words,
                             const struct bcast_hw_ring *ring)
{
    uint32_t n = bcast_hw_bitmap_words(ring->max_frags);

    m->got = words;
    m->wanted = words + n;
    m->sent = words + 2 * n;
    m->asked = words + 3 * n;
    m->urged = words + 4 * n;
    m->told = words + 5 * n;
    m->sought = words + 6 * n;
    m->given = words + 7 * n;
    m->phase = BCAST_HW_EMPTY;
    clear(m, bid, ring, ring->push);
}

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

void bcast_hw_two_stage_reset(struct bcast_hw_two_stage *m, uint64_t bid,
                              struct bcast_hw_ring *ring)
{
    const struct bcast_hw_watch_cast cast = cast_of(m, ring);

    if (m->phase == BCAST_HW_DONE && m->root != ring->rank)
        bcast_hw_watch_over(&ring->watch, &cast);
    if (m->phase != BCAST_HW_EMPTY)
        bcast_hw_two_stage_set_phase(m, BCAST_HW_EMPTY);
    clear(m, bid, ring, ring->push);
}

/* The successor may need something: it is not known to be the root. */
static bool serves(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    return m->frags == 0 || bcast_hw_ring_next(ring->rank, ring->size) != m->root;
}

/* The shape of the message is known now: what the successor wants can be named. A root that had
 * been asked before it was called asked in turn: it wants nothing any more. Whoever asked for
 * everything before anything was known (`standing`: such requests hold) may have been too early, or
 * missed it all. */
static void learn(struct bcast_hw_two_stage *m, uint32_t root, uint32_t frags, uint32_t bytes,
                  bool standing, const struct bcast_hw_ring *ring)
{
    m->root = root;
    m->frags = frags;
    m->bytes = bytes;
    if (!serves(m, ring))
        bcast_hw_bitmap_clear(m->wanted, ring->max_frags);
    else if ((m->want_all && (standing || m->want_deaf)) || m->push)
        bcast_hw_bitmap_fill(m->wanted, frags);
    if (m->asked_all && standing)
        bcast_hw_bitmap_fill(m->asked, frags);
    if (m->ask_all && standing)
        m->ask_below = frags;
    m->ask_all = m->asked_all = m->want_all = m->want_deaf = false;
}

/* Everything missing is asked for, or is about to be. */
static bool asks_rest(const struct bcast_hw_two_stage *m)
{
    return m->frags > 0 && m->ask_below == m->frags;
}

#define QUESTIONS_MAX 6 /* doublings from 1 to 64 ms */

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

/* A request for everything holds when the first fragment comes by multicast (`cast`) only if there
 * are few: a long broadcast would go over every lane of the ring because its root was late. When it
 * comes by lane, the multicast failed before. */
static bool holds(uint32_t frags, bool cast)
{
    return !cast || frags <= BCAST_HW_STANDING_FRAGS;
}

void bcast_hw_two_stage_post_root(struct bcast_hw_two_stage *m, uint32_t bytes, bool more,
                                  uint8_t rails, uint64_t hold_until, struct bcast_hw_ring *ring,
                                  uint64_t now)
{
    uint32_t max = ring->max_frags, frags;

    assert(rails);
    bcast_hw_two_stage_set_phase(m, BCAST_HW_HOLD);
    m->more = more;
    m->rails = rails;
    m->tail_at = BCAST_HW_NEVER;
    /* What came of this broadcast from elsewhere is false: the program says that it begins here. */
    bcast_hw_bitmap_clear(m->got, max);
    bcast_hw_bitmap_clear(m->sent, max);
    bcast_hw_bitmap_clear(m->asked, max);
    bcast_hw_bitmap_clear(m->urged, max);
    bcast_hw_bitmap_clear(m->told, max);
    forget_askers(m, max);
    m->repaired = false;
    m->ask_below = m->lost = 0;
    frags = bcast_hw_frags_of(bytes, ring->frag_bytes);
    assert(frags <= ring->max_frags);
    learn(m, ring->rank, frags, bytes, holds(frags, true), ring);
    bcast_hw_bitmap_fill(m->got, m->frags);
    m->n_got = m->passed = m->frags;
    m->hold_until = hold_until;
    m->moved_at = now;
    ring->counts->two_stage++;
    ring->counts->pushed += m->push;
    if (hold_until > now) {
        ring->counts->holds++;
        ring->counts->held_ns += hold_until < BCAST_HW_NEVER ? hold_until - now : 0;
    }
    if (m->ready_got || hold_until <= now)
        bcast_hw_two_stage_set_phase(m, BCAST_HW_CAST);
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
    bool armed = !m->push && !asks_rest(m);

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
static void ask_rest(struct bcast_hw_two_stage *m)
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
    ask_rest(m);
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

void bcast_hw_two_stage_post_away(struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    bcast_hw_two_stage_set_phase(m, BCAST_HW_AWAY);
    clear(m, m->bid, ring, m->push);
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

/* By lane, from another member. */
static bool from_member(const struct bcast_hw_msg *msg, const struct bcast_hw_ring *ring)
{
    return !msg->multicast && msg->peer < ring->size && msg->peer != ring->rank;
}

bool bcast_hw_two_stage_formed(const struct bcast_hw_msg *msg, const struct bcast_hw_ring *ring)
{
    switch (msg->type) {
        case BCAST_HW_MSG_DATA:
            return msg->frags > 0 && msg->frags <= ring->max_frags && msg->index < msg->frags &&
                   msg->root < ring->size &&
                   msg->frags == bcast_hw_frags_of(msg->bytes, ring->frag_bytes) &&
                   (msg->multicast ? msg->peer == msg->root && msg->rail < BCAST_HW_RAIL_BITS &&
                                         (msg->rails >> msg->rail & 1)
                                   : from_member(msg, ring));
        case BCAST_HW_MSG_REQUEST:
            return !msg->multicast && msg->peer == bcast_hw_ring_next(ring->rank, ring->size) &&
                   msg->frags <= ring->max_frags && (msg->frags == 0 || msg->bits);
        case BCAST_HW_MSG_AGAIN:
            return from_member(msg, ring) && msg->root == ring->rank &&
                   msg->frags <= ring->max_frags && (msg->frags == 0 || msg->bits);
        case BCAST_HW_MSG_SEEK:
            return from_member(msg, ring) &&
                   msg->peer != bcast_hw_ring_next(ring->rank, ring->size) &&
                   msg->frags <= ring->max_frags && (msg->frags == 0 || msg->bits);
        case BCAST_HW_MSG_OFFER:
            return from_member(msg, ring) && msg->frags > 0 && msg->frags <= ring->max_frags;
        case BCAST_HW_MSG_READY:
            return from_member(msg, ring);
        default:
            return false;
    }
}

bool bcast_hw_two_stage_expects(const struct bcast_hw_two_stage *m, const struct bcast_hw_msg *msg,
                                const struct bcast_hw_ring *ring)
{
    return (msg->type == BCAST_HW_MSG_DATA &&
            msg->peer == bcast_hw_ring_prev(ring->rank, ring->size)) ||
           (m->bid == msg->bid &&
            bcast_hw_seek_has_asked(&m->seek, ring->rank, ring->size, msg->peer));
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
    if (asks_rest(m))
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
        learn(m, msg->root, msg->frags, msg->bytes, holds(msg->frags, msg->multicast), ring);
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

/* Those fragments of `msg` that are not here are asked for in turn. Returns whether all are
 * here. */
static bool pass_on(struct bcast_hw_two_stage *m, const struct bcast_hw_msg *msg)
{
    bool here = true;

    for (uint32_t w = 0; w < bcast_hw_bitmap_words(msg->frags); w++) {
        uint64_t bits = msg->bits[w] & bcast_hw_bitmap_mask(w, msg->frags);

        m->wanted[w] |= bits;
        if (bits & ~m->got[w]) {
            here = false;
            m->urged[w] |= m->push ? 0 : bits & ~m->got[w];
        }
    }
    return here;
}

bool bcast_hw_two_stage_is_coming(const struct bcast_hw_two_stage *m,
                                  const struct bcast_hw_ring *ring, uint64_t now)
{
    uint64_t way = bcast_hw_rtt_wait(&ring->rtt);

    if (m->root == ring->rank && way < BCAST_HW_QUEUE_NS)
        way = BCAST_HW_QUEUE_NS;
    return m->frags > BCAST_HW_STANDING_FRAGS && !m->push && now < m->moved_at + way;
}

enum bcast_hw_verdict bcast_hw_two_stage_on_request(struct bcast_hw_two_stage *m,
                                                    const struct bcast_hw_msg *msg,
                                                    struct bcast_hw_ring *ring, uint64_t now)
{
    if (!bcast_hw_two_stage_formed(msg, ring) ||
        (m->frags > 0 && msg->frags > 0 && msg->frags != m->frags))
        return BCAST_HW_BAD;
    ring->counts->asked_of++;
    if (!serves(m, ring))
        return BCAST_HW_TAKEN;
    if (msg->frags == 0 && !(msg->flags & (BCAST_HW_FLAG_DEAF | BCAST_HW_FLAG_AT_ONCE)) &&
        bcast_hw_two_stage_is_coming(m, ring, now))
        return BCAST_HW_TAKEN;
    if (m->phase == BCAST_HW_EMPTY)
        bcast_hw_two_stage_set_phase(m, BCAST_HW_EARLY);

    m->at_once = !bcast_hw_two_stage_incomplete(m);
    if (msg->frags > 0)
        m->at_once = pass_on(m, msg);
    else if (m->frags > 0)
        bcast_hw_bitmap_fill(m->wanted, m->frags); /* as they come */
    else
        m->want_all = true;
    m->want_deaf |= m->want_all && (msg->flags & BCAST_HW_FLAG_DEAF);
    /* Nothing is known here either: the question is passed on. This rank's own, if it asked
     * already, is repeated in time. */
    if (m->frags == 0 && !m->at_once && !m->push && !(m->phase == BCAST_HW_WAIT && m->ask_all))
        ask_rest(m);
    return BCAST_HW_TAKEN;
}

/* Each fragment goes once more at most: who lacks it after that gets it by the ring. Who knows
 * nothing of a broadcast is believed where it is short: else it is late, or too early. */
enum bcast_hw_verdict bcast_hw_two_stage_on_again(struct bcast_hw_two_stage *m,
                                                  const struct bcast_hw_msg *msg,
                                                  const struct bcast_hw_ring *ring)
{
    bool all = msg->frags == 0, called = m->phase >= BCAST_HW_HOLD && m->root == ring->rank;

    if (!bcast_hw_two_stage_formed(msg, ring) || m->push ||
        (!all && (!called || msg->frags != m->frags)))
        return BCAST_HW_BAD;
    if (!called || (all && m->frags > BCAST_HW_STANDING_FRAGS))
        return BCAST_HW_TAKEN;
    for (uint32_t i = 0; i < m->next_cast; i++)
        if ((all || bcast_hw_bitmap_test(msg->bits, i)) && !bcast_hw_bitmap_test(m->asked, i)) {
            bcast_hw_bitmap_set(m->asked, i);
            bcast_hw_bitmap_set(m->urged, i);
            m->again++;
        }
    return BCAST_HW_TAKEN;
}

enum bcast_hw_verdict bcast_hw_two_stage_on_ready(struct bcast_hw_two_stage *m)
{
    if (m->phase == BCAST_HW_EMPTY)
        bcast_hw_two_stage_set_phase(m, BCAST_HW_EARLY);
    m->ready_got = true;
    if (m->phase == BCAST_HW_HOLD)
        bcast_hw_two_stage_set_phase(m, BCAST_HW_CAST);
    return BCAST_HW_TAKEN;
}

void bcast_hw_two_stage_on_later(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring)
{
    if (m->push || !bcast_hw_two_stage_incomplete(m) || asks_rest(m) || m->ask_all)
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

void bcast_hw_two_stage_on_timer(struct bcast_hw_two_stage *m, struct bcast_hw_ring *ring,
                                 uint64_t now)
{
    if (m->phase == BCAST_HW_HOLD && m->hold_until <= now) {
        m->hold_until = BCAST_HW_NEVER;
        bcast_hw_two_stage_set_phase(m, BCAST_HW_CAST);
    }
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
        ask_rest(m);
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

uint64_t bcast_hw_two_stage_next_timer(const struct bcast_hw_two_stage *m)
{
    if (m->phase == BCAST_HW_HOLD)
        return m->hold_until;
    return m->tail_at < m->seek.at ? m->tail_at : m->seek.at;
}

void bcast_hw_two_stage_check(const struct bcast_hw_two_stage *m, const struct bcast_hw_ring *ring)
{
    assert(m->phase <= BCAST_HW_AWAY);
    assert(m->frags <= ring->max_frags);
    assert(m->n_got == bcast_hw_bitmap_count(m->got, m->frags));
    assert(m->passed <= m->frags && m->next_cast <= m->frags && m->ask_below <= m->frags);
    assert(m->lost <= m->ask_below);
    assert(m->push || !bcast_hw_two_stage_incomplete(m) || m->passed <= m->ask_below);
    for (uint32_t w = 0; w < bcast_hw_bitmap_words(m->frags); w++) {
        uint64_t mask = bcast_hw_bitmap_mask(w, m->frags);

        assert(!(m->sent[w] & ~(m->got[w] & m->wanted[w])));
        assert(!((m->got[w] | m->asked[w] | m->told[w]) & ~mask));
        assert(!(m->given[w] & ~m->got[w]) && (!m->given[w] || m->give_to != BCAST_HW_NOBODY));
    }
    bcast_hw_seek_check(&m->seek, ring->rank, ring->size);
    assert(m->phase == BCAST_HW_WAIT || m->seek.at == BCAST_HW_NEVER);
    assert(m->num_askers <= BCAST_HW_ASKERS && (m->frags > 0 || m->num_askers == 0));
    assert(m->again == 0 || m->root == ring->rank);
    if (m->phase == BCAST_HW_AWAY)
        assert(m->frags == 0 && !m->want_all && !m->ask_all);
    else if (!bcast_hw_two_stage_incomplete(m))
        assert(m->frags > 0 && m->n_got == m->frags);
    if ((m->phase != BCAST_HW_EARLY && m->phase != BCAST_HW_WAIT) || asks_rest(m))
        assert(m->tail_at == BCAST_HW_NEVER);
    if (m->phase == BCAST_HW_WAIT && !m->push && !asks_rest(m))
        assert(m->tail_at != BCAST_HW_NEVER);
    if (m->phase == BCAST_HW_EMPTY)
        assert(m->n_got == 0 && !m->want_all);
}
