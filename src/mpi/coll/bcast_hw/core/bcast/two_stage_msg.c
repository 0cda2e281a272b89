/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage: see two_stage.h. Here: whether a message is well formed, and whether this rank waits
 * for it.
 */
#include "two_stage_impl.h"

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
