/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * selftest: see selftest.h.
 */
#include "selftest.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "load.h"
#include "migrate.h"
#include "specify.h"

#define ENDS 2
#define TIMEOUT 14u /* 67 ms, 7 times */
#define RETRIES 6u

struct pair {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    struct hwmc_apm_conn end[ENDS];
    char bytes[2 * ENDS]; /* to send and to receive */
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static bool describe_port(struct pair *p, uint8_t number, struct hwmc_apm_port *port)
{
    struct ibv_port_attr attr;

    memset(port, 0, sizeof(*port));
    if (ibv_query_port(p->context, number, &attr) != 0 || attr.state != IBV_PORT_ACTIVE ||
        ibv_query_gid(p->context, number, 0, &port->gid) != 0)
        return false;
    port->number = number;
    port->lid = attr.lid;
    port->lmc = attr.lmc;
    port->grh =
        attr.link_layer == IBV_LINK_LAYER_ETHERNET || (attr.flags & IBV_QPF_GRH_REQUIRED) != 0;
    return true;
}

/* Each end goes to itself or to another LID of the same port. */
static bool make_pair(struct pair *p, const struct hwmc_apm_port *port)
{
    struct hwmc_apm_path primary, alternate;

    hwmc_apm_path_between(port, 0, port, 0, TIMEOUT, &primary);
    hwmc_apm_path_between(port, 1, port, 1, TIMEOUT, &alternate);
    p->pd = ibv_alloc_pd(p->context);
    p->cq = ibv_create_cq(p->context, 4 * ENDS, NULL, NULL, 0);
    if (p->pd == NULL || p->cq == NULL)
        return false;
    p->mr = ibv_reg_mr(p->pd, p->bytes, sizeof(p->bytes), IBV_ACCESS_LOCAL_WRITE);
    for (int i = 0; i < ENDS; i++) {
        struct ibv_qp_init_attr init = {
            .send_cq = p->cq,
            .recv_cq = p->cq,
            .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
            .qp_type = IBV_QPT_RC,
            .sq_sig_all = 1};
        struct ibv_qp *qp = ibv_create_qp(p->pd, &init);

        if (qp == NULL)
            return false;
        hwmc_apm_conn_init(&p->end[i], qp, &primary, &alternate);
    }
    return p->mr != NULL;
}

static void unmake_pair(struct pair *p)
{
    for (int i = 0; i < ENDS; i++)
        if (p->end[i].qp != NULL)
            ibv_destroy_qp(p->end[i].qp);
    if (p->mr != NULL)
        ibv_dereg_mr(p->mr);
    if (p->cq != NULL)
        ibv_destroy_cq(p->cq);
    if (p->pd != NULL)
        ibv_dealloc_pd(p->pd);
    ibv_close_device(p->context);
}

static bool to_init(struct hwmc_apm_conn *c)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .pkey_index = c->path[0].pkey_index, .port_num = c->path[0].port};

    if (ibv_modify_qp(c->qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
        return false;
    hwmc_apm_conn_comm(c, IBV_QPS_INIT);
    return true;
}

static bool to_rtr(struct hwmc_apm_conn *c, uint32_t peer_qp, bool with_alternate)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = IBV_MTU_256,
                               .dest_qp_num = peer_qp,
                               .max_dest_rd_atomic = 0,
                               .min_rnr_timer = 12};
    int more = with_alternate ? hwmc_apm_specify_with(c, &attr) : 0;

    hwmc_apm_path_address(&c->path[0], &attr.ah_attr);
    if (ibv_modify_qp(c->qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | more) != 0)
        return false;
    hwmc_apm_specified(c, more);
    hwmc_apm_conn_comm(c, IBV_QPS_RTR);
    return true;
}

static bool to_rts(struct hwmc_apm_conn *c)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS, .timeout = TIMEOUT, .retry_cnt = RETRIES, .rnr_retry = RETRIES};

    if (ibv_modify_qp(c->qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) != 0)
        return false;
    hwmc_apm_conn_comm(c, IBV_QPS_RTS);
    return true;
}

static enum hwmc_apm_selftest connect_ends(struct pair *p)
{
    for (int i = 0; i < ENDS; i++) {
        uint32_t other = p->end[!i].qp->qp_num;

        if (!to_init(&p->end[i]))
            return HWMC_APM_SELFTEST_NO_LOOPBACK;
        if (!to_rtr(&p->end[i], other, true))
            return to_rtr(&p->end[i], other, false) ? HWMC_APM_SELFTEST_NO_ALTERNATE
                                                    : HWMC_APM_SELFTEST_NO_LOOPBACK;
        if (!to_rts(&p->end[i]))
            return HWMC_APM_SELFTEST_NO_LOOPBACK;
    }
    return HWMC_APM_SELFTEST_HARDWARE;
}

