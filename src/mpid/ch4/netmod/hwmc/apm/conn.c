/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * conn: see conn.h.
 */
#include "conn.h"

#include <errno.h>
#include <string.h>

#include "load.h"
#include "migrate.h"
#include "specify.h"

void hwmc_apm_conn_init(struct hwmc_apm_conn *c, struct ibv_qp *qp,
                        const struct hwmc_apm_path *primary, const struct hwmc_apm_path *alternate)
{
    memset(c, 0, sizeof(*c));
    c->qp = qp;
    hwmc_apm_init(&c->state, alternate != NULL);
    c->path[0] = *primary;
    if (alternate != NULL)
        c->path[1] = *alternate;
}

void hwmc_apm_conn_comm(struct hwmc_apm_conn *c, enum ibv_qp_state state)
{
    static const uint8_t comm[] = {
        [IBV_QPS_RESET] = HWMC_APM_RESET, [IBV_QPS_INIT] = HWMC_APM_INIT,
        [IBV_QPS_RTR] = HWMC_APM_RTR,     [IBV_QPS_RTS] = HWMC_APM_RTS,
        [IBV_QPS_SQD] = HWMC_APM_SQD,     [IBV_QPS_SQE] = HWMC_APM_SQE,
        [IBV_QPS_ERR] = HWMC_APM_ERR,
    };

    if ((size_t) state < sizeof(comm))
        hwmc_apm_on_comm(&c->state, (enum hwmc_apm_comm) comm[state]);
}

/* An event may be told late, when the path has been loaded again. */
static enum hwmc_apm_verdict on_migrated(struct hwmc_apm_conn *c)
{
    if (c->state.open != HWMC_APM_ASKED && !hwmc_apm_path_has_migrated(c->qp))
        return HWMC_APM_STALE;
    return hwmc_apm_on_event(&c->state, HWMC_APM_ON_MIGRATED);
}

enum hwmc_apm_verdict hwmc_apm_conn_event(struct hwmc_apm_conn *c, enum ibv_event_type type)
{
    switch (type) {
        case IBV_EVENT_PATH_MIG:
            return on_migrated(c);
        case IBV_EVENT_PATH_MIG_ERR:
            return hwmc_apm_on_event(&c->state, HWMC_APM_ON_MIG_FAILED);
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
            return hwmc_apm_on_comm(&c->state, HWMC_APM_ERR);
        default:
            return HWMC_APM_STALE;
    }
}

void hwmc_apm_conn_port(struct hwmc_apm_conn *c, uint8_t port, bool active)
{
    const uint8_t paths = c->state.alternate ? 2 : 1;

    for (uint8_t i = 0; i < paths; i++)
        if (c->path[i].port == port)
            hwmc_apm_on_port(&c->state, i, active);
}

void hwmc_apm_conn_trust(struct hwmc_apm_conn *c)
{
    hwmc_apm_trust(&c->state);
}

/* Before a connection is given up for its port: hardware may have armed it, or may even have
 * migrated, and the event is on its way. */
static enum hwmc_apm_next next_of(struct hwmc_apm_conn *c)
{
    enum hwmc_apm_next next = hwmc_apm_next(&c->state);

    if (next != HWMC_APM_MOVE || c->state.moving || c->state.path == HWMC_APM_MIGRATED)
        return next;
    if (hwmc_apm_path_has_migrated(c->qp))
        return HWMC_APM_NOTHING;
    hwmc_apm_load_poll(&c, 1);
    return hwmc_apm_next(&c->state);
}

enum hwmc_apm_next hwmc_apm_conn_step(struct hwmc_apm_conn *c)
{
    for (;;) {
        enum hwmc_apm_next next = next_of(c);
        bool done;

        if (next == HWMC_APM_SPECIFY)
            done = hwmc_apm_specify(c) == 0;
        else if (next == HWMC_APM_LOAD)
            done = hwmc_apm_load(&c, 1) == 1;
        else if (next == HWMC_APM_MIGRATE)
            done = hwmc_apm_migrate(&c, 1) == 1;
        else
            return next;
        if (!done)
            return c->error == EALREADY ? HWMC_APM_NOTHING : next;
    }
}
