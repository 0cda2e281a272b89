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

void bcast_hw_node_op_begin(struct bcast_hw_node_op *op, struct bcast_hw_node_group *g,
                            int (*step)(struct bcast_hw_node_op *op))
{
    assert(g->finished == g->serial);
    op->group = g;
    op->serial = ++g->serial;
    op->step = step;
    op->verdict = BCAST_HW_OK;
    op->opened = false;
    op->waited = false;
    op->moved = false;
}

int bcast_hw_node_op_end(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_group *g = op->group;

    g->finished = op->serial;
    bcast_hw_node_store(&bcast_hw_node_words(g->segment, g->rank)->finished, op->serial);
    g->told++;
    return op->verdict;
}

int bcast_hw_node_op_nothing(struct bcast_hw_node_op *op)
{
    return bcast_hw_node_op_end(op);
}
