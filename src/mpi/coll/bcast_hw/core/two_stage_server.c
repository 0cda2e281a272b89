/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage_server: what the successor in the ring asks for.
 */
#include "two_stage_impl.h"

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
    if (!bcast_hw_two_stage_serves(m, ring))
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
        bcast_hw_two_stage_ask_rest(m);
    return BCAST_HW_TAKEN;
}
