/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scatter: see scatter.h.
 */
#include "scatter.h"

#include <assert.h>

#include "scatter_impl.h"

/* This rank's own part. OK: it is where it belongs. */
static int move_own(struct bcast_hw_node_scatter *w)
{
    struct bcast_hw_node_range from = bcast_hw_node_part_of(&w->in_parts, w->op.group->rank);
    struct bcast_hw_node_range to = {0, w->length};

    if (w->of_all)
        to = bcast_hw_node_part_of(&w->out_parts, w->op.group->rank);
    return bcast_hw_node_parts_own(&w->op, w->out + to.at, w->in + from.at,
                                   bcast_hw_node_parts_agree(&w->op, to.bytes, from.bytes),
                                   &w->moved);
}

static int step(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_scatter *w = (struct bcast_hw_node_scatter *) op;
    int err = bcast_hw_node_scatter_open(w);

    if (err != BCAST_HW_OK)
        return err;
    if (!w->given)
        w->given = bcast_hw_node_scatter_give(w) == BCAST_HW_OK;
    if (!w->own && !op->moved)
        w->own = move_own(w) == BCAST_HW_OK;
    if (!w->read && !op->moved) {
        err = bcast_hw_node_scatter_read(w);
        if (err < 0)
            return err;
        w->read = err == BCAST_HW_OK;
    }
    return w->given && w->own && w->read ? bcast_hw_node_op_end(op) : BCAST_HW_AGAIN;
}

void bcast_hw_node_scatter_begin(struct bcast_hw_node_scatter *w, struct bcast_hw_node_group *g,
                                 uint32_t root, const void *in,
                                 const struct bcast_hw_node_parts *parts, void *out,
                                 uint64_t length)
{
    bool gives = g->rank == root;

    assert(root < g->size);
    memset(w, 0, sizeof(*w));
    bcast_hw_node_op_begin(&w->op, g, step);
    w->root = root;
    w->in = in;
    w->out = out;
    if (gives)
        w->in_parts = *parts;
    w->length = length;
    w->own = !gives || out == NULL;
    w->read = gives;
    w->to = 1;
    w->from = gives ? 1 : (g->rank + g->size - root) % g->size;
    w->last = w->from;
}

void bcast_hw_node_scatter_begin_of_all(struct bcast_hw_node_scatter *w,
                                        struct bcast_hw_node_group *g, const void *in,
                                        const struct bcast_hw_node_parts *in_parts, void *out,
                                        const struct bcast_hw_node_parts *out_parts)
{
    memset(w, 0, sizeof(*w));
    bcast_hw_node_op_begin(&w->op, g, step);
    w->of_all = true;
    w->in = in;
    w->out = out;
    w->in_parts = *in_parts;
    w->out_parts = *out_parts;
    w->to = 1;
    w->from = 1;
    w->last = g->size - 1;
}
