/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Completion queues. Polling an empty one looks at the network at once instead of waiting for the
 * thread that drives the HCA: engine.h.
 */
#include "cq.h"
#include "device.h"
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct em_channel *c = calloc(1, sizeof(*c));
    int e;

    if (c == NULL)
        return NULL;
    e = em_fdqueue_init(&c->queue);
    if (e != 0) {
        free(c);
        errno = e;
        return NULL;
    }
    c->ibv.context = context;
    c->ibv.fd = c->queue.fd;
    return &c->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
    struct em_channel *c = (struct em_channel *) ibv;
    struct em_hca *hca = em_context_of(ibv->context)->hca;
    int users;

    pthread_mutex_lock(&hca->lock);
    users = ibv->refcnt;
    pthread_mutex_unlock(&hca->lock);
    if (users > 0)
        return EBUSY;
    em_fdqueue_fini(&c->queue);
    free(c);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector)
{
    struct em_cq *cq;

    if (cqe < 1 || cqe > EM_CQE_MAX || comp_vector != 0) {
        errno = EINVAL;
        return NULL;
    }
    cq = calloc(1, sizeof(*cq));
    if (cq == NULL)
        return NULL;
    cq->ring = calloc((size_t) cqe, sizeof(*cq->ring));
    if (cq->ring == NULL) {
        free(cq);
        return NULL;
    }
    cq->hca = em_context_of(context)->hca;
    cq->ibv.context = context;
    cq->ibv.channel = channel;
    cq->ibv.cq_context = cq_context;
    cq->ibv.cqe = cqe;
    pthread_mutex_init(&cq->ibv.mutex, NULL);
    pthread_cond_init(&cq->ibv.cond, NULL);
    if (channel != NULL) {
        pthread_mutex_lock(&cq->hca->lock);
        channel->refcnt++;
        pthread_mutex_unlock(&cq->hca->lock);
    }
    return &cq->ibv;
}

int ibv_resize_cq(struct ibv_cq *ibv, int cqe)
{
    struct em_cq *cq = (struct em_cq *) ibv;
    struct ibv_wc *ring;
    uint32_t have;
    int e = 0;

    if (cqe < 1 || cqe > EM_CQE_MAX)
        return EINVAL;
    ring = calloc((size_t) cqe, sizeof(*ring));
    if (ring == NULL)
        return ENOMEM;
    pthread_mutex_lock(&cq->hca->lock);
    have = cq->tail - cq->head;
    if (have > (uint32_t) cqe) {
        free(ring);
        e = EINVAL;
    } else {
        for (uint32_t i = 0; i < have; i++)
            ring[i] = cq->ring[(cq->head + i) % (uint32_t) cq->ibv.cqe];
        free(cq->ring);
        cq->ring = ring;
        cq->head = 0;
        cq->tail = have;
        cq->ibv.cqe = cqe;
    }
    pthread_mutex_unlock(&cq->hca->lock);
    return e;
}

static bool is_of_cq(const struct em_item *item, const void *cq)
{
    return ((const struct em_cq_event *) item)->cq == cq;
}

int ibv_destroy_cq(struct ibv_cq *ibv)
{
    struct em_cq *cq = (struct em_cq *) ibv;
    unsigned events, async_events;

    pthread_mutex_lock(&cq->hca->lock);
    if (cq->users > 0) {
        pthread_mutex_unlock(&cq->hca->lock);
        return EBUSY;
    }
    if (ibv->channel != NULL) {
        em_fdqueue_purge(&((struct em_channel *) ibv->channel)->queue, is_of_cq, cq);
        ibv->channel->refcnt--;
    }
    em_event_forget(em_context_of(ibv->context), cq);
    events = cq->events;
    async_events = cq->async_events;
    pthread_mutex_unlock(&cq->hca->lock);

    pthread_mutex_lock(&ibv->mutex);
    while (ibv->comp_events_completed != events || ibv->async_events_completed != async_events)
        pthread_cond_wait(&ibv->cond, &ibv->mutex);
    pthread_mutex_unlock(&ibv->mutex);
    free(cq->ring);
    free(cq);
    return 0;
}

