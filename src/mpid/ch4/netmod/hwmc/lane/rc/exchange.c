/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * exchange: which process connects to which, and when, by the messages at the head of rc.h.
 *
 * Only the active end counts epochs. So each message names the connection it is about, and an
 * answer to an earlier one is recognized. A connection that failed stays in state FAILED until what
 * it had received is delivered; then it is destroyed and the caller told. Messages from the peer
 * meanwhile wait.
 */
#include <stdlib.h>

#include "rc_impl.h"

static bool is_active(const struct hwmc_lane_rc *l, uint32_t peer)
{
    return l->params.rank < peer;
}

static bool port_works(const struct hwmc_lane_rc *l)
{
    return !l->dead && l->ports.active[0];
}

static void refuse_peer(struct hwmc_lane_rc *l, struct rc_peer *p)
{
    l->params.counts->refused++;
    p->state = RC_PEER_REFUSED;
    p->at = rc_now() + RC_REFUSED_NS;
}

/* Active, and it is time: CONNECT. */
static int begin_connect(struct hwmc_lane_rc *l, uint32_t peer)
{
    struct rc_peer *p = &l->peers[peer];

    p->conn = port_works(l) ? rc_conn_make(l, peer) : NULL;
    if (p->conn == NULL) {
        refuse_peer(l, p);
        return HWMC_ERR_PEER;
    }
    p->epoch++;
    p->state = RC_PEER_CONNECTING;
    if (!rc_peer_tell(l, peer, RC_CONNECT, p->epoch)) {
        rc_peer_fail(l, p->conn, false);
        return HWMC_ERR_PEER;
    }
    return HWMC_AGAIN;
}

/* There is no connection, and one is wanted. AGAIN, ERR_PEER. */
static int want_conn(struct hwmc_lane_rc *l, uint32_t peer)
{
    struct rc_peer *p = &l->peers[peer];

    if (!port_works(l))
        return HWMC_ERR_PEER;
    if (!is_active(l, peer)) {
        if (!rc_peer_tell(l, peer, RC_WANT, p->epoch))
            return HWMC_ERR_PEER;
        p->state = RC_PEER_WANTED;
        p->at = rc_now() + RC_ANSWER_NS;
        rc_wake_at(l, p->at);
        return HWMC_AGAIN;
    }
    if (rc_now() >= p->at)
        return begin_connect(l, peer);
    p->state = RC_PEER_WANTED;
    rc_wake_at(l, p->at);
    return HWMC_AGAIN;
}

int rc_exchange_ready(struct hwmc_lane_rc *l, uint32_t peer)
{
    struct rc_peer *p = &l->peers[peer];

    if (peer == l->params.rank)
        return HWMC_ERR_PEER;
    switch (p->state) {
        case RC_PEER_OPEN:
            return HWMC_OK;
        case RC_PEER_FAILED:
            p->wanted = true;
            return HWMC_AGAIN;
        case RC_PEER_WANTED:
        case RC_PEER_CONNECTING:
            return HWMC_AGAIN;
        case RC_PEER_REFUSED:
            return rc_now() < p->at ? HWMC_ERR_PEER : want_conn(l, peer);
        case RC_PEER_NONE:
            break;
    }
    return want_conn(l, peer);
}

static void open_conn(struct hwmc_lane_rc *l, struct rc_peer *p)
{
    p->state = RC_PEER_OPEN;
    p->conn->state = RC_CONN_OPEN;
    l->params.counts->connects++;
}

/* Passive. An earlier connection is gone by now. */
static void on_connect(struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    struct rc_peer *p = &l->peers[peer];

    p->epoch = x->epoch;
    p->conn = port_works(l) ? rc_conn_make(l, peer) : NULL;
    if (p->conn == NULL) {
        refuse_peer(l, p);
        rc_peer_tell(l, peer, RC_REFUSE, x->epoch);
        return;
    }
    p->state = RC_PEER_CONNECTING;
    if (!rc_conn_join(l, p->conn, &x->end) || !rc_peer_tell(l, peer, RC_ACCEPT, x->epoch))
        rc_peer_fail(l, p->conn, true);
}

/* Active: the peer can receive. */
static void on_accept(struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    struct rc_peer *p = &l->peers[peer];

    if (p->state != RC_PEER_CONNECTING || x->epoch != p->epoch)
        return;
    if (!rc_conn_join(l, p->conn, &x->end) || !rc_peer_tell(l, peer, RC_READY, x->epoch))
        rc_peer_fail(l, p->conn, true);
    else
        open_conn(l, p);
}

/* Passive: the peer can receive too. */
static void on_ready(struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    struct rc_peer *p = &l->peers[peer];

    if (p->state == RC_PEER_CONNECTING && x->epoch == p->epoch &&
        p->conn->apm.state.comm == HWMC_APM_RTS)
        open_conn(l, p);
}

/* To the active end in answer to CONNECT, to the passive one to WANT. */
static void on_refuse(struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    struct rc_peer *p = &l->peers[peer];

    if (is_active(l, peer)) {
        if (p->state != RC_PEER_CONNECTING || x->epoch != p->epoch)
            return;
        rc_conn_unmake(l, p->conn);
        p->conn = NULL;
    } else if (p->state != RC_PEER_WANTED) {
        return;
    }
    refuse_peer(l, p);
}

static void on_close(struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    struct rc_peer *p = &l->peers[peer];

    if (p->conn != NULL && x->epoch == p->epoch)
        rc_peer_fail(l, p->conn, false);
}

