/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * virtual_lane: one stream of sessions as a lane. It never reports a peer as lost.
 */
#ifndef HWMC_NETMOD_SESSION_VIRTUAL_LANE_H_INCLUDED
#define HWMC_NETMOD_SESSION_VIRTUAL_LANE_H_INCLUDED

#include "sessions.h"

/* Its close frees it, and leaves the sessions alone. Of `params` recv, sent and ctx are used.
 * Progress, waiting and flushing of the lane of stream 0 are those of all sessions; the others have
 * none of their own. NULL: no memory. */
struct hwmc_lane *hwmc_virtual_lane_open(struct hwmc_sessions *sessions, uint32_t stream,
                                         const struct hwmc_lane_params *params);

#endif /* HWMC_NETMOD_SESSION_VIRTUAL_LANE_H_INCLUDED */
