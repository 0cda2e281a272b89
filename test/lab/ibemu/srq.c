/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Shared receive queues: the limit's event disarms itself (InfiniBand specification, 10.2.9.2).
 */
#include "srq.h"
#include "device.h"
#include "mr.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    struct em_srq *srq;

    if (init->attr.max_wr < 1 || init->attr.max_wr > EM_WR_MAX || init->attr.max_sge > EM_SGE_MAX) {
        errno = EINVAL;
        return NULL;
    }
    srq = calloc(1, sizeof(*srq));
    if (srq == NULL)
        return NULL;
    errno = em_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge);
    if (errno != 0) {
        free(srq);
        return NULL;
    }
    srq->hca = em_context_of(pd->context)->hca;
    srq->ibv.context = pd->context;
    srq->ibv.srq_context = init->srq_context;
    srq->ibv.pd = pd;
    pthread_mutex_init(&srq->ibv.mutex, NULL);
    pthread_cond_init(&srq->ibv.cond, NULL);
    pthread_mutex_lock(&srq->hca->lock);
    ((struct em_pd *) pd)->users++;
    pthread_mutex_unlock(&srq->hca->lock);
    return &srq->ibv;
}

int ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask)
{
    struct em_srq *srq = (struct em_srq *) ibv;

    if (mask & ~IBV_SRQ_LIMIT)
        return mask & IBV_SRQ_MAX_WR ? EOPNOTSUPP : EINVAL;
    if ((mask & IBV_SRQ_LIMIT) && attr->srq_limit > srq->rq.cap)
        return EINVAL;
    pthread_mutex_lock(&srq->hca->lock);
    if (mask & IBV_SRQ_LIMIT)
        srq->limit = attr->srq_limit;
    pthread_mutex_unlock(&srq->hca->lock);
    return 0;
}

int ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr)
{
    struct em_srq *srq = (struct em_srq *) ibv;

    pthread_mutex_lock(&srq->hca->lock);
    *attr = (struct ibv_srq_attr){srq->rq.cap, srq->rq.max_sge, srq->limit};
    pthread_mutex_unlock(&srq->hca->lock);
    return 0;
}

int ibv_destroy_srq(struct ibv_srq *ibv)
{
    struct em_srq *srq = (struct em_srq *) ibv;
    unsigned events;

    pthread_mutex_lock(&srq->hca->lock);
    if (srq->users > 0) {
        pthread_mutex_unlock(&srq->hca->lock);
        return EBUSY;
    }
    em_event_forget(em_context_of(ibv->context), srq);
    events = srq->async_events;
    ((struct em_pd *) ibv->pd)->users--;
    pthread_mutex_unlock(&srq->hca->lock);

    pthread_mutex_lock(&ibv->mutex);
    while (ibv->events_completed != events)
        pthread_cond_wait(&ibv->cond, &ibv->mutex);
    pthread_mutex_unlock(&ibv->mutex);
    em_rq_fini(&srq->rq);
    free(srq);
    return 0;
}

int em_srq_post(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct em_srq *srq = (struct em_srq *) ibv;
    int e;

    pthread_mutex_lock(&srq->hca->lock);
    e = em_rq_post(&srq->rq, wr, bad);
    pthread_mutex_unlock(&srq->hca->lock);
    return e;
}

bool em_srq_take(struct em_srq *srq, struct em_rwqe *to)
{
    if (!em_rq_take(&srq->rq, to))
        return false;
    if (em_rq_len(&srq->rq) < srq->limit) {
        struct ibv_async_event event = {.element.srq = &srq->ibv,
                                        .event_type = IBV_EVENT_SRQ_LIMIT_REACHED};

        srq->limit = 0;
        em_event_raise(em_context_of(srq->ibv.context), &event, &srq->async_events);
    }
    return true;
}
