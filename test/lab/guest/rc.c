/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "rc.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE 60    /* s that a completion may take on a machine that is emulated and busy */
#define ACK_TIMEOUT 14 /* 4.096 us * 2^14 */
#define RNR_TIMER 12   /* 0.64 ms */

void rc_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static struct ibv_context *open_device(const char *name)
{
    struct ibv_context *context = NULL;
    int num;
    struct ibv_device **devices = ibv_get_device_list(&num);

    for (int i = 0; devices != NULL && i < num && context == NULL; i++)
        if (strcmp(ibv_get_device_name(devices[i]), name) == 0)
            context = ibv_open_device(devices[i]);
    if (context == NULL)
        rc_fail("cannot open device %s", name);
    ibv_free_device_list(devices);
    return context;
}

void rc_open(struct rc_end *end, const char *device)
{
    memset(end, 0, sizeof(*end));
    end->context = open_device(device);
    end->pd = ibv_alloc_pd(end->context);
    end->cq = ibv_create_cq(end->context, 16, NULL, NULL, 0);
    if (end->pd == NULL || end->cq == NULL)
        rc_fail("%s: no protection domain or completion queue", device);
    end->mr = ibv_reg_mr(end->pd, end->buf, RC_BYTES, IBV_ACCESS_LOCAL_WRITE);
    if (end->mr == NULL || ibv_query_gid(end->context, RC_PORT, RC_GID, &end->gid) != 0)
        rc_fail("%s: no memory region or no GID", device);
}

void rc_close(struct rc_end *end)
{
    if (end->qp != NULL)
        rc_destroy(end);
    ibv_dereg_mr(end->mr);
    ibv_destroy_cq(end->cq);
    ibv_dealloc_pd(end->pd);
    ibv_close_device(end->context);
}

void rc_create(struct rc_end *end)
{
    struct ibv_qp_init_attr init = {
        .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = RC_PORT};

    end->qp = ibv_create_qp(end->pd, &init);
    if (end->qp == NULL)
        rc_fail("no queue pair");
    if (ibv_modify_qp(end->qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
        rc_fail("the queue pair does not go to INIT");
}

void rc_destroy(struct rc_end *end)
{
    struct ibv_wc wc;

    ibv_destroy_qp(end->qp);
    end->qp = NULL;
    while (ibv_poll_cq(end->cq, 1, &wc) > 0)
        ;
}

struct ibv_qp_attr rc_to_rtr(const struct rc_end *peer, int *mask)
{
    *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qp->qp_num,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = RNR_TIMER,
        .ah_attr = {.is_global = 1,
                    .port_num = RC_PORT,
                    .grh = {.dgid = peer->gid, .sgid_index = RC_GID, .hop_limit = 1}},
    };
}

struct ibv_qp_attr rc_to_rts(int retries, int *mask)
{
    *mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
            IBV_QP_MAX_QP_RD_ATOMIC;
    return (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTS,
        .timeout = ACK_TIMEOUT,
        .retry_cnt = (uint8_t) retries,
        .rnr_retry = 7,
        .max_rd_atomic = 1,
    };
}

static void connect_one(struct rc_end *end, const struct rc_end *peer, int retries)
{
    int mask;
    struct ibv_qp_attr attr = rc_to_rtr(peer, &mask);

    if (ibv_modify_qp(end->qp, &attr, mask) != 0)
        rc_fail("the queue pair does not go to RTR");
    attr = rc_to_rts(retries, &mask);
    if (ibv_modify_qp(end->qp, &attr, mask) != 0)
        rc_fail("the queue pair does not go to RTS");
}

void rc_connect(struct rc_end *a, struct rc_end *b, int retries)
{
    rc_create(a);
    rc_create(b);
    connect_one(a, b, retries);
    connect_one(b, a, retries);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static enum ibv_wc_status completion(struct rc_end *end)
{
    double until = now() + PATIENCE;
    struct ibv_wc wc;

    while (now() < until) {
        int n = ibv_poll_cq(end->cq, 1, &wc);

        if (n < 0)
            rc_fail("the completion queue cannot be polled");
        if (n > 0)
            return wc.status;
    }
    rc_fail("no completion in %d s", PATIENCE);
}

static unsigned char byte_at(unsigned seed, size_t i)
{
    return (unsigned char) ((seed + i) * 2654435761u >> 24);
}

static void post(struct rc_end *from, struct rc_end *to)
{
    struct ibv_sge in = {.addr = (uintptr_t) to->buf, .length = RC_BYTES, .lkey = to->mr->lkey};
    struct ibv_sge out = {
        .addr = (uintptr_t) from->buf, .length = RC_BYTES, .lkey = from->mr->lkey};
    struct ibv_recv_wr recv = {.sg_list = &in, .num_sge = 1};
    struct ibv_send_wr send = {.sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND};
    struct ibv_recv_wr *bad_recv;
    struct ibv_send_wr *bad_send;

    if (ibv_post_recv(to->qp, &recv, &bad_recv) != 0 ||
        ibv_post_send(from->qp, &send, &bad_send) != 0)
        rc_fail("a message cannot be posted");
}

enum ibv_wc_status rc_send(struct rc_end *from, struct rc_end *to, unsigned seed)
{
    enum ibv_wc_status status;

    for (size_t i = 0; i < RC_BYTES; i++) {
        from->buf[i] = byte_at(seed, i);
        to->buf[i] = (unsigned char) ~from->buf[i];
    }
    post(from, to);
    status = completion(from);
    if (status != IBV_WC_SUCCESS)
        return status;
    if (completion(to) != IBV_WC_SUCCESS)
        rc_fail("sent, and not received");
    for (size_t i = 0; i < RC_BYTES; i++)
        if (to->buf[i] != byte_at(seed, i))
            rc_fail("wrong data at byte %zu", i);
    return status;
}
