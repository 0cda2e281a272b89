/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Shared receive queues.
 */
#ifndef HWMC_TEST_LAB_IBEMU_SRQ_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_SRQ_H_INCLUDED

#include "rq.h"

struct em_srq {
    struct ibv_srq ibv; /* first */
    struct em_hca *hca;
    struct em_rq rq;
    uint32_t limit;        /* an event when fewer are left; 0: not armed */
    int users;             /* QPs */
    unsigned async_events; /* fetched */
};

/* As em_rq_take, and raises the limit's event. */
bool em_srq_take(struct em_srq *srq, struct em_rwqe *to);

/* ibv_post_srq_recv. */
int em_srq_post(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif /* HWMC_TEST_LAB_IBEMU_SRQ_H_INCLUDED */
