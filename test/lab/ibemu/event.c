/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Asynchronous events: of a QP, CQ or SRQ for the context that made it, of a port for all. An
 * object is destroyed once those that were fetched are acknowledged; those that were not are
 * forgotten.
 */
#include "device.h"
#include "engine.h"
#include "qp.h"

#include <stdlib.h>

void em_event_raise(struct em_context *ctx, const struct ibv_async_event *event, unsigned *reported)
{
    struct em_event *e = calloc(1, sizeof(*e));

    if (e == NULL)
        return;
    e->event = *event;
    e->reported = reported;
    em_fdqueue_push(&ctx->async, &e->item);
}

void em_event_raise_port(struct em_hca *hca, enum ibv_event_type type, int port_num)
{
    const struct ibv_async_event event = {.element.port_num = port_num, .event_type = type};
    struct em_context *ctx;

    TAILQ_FOREACH(ctx, &hca->contexts, link)
    em_event_raise(ctx, &event, NULL);
}

static bool is_of(const struct em_item *item, const void *object)
{
    const struct em_event *e = (const struct em_event *) item;

    /* All the members of the union are pointers but that of port events. */
    return e->reported != NULL && e->event.element.qp == object;
}

void em_event_forget(struct em_context *ctx, const void *object)
{
    em_fdqueue_purge(&ctx->async, is_of, object);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    struct em_context *ctx = em_context_of(context);
    struct em_event *e;

    pthread_mutex_lock(&ctx->hca->lock);
    e = (struct em_event *) em_fdqueue_wait(&ctx->async, &ctx->hca->lock);
    if (e != NULL) {
        *event = e->event;
        if (e->reported != NULL)
            (*e->reported)++;
    }
    pthread_mutex_unlock(&ctx->hca->lock);
    if (e == NULL)
        return -1;
    free(e);
    return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *count)
{
    pthread_mutex_lock(mutex);
    (*count)++;
    pthread_cond_signal(cond);
    pthread_mutex_unlock(mutex);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    struct ibv_cq *cq = event->element.cq;
    struct ibv_qp *qp = event->element.qp;
    struct ibv_srq *srq = event->element.srq;

    switch (event->event_type) {
        case IBV_EVENT_CQ_ERR:
            acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
            break;
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_COMM_EST:
        case IBV_EVENT_SQ_DRAINED:
        case IBV_EVENT_PATH_MIG:
        case IBV_EVENT_PATH_MIG_ERR:
        case IBV_EVENT_QP_LAST_WQE_REACHED:
            acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
            break;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
            break;
        default: /* of a port, or of the device */
            break;
    }
}
