/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Nobody reads the descriptor but em_fdqueue_pop, under the lock, so that its count and the queue
 * agree. Who waits polls it.
 */
#include "fdqueue.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

int em_fdqueue_init(struct em_fdqueue *q)
{
    TAILQ_INIT(&q->items);
    q->fd = eventfd(0, EFD_CLOEXEC);
    return q->fd < 0 ? errno : 0;
}

void em_fdqueue_fini(struct em_fdqueue *q)
{
    struct em_item *item;

    while ((item = TAILQ_FIRST(&q->items)) != NULL) {
        TAILQ_REMOVE(&q->items, item, link);
        free(item);
    }
    close(q->fd);
}

void em_fdqueue_push(struct em_fdqueue *q, struct em_item *item)
{
    if (TAILQ_EMPTY(&q->items))
        eventfd_write(q->fd, 1);
    TAILQ_INSERT_TAIL(&q->items, item, link);
}

static void take_out(struct em_fdqueue *q, struct em_item *item)
{
    eventfd_t one;

    TAILQ_REMOVE(&q->items, item, link);
    if (TAILQ_EMPTY(&q->items))
        eventfd_read(q->fd, &one);
}

struct em_item *em_fdqueue_pop(struct em_fdqueue *q)
{
    struct em_item *item = TAILQ_FIRST(&q->items);

    if (item != NULL)
        take_out(q, item);
    return item;
}

void em_fdqueue_purge(struct em_fdqueue *q, bool (*matches)(const struct em_item *, const void *),
                      const void *arg)
{
    struct em_item *item = TAILQ_FIRST(&q->items), *next;

    for (; item != NULL; item = next) {
        next = TAILQ_NEXT(item, link);
        if (matches(item, arg)) {
            take_out(q, item);
            free(item);
        }
    }
}

struct em_item *em_fdqueue_wait(struct em_fdqueue *q, pthread_mutex_t *lock)
{
    struct em_item *item;

    while ((item = em_fdqueue_pop(q)) == NULL) {
        struct pollfd p = {.fd = q->fd, .events = POLLIN};
        int flags = fcntl(q->fd, F_GETFL), n;

        if (flags < 0)
            return NULL;
        if (flags & O_NONBLOCK) {
            errno = EAGAIN;
            return NULL;
        }
        pthread_mutex_unlock(lock);
        n = poll(&p, 1, -1);
        pthread_mutex_lock(lock);
        if (n < 0)
            return NULL;
    }
    return item;
}
