/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_twins: direct reception as operations of the verbs fabric, and the groups for it. The twin
 * of a group has its number with the lowest bit inverted on RoCE, where the number is an IPv4
 * address, with the highest one on InfiniBand.
 */
#include "verbs_impl.h"

static int number_twin(const struct hwmc_verbs *v, uint64_t group, uint64_t *twin)
{
    if (!v->port.infiniband && v->params.groups.bits == 0)
        return HWMC_ERR_GROUP;
    *twin = group ^ (v->port.infiniband ? UINT64_C(1) << 63 : 1);
    return HWMC_OK;
}

/* librdmacm makes the queue pair ready, as the other one. Nothing is sent from it. */
static int open_queue_pair(struct hwmc_verbs *v, struct hwmc_verbs_port *port)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = v->send.cq,
        .recv_cq = v->recv.cq,
        .cap = {.max_send_wr = 1,
                .max_recv_wr = v->directs,
                .max_send_sge = 1,
                .max_recv_sge = HWMC_VERBS_LIST_SGES},
        .qp_type = IBV_QPT_UD,
    };

    if (hwmc_verbs_port_open(&v->rail, port) != HWMC_OK)
        return HWMC_ERR_DEVICE;
    if (port->context == v->port.context && rdma_create_qp(port->id, v->pd, &attr) == 0)
        return HWMC_OK;
    hwmc_verbs_port_close(port);
    return HWMC_ERR_LIMIT;
}

/* Once; if it does not work, never. */
static bool has_direct(struct hwmc_verbs *v)
{
    struct hwmc_verbs_port port;
    int err;

    if (v->members.gone)
        return false;
    if (v->direct.members != NULL || v->directs == 0)
        return v->direct.qp != NULL;
    if (open_queue_pair(v, &port) != HWMC_OK) {
        v->directs = 0;
        return false;
    }
    v->direct.port = port;
    v->direct.members = &v->twins;
    v->twins = (struct hwmc_verbs_members){.port = &v->direct.port,
                                           .send = &v->send,
                                           .key = v->params.key,
                                           .udp_port = v->members.udp_port};
    err = hwmc_verbs_direct_open(&v->direct, &v->recv, v->directs, v->attr.max_datagram);
    return err == HWMC_OK;
}

void hwmc_verbs_twins_progress(struct hwmc_verbs *v)
{
    if (v->direct.qp != NULL && hwmc_verbs_members_pending(&v->twins))
        hwmc_verbs_members_progress(&v->twins, hwmc_verbs_now());
}

void hwmc_verbs_twins_close(struct hwmc_verbs *v)
{
    if (v->direct.members == NULL)
        return;
    hwmc_verbs_members_close(&v->twins);
    hwmc_verbs_direct_close(&v->direct);
    hwmc_verbs_port_close(&v->direct.port);
}

static int join_twin(struct hwmc_fabric *f, uint64_t group, uint64_t *twin)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;
    uint64_t number;
    int err = number_twin(v, group, &number);

    if (err != HWMC_OK)
        return err;
    if (!has_direct(v))
        return HWMC_ERR_DEVICE;
    *twin = number;
    return hwmc_verbs_members_join(&v->twins, number, hwmc_verbs_now());
}

static int leave_twin(struct hwmc_fabric *f, uint64_t twin)
{
    return hwmc_verbs_members_leave(&((struct hwmc_verbs *) f)->twins, twin);
}

static uint64_t begin_run(struct hwmc_fabric *f, const struct hwmc_expected *e)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;

    return v->members.gone ? 0 : hwmc_verbs_direct_begin(&v->direct, e);
}

static size_t extend_run(struct hwmc_fabric *f, uint64_t run, size_t bytes)
{
    return hwmc_verbs_direct_extend(&((struct hwmc_verbs *) f)->direct, run, bytes);
}

static void end_run(struct hwmc_fabric *f, uint64_t run, bool goes_on)
{
    hwmc_verbs_direct_end(&((struct hwmc_verbs *) f)->direct, run, goes_on);
}

const struct hwmc_fabric_direct_ops hwmc_verbs_direct_ops = {
    .join = join_twin,
    .leave = leave_twin,
    .begin = begin_run,
    .extend = extend_run,
    .end = end_run,
};

const struct hwmc_verbs_directs *hwmc_fabric_verbs_directs(const struct hwmc_fabric *fabric)
{
    return &((const struct hwmc_verbs *) fabric)->direct.count;
}
