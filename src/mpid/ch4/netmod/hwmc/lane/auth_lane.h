/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * auth_lane: a lane over another one that puts an authentication header before each message
 * (engine/wire/auth.h). The header names the receiver, the lane, and where the head ends. A message
 * without one, or with that of another lane or process, is dropped.
 *
 * A replayed message is dropped too. Of each peer's messages the 32 greatest counters are kept. A
 * message whose counter is one of them, or is below all of them, is dropped. A lane keeps order, so
 * only copies are dropped; over one that does not, a message may be overtaken by up to 31 others
 * (the window of RFC 4303, section 3.4.3).
 *
 * The owner of the lane below passes its callbacks (received, lost, sent) to this one, which passes
 * them on.
 */
#ifndef HWMC_NETMOD_LANE_AUTH_LANE_H_INCLUDED
#define HWMC_NETMOD_LANE_AUTH_LANE_H_INCLUDED

#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/engine/wire/auth.h"
#include "../../../../../mpi/coll/bcast_hw/port/lane.h"

#define HWMC_AUTH_LANE_HEAD_MAX 256u /* bytes of a message's head */

/* Messages that were dropped. */
#define HWMC_AUTH_LANE_COUNTS(X)                                                                   \
    X(forged, "messages by lane dropped: the authentication code is wrong")                        \
    X(replayed, "messages by lane dropped: authentic, but they came before")

struct hwmc_auth_lane_counts {
#define X(field, text) uint64_t field;
    HWMC_AUTH_LANE_COUNTS(X)
#undef X
};

struct hwmc_auth_lane_params {
    struct hwmc_lane_params up;           /* who gets what comes: recv, lost, sent and ctx */
    struct hwmc_auth *auth;               /* the caller's, as are the counts */
    struct hwmc_auth_lane_counts *counts; /* may be shared by lanes */
    uint32_t size, rank;                  /* of MPI_COMM_WORLD, and of this process in it */
    uint16_t number;                      /* of the lane: alike on all processes, of no other one */
};

/* Takes `below`, which it closes. NULL: no memory, nothing taken. */
struct hwmc_lane *hwmc_auth_lane_open(const struct hwmc_auth_lane_params *params,
                                      struct hwmc_lane *below);

/* What the lane below calls; `sealed` is what open returned. */
void hwmc_auth_lane_on_recv(void *auth_lane, const void *head, size_t head_len, const void *body,
                            size_t body_len);
void hwmc_auth_lane_on_lost(void *auth_lane, uint32_t peer);
void hwmc_auth_lane_on_sent(void *auth_lane, uint64_t tag);

#endif /* HWMC_NETMOD_LANE_AUTH_LANE_H_INCLUDED */
