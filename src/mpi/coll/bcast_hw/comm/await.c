/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * await: see await.h.
 */

#include "await.h"
#include "../process/process.h"
#include "../shm/segment/wakeup.h"

static bool await_group_settled(struct hwmc_group *g)
{
    return g->state != HWMC_GROUP_SETUP;
}

int hwmc_await(const struct hwmc_await *a)
{
    switch (a->kind) {
        case HWMC_AWAIT_MESSAGES:
            return hwmc_messages_wait(a->messages);
        case HWMC_AWAIT_HOST:
            return hwmc_shm_wait_until(a->host, a->step, a->what);
        case HWMC_AWAIT_GROUP:
            hwmc_wait_group(a->group, await_group_settled);
            hwmc_unlock();
            return MPI_SUCCESS;
        default:
            return MPI_SUCCESS;
    }
}

int hwmc_await_shm_step(void *what)
{
    struct hwmc_await_shm *s = what;

    if (s->err != HWMC_AGAIN)
        return s->err;
    do
        s->err = hwmc_shm_op_step(s->op);
    while (s->err == HWMC_AGAIN && s->op->moved);
    hwmc_shm_wakeup_ring(s->op->group);
    return s->err;
}
