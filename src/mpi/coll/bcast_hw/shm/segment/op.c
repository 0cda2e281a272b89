/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * op: see op.h.
 */
#include "op.h"

#include <assert.h>

#include "group.h"
#include "slot.h"

void hwmc_shm_op_begin(struct hwmc_shm_op *op, struct hwmc_shm_group *g,
                       int (*step)(struct hwmc_shm_op *op))
{
    assert(g->finished == g->serial);
    op->group = g;
    op->serial = ++g->serial;
    op->step = step;
    op->verdict = HWMC_OK;
    op->opened = false;
    op->waited = false;
    op->moved = false;
    if (g->extent != g->params.chunk)
        hwmc_shm_group_lay(g, g->params.chunk);
}

int hwmc_shm_op_end(struct hwmc_shm_op *op)
{
    struct hwmc_shm_group *g = op->group;

    g->finished = op->serial;
    hwmc_shm_store(&hwmc_shm_words(g->segment, g->rank)->finished, op->serial);
    return op->verdict;
}

int hwmc_shm_op_nothing(struct hwmc_shm_op *op)
{
    return hwmc_shm_op_end(op);
}
