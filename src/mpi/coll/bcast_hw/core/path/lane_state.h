/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * lane_state: the state of a lane over all peers, as the sessions of a process see it. Each peer's
 * contribution is remembered with the peer, so a change of one peer costs nothing for the others.
 */
#ifndef HWMC_CORE_PATH_LANE_STATE_H_INCLUDED
#define HWMC_CORE_PATH_LANE_STATE_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

#define HWMC_LANE_STATES 4u /* of enum hwmc_session_lane_state */
#define HWMC_LANE_STATE_LOST 8u

struct hwmc_lane_state {
    uint32_t peers[HWMC_LANE_STATES]; /* sessions to them, by the state of this lane */
    uint32_t streams;                 /* to peers, that something was sent in, and that go by it */
    uint32_t moved;                   /* ... that prefer it, and go by another or by none */
    uint32_t num_lost;
    uint32_t
        lost[HWMC_LANE_STATE_LOST]; /* to which it was GOOD, and is DEAD or OFF; some of them */
};

/* What one peer adds. Zero to begin with. */
struct hwmc_lane_state_share {
    bool counted;
    bool used[HWMC_SESSION_LANES_MAX]; /* the lane was GOOD */
    uint8_t state[HWMC_SESSION_LANES_MAX];
    uint8_t streams[HWMC_SESSION_LANES_MAX];
    uint8_t moved[HWMC_SESSION_LANES_MAX];
};

/* The session to `peer` is as it is, and something was sent in the streams of the mask `sends`.
 * Returns the mask of the lanes whose stand changed; `stands` has one for each lane of the session.
 * */
uint32_t hwmc_lane_state_take(struct hwmc_lane_state *stands, struct hwmc_lane_state_share *share,
                              uint32_t peer, const struct hwmc_session *session, uint32_t sends);

#endif /* HWMC_CORE_PATH_LANE_STATE_H_INCLUDED */