static bool post_message(struct pair *p, int from)
{
    struct ibv_sge sge[2] = {{(uintptr_t) &p->bytes[from], 1, p->mr->lkey},
                             {(uintptr_t) &p->bytes[ENDS + !from], 1, p->mr->lkey}};
    struct ibv_send_wr send = {.sg_list = &sge[0], .num_sge = 1, .opcode = IBV_WR_SEND}, *bad_send;
    struct ibv_recv_wr recv = {.sg_list = &sge[1], .num_sge = 1}, *bad_recv;

    return ibv_post_recv(p->end[!from].qp, &recv, &bad_recv) == 0 &&
           ibv_post_send(p->end[from].qp, &send, &bad_send) == 0;
}

/* A message from each end to the other comes. */
static bool exchange_messages(struct pair *p)
{
    uint64_t until = now_ns() + HWMC_APM_SELFTEST_NS;
    int done = 0;

    if (!post_message(p, 0) || !post_message(p, 1))
        return false;
    while (done < 2 * ENDS) {
        struct ibv_wc wc;
        int n = ibv_poll_cq(p->cq, 1, &wc);

        if (n < 0 || (n == 0 && now_ns() > until) || (n == 1 && wc.status != IBV_WC_SUCCESS))
            return false;
        done += n;
        if (n == 0)
            sched_yield();
    }
    return true;
}

/* An alternate path is loaded by messages passing both ways. */
static bool arm_pair(struct pair *p)
{
    struct hwmc_apm_conn *ends[ENDS] = {&p->end[0], &p->end[1]};
    uint64_t until = now_ns() + HWMC_APM_SELFTEST_NS;

    while (now_ns() < until) {
        if (!exchange_messages(p))
            return false;
        if (hwmc_apm_load_poll(ends, ENDS) == 0)
            return true;
        sched_yield();
    }
    return false;
}

/* The end is told that it migrated. */
static bool heard_migration(struct pair *p, const struct hwmc_apm_conn *end)
{
    uint64_t until = now_ns() + HWMC_APM_SELFTEST_NS;

    while (now_ns() < until) {
        struct ibv_async_event e;
        bool found;

        if (ibv_get_async_event(p->context, &e) != 0) {
            sched_yield();
            continue;
        }
        found = e.event_type == IBV_EVENT_PATH_MIG && e.element.qp == end->qp;
        ibv_ack_async_event(&e);
        if (found)
            return true;
    }
    return false;
}

static enum hwmc_apm_selftest try_ends(struct pair *p)
{
    struct hwmc_apm_conn *ends[ENDS] = {&p->end[0], &p->end[1]};
    enum hwmc_apm_selftest connected = connect_ends(p);

    if (connected != HWMC_APM_SELFTEST_HARDWARE)
        return connected;
    if (!exchange_messages(p))
        return HWMC_APM_SELFTEST_NO_LOOPBACK;
    if (hwmc_apm_load(ends, ENDS) != ENDS)
        return HWMC_APM_SELFTEST_NO_LOAD;
    if (!arm_pair(p))
        return HWMC_APM_SELFTEST_NEVER_ARMED;
    if (hwmc_apm_migrate(ends, 1) != 1 || !hwmc_apm_path_has_migrated(ends[0]->qp))
        return HWMC_APM_SELFTEST_NO_MIGRATION;
    if (!heard_migration(p, ends[0]))
        return HWMC_APM_SELFTEST_NO_EVENT;
    return exchange_messages(p) ? HWMC_APM_SELFTEST_HARDWARE : HWMC_APM_SELFTEST_LOST_DATA;
}

/* Reading events is not to block. */
static bool unblock_events(struct ibv_context *context)
{
    int flags = fcntl(context->async_fd, F_GETFL);

    return flags >= 0 && fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

enum hwmc_apm_selftest hwmc_apm_selftest(struct ibv_device *device, uint8_t port)
{
    struct pair p = {.context = ibv_open_device(device)};
    struct ibv_device_attr attr;
    struct hwmc_apm_port end;
    enum hwmc_apm_selftest result;

    if (p.context == NULL)
        return HWMC_APM_SELFTEST_RESOURCES;
    if (ibv_query_device(p.context, &attr) != 0 || !unblock_events(p.context))
        result = HWMC_APM_SELFTEST_RESOURCES;
    else if ((attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG) == 0)
        result = HWMC_APM_SELFTEST_NO_CAPABILITY;
    else if (!describe_port(&p, port, &end))
        result = HWMC_APM_SELFTEST_PORT_DOWN;
    else
        result = make_pair(&p, &end) ? try_ends(&p) : HWMC_APM_SELFTEST_RESOURCES;
    unmake_pair(&p);
    return result;
}
