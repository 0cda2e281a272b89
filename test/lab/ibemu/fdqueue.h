/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A queue that a file descriptor tells of: readable while something is in it. Completion channels,
 * the asynchronous events of a context and the event channels of the connection manager are such.
 * All calls but em_fdqueue_wait are made with the HCA's lock held.
 */
#ifndef HWMC_TEST_LAB_IBEMU_FDQUEUE_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_FDQUEUE_H_INCLUDED

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

/* Something in a queue: first member of what it is. */
struct em_item {
    TAILQ_ENTRY(em_item) link;
};

struct em_fdqueue {
    int fd; /* an eventfd: 1 while items is not empty, else 0 */
    TAILQ_HEAD(, em_item) items;
};

/* Returns 0 or an errno. */
int em_fdqueue_init(struct em_fdqueue *q);

/* Closes the descriptor; the items left are freed. */
void em_fdqueue_fini(struct em_fdqueue *q);

/* `item` is from malloc; the queue owns it. */
void em_fdqueue_push(struct em_fdqueue *q, struct em_item *item);

/* The oldest item, which the caller then owns; NULL if there is none. */
struct em_item *em_fdqueue_pop(struct em_fdqueue *q);

/* Takes out and frees what `matches` says, in order. */
void em_fdqueue_purge(struct em_fdqueue *q, bool (*matches)(const struct em_item *, const void *),
                      const void *arg);

/* Waits for an item: with `lock` held, which it lets go while it sleeps. NULL with errno EAGAIN
 * where the descriptor is non-blocking and nothing is there. */
struct em_item *em_fdqueue_wait(struct em_fdqueue *q, pthread_mutex_t *lock);

#endif /* HWMC_TEST_LAB_IBEMU_FDQUEUE_H_INCLUDED */
