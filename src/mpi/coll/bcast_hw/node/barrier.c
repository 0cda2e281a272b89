/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * barrier: see barrier.h.
 */
#include "barrier_impl.h"

static int (*const steps[])(struct bcast_hw_node_op *op) = {
#define X(id, name, text) bcast_hw_node_barrier_##name,
    BCAST_HW_NODE_BARRIERS(X)
#undef X
};

void bcast_hw_node_barrier_begin(struct bcast_hw_node_barrier *b, struct bcast_hw_node_group *g,
                                 const struct bcast_hw_node_tree *tree)
{
    enum bcast_hw_node_barrier_algorithm algorithm = g->params.barrier;

    bcast_hw_node_op_begin(&b->op, g, g->size == 1 ? bcast_hw_node_op_nothing : steps[algorithm]);
    b->phase = 0;
    b->next = 0;
    b->distance = 1;
    b->way = 0;
    if (algorithm == BCAST_HW_NODE_BARRIER_TREE)
        b->tree = *tree;
}

int bcast_hw_node_barrier_end(struct bcast_hw_node_barrier *b)
{
    struct bcast_hw_node_group *g = b->op.group;

    g->floor = b->op.serial - 1;
    return bcast_hw_node_op_end(&b->op);
}
