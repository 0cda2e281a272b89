/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage: see two_stage.h. Here: the life of the machine, its timers, and the invariants.
 */
#include "two_stage_impl.h"

#include <assert.h>

#include "../place/kary.h"

uint32_t hwmc_two_stage_words(uint32_t max_frags)
{
    return 8 * hwmc_bitmap_words(max_frags);
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
    m->rails = m->ends = m->questions = m->flags = 0;
    m->unknown = (struct hwmc_unknown){0};
    m->ready = HWMC_READY_NONE;
    m->at_once = m->repaired = false;
    memset(m->heard, 0, sizeof(m->heard));
    memset(m->reach, 0, sizeof(m->reach));
    m->hold_until = m->tail_at = HWMC_NEVER;
    m->asked_at = m->called_at = m->moved_at = 0;
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

void hwmc_two_stage_post_bypassed(struct hwmc_two_stage *m, const struct hwmc_ring *ring)
{
    hwmc_two_stage_set_phase(m, HWMC_BYPASSED);
    two_stage_clear(m, m->bid, ring, m->push);
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
