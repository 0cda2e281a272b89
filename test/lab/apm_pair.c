/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* apm_pair: two processes, on two hosts, with a reliable connection by port 1 of their HCAs and
 * port 2 as its alternate path. They send each other numbered messages in turn, and end some
 * messages after the path has migrated. A plain verbs program: it runs over test/lab/ibemu as over
 * an HCA.
 *
 *   apm_pair            waits for the other
 *   apm_pair ADDRESS    connects to it
 *
 * Says "armed" once the hardware is ready to migrate, the asynchronous events, and at last
 * "N messages, port P". Exit status 0 if every message came in order and the path is another
 * one. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 18600
#define AFTER 200    /* messages each way after the migration */
#define LENGTH 3000u /* bytes, more than one packet */
#define PSN 0x123456

struct address {
    uint32_t qpn;
    uint16_t lid[2]; /* of port 1 and 2 */
};

struct pair {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint32_t buffer[2][LENGTH / 4]; /* sent, received */
    struct address own, peer;
    int migrations;
};

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if (!(call)) {                                                                             \
            fprintf(stderr, "apm_pair: line %d: %s failed\n", __LINE__, #call);                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void open_device(struct pair *p)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_qp_init_attr init = {.cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC, .sq_sig_all = 1};

    CHECK(list != NULL && list[0] != NULL);
    CHECK((p->context = ibv_open_device(list[0])) != NULL);
    ibv_free_device_list(list);
    CHECK(fcntl(p->context->async_fd, F_SETFL, O_NONBLOCK) == 0);
    CHECK((p->pd = ibv_alloc_pd(p->context)) != NULL);
    CHECK((p->cq = ibv_create_cq(p->context, 16, NULL, NULL, 0)) != NULL);
    CHECK((p->mr = ibv_reg_mr(p->pd, p->buffer, sizeof(p->buffer), IBV_ACCESS_LOCAL_WRITE)) !=
          NULL);
    init.send_cq = init.recv_cq = p->cq;
    CHECK((p->qp = ibv_create_qp(p->pd, &init)) != NULL);
    p->own.qpn = p->qp->qp_num;
    for (uint8_t i = 0; i < 2; i++) {
        struct ibv_port_attr attr;

        CHECK(ibv_query_port(p->context, i + 1, &attr) == 0);
        p->own.lid[i] = attr.lid;
    }
}

/* Over TCP, before anything can break. */
static void exchange(struct pair *p, const char *server)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    CHECK(fd >= 0);
    if (server == NULL) {
        int listening = fd;

        CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
        CHECK(bind(fd, (struct sockaddr *) &a, sizeof(a)) == 0 && listen(fd, 1) == 0);
        CHECK((fd = accept(listening, NULL, NULL)) >= 0);
        close(listening);
    } else {
        CHECK(inet_pton(AF_INET, server, &a.sin_addr) == 1);
        while (connect(fd, (struct sockaddr *) &a, sizeof(a)) != 0) { /* not there yet */
            close(fd);
            usleep(50000);
            CHECK((fd = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
        }
    }
    CHECK(write(fd, &p->own, sizeof(p->own)) == sizeof(p->own));
    CHECK(recv(fd, &p->peer, sizeof(p->peer), MSG_WAITALL) == sizeof(p->peer));
    close(fd);
}

static void post_recv(struct pair *p)
{
    struct ibv_sge sge = {(uintptr_t) p->buffer[1], LENGTH, p->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

    CHECK(ibv_post_recv(p->qp, &wr, &bad) == 0);
}

static void connect_qp(struct pair *p)
{
    struct ibv_qp_attr a = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .ah_attr = {.dlid = p->peer.lid[0], .port_num = 1},
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = p->peer.qpn,
        .rq_psn = PSN,
        .sq_psn = PSN,
        .min_rnr_timer = 12,
        .timeout = 14,
        .retry_cnt = 3,
        .rnr_retry = 7,
        .alt_ah_attr = {.dlid = p->peer.lid[1], .port_num = 2},
        .alt_port_num = 2,
        .alt_timeout = 14,
        .path_mig_state = IBV_MIG_REARM,
    };

    CHECK(ibv_modify_qp(p->qp, &a,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    post_recv(p);
    a.qp_state = IBV_QPS_RTR;
    CHECK(ibv_modify_qp(p->qp, &a,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
                            IBV_QP_ALT_PATH) == 0);
    a.qp_state = IBV_QPS_RTS;
    CHECK(ibv_modify_qp(p->qp, &a,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_PATH_MIG_STATE) == 0);
}

static void tell_events(struct pair *p)
{
    struct ibv_async_event e;

    while (ibv_get_async_event(p->context, &e) == 0) {
        printf("event: %s\n", ibv_event_type_str(e.event_type));
        fflush(stdout);
        p->migrations += e.event_type == IBV_EVENT_PATH_MIG;
        ibv_ack_async_event(&e);
    }
}

/* Completions until one is of that kind. */
static void wait_for(struct pair *p, enum ibv_wc_opcode opcode)
{
    struct ibv_wc wc;
    int n;

    do {
        while ((n = ibv_poll_cq(p->cq, 1, &wc)) == 0)
            tell_events(p);
        CHECK(n == 1);
        if (wc.status != IBV_WC_SUCCESS)
            fprintf(stderr, "apm_pair: %s\n", ibv_wc_status_str(wc.status));
        CHECK(wc.status == IBV_WC_SUCCESS);
    } while (wc.opcode != opcode);
}

/* A message: whether it is the last, and numbers. */
static void send_number(struct pair *p, uint32_t number, bool last)
{
    struct ibv_sge sge = {(uintptr_t) p->buffer[0], LENGTH, p->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

    p->buffer[0][0] = last;
    for (uint32_t i = 1; i < LENGTH / 4; i++)
        p->buffer[0][i] = number + i;
    CHECK(ibv_post_send(p->qp, &wr, &bad) == 0);
    wait_for(p, IBV_WC_SEND);
}

static bool receive_number(struct pair *p, uint32_t number)
{
    bool last;

    wait_for(p, IBV_WC_RECV);
    last = p->buffer[1][0] != 0;
    for (uint32_t i = 1; i < LENGTH / 4; i++)
        CHECK(p->buffer[1][i] == number + i);
    post_recv(p);
    return last;
}

static struct ibv_qp_attr query(struct pair *p)
{
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;

    CHECK(ibv_query_qp(p->qp, &attr, IBV_QP_PATH_MIG_STATE | IBV_QP_PORT, &init) == 0);
    return attr;
}

int main(int argc, char **argv)
{
    static struct pair p;
    const char *server = argc > 1 ? argv[1] : NULL;
    uint32_t number = 0, after = 0;
    bool armed = false, last = false;

    open_device(&p);
    exchange(&p, server);
    connect_qp(&p);
    for (; !last; number++) {
        /* Who connected says which message is the last. */
        if (server != NULL) {
            last = after == AFTER;
            send_number(&p, number, last);
            receive_number(&p, number);
        } else {
            last = receive_number(&p, number);
            send_number(&p, number, last);
        }
        if (!armed && query(&p).path_mig_state == IBV_MIG_ARMED) {
            armed = true;
            printf("armed\n");
            fflush(stdout);
        }
        after += p.migrations > 0;
        usleep(1000);
    }
    printf("%u messages, port %d\n", number, query(&p).port_num);
    return query(&p).port_num == 2 && p.migrations == 1 ? 0 : 1;
}
