/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * allreduce: see allreduce.h.
 */
#include "allreduce.h"

static int step(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_allreduce *a = (struct bcast_hw_node_allreduce *) op;
    const struct bcast_hw_node_reduction *up = &a->up;
    int err = bcast_hw_node_op_step(a->part);

    op->moved = a->part->moved;
    if (err != BCAST_HW_OK || a->last)
        return err;
    bcast_hw_node_bcast_begin(&a->down, op->group, &a->tree, 0, up->out, up->length,
                              op->group->rank == 0 ? up->length : 0);
    a->part = &a->down.op;
    a->last = true;
    op->serial = a->part->serial;
    op->moved = true;
    return BCAST_HW_AGAIN;
}

int bcast_hw_node_allreduce_begin(struct bcast_hw_node_allreduce *a, struct bcast_hw_node_group *g,
                                  const struct bcast_hw_node_tree *tree,
                                  const struct bcast_hw_node_operation *operation, const void *in,
                                  void *out, uint64_t count)
{
    bool at_once = bcast_hw_node_reduction_is_to_all(g, count * operation->element);
    int err = at_once
                  ? bcast_hw_node_reduction_begin_to_all(&a->up, g, operation, in, out, count)
                  : bcast_hw_node_reduction_begin(&a->up, g, tree, 0, operation, in, out, count);

    if (err != BCAST_HW_OK)
        return err;
    a->tree = *tree;
    a->part = &a->up.op;
    a->last = at_once || count == 0;
    a->op = (struct bcast_hw_node_op){.group = g, .serial = a->part->serial, .step = step};
    return BCAST_HW_OK;
}
