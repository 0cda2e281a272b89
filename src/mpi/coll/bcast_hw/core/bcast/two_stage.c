/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage: see two_stage.h. Here: the life of the machine, what is common to all its roles, and
 * the invariants.
 */
#include "two_stage_impl.h"

#include <assert.h>

#include "../place/kary.h"

/* Which phase may follow which, a bit each. */
static const uint8_t legal_phases[] = {
    [HWMC_EMPTY] = 1u << HWMC_UNEXPECTED | 1u << HWMC_WAIT | 1u << HWMC_HOLD | 1u << HWMC_BYPASSED,
    [HWMC_UNEXPECTED] = 1u << HWMC_STORED | 1u << HWMC_WAIT | 1u << HWMC_HOLD | 1u << HWMC_BYPASSED,
    [HWMC_STORED] = 1u << HWMC_DONE | 1u << HWMC_HOLD | 1u << HWMC_BYPASSED,
    [HWMC_WAIT] = 1u << HWMC_DONE,
    [HWMC_HOLD] = 1u << HWMC_CAST,
    [HWMC_CAST] = 1u << HWMC_DONE,
    [HWMC_DONE] = 1u << HWMC_EMPTY,
    [HWMC_BYPASSED] = 1u << HWMC_EMPTY,
};

void hwmc_two_stage_set_phase(struct hwmc_two_stage *m, enum hwmc_phase to)
{
    assert(legal_phases[m->phase] >> to & 1);
    m->phase = to;
}

uint32_t hwmc_two_stage_words(uint32_t max_frags)
{
    return 8 * hwmc_bitmap_words(max_frags);
}

void hwmc_two_stage_forget_askers(struct hwmc_two_stage *m, uint32_t max_frags)
{
    hwmc_bitmap_clear(m->given, max_frags);
    m->num_askers = 0;
    m->give_to = HWMC_NOBODY;
}

static void two_stage_clear(struct hwmc_two_stage *m, uint64_t bid, const struct hwmc_ring *ring,
                            bool push)
{
    const uint32_t max_frags = ring->max_frags;

    memset(m->got, 0, hwmc_two_stage_words(max_frags) * sizeof(*m->got));
    m->bid = bid;
    m->push = push;
    hwmc_seek_init(&m->seek, bid, ring->rank);
    hwmc_two_stage_forget_askers(m, max_frags);
    m->more = false;
    m->root = m->frags = m->bytes = m->n_got = m->passed = m->next_cast = m->ask_below = m->lost =
        0;
    m->again = 0;
    m->rails = m->ends = m->questions = 0;
    m->unknown = (struct hwmc_unknown){0};
    m->ready = HWMC_READY_NONE;
    m->at_once = m->repaired = false;
    memset(m->heard, 0, sizeof(m->heard));
    m->hold_until = m->tail_at = HWMC_NEVER;
    m->asked_at = m->moved_at = 0;
}

void hwmc_two_stage_init(struct hwmc_two_stage *m, uint64_t bid, uint64_t *words,
                         const struct hwmc_ring *ring)
{
    uint32_t n = hwmc_bitmap_words(ring->max_frags);

    m->got = words;
    m->wanted = words + n;
    m->sent = words + 2 * n;
    m->asked = words + 3 * n;
    m->urged = words + 4 * n;
    m->told = words + 5 * n;
    m->sought = words + 6 * n;
    m->given = words + 7 * n;
    m->phase = HWMC_EMPTY;
    two_stage_clear(m, bid, ring, ring->push);
}

void hwmc_two_stage_reset(struct hwmc_two_stage *m, uint64_t bid, struct hwmc_ring *ring)
{
    hwmc_two_stage_over(m, ring);
    if (m->phase != HWMC_EMPTY)
        hwmc_two_stage_set_phase(m, HWMC_EMPTY);
    two_stage_clear(m, bid, ring, ring->push);
}

/* The shape of the message is known now: what the successor wants can be named. A root that had
 * been asked before it was called asked in turn: it wants nothing any more. Whoever asked for
 * everything before anything was known (`standing`: such requests hold) may have been too early, or
 * missed it all. */
void hwmc_two_stage_learn(struct hwmc_two_stage *m, uint32_t root, uint32_t frags, uint32_t bytes,
                          bool standing, const struct hwmc_ring *ring)
{
    m->root = root;
    m->frags = frags;
    m->bytes = bytes;
    if (!hwmc_two_stage_serves(m, ring))
        hwmc_bitmap_clear(m->wanted, ring->max_frags);
    else if ((m->unknown.want && (standing || m->unknown.want == HWMC_WANT_ALL_NO_MULTICAST)) ||
             m->push)
        hwmc_bitmap_fill(m->wanted, frags);
    if (m->unknown.ask == HWMC_ASK_ALL_OUT && standing)
        hwmc_bitmap_fill(m->asked, frags);
    if (m->unknown.ask && standing)
        m->ask_below = frags;
    m->unknown.ask = HWMC_ASK_ALL_NONE;
    m->unknown.want = HWMC_WANT_ALL_NONE;
}

