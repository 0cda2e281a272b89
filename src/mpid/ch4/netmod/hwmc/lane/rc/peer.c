/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * peer: what any part of the lane may do to a peer: tell it something, and give up the connection
 * to it. See rc_impl.h.
 */
#include <time.h>

#include "rc_impl.h"

uint64_t rc_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

bool rc_peer_tell(struct hwmc_lane_rc *l, uint32_t peer, enum rc_exchange_type type, uint32_t epoch)
{
    const struct rc_peer *p = &l->peers[peer];
    struct rc_exchange x = {.type = type, .epoch = epoch};
    uint8_t bytes[RC_EXCHANGE_MAX];

    if (type == RC_CONNECT || type == RC_ACCEPT)
        x.end = p->conn->mine;
    return l->params.tell(l->params.lane.ctx, peer, bytes, rc_wire_write_exchange(&x, bytes)) ==
           HWMC_OK;
}

void rc_peer_drop_wish(struct hwmc_lane_rc *l, uint32_t peer, bool met)
{
    l->peers[peer].wish = HWMC_LANE_RC_ANY;
    l->num_wishes--;
    l->params.counts->unmet += !met;
}

void rc_peer_fail(struct hwmc_lane_rc *l, struct rc_conn *c, bool tell_peer)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    struct rc_peer *p = &l->peers[c->peer];

    if (rc_has_failed(c))
        return;
    c->was_open = c->state == RC_CONN_OPEN;
    if (c->was_open && p->wish != HWMC_LANE_RC_ANY)
        rc_peer_drop_wish(l, c->peer, false);
    c->bury_at = rc_now() + RC_DRAIN_NS;
    c->state =
        ibv_modify_qp(c->apm.qp, &attr, IBV_QP_STATE) != 0 ? RC_CONN_DRAINED : RC_CONN_FAILED;
    l->num_failed++;
    rc_wake_at(l, c->bury_at);
    p->state = RC_PEER_FAILED;
    p->wanted = false;
    if (tell_peer)
        rc_peer_tell(l, c->peer, RC_CLOSE, p->epoch);
}
