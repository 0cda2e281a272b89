/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A queue of receive work requests: of a QP, or shared by several.
 */
#ifndef HWMC_TEST_LAB_IBEMU_RQ_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_RQ_H_INCLUDED

#include "hca.h"

struct em_rwqe {
    uint64_t wr_id;
    int num_sge;
    struct ibv_sge *sge;
};

struct em_rq {
    struct em_rwqe *ring; /* cap entries, each with room for max_sge */
    struct ibv_sge *sges;
    uint32_t cap, max_sge; /* cap 0: a queue that takes nothing */
    uint32_t head, tail;   /* of all time; tail - head <= cap */
};

/* Returns 0 or ENOMEM. */
int em_rq_init(struct em_rq *q, uint32_t cap, uint32_t max_sge);
void em_rq_fini(struct em_rq *q);

/* Adds a list of work requests. Returns 0, or ENOMEM (full) or EINVAL (too many pieces) with *bad
 * at the first that was not added. */
int em_rq_post(struct em_rq *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* Copies the oldest request into `to`, whose sge has room for EM_SGE_MAX. False: there is none. */
bool em_rq_take(struct em_rq *q, struct em_rwqe *to);

/* Puts back the request that was taken last. */
static inline void em_rq_untake(struct em_rq *q)
{
    q->head--;
}

static inline uint32_t em_rq_len(const struct em_rq *q)
{
    return q->tail - q->head;
}

#endif /* HWMC_TEST_LAB_IBEMU_RQ_H_INCLUDED */
