/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage_root: the broadcast at its root: stage 1, its delay, and what is multicast once more.
 */
#include "two_stage_impl.h"

#include <assert.h>

void hwmc_two_stage_post_root(struct hwmc_two_stage *m, uint32_t bytes, bool more, uint8_t rails,
                              uint64_t hold_until, struct hwmc_ring *ring, uint64_t now)
{
    uint32_t max = ring->max_frags, frags;

    assert(rails);
    hwmc_two_stage_set_phase(m, HWMC_HOLD);
    m->more = more;
    m->rails = rails;
    m->tail_at = HWMC_NEVER;
    /* What came of this broadcast from elsewhere is false: the program says that it begins here. */
    hwmc_bitmap_clear(m->got, max);
    hwmc_bitmap_clear(m->sent, max);
    hwmc_bitmap_clear(m->asked, max);
    hwmc_bitmap_clear(m->urged, max);
    hwmc_bitmap_clear(m->told, max);
    hwmc_two_stage_forget_askers(m, max);
    m->repaired = false;
    m->ask_below = m->lost = 0;
    m->unknown.ask = HWMC_ASK_ALL_NONE; /* it asked in turn: here that says what goes once more */
    frags = hwmc_frags_of(bytes, ring->frag_bytes);
    assert(frags <= ring->max_frags);
    hwmc_two_stage_learn(m, ring->rank, frags, bytes, hwmc_two_stage_holds(frags, true), ring);
    hwmc_bitmap_fill(m->got, m->frags);
    m->n_got = m->passed = m->frags;
    m->hold_until = hold_until;
    m->moved_at = now;
    ring->counts->two_stage++;
    ring->counts->pushed += m->push;
    if (hold_until > now) {
        ring->counts->holds++;
        ring->counts->held_ns += hold_until < HWMC_NEVER ? hold_until - now : 0;
    }
    if (m->ready == HWMC_READY_GOT || hold_until <= now)
        hwmc_two_stage_set_phase(m, HWMC_CAST);
}

void hwmc_two_stage_root_on_timer(struct hwmc_two_stage *m, uint64_t now)
{
    if (m->phase == HWMC_HOLD && m->hold_until <= now) {
        m->hold_until = HWMC_NEVER;
        hwmc_two_stage_set_phase(m, HWMC_CAST);
    }
}

/* Each fragment goes once more at most: who lacks it after that gets it by the ring. Who knows
 * nothing of a broadcast is believed where it is short: else it is late, or too early. */
enum hwmc_verdict hwmc_two_stage_on_root_nack(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                              const struct hwmc_ring *ring)
{
    bool all = msg->nack.frags == 0, called = m->phase >= HWMC_HOLD && m->root == ring->rank;

    if (!hwmc_two_stage_formed(msg, ring) || m->push ||
        (!all && (!called || msg->nack.frags != m->frags)))
        return HWMC_BAD;
    if (!called || (all && m->frags > HWMC_STANDING_FRAGS))
        return HWMC_TAKEN;
    for (uint32_t i = 0; i < m->next_cast; i++)
        if ((all || hwmc_bitmap_test(msg->nack.bits, i)) && !hwmc_bitmap_test(m->asked, i)) {
            hwmc_bitmap_set(m->asked, i);
            hwmc_bitmap_set(m->urged, i);
            m->again++;
        }
    return HWMC_TAKEN;
}

enum hwmc_verdict hwmc_two_stage_on_ready(struct hwmc_two_stage *m)
{
    if (m->phase == HWMC_EMPTY)
        hwmc_two_stage_set_phase(m, HWMC_UNEXPECTED);
    if (m->ready == HWMC_READY_NONE)
        m->ready = HWMC_READY_GOT;
    if (m->phase == HWMC_HOLD)
        hwmc_two_stage_set_phase(m, HWMC_CAST);
    return HWMC_TAKEN;
}
