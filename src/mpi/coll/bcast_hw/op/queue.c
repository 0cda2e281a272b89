/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * queue: see queue.h.
 */

#include "queue.h"

#include <assert.h>
#include <pthread.h>

static struct {
    pthread_mutex_t stepping; /* held by who steps; only ever tried */
    pthread_mutex_t lists;    /* of queues, and of operations in them; never held for a step */
    struct hwmc_queue *first; /* of the queues that have operations */
    uint32_t pending;         /* operations that have not ended; atomic */
    uint32_t in_memory;       /* of those that run; atomic */

    /* Of who steps. */
    struct hwmc_op *over, *last_over; /* that have left their queues and have not ended */
} queues = {.stepping = PTHREAD_MUTEX_INITIALIZER, .lists = PTHREAD_MUTEX_INITIALIZER};

/* With `lists`. */

static void queue_list(struct hwmc_queue *q)
{
    q->next = queues.first;
    queues.first = q;
}

static void queue_unlist(struct hwmc_queue *q)
{
    struct hwmc_queue **at = &queues.first;

    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    q->next = NULL;
}

static void queue_append(struct hwmc_queue *q, struct hwmc_op *op)
{
    if (q->last) {
        q->last->next = op;
        q->last = op;
        return;
    }
    q->last = op;
    queue_list(q);
    __atomic_store_n(&q->first, op, __ATOMIC_RELEASE);
}

/* With `stepping`. Only who steps takes operations from queues, and queues from the list. */

/* The first operation of `q` is over. Returns the one that follows it. */
static struct hwmc_op *queue_pop(struct hwmc_queue *q)
{
    struct hwmc_op *op = q->first, *next;

    pthread_mutex_lock(&queues.lists);
    next = op->next;
    op->next = NULL;
    if (queues.over)
        queues.last_over->next = op;
    else
        queues.over = op;
    queues.last_over = op;
    if (!next) {
        q->last = NULL;
        queue_unlist(q);
    }
    /* From here on who has waited for the queue to be empty may free it. */
    __atomic_store_n(&q->first, next, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&queues.lists);
    return next;
}

/* Steps `q` as far as it goes. Returns how many of its operations wait for memory: 0 or 1. */
static uint32_t queue_step(struct hwmc_queue *q, enum hwmc_stepper by)
{
    struct hwmc_op *op = __atomic_load_n(&q->first, __ATOMIC_ACQUIRE);

    while (op && op->ops->step(op, by))
        op = queue_pop(q); /* `q` may be gone if there is none */
    return op && op->ops->in_memory && op->ops->in_memory(op) ? 1 : 0;
}

static struct hwmc_queue *queues_first(void)
{
    struct hwmc_queue *q;

    pthread_mutex_lock(&queues.lists);
    q = queues.first;
    pthread_mutex_unlock(&queues.lists);
    return q;
}

static void queues_step_all(enum hwmc_stepper by)
{
    uint32_t in_memory = 0;

    for (struct hwmc_queue *q = queues_first(), *next; q; q = next) {
        next = q->next; /* others are put before those that are here */
        in_memory += queue_step(q, by);
    }
    __atomic_store_n(&queues.in_memory, in_memory, __ATOMIC_RELAXED);
}

static struct hwmc_op *queues_take_over(void)
{
    struct hwmc_op *over = queues.over;

    queues.over = queues.last_over = NULL;
    return over;
}

/* Without the lock. */
static uint32_t queues_end(struct hwmc_op *over)
{
    uint32_t ended = 0;

    for (struct hwmc_op *next; over; over = next) {
        next = over->next;
        __atomic_sub_fetch(&queues.pending, 1, __ATOMIC_RELEASE);
        over->ops->end(over);
        ended++;
    }
    return ended;
}

void hwmc_queue_start(struct hwmc_queue *q, struct hwmc_op *op)
{
    struct hwmc_op *over;
    bool is_first;

    op->next = NULL;
    __atomic_add_fetch(&queues.pending, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&queues.lists);
    is_first = !q->last;
    queue_append(q, op);
    pthread_mutex_unlock(&queues.lists);
    if (!is_first || pthread_mutex_trylock(&queues.stepping) != 0)
        return;
    if (queue_step(q, HWMC_STEP_BY_PROGRAM) > 0)
        __atomic_add_fetch(&queues.in_memory, 1, __ATOMIC_RELAXED);
    over = queues_take_over();
    pthread_mutex_unlock(&queues.stepping);
    queues_end(over);
}

uint32_t hwmc_queues_step(enum hwmc_stepper by)
{
    struct hwmc_op *over = NULL;

    if (hwmc_queues_pending() == 0 || pthread_mutex_trylock(&queues.stepping) != 0)
        return 0;
    queues_step_all(by);
    if (by == HWMC_STEP_BY_PROGRAM)
        over = queues_take_over();
    pthread_mutex_unlock(&queues.stepping);
    return queues_end(over);
}

uint32_t hwmc_queues_pending(void)
{
    return __atomic_load_n(&queues.pending, __ATOMIC_ACQUIRE);
}

bool hwmc_queues_in_memory(void)
{
    return __atomic_load_n(&queues.in_memory, __ATOMIC_RELAXED) > 0;
}

void hwmc_queue_check(const struct hwmc_queue *q)
{
    const struct hwmc_op *op = q->first;

    assert((q->first == NULL) == (q->last == NULL));
    while (op && op->next)
        op = op->next;
    assert(op == q->last);
}
