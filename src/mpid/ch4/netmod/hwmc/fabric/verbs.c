/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs: see verbs.h.
 *
 * Interrupts cost more than polls, so completions are announced only to a caller that is about to
 * wait. `fds` reads earlier announcements, asks for the next one, and then polls once more, since
 * what came before that is not announced; `deadline` returns what it found.
 */
#include "verbs_impl.h"

#include <fcntl.h>
#include <stdlib.h>

#include "../base/random.h"
#include "verbs_address.h"

#define SEND_BYTES 131072u /* what waits in this host delays everything behind it */
#define SEND_MIN 32u       /* datagrams */
#define DIRECT_MORE 128u   /* slots beyond those of a window: datagrams that are looked at */
#define INLINE_BYTES 128u  /* wished */

static void verbs_query(struct hwmc_fabric *f, struct hwmc_fabric_attr *attr)
{
    *attr = ((struct hwmc_verbs *) f)->attr;
}

static int verbs_draw(struct hwmc_fabric *f, uint64_t *group)
{
    const struct hwmc_verbs *v = (const struct hwmc_verbs *) f;

    if (v->port.infiniband && v->params.groups.bits > 0)
        return hwmc_random(group, sizeof(*group));
    return hwmc_random_ipv4(v->params.port, v->params.groups, group);
}

static int verbs_join(struct hwmc_fabric *f, uint64_t group)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;

    return v->members.gone ? HWMC_ERR_DEVICE
                           : hwmc_verbs_members_join(&v->members, group, hwmc_verbs_now());
}

static int verbs_leave(struct hwmc_fabric *f, uint64_t group)
{
    return hwmc_verbs_members_leave(&((struct hwmc_verbs *) f)->members, group);
}

static int verbs_post(struct hwmc_fabric *f, uint64_t group, const struct hwmc_out *out, int n)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;
    const struct hwmc_verbs_target *to = hwmc_verbs_members_target(&v->members, group);

    if (v->members.gone)
        return HWMC_ERR_DEVICE;
    if (to == NULL)
        to = hwmc_verbs_members_target(&v->twins, group);
    return to != NULL ? hwmc_verbs_send_post(&v->send, to, out, n) : HWMC_ERR_GROUP;
}

static bool verbs_lend(struct hwmc_fabric *f, const void *memory, size_t bytes)
{
    return hwmc_verbs_send_lend(&((struct hwmc_verbs *) f)->send, memory, bytes);
}

/* A device that is gone reads nothing. */
static bool verbs_returned(struct hwmc_fabric *f, const void *memory)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;

    return hwmc_verbs_send_returned(&v->send, memory, hwmc_verbs_now()) || v->members.gone;
}

static size_t verbs_queued(struct hwmc_fabric *f)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;

    hwmc_verbs_send_reap(&v->send);
    return v->send.queued;
}

/* What happened to the port. A subnet manager that is new, or has lost the port from sight, knows
 * of no members. */
static void take_events(struct hwmc_verbs *v)
{
    struct hwmc_verbs_event e;
    bool renew = false;
    int got;

    while ((got = hwmc_verbs_events_take(v->listener, &e)) != 0) {
        if (got < 0) {
            renew = true;
            continue;
        }
        switch (e.type) {
            case IBV_EVENT_SM_CHANGE:
            case IBV_EVENT_CLIENT_REREGISTER:
            case IBV_EVENT_LID_CHANGE:
            case IBV_EVENT_PORT_ACTIVE:
                renew = renew || e.port == v->port.port;
                break;
            case IBV_EVENT_QP_FATAL:
                v->send.broken = v->send.broken || e.qp_num == v->port.id->qp->qp_num;
                break;
            case IBV_EVENT_DEVICE_FATAL:
                v->members.gone = true;
                break;
            default:
                break;
        }
    }
    if (renew)
        hwmc_verbs_members_renew(&v->members, hwmc_verbs_now());
    if (renew && v->direct.qp != NULL)
        hwmc_verbs_members_renew(&v->twins, hwmc_verbs_now());
}

/* Counts what is not to be handed over. `members`: of the queue pair that took it. */
static bool is_wanted(struct hwmc_verbs *v, const struct hwmc_verbs_members *members,
                      const struct hwmc_verbs_came *came)
{
    union ibv_gid from, to;

    if (came->len == 0 || !hwmc_verbs_read_grh(came->grh, v->port.infiniband, &from, &to)) {
        v->drops.bad++;
        return false;
    }
    if (!hwmc_verbs_members_have(members, &to)) {
        v->drops.foreign++;
        return false;
    }
    if (!v->hears_own && came->src_qp == v->port.id->qp->qp_num &&
        hwmc_verbs_gid_equal(&from, &v->port.gid)) {
        v->drops.own++;
        return false;
    }
    return true;
}

