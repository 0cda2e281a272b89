/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction_inline: a small message travels in the slots, with the metadata (Velamati et al. 2007,
 * section 4, i). A rank combines what it finds in its children's slots with its own, and puts the
 * result into its slot, as soon as the run-ahead bound lets it. Nobody acknowledges: slots are kept
 * by that bound.
 */
#include <string.h>

#include "reduction_impl.h"

_Static_assert(sizeof(((struct bcast_hw_node_reduction *) 0)->way.body) >= BCAST_HW_NODE_INLINE,
               "all that fits into a slot");

/* Combines the operand whose turn it is: OK, AGAIN or ERR_INVAL. */
static int combine_next(struct bcast_hw_node_reduction *r)
{
    uint32_t peer = bcast_hw_node_reduction_operand(r, r->turn);
    alignas(16) unsigned char theirs[BCAST_HW_NODE_INLINE];
    const void *operand = r->in;

    if (peer != r->op.group->rank) {
        int err = bcast_hw_node_lines_look(&r->op, peer, r->length);

        if (err != BCAST_HW_OK)
            return err;
        memcpy(theirs, bcast_hw_node_lines(&r->op, peer)->out.body, r->length);
        operand = theirs;
    }
    if (r->turn == 0)
        memcpy(r->way.body, operand, r->length);
    else
        bcast_hw_node_reduction_combine(r, r->way.body, operand, r->length);
    r->turn++;
    return BCAST_HW_OK;
}

int bcast_hw_node_reduction_inline(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_reduction *r = (struct bcast_hw_node_reduction *) op;

    while (r->turn <= r->tree.num_children) {
        int err = combine_next(r);

        if (err != BCAST_HW_OK)
            return err;
    }
    if (bcast_hw_node_reduction_is_root(r)) {
        memcpy(r->out, r->way.body, r->length);
    } else {
        struct bcast_hw_node_out *out = &bcast_hw_node_lines(&r->op, op->group->rank)->out;

        if (!bcast_hw_node_group_may_open(op->group))
            return BCAST_HW_AGAIN;
        memcpy(out->body, r->way.body, r->length);
        bcast_hw_node_open_out(out, op->serial, r->length, 0, 0);
    }
    return bcast_hw_node_op_end(op);
}
