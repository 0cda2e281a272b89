/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A ring of receive work requests.
 */
#include "rq.h"

#include <errno.h>
#include <stdlib.h>

int em_rq_init(struct em_rq *q, uint32_t cap, uint32_t max_sge)
{
    *q = (struct em_rq){.cap = cap, .max_sge = max_sge};
    q->ring = calloc(cap + 1, sizeof(*q->ring));
    q->sges = calloc((size_t) cap * max_sge + 1, sizeof(*q->sges));
    if (q->ring == NULL || q->sges == NULL) {
        em_rq_fini(q);
        return ENOMEM;
    }
    for (uint32_t i = 0; i < cap; i++)
        q->ring[i].sge = q->sges + (size_t) i * max_sge;
    return 0;
}

void em_rq_fini(struct em_rq *q)
{
    free(q->ring);
    free(q->sges);
}

int em_rq_post(struct em_rq *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    for (; wr != NULL; wr = wr->next) {
        struct em_rwqe *e;

        *bad = wr;
        if (em_rq_len(q) == q->cap)
            return ENOMEM;
        if (wr->num_sge < 0 || (uint32_t) wr->num_sge > q->max_sge)
            return EINVAL;
        e = &q->ring[q->tail % q->cap];
        e->wr_id = wr->wr_id;
        e->num_sge = wr->num_sge;
        for (int i = 0; i < wr->num_sge; i++)
            e->sge[i] = wr->sg_list[i];
        q->tail++;
    }
    return 0;
}

bool em_rq_take(struct em_rq *q, struct em_rwqe *to)
{
    const struct em_rwqe *e;

    if (em_rq_len(q) == 0)
        return false;
    e = &q->ring[q->head++ % q->cap];
    to->wr_id = e->wr_id;
    to->num_sge = e->num_sge;
    for (int i = 0; i < e->num_sge; i++)
        to->sge[i] = e->sge[i];
    return true;
}
