/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * paths: the ports that a lane's connections can use, and what happens to them. See rc_impl.h.
 */
#include <string.h>

#include "../../apm/migrate.h"
#include "rc_impl.h"

/* What the other end needs of a port. False: it has no address. */
static bool describe_port(const struct hwmc_lane_rc *l, uint8_t number, uint8_t i,
                          struct rc_ports *p)
{
    struct hwmc_apm_port *port = &p->port[i];
    struct ibv_port_attr attr;
    __be16 pkey;
    int index;

    if (ibv_query_port(l->port.context, number, &attr) != 0 ||
        attr.link_layer == IBV_LINK_LAYER_ETHERNET || attr.lid == 0 ||
        ibv_query_gid(l->port.context, number, 0, &port->gid) != 0 ||
        ibv_query_pkey(l->port.context, l->port.port, l->port.pkey_index, &pkey) != 0)
        return false;
    index = ibv_get_pkey_index(l->port.context, number, pkey);
    if (index < 0)
        return false;
    port->number = number;
    port->lid = attr.lid;
    port->lmc = attr.lmc;
    port->pkey_index = (uint16_t) index;
    port->grh = (attr.flags & IBV_QPF_GRH_REQUIRED) != 0;
    port->bits = l->params.preference.bits;
    p->mtu[i] = attr.active_mtu;
    p->active[i] = attr.state == IBV_PORT_ACTIVE;
    return true;
}

/* On RoCE the rail's port is named by the rail's GID, and there is no other. */
static void describe_roce(const struct hwmc_lane_rc *l, struct rc_ports *p)
{
    p->port[0] = (struct hwmc_apm_port){.number = l->port.port,
                                        .gid = l->port.gid,
                                        .gid_index = (uint8_t) l->port.gid_index,
                                        .pkey_index = l->port.pkey_index,
                                        .grh = true};
    p->mtu[0] = l->port.mtu;
    p->num = 1;
}

static int find_ports(struct hwmc_lane_rc *l)
{
    struct rc_ports *p = &l->ports;
    struct ibv_device_attr attr;

    p->active[0] = true;
    if (!l->port.infiniband) {
        describe_roce(l, p);
        return HWMC_OK;
    }
    if (ibv_query_device(l->port.context, &attr) != 0 || !describe_port(l, l->port.port, 0, p))
        return HWMC_ERR_DEVICE;
    p->num = 1;
    for (uint8_t n = 1; n <= attr.phys_port_cnt && p->num < RC_PORTS_MAX; n++)
        if (n != l->port.port && hwmc_apm_preference_allows(&l->params.preference, n) &&
            describe_port(l, n, p->num, p))
            p->num++;
    return HWMC_OK;
}

static void try_device(struct hwmc_lane_rc *l)
{
    struct rc_ports *p = &l->ports;

    p->apm = HWMC_LANE_RC_APM_OFF;
    p->reason = "path migration is not asked for";
    if (l->params.apm) {
        enum hwmc_apm_selftest result = hwmc_apm_selftest(l->port.context->device, l->port.port);

        p->apm = result == HWMC_APM_SELFTEST_HARDWARE ? HWMC_LANE_RC_APM_HARDWARE
                                                      : HWMC_LANE_RC_APM_SOFTWARE;
        p->reason = hwmc_apm_selftest_text(result);
    }
}

int rc_paths_open(struct hwmc_lane_rc *l)
{
    int err = find_ports(l);

    if (err == HWMC_OK)
        try_device(l);
    return err;
}

void rc_paths_choose(const struct hwmc_lane_rc *l, struct rc_conn *c, const struct rc_end *theirs)
{
    const struct rc_end *mine = &c->mine;
    uint8_t timeout = l->params.timeout;
    struct hwmc_apm_path primary, alternate;
    bool has = mine->hardware && theirs->hardware &&
               hwmc_apm_choose(mine->port, mine->num_ports, theirs->port, theirs->num_ports,
                               timeout, &alternate) != HWMC_APM_NO_ALTERNATE;

    hwmc_apm_path_between(&mine->port[0], 0, &theirs->port[0], 0, timeout, &primary);
    hwmc_apm_conn_init(&c->apm, c->apm.qp, &primary, has ? &alternate : NULL);
    hwmc_apm_conn_comm(&c->apm, IBV_QPS_INIT);
    for (uint8_t i = 0; i < l->ports.num; i++)
        if (!l->ports.active[i])
            hwmc_apm_conn_port(&c->apm, l->ports.port[i].number, false);
}

static void note_doubt(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    if (c->apm.state.open != HWMC_APM_DOUBTED || c->trust_at != UINT64_MAX)
        return;
    c->trust_at = rc_now() + RC_TRUST_NS;
    rc_wake_at(l, c->trust_at);
}

