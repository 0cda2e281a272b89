/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * barrier: see barrier.h.
 */
#include "barrier_impl.h"

static int (*const barrier_steps[])(struct hwmc_shm_op *op) = {
#define X(id, name, text) hwmc_shm_barrier_##name,
    HWMC_SHM_BARRIERS(X)
#undef X
};

void hwmc_shm_barrier_begin(struct hwmc_shm_barrier *b, struct hwmc_shm_group *g,
                            const struct hwmc_shm_tree *tree)
{
    enum hwmc_shm_barrier_algorithm algorithm = g->params.barrier;

    hwmc_shm_op_begin(&b->op, g, g->size == 1 ? hwmc_shm_op_nothing : barrier_steps[algorithm]);
    b->phase = 0;
    b->next = 0;
    b->distance = 1;
    b->way = 0;
    if (algorithm == HWMC_SHM_BARRIER_TREE)
        b->tree = *tree;
}

int hwmc_shm_barrier_end(struct hwmc_shm_barrier *b)
{
    struct hwmc_shm_group *g = b->op.group;

    g->floor = b->op.serial - 1;
    return hwmc_shm_op_end(&b->op);
}
