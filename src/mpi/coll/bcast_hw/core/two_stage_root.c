/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage_root: the broadcast at its root: stage 1, its delay, and what is multicast once more.
 */
#include "two_stage_impl.h"

#include <assert.h>

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
    bcast_hw_two_stage_forget_askers(m, max);
    m->repaired = false;
    m->ask_below = m->lost = 0;
    frags = bcast_hw_frags_of(bytes, ring->frag_bytes);
    assert(frags <= ring->max_frags);
    bcast_hw_two_stage_learn(m, ring->rank, frags, bytes, bcast_hw_two_stage_holds(frags, true),
                             ring);
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

void bcast_hw_two_stage_root_on_timer(struct bcast_hw_two_stage *m, uint64_t now)
{
    if (m->phase == BCAST_HW_HOLD && m->hold_until <= now) {
        m->hold_until = BCAST_HW_NEVER;
        bcast_hw_two_stage_set_phase(m, BCAST_HW_CAST);
    }
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