void rc_paths_step(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    bool was_loaded = c->apm.state.path != HWMC_APM_MIGRATED;

    switch (hwmc_apm_conn_step(&c->apm)) {
        case HWMC_APM_MOVE:
            rc_peer_fail(l, c, true);
            return;
        case HWMC_APM_SPECIFY:
        case HWMC_APM_LOAD:
        case HWMC_APM_MIGRATE:
            l->params.counts->failed++;
            break;
        case HWMC_APM_LATER:
            note_doubt(l, c);
            break;
        case HWMC_APM_NOTHING:
            break;
    }
    if (!was_loaded && c->apm.state.path != HWMC_APM_MIGRATED)
        l->params.counts->rearms++;
}

void rc_paths_timers(struct hwmc_lane_rc *l, uint64_t now)
{
    for (uint32_t i = 0; i < l->num_conns; i++) {
        struct rc_conn *c = l->conns[i];

        if (rc_has_failed(c) || c->trust_at == UINT64_MAX)
            continue;
        if (now < c->trust_at) {
            rc_wake_at(l, c->trust_at);
            continue;
        }
        c->trust_at = UINT64_MAX;
        hwmc_apm_conn_trust(&c->apm);
        rc_paths_step(l, c);
    }
}

static void on_qp_event(struct hwmc_lane_rc *l, const struct hwmc_verbs_event *e)
{
    struct rc_conn *c = rc_conns_of_qp(l, e->qp_num);

    if (c == NULL)
        return;
    if (e->type == IBV_EVENT_QP_LAST_WQE_REACHED && rc_has_failed(c))
        c->state = RC_CONN_DRAINED;
    if (rc_has_failed(c) || hwmc_apm_conn_event(&c->apm, e->type) != HWMC_APM_TAKEN)
        return;
    if (e->type == IBV_EVENT_PATH_MIG && c->apm.state.last_by == HWMC_APM_BY_SOFTWARE)
        l->params.counts->moved++;
    else if (e->type == IBV_EVENT_PATH_MIG)
        l->params.counts->migrated++;
    else if (e->type == IBV_EVENT_PATH_MIG_ERR)
        l->params.counts->failed++;
    rc_paths_step(l, c);
}

static void step_all(struct hwmc_lane_rc *l)
{
    for (uint32_t i = 0; i < l->num_conns; i++) {
        struct rc_conn *c = l->conns[i];

        if (!rc_has_failed(c) && c->apm.state.comm == HWMC_APM_RTS)
            rc_paths_step(l, c);
    }
}

/* A port may have another LID when it is active again. */
static void look_at_ports(struct hwmc_lane_rc *l)
{
    struct rc_ports *p = &l->ports;

    for (uint8_t i = 0; i < p->num; i++) {
        struct ibv_port_attr attr;

        if (ibv_query_port(l->port.context, p->port[i].number, &attr) != 0)
            continue;
        p->active[i] = attr.state == IBV_PORT_ACTIVE;
        if (attr.lid != 0) {
            p->port[i].lid = attr.lid;
            p->port[i].lmc = attr.lmc;
        }
        for (uint32_t k = 0; k < l->num_conns; k++)
            hwmc_apm_conn_port(&l->conns[k]->apm, p->port[i].number, p->active[i]);
    }
    step_all(l);
}

/* What a connection missed when events were lost: the device says how it stands. */
static void look_at_conn(struct hwmc_lane_rc *l, struct rc_conn *c)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;

    if (rc_has_failed(c))
        c->state = RC_CONN_DRAINED;
    if (rc_has_failed(c) || c->apm.state.comm != HWMC_APM_RTS)
        return;
    if (ibv_query_qp(c->apm.qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE, &init) != 0 ||
        attr.qp_state == IBV_QPS_ERR)
        hwmc_apm_conn_comm(&c->apm, IBV_QPS_ERR);
    else if (attr.path_mig_state == IBV_MIG_MIGRATED &&
             hwmc_apm_conn_event(&c->apm, IBV_EVENT_PATH_MIG) == HWMC_APM_TAKEN)
        l->params.counts->migrated++;
}

static void look_at_everything(struct hwmc_lane_rc *l)
{
    for (uint32_t i = 0; i < l->num_conns; i++)
        look_at_conn(l, l->conns[i]);
    look_at_ports(l);
}

void rc_paths_lose(struct hwmc_lane_rc *l)
{
    l->dead = true;
    for (uint32_t i = 0; i < l->num_conns; i++)
        rc_peer_fail(l, l->conns[i], true);
}

static void on_event(struct hwmc_lane_rc *l, const struct hwmc_verbs_event *e)
{
    switch (e->type) {
        case IBV_EVENT_PORT_ACTIVE:
        case IBV_EVENT_PORT_ERR:
        case IBV_EVENT_LID_CHANGE:
            look_at_ports(l);
            break;
        case IBV_EVENT_DEVICE_FATAL:
        case IBV_EVENT_CQ_ERR:
        case IBV_EVENT_SRQ_ERR:
            rc_paths_lose(l);
            break;
        default:
            on_qp_event(l, e);
    }
}

int rc_paths_events(struct hwmc_lane_rc *l)
{
    struct hwmc_verbs_event e;
    int got, events = 0;

    while ((got = hwmc_verbs_events_take(l->listener, &e)) != 0) {
        events++;
        if (got > 0)
            on_event(l, &e);
        else
            look_at_everything(l);
    }
    return events;
}
