/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stand: how the links of a process stand by one of its lanes, over all peers. What a peer adds to
 * it is remembered with the peer, so that a change of one peer costs nothing for the others.
 */
#ifndef BCAST_HW_STAND_H_INCLUDED
#define BCAST_HW_STAND_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "link.h"

#define BCAST_HW_STAND_STATES 4u /* of enum bcast_hw_link_lane_state */
#define BCAST_HW_STAND_LOST 8u

struct bcast_hw_stand {
    uint32_t peers[BCAST_HW_STAND_STATES]; /* links to them, by the state of this lane */
    uint32_t streams; /* to peers, that something was sent in, and that go by it */
    uint32_t moved;   /* ... that prefer it, and go by another or by none */
    uint32_t num_lost;
    uint32_t lost[BCAST_HW_STAND_LOST]; /* to which it was GOOD, and is DEAD or OFF; some of them */
};

/* What one peer adds. Zero to begin with. */
struct bcast_hw_stand_share {
    bool counted;
    bool used[BCAST_HW_LINK_LANES_MAX]; /* the lane was GOOD */
    uint8_t state[BCAST_HW_LINK_LANES_MAX];
    uint8_t streams[BCAST_HW_LINK_LANES_MAX];
    uint8_t moved[BCAST_HW_LINK_LANES_MAX];
};

/* The link to `peer` is as it is, and something was sent in the streams of the mask `sends`.
 * Returns the mask of the lanes whose stand changed; `stands` has one for each lane of the link. */
uint32_t bcast_hw_stand_take(struct bcast_hw_stand *stands, struct bcast_hw_stand_share *share,
                             uint32_t peer, const struct bcast_hw_link *link, uint32_t sends);

#endif /* BCAST_HW_STAND_H_INCLUDED */