/* What came by a completion; false: nothing that is to be handed over. */
static bool take_datagram(struct hwmc_verbs *v, const struct ibv_wc *wc, struct hwmc_in *in)
{
    struct hwmc_verbs_came came;

    if (hwmc_verbs_is_direct(wc))
        return hwmc_verbs_direct_next(&v->direct, wc, &came) &&
               hwmc_verbs_direct_take(&v->direct, wc, is_wanted(v, &v->twins, &came), in);
    if (!hwmc_verbs_recv_take(&v->recv, wc, &came) || !is_wanted(v, &v->members, &came))
        return false;
    *in = (struct hwmc_in){.data = came.data, .len = came.len};
    return true;
}

static int verbs_poll(struct hwmc_fabric *f, struct hwmc_in *in, int n)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;
    struct ibv_wc wc;
    int kept = 0;

    v->send.loans.ended = false;
    take_events(v);
    if (hwmc_verbs_members_pending(&v->members))
        hwmc_verbs_members_progress(&v->members, hwmc_verbs_now());
    hwmc_verbs_twins_progress(v);
    hwmc_verbs_recv_give_back(&v->recv);
    hwmc_verbs_direct_give_back(&v->direct);
    hwmc_verbs_recv_look(&v->recv);
    while (kept < n && hwmc_verbs_recv_next(&v->recv, &wc))
        kept += take_datagram(v, &wc, &in[kept]);
    return kept;
}

/* From here on the descriptor of the channel tells of the next completion. */
static void arm_channel(struct hwmc_verbs *v)
{
    struct ibv_cq *cq;
    void *context;

    while (ibv_get_cq_event(v->channel, &cq, &context) == 0)
        ibv_ack_cq_events(cq, 1);
    ibv_req_notify_cq(v->recv.cq, 0);
    if (hwmc_verbs_send_waits(&v->send))
        ibv_req_notify_cq(v->send.cq, 0);
}

static int verbs_fds(struct hwmc_fabric *f, int *fds, int max)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;
    const int mine[] = {v->channel->fd, v->port.channel->fd, hwmc_verbs_events_fd(v->listener)};
    const int num = (int) (sizeof(mine) / sizeof(mine[0]));

    arm_channel(v);
    take_events(v);
    hwmc_verbs_members_progress(&v->members, hwmc_verbs_now());
    hwmc_verbs_recv_look(&v->recv);
    hwmc_verbs_send_reap(&v->send);
    for (int i = 0; i < num && i < max; i++)
        fds[i] = mine[i];
    return num;
}

static uint64_t verbs_deadline(struct hwmc_fabric *f)
{
    const struct hwmc_verbs *v = (const struct hwmc_verbs *) f;

    if (v->recv.wc_at < v->recv.wc_num || hwmc_verbs_send_unblocked(&v->send) ||
        v->send.loans.ended)
        return 0;
    return hwmc_verbs_members_deadline(&v->members);
}

static void verbs_close(struct hwmc_fabric *f)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) f;

    hwmc_verbs_twins_close(v);
    hwmc_verbs_members_close(&v->members);
    if (v->port.id->qp != NULL)
        rdma_destroy_qp(v->port.id);
    hwmc_verbs_send_close(&v->send);
    hwmc_verbs_recv_close(&v->recv);
    if (v->send.cq != NULL)
        ibv_destroy_cq(v->send.cq);
    if (v->recv.cq != NULL)
        ibv_destroy_cq(v->recv.cq);
    if (v->channel != NULL)
        ibv_destroy_comp_channel(v->channel);
    if (v->pd != NULL)
        ibv_dealloc_pd(v->pd);
    if (v->listener != NULL)
        hwmc_verbs_events_close(v->listener);
    hwmc_verbs_port_close(&v->port);
    free(v);
}

static const struct hwmc_fabric_ops verbs_ops = {
    .name = "verbs",
    .query = verbs_query,
    .draw = verbs_draw,
    .join = verbs_join,
    .leave = verbs_leave,
    .post = verbs_post,
    .lend = verbs_lend,
    .returned = verbs_returned,
    .queued = verbs_queued,
    .poll = verbs_poll,
    .fds = verbs_fds,
    .deadline = verbs_deadline,
    .close = verbs_close,
    .direct = &hwmc_verbs_direct_ops,
};

static uint32_t at_most(size_t a, int b)
{
    return a < (size_t) b ? (uint32_t) a : (uint32_t) b;
}