/* Active: the passive end has no connection of this epoch. */
static void on_want(struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    struct rc_peer *p = &l->peers[peer];

    if (p->conn != NULL && x->epoch != p->epoch)
        return; /* CONNECT is on its way */
    if (p->conn != NULL) {
        rc_peer_fail(l, p->conn, false);
        p->wanted = true;
    } else if (rc_exchange_ready(l, peer) == HWMC_ERR_PEER) {
        rc_peer_tell(l, peer, RC_REFUSE, x->epoch);
    }
}

/* The peer's side of a connection sends this. */
static bool is_for(const struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    switch (x->type) {
        case RC_CONNECT:
            return !is_active(l, peer) && x->epoch > l->peers[peer].epoch;
        case RC_READY:
            return !is_active(l, peer);
        case RC_ACCEPT:
        case RC_WANT:
            return is_active(l, peer);
        case RC_REFUSE:
        case RC_CLOSE:
            break;
    }
    return true;
}

static void act_on(struct hwmc_lane_rc *l, uint32_t peer, const struct rc_exchange *x)
{
    static void (*const on[])(struct hwmc_lane_rc *, uint32_t, const struct rc_exchange *) = {
        [RC_CONNECT] = on_connect, [RC_ACCEPT] = on_accept, [RC_READY] = on_ready,
        [RC_REFUSE] = on_refuse,   [RC_CLOSE] = on_close,   [RC_WANT] = on_want,
    };

    if (is_for(l, peer, x))
        on[x->type](l, peer, x);
    else
        l->params.counts->bad++;
}

/* A message for a peer whose last connection is not buried yet waits; CONNECT is what shows that
 * one is over. */
static bool must_wait(struct hwmc_lane_rc *l, const struct rc_heard *h)
{
    struct rc_peer *p = &l->peers[h->peer];

    if (h->exchange.type == RC_CONNECT && p->conn != NULL && is_for(l, h->peer, &h->exchange))
        rc_peer_fail(l, p->conn, false);
    return p->state == RC_PEER_FAILED;
}

int rc_exchange_progress(struct hwmc_lane_rc *l)
{
    struct rc_heard **at = &l->heard;
    int events = 0;

    while (*at != NULL) {
        struct rc_heard *h = *at;

        if (must_wait(l, h)) {
            at = &h->next;
            continue;
        }
        act_on(l, h->peer, &h->exchange);
        *at = h->next;
        if (l->heard_end == &h->next)
            l->heard_end = at;
        free(h);
        events++;
    }
    return events;
}

/* Connections that are not made in time; failed ones of devices that do not tell when a queue is
 * empty. */
static void end_waits(struct hwmc_lane_rc *l, uint64_t now)
{
    for (uint32_t i = 0; i < l->num_conns; i++) {
        struct rc_conn *c = l->conns[i];

        if (c->state == RC_CONN_MADE && now >= c->open_by)
            rc_peer_fail(l, c, true);
        else if (c->state == RC_CONN_MADE)
            rc_wake_at(l, c->open_by);
        else if (rc_has_failed(c) && now < c->bury_at)
            rc_wake_at(l, c->bury_at);
        else if (rc_has_failed(c))
            c->state = RC_CONN_DRAINED;
    }
}

/* What is wanted is begun, or has been asked for in vain: the next ready asks again. */
static void end_want(struct hwmc_lane_rc *l, uint32_t peer, uint64_t now)
{
    struct rc_peer *p = &l->peers[peer];

    if (now < p->at)
        rc_wake_at(l, p->at);
    else if (!is_active(l, peer))
        p->state = RC_PEER_NONE;
    else if (begin_connect(l, peer) == HWMC_ERR_PEER)
        rc_peer_tell(l, peer, RC_REFUSE, p->epoch);
}

void rc_exchange_timers(struct hwmc_lane_rc *l)
{
    uint64_t now;

    if (l->wake == UINT64_MAX)
        return;
    now = rc_now();
    if (now < l->wake)
        return;
    l->wake = UINT64_MAX;
    rc_paths_timers(l, now);
    end_waits(l, now);
    for (uint32_t i = 0; i < l->params.size; i++)
        if (l->peers[i].state == RC_PEER_WANTED)
            end_want(l, i, now);
}

/* When the next connection may be begun: at once, unless this one was of no use. */
static void back_off(struct rc_peer *p, const struct rc_conn *c)
{
    if (c->proven) {
        p->fails = 0;
        p->at = 0;
        return;
    }
    p->at = rc_now() + (RC_BACKOFF_NS << p->fails);
    if (p->fails < RC_BACKOFF_MAX)
        p->fails++;
}

static void bury_conn(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    uint32_t peer = c->peer;
    struct rc_peer *p = &l->peers[peer];
    bool was_open = c->was_open, wanted = p->wanted;

    back_off(p, c);
    p->state = RC_PEER_NONE;
    p->conn = NULL;
    l->num_failed--;
    rc_conn_unmake(l, c);
    if (was_open) {
        l->params.counts->losts++;
        l->params.lane.lost(l->params.lane.ctx, peer);
    }
    if (wanted && p->state == RC_PEER_NONE)
        want_conn(l, peer);
}

int rc_exchange_bury(struct hwmc_lane_rc *l)
{
    int events = 0;

    for (uint32_t i = 0; i < l->num_conns && l->num_failed > 0;) {
        struct rc_conn *c = l->conns[i];

        if (c->state == RC_CONN_DRAINED) {
            bury_conn(l, c);
            events++;
        } else {
            i++;
        }
    }
    return events;
}

void rc_exchange_cut(struct hwmc_lane_rc *l)
{
    while (l->num_conns > 0) {
        struct rc_conn *c = l->conns[0];

        rc_peer_fail(l, c, true);
        bury_conn(l, c);
    }
}