static void notify(struct em_cq *cq)
{
    struct em_cq_event *event;

    cq->arm = EM_ARM_NONE;
    if (cq->ibv.channel == NULL)
        return;
    event = calloc(1, sizeof(*event));
    if (event == NULL)
        return;
    event->cq = cq;
    em_fdqueue_push(&((struct em_channel *) cq->ibv.channel)->queue, &event->item);
}

void em_cq_push(struct em_cq *cq, const struct ibv_wc *wc, bool solicited)
{
    if (cq->overrun)
        return;
    if (cq->tail - cq->head == (uint32_t) cq->ibv.cqe) {
        struct ibv_async_event event = {.element.cq = &cq->ibv, .event_type = IBV_EVENT_CQ_ERR};

        cq->overrun = true;
        em_event_raise(em_context_of(cq->ibv.context), &event, &cq->async_events);
        return;
    }
    cq->ring[cq->tail++ % (uint32_t) cq->ibv.cqe] = *wc;
    if (cq->arm == EM_ARM_ANY ||
        (cq->arm == EM_ARM_SOLICITED && (solicited || wc->status != IBV_WC_SUCCESS)))
        notify(cq);
}

void em_cq_forget_qp(struct em_cq *cq, uint32_t qpn)
{
    uint32_t cap = (uint32_t) cq->ibv.cqe, to = cq->head;

    for (uint32_t from = cq->head; from != cq->tail; from++)
        if (cq->ring[from % cap].qp_num != qpn)
            cq->ring[to++ % cap] = cq->ring[from % cap];
    cq->tail = to;
}

static int take(struct em_cq *cq, int n, struct ibv_wc *wc)
{
    int got = 0;

    while (got < n && cq->head != cq->tail)
        wc[got++] = cq->ring[cq->head++ % (uint32_t) cq->ibv.cqe];
    return got;
}

int em_cq_poll(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
    struct em_cq *cq = (struct em_cq *) ibv;
    int got;

    pthread_mutex_lock(&cq->hca->lock);
    if (cq->head == cq->tail)
        em_engine_poll(cq->hca);
    got = cq->overrun ? -1 : take(cq, n, wc);
    pthread_mutex_unlock(&cq->hca->lock);
    /* Who polls in a loop may keep the processor from him who is to send. */
    if (got == 0)
        sched_yield();
    return got;
}

int em_cq_request_notify(struct ibv_cq *ibv, int solicited_only)
{
    struct em_cq *cq = (struct em_cq *) ibv;
    enum em_arm arm = solicited_only ? EM_ARM_SOLICITED : EM_ARM_ANY;

    pthread_mutex_lock(&cq->hca->lock);
    /* 11.4.2.2: a request for any completion is not taken back by one for solicited ones. */
    if (arm > cq->arm)
        cq->arm = arm;
    em_engine_listen(cq->hca);
    pthread_mutex_unlock(&cq->hca->lock);
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_context)
{
    struct em_hca *hca = em_context_of(ibv->context)->hca;
    struct em_cq_event *event;

    pthread_mutex_lock(&hca->lock);
    event = (struct em_cq_event *) em_fdqueue_wait(&((struct em_channel *) ibv)->queue, &hca->lock);
    if (event != NULL) {
        event->cq->events++;
        *cq = &event->cq->ibv;
        *cq_context = event->cq->ibv.cq_context;
    }
    pthread_mutex_unlock(&hca->lock);
    if (event == NULL)
        return -1;
    free(event);
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *ibv, unsigned int nevents)
{
    pthread_mutex_lock(&ibv->mutex);
    ibv->comp_events_completed += nevents;
    pthread_cond_signal(&ibv->cond);
    pthread_mutex_unlock(&ibv->mutex);
}