/* The window is what the queues can hold. */
static int size_queues(struct hwmc_verbs *v, uint32_t *sends, uint32_t *recvs)
{
    struct ibv_device_attr device;
    size_t len = hwmc_verbs_mtu_bytes(v->port.mtu);
    int most;

    if (ibv_query_device(v->port.context, &device) != 0)
        return HWMC_ERR_DEVICE;
    most = device.max_qp_wr < device.max_cqe ? device.max_qp_wr : device.max_cqe;
    *sends = at_most(SEND_BYTES / len > SEND_MIN ? SEND_BYTES / len : SEND_MIN, most);
    *recvs = at_most((v->params.window + len - 1) / len, most);
    /* A window has more fragments than datagrams, as headers do not count. */
    v->directs = at_most(*recvs + *recvs / 8 + DIRECT_MORE, most - (int) *recvs);
    if (v->directs < DIRECT_MORE || device.max_sge < (int) HWMC_VERBS_LIST_SGES)
        v->directs = 0;
    v->attr = (struct hwmc_fabric_attr){
        .max_datagram = len,
        .window = *recvs * len,
        .group_bits = v->port.infiniband ? 64 : (int) v->params.groups.bits,
    };
    return *sends > 0 && *recvs > 0 ? HWMC_OK : HWMC_ERR_DEVICE;
}

static int open_completions(struct hwmc_verbs *v, uint32_t sends, uint32_t recvs)
{
    int flags;

    v->pd = ibv_alloc_pd(v->port.context);
    v->channel = ibv_create_comp_channel(v->port.context);
    if (v->pd == NULL || v->channel == NULL)
        return HWMC_ERR_LIMIT;
    flags = fcntl(v->channel->fd, F_GETFL);
    if (flags < 0 || fcntl(v->channel->fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return HWMC_ERR_DEVICE;
    v->send.cq = ibv_create_cq(v->port.context, (int) sends, NULL, v->channel, 0);
    v->recv.cq = ibv_create_cq(v->port.context, (int) (recvs + v->directs), NULL, v->channel, 0);
    return v->send.cq != NULL && v->recv.cq != NULL ? HWMC_OK : HWMC_ERR_LIMIT;
}

/* librdmacm makes the queue pair ready to send and to receive, and attaches it to what the id
 * joins. */
static int open_queue_pair(struct hwmc_verbs *v, uint32_t sends, uint32_t recvs)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = v->send.cq,
        .recv_cq = v->recv.cq,
        .cap = {.max_send_wr = sends,
                .max_recv_wr = recvs,
                .max_send_sge = HWMC_VERBS_SGES,
                .max_recv_sge = 1,
                .max_inline_data = INLINE_BYTES},
        .qp_type = IBV_QPT_UD,
    };

    if (rdma_create_qp(v->port.id, v->pd, &attr) != 0) {
        attr.cap.max_inline_data = 0;
        if (rdma_create_qp(v->port.id, v->pd, &attr) != 0)
            return HWMC_ERR_LIMIT;
    }
    v->send.qp = v->recv.qp = v->port.id->qp;
    v->send.inline_max = attr.cap.max_inline_data;
    return HWMC_OK;
}

static int open_queues(struct hwmc_verbs *v)
{
    uint32_t sends, recvs;
    int err = hwmc_verbs_events_open(v->port.context, &v->listener);

    if (err == HWMC_OK)
        err = size_queues(v, &sends, &recvs);
    if (err == HWMC_OK)
        err = open_completions(v, sends, recvs);
    if (err == HWMC_OK)
        err = open_queue_pair(v, sends, recvs);
    if (err == HWMC_OK)
        err = hwmc_verbs_send_open(&v->send, v->pd, sends, v->attr.max_datagram);
    if (err == HWMC_OK)
        err = hwmc_verbs_recv_open(&v->recv, v->pd, recvs, v->attr.max_datagram, v->directs);
    if (err == HWMC_OK)
        err = hwmc_verbs_recv_post(&v->recv, true);
    return err;
}

int hwmc_fabric_verbs_open(const struct hwmc_rail *rail, const struct hwmc_verbs_params *params,
                           struct hwmc_fabric **fabric)
{
    struct hwmc_verbs *v = calloc(1, sizeof(*v));
    int err;

    if (v == NULL)
        return HWMC_ERR_NOMEM;
    err = hwmc_verbs_port_open(rail, &v->port);
    if (err != HWMC_OK) {
        free(v);
        return err;
    }
    v->super.ops = &verbs_ops;
    v->params = *params;
    v->rail = *rail;
    v->members = (struct hwmc_verbs_members){
        .port = &v->port, .send = &v->send, .key = params->key, .udp_port = params->port};
    err = open_queues(v);
    if (err != HWMC_OK) {
        verbs_close(&v->super);
        return err;
    }
    *fabric = &v->super;
    return HWMC_OK;
}

void hwmc_fabric_verbs_use_port(struct hwmc_fabric *fabric, uint16_t port)
{
    struct hwmc_verbs *v = (struct hwmc_verbs *) fabric;

    v->params.port = v->members.udp_port = port;
}

const struct hwmc_verbs_sent *hwmc_fabric_verbs_sent(const struct hwmc_fabric *fabric)
{
    return &((const struct hwmc_verbs *) fabric)->send.sent;
}

const struct hwmc_verbs_drops *hwmc_fabric_verbs_drops(const struct hwmc_fabric *fabric)
{
    return &((const struct hwmc_verbs *) fabric)->drops;
}
