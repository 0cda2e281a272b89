/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * await: what a machine of set-up waits for. Its step fills this in and returns; a blocking
 * collective waits for it here, an operation returns to its queue and is stepped again.
 */

#ifndef HWMC_COMM_AWAIT_H_INCLUDED
#define HWMC_COMM_AWAIT_H_INCLUDED

#include "messages.h"
#include "../engine/group/group.h"
#include "../op/wait.h"

enum hwmc_await_kind {
    HWMC_AWAIT_NOTHING, /* the machine has ended */
    HWMC_AWAIT_MESSAGES,
    HWMC_AWAIT_HOST, /* other ranks of the host */
    HWMC_AWAIT_GROUP /* the outcome of a group's set-up */
};

struct hwmc_await {
    enum hwmc_await_kind kind;
    const struct hwmc_messages *messages;
    struct hwmc_shm_host *host;
    int (*step)(void *what); /* HOST: to be called until it does not return AGAIN */
    void *what;
    struct hwmc_group *group;
};

/* Waits for it, with MPICH's progress. An MPI error code if it will never come. A group's failure
 * is not one: the machine sees that itself. */
int hwmc_await(const struct hwmc_await *a);

/* A step over shared memory that is remembered: the result of the last one; AGAIN at first. */
struct hwmc_await_shm {
    struct hwmc_shm_op *op;
    int err;
};

/* Steps it unless it has ended; rings for who sleeps. `what` is a struct hwmc_await_shm. */
int hwmc_await_shm_step(void *what);

#endif /* HWMC_COMM_AWAIT_H_INCLUDED */
