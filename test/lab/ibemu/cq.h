/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Completion queues and the channels that tell of them.
 */
#ifndef HWMC_TEST_LAB_IBEMU_CQ_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_CQ_H_INCLUDED

#include "hca.h"

enum em_arm { EM_ARM_NONE, EM_ARM_SOLICITED, EM_ARM_ANY };

struct em_channel {
    struct ibv_comp_channel ibv; /* first; ibv.refcnt: CQs that use it */
    struct em_fdqueue queue;     /* of struct em_cq_event */
};

struct em_cq_event {
    struct em_item item;
    struct em_cq *cq;
};

struct em_cq {
    struct ibv_cq ibv; /* first */
    struct em_hca *hca;
    struct ibv_wc *ring; /* ibv.cqe entries */
    uint32_t head, tail; /* of all time; tail - head <= ibv.cqe */
    enum em_arm arm;
    bool overrun;          /* a completion was lost: the queue is of no use any more */
    int users;             /* QPs that complete here; one for each side of a QP */
    unsigned events;       /* completion events fetched */
    unsigned async_events; /* asynchronous events fetched */
};

/* Adds a completion, and an event if one was asked for. `solicited`: the sender wished one. */
void em_cq_push(struct em_cq *cq, const struct ibv_wc *wc, bool solicited);

/* Forgets what a destroyed QP completed. */
void em_cq_forget_qp(struct em_cq *cq, uint32_t qpn);

/* ibv_poll_cq, and ibv_req_notify_cq. */
int em_cq_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int em_cq_request_notify(struct ibv_cq *cq, int solicited_only);

#endif /* HWMC_TEST_LAB_IBEMU_CQ_H_INCLUDED */
