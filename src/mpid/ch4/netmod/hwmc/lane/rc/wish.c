/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wish: the path that a program wants for the connection to a peer (Vishnu et al. 2007, section
 * 3.1.3: migration by the user's hand, to balance load). See rc_impl.h.
 *
 *     ANY --prefer--> wish --> asked of hardware, once ARMED --> it is on that path: ANY
 *                      |
 *                      +-- no such path, its port is down, connection lost: unmet --> ANY
 *
 * A wish waits for a connection, and for its path to be loaded, and no event tells of that: so poll
 * looks after RC_WISH_NS, and then at longer and longer intervals. It wakes nobody who sleeps: a
 * connection on which nothing is sent does not load its path, and need not. Both ends ask, for the
 * hardware of one that only sends would find out by its retries.
 */
#include <errno.h>
#include <string.h>

#include "../../apm/migrate.h"
#include "rc_impl.h"

/* -1: the connection has no such path. */
static int find_path(const struct hwmc_apm_conn *c, uint8_t wish)
{
    const int paths = c->state.alternate ? 2 : 1;

    if (wish == HWMC_LANE_RC_FIRST)
        return 0;
    if (wish == HWMC_LANE_RC_SECOND)
        return paths == 2 ? 1 : -1;
    for (int i = 0; i < paths; i++)
        if (c->path[i].port == wish)
            return i;
    return -1;
}

/* It is under way to the other path, and the event is to come. */
static bool is_migrating(const struct hwmc_apm_conn *c)
{
    return c->state.open == HWMC_APM_ASKED ||
           (c->state.path != HWMC_APM_MIGRATED && hwmc_apm_path_has_migrated(c->qp));
}

static void try_wish(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    struct hwmc_apm_conn *apm = &c->apm;
    const struct hwmc_apm *m = &apm->state;
    int path = find_path(apm, l->peers[c->peer].wish);

    if (is_migrating(apm))
        return;
    if (path < 0 || !m->active[path]) {
        rc_peer_drop_wish(l, c->peer, false);
    } else if (m->primary == path) {
        rc_peer_drop_wish(l, c->peer, true);
    } else if (m->path != HWMC_APM_MIGRATED && hwmc_apm_migrate(&apm, 1) == 0 &&
               apm->error != EAGAIN && apm->error != EALREADY) {
        l->params.counts->failed++;
        rc_peer_drop_wish(l, c->peer, false);
    }
}

int hwmc_lane_rc_prefer(struct hwmc_lane *lane, uint32_t peer, uint8_t path)
{
    struct hwmc_lane_rc *l = rc_lane(lane);
    struct rc_peer *p;

    if (peer >= l->params.size || peer == l->params.rank)
        return HWMC_ERR_INVAL;
    if (l->ports.apm != HWMC_LANE_RC_APM_HARDWARE)
        return HWMC_ERR_DEVICE;
    p = &l->peers[peer];
    l->num_wishes += path != HWMC_LANE_RC_ANY;
    l->num_wishes -= p->wish != HWMC_LANE_RC_ANY;
    p->wish = path;
    l->wish_at = 0;
    l->wish_step = RC_WISH_NS;
    return HWMC_OK;
}

void rc_wish_timers(struct hwmc_lane_rc *l)
{
    uint64_t now;

    if (l->num_wishes == 0)
        return;
    now = rc_now();
    if (now < l->wish_at)
        return;
    l->wish_at = now + l->wish_step;
    l->wish_step = l->wish_step < RC_WISH_MAX_NS ? 2 * l->wish_step : RC_WISH_MAX_NS;
    for (uint32_t i = 0; i < l->num_conns; i++)
        if (l->conns[i]->state == RC_CONN_OPEN &&
            l->peers[l->conns[i]->peer].wish != HWMC_LANE_RC_ANY)
            try_wish(l, l->conns[i]);
}

uint8_t hwmc_lane_rc_port(const struct hwmc_lane *lane, const struct hwmc_lane *other)
{
    const struct hwmc_lane_rc *l = (const struct hwmc_lane_rc *) lane;
    const struct hwmc_lane_rc *o = (const struct hwmc_lane_rc *) other;

    if (strcmp(ibv_get_device_name(l->port.context->device),
               ibv_get_device_name(o->port.context->device)) != 0)
        return 0;
    for (uint8_t i = 0; i < l->ports.num; i++)
        if (l->ports.port[i].number == o->ports.port[0].number)
            return l->ports.port[i].number;
    return 0;
}
