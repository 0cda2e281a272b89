/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage_server: what the successor in the ring asks for.
 */
#include "two_stage_impl.h"

/* Those fragments of `msg` that are not here are asked for in turn. Returns whether all are
 * here. */
static bool pass_on(struct hwmc_two_stage *m, const struct hwmc_msg *msg)
{
    bool here = true;

    for (uint32_t w = 0; w < hwmc_bitmap_words(msg->nack.frags); w++) {
        uint64_t bits = msg->nack.bits[w] & hwmc_bitmap_mask(w, msg->nack.frags);

        m->wanted[w] |= bits;
        if (bits & ~m->got[w]) {
            here = false;
            m->urged[w] |= m->push ? 0 : bits & ~m->got[w];
        }
    }
    return here;
}

bool hwmc_two_stage_is_coming(const struct hwmc_two_stage *m, const struct hwmc_ring *ring,
                              uint64_t now)
{
    uint64_t way = hwmc_rtt_wait(&ring->rtt);

    if (m->root == ring->rank && way < HWMC_QUEUE_NS)
        way = HWMC_QUEUE_NS;
    return m->frags > HWMC_STANDING_FRAGS && !m->push && now < m->moved_at + way;
}

enum hwmc_verdict hwmc_two_stage_on_nack(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                         struct hwmc_ring *ring, uint64_t now)
{
    if (!hwmc_two_stage_formed(msg, ring) ||
        (m->frags > 0 && msg->nack.frags > 0 && msg->nack.frags != m->frags))
        return HWMC_BAD;
    ring->counts->nacks_received++;
    if (!hwmc_two_stage_serves(m, ring))
        return HWMC_TAKEN;
    if (msg->nack.frags == 0 && !(msg->flags & (HWMC_FLAG_NO_MULTICAST | HWMC_FLAG_AT_ONCE)) &&
        hwmc_two_stage_is_coming(m, ring, now))
        return HWMC_TAKEN;
    if (m->phase == HWMC_EMPTY)
        hwmc_two_stage_set_phase(m, HWMC_UNEXPECTED);

    m->at_once = !hwmc_two_stage_incomplete(m);
    if (msg->nack.frags > 0)
        m->at_once = pass_on(m, msg);
    else if (m->frags > 0)
        hwmc_bitmap_fill(m->wanted, m->frags); /* as they come */
    else
        m->unknown.want = m->unknown.want ? m->unknown.want : HWMC_WANT_ALL;
    if (m->unknown.want && (msg->flags & HWMC_FLAG_NO_MULTICAST))
        m->unknown.want = HWMC_WANT_ALL_NO_MULTICAST;
    /* Nothing is known here either: the question is passed on. This rank's own, if it asked
     * already, is repeated in time. */
    if (m->frags == 0 && !m->at_once && !m->push && !(m->phase == HWMC_WAIT && m->unknown.ask))
        hwmc_two_stage_ask_rest(m);
    return HWMC_TAKEN;
}
