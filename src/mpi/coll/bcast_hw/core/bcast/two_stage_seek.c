/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage: what a rank does with SEEK and OFFER of other members (PROTOCOL.md, section 5, item
 * 8). SEEK asks which of some fragments are here, and is answered by OFFER; with AT_ONCE it asks
 * for the fragments themselves. OFFER answers this rank's own SEEK, whose members and times
 * core/bcast/seek has chosen. See two_stage.h.
 */
#include "two_stage_impl.h"

/* Of word `w` of the bitmap, the fragments that `msg` names and that are here. */
static uint64_t named_here(const struct hwmc_two_stage *m, const struct hwmc_msg *msg, uint32_t w)
{
    return m->got[w] & (msg->nack.frags > 0 ? msg->nack.bits[w] : UINT64_MAX);
}

/* Notes that `msg.peer` is to be sent OFFER, if there is a fragment to offer, and room in the
 * list. */
static void make_offer(struct hwmc_two_stage *m, const struct hwmc_msg *msg)
{
    uint64_t any = 0;

    for (uint32_t w = 0; w < hwmc_bitmap_words(m->frags); w++)
        any |= named_here(m, msg, w);
    for (uint32_t i = 0; i < m->num_askers; i++)
        if (m->askers[i] == msg->peer)
            return;
    if (any && m->num_askers < HWMC_ASKERS)
        m->askers[m->num_askers++] = msg->peer;
}

/* Fragments are sent to one rank at a time. Another one that asks meanwhile gets nothing here, and
 * asks another member. */
static void give_fragments(struct hwmc_two_stage *m, const struct hwmc_msg *msg)
{
    if (m->give_to != HWMC_NOBODY && m->give_to != msg->peer)
        return;
    for (uint32_t w = 0; w < hwmc_bitmap_words(m->frags); w++) {
        m->given[w] |= named_here(m, msg, w);
        if (m->given[w])
            m->give_to = msg->peer;
    }
}

enum hwmc_verdict hwmc_two_stage_on_seek(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                         const struct hwmc_ring *ring, uint64_t now)
{
    if (!hwmc_two_stage_formed(msg, ring) ||
        (m->frags > 0 && msg->nack.frags > 0 && msg->nack.frags != m->frags))
        return HWMC_BAD;
    if (m->frags == 0 || (msg->nack.frags == 0 && hwmc_two_stage_is_coming(m, ring, now)))
        return HWMC_TAKEN;
    if (msg->flags & HWMC_FLAG_AT_ONCE)
        give_fragments(m, msg);
    else
        make_offer(m, msg);
    return HWMC_TAKEN;
}

enum hwmc_verdict hwmc_two_stage_on_offer(struct hwmc_two_stage *m, const struct hwmc_msg *msg,
                                          struct hwmc_ring *ring, uint64_t now)
{
    uint64_t trip;

    if (!hwmc_two_stage_formed(msg, ring) || !hwmc_two_stage_expects(m, msg, ring) ||
        (m->frags > 0 && msg->offer.frags != m->frags))
        return HWMC_BAD;
    trip = hwmc_seek_on_offer(&m->seek, msg->peer, now);
    if (trip > 0)
        hwmc_rtt_sample(&ring->rtt, trip);
    return HWMC_TAKEN;
}
