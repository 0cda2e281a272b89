/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * allreduce: see allreduce.h.
 */
#include "allreduce.h"

static int allreduce_step(struct hwmc_shm_op *op)
{
    struct hwmc_shm_allreduce *a = (struct hwmc_shm_allreduce *) op;
    const struct hwmc_shm_reduction *up = &a->up;
    int err = hwmc_shm_op_step(a->part);

    op->moved = a->part->moved;
    if (err != HWMC_OK || a->last)
        return err;
    hwmc_shm_bcast_begin(&a->down, op->group, &a->tree, 0, up->out, up->length,
                         op->group->rank == 0 ? up->length : 0);
    a->part = &a->down.op;
    a->last = true;
    op->serial = a->part->serial;
    op->moved = true;
    return HWMC_AGAIN;
}

int hwmc_shm_allreduce_begin(struct hwmc_shm_allreduce *a, struct hwmc_shm_group *g,
                             const struct hwmc_shm_tree *tree,
                             const struct hwmc_shm_operation *operation, const void *in, void *out,
                             uint64_t count)
{
    bool at_once = hwmc_shm_reduction_is_to_all(g, count * operation->element);
    int err = at_once ? hwmc_shm_reduction_begin_to_all(&a->up, g, operation, in, out, count)
                      : hwmc_shm_reduction_begin(&a->up, g, tree, 0, operation, in, out, count);

    if (err != HWMC_OK)
        return err;
    a->tree = *tree;
    a->part = &a->up.op;
    a->last = at_once || count == 0;
    a->op = (struct hwmc_shm_op){.group = g, .serial = a->part->serial, .step = allreduce_step};
    return HWMC_OK;
}