void hwmc_two_stage_post_bypassed(struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    hwmc_two_stage_set_phase(m, HWMC_BYPASSED);
    two_stage_clear(m, m->bid, ring, m->push);
}

/* By lane, from another member. */
static bool from_member(const struct hwmc_msg *msg, const struct hwmc_ring *ring)
{
    return !msg->multicast && msg->peer < ring->size && msg->peer != ring->rank;
}

/* NACK and its like: of fragments that a broadcast can have, or of all of an unknown number. */
static bool names_some(const struct hwmc_msg *msg, const struct hwmc_ring *ring)
{
    return msg->nack.frags <= ring->max_frags && (msg->nack.frags == 0 || msg->nack.bits);
}

bool hwmc_two_stage_formed(const struct hwmc_msg *msg, const struct hwmc_ring *ring)
{
    switch (msg->type) {
        case HWMC_MSG_DATA:
            return msg->data.frags > 0 && msg->data.frags <= ring->max_frags &&
                   msg->data.index < msg->data.frags && msg->data.root < ring->size &&
                   msg->data.frags == hwmc_frags_of(msg->data.bytes, ring->frag_bytes) &&
                   (msg->multicast ? msg->peer == msg->data.root && msg->rail < HWMC_RAIL_BITS &&
                                         (msg->data.rails >> msg->rail & 1)
                                   : from_member(msg, ring));
        case HWMC_MSG_NACK:
            return !msg->multicast && msg->peer == hwmc_ring_next(ring->rank, ring->size) &&
                   names_some(msg, ring);
        case HWMC_MSG_ROOT_NACK:
            return from_member(msg, ring) && msg->nack.root == ring->rank && names_some(msg, ring);
        case HWMC_MSG_SEEK:
            return from_member(msg, ring) && msg->peer != hwmc_ring_next(ring->rank, ring->size) &&
                   names_some(msg, ring);
        case HWMC_MSG_OFFER:
            return from_member(msg, ring) && msg->offer.frags > 0 &&
                   msg->offer.frags <= ring->max_frags;
        case HWMC_MSG_READY:
            return from_member(msg, ring);
        default:
            return false;
    }
}

bool hwmc_two_stage_expects(const struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                            const struct hwmc_ring *ring)
{
    return (msg->type == HWMC_MSG_DATA && msg->peer == hwmc_ring_prev(ring->rank, ring->size)) ||
           (m->bid == msg->bid && hwmc_seek_has_asked(&m->seek, ring->rank, ring->size, msg->peer));
}

void hwmc_two_stage_on_timer(struct hwmc_two_stage *m, struct hwmc_ring *ring, uint64_t now)
{
    hwmc_two_stage_root_on_timer(m, now);
    hwmc_two_stage_member_on_timer(m, ring, now);
}

uint64_t hwmc_two_stage_next_timer(const struct hwmc_two_stage *m)
{
    if (m->phase == HWMC_HOLD)
        return m->hold_until;
    return m->tail_at < m->seek.at ? m->tail_at : m->seek.at;
}

void hwmc_two_stage_check(const struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    assert(m->phase <= HWMC_BYPASSED);
    assert(m->frags <= ring->max_frags);
    assert(m->n_got == hwmc_bitmap_count(m->got, m->frags));
    assert(m->passed <= m->frags && m->next_cast <= m->frags && m->ask_below <= m->frags);
    assert(m->lost <= m->ask_below);
    assert(m->push || !hwmc_two_stage_incomplete(m) || m->passed <= m->ask_below);
    for (uint32_t w = 0; w < hwmc_bitmap_words(m->frags); w++) {
        uint64_t mask = hwmc_bitmap_mask(w, m->frags);

        assert(!(m->sent[w] & ~(m->got[w] & m->wanted[w])));
        assert(!((m->got[w] | m->asked[w] | m->told[w]) & ~mask));
        assert(!(m->given[w] & ~m->got[w]) && (!m->given[w] || m->give_to != HWMC_NOBODY));
    }
    hwmc_seek_check(&m->seek, ring->rank, ring->size);
    assert(m->phase == HWMC_WAIT || m->seek.at == HWMC_NEVER);
    assert(m->num_askers <= HWMC_ASKERS && (m->frags > 0 || m->num_askers == 0));
    assert(m->again == 0 || m->root == ring->rank);
    if (m->phase == HWMC_BYPASSED)
        assert(m->frags == 0 && !m->unknown.want && !m->unknown.ask);
    else if (!hwmc_two_stage_incomplete(m))
        assert(m->frags > 0 && m->n_got == m->frags);
    if ((m->phase != HWMC_UNEXPECTED && m->phase != HWMC_WAIT) || hwmc_two_stage_asks_rest(m))
        assert(m->tail_at == HWMC_NEVER);
    if (m->phase == HWMC_WAIT && !m->push && !hwmc_two_stage_asks_rest(m))
        assert(m->tail_at != HWMC_NEVER);
    if (m->phase == HWMC_EMPTY)
        assert(m->n_got == 0 && !m->unknown.want);
}
