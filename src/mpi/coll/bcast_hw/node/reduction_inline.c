/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction_inline: a small message travels in the slots, with the metadata (Velamati et al. 2007,
 * section 4, i). As soon as the run-ahead bound lets it, a rank combines in its slot what it finds
 * in its children's slots with its own, and opens it; the root combines where the result belongs.
 * Nobody acknowledges: slots are kept by that bound.
 */
#include <string.h>

#include "reduction_impl.h"

/* Of that turn; it is there. */
static const unsigned char *operand(const struct bcast_hw_node_reduction *r, uint32_t turn)
{
    uint32_t peer = bcast_hw_node_reduction_operand(r, turn);

    return peer == r->op.group->rank ? r->in : bcast_hw_node_lines(&r->op, peer)->out.body;
}

/* Combines the operand whose turn it is into `to`: OK, AGAIN or ERR_INVAL. */
static int combine_next(struct bcast_hw_node_reduction *r, unsigned char *to)
{
    uint32_t peer = bcast_hw_node_reduction_operand(r, r->turn);

    if (peer != r->op.group->rank) {
        int err = bcast_hw_node_lines_look(&r->op, peer, r->length);

        if (err != BCAST_HW_OK)
            return err;
        bcast_hw_node_lines_fetch_next(&r->op, peer);
    }
    if (r->turn > 0)
        bcast_hw_node_operation_combine(&r->operation, to, operand(r, r->turn),
                                        r->turn == 1 ? operand(r, 0) : to, r->length);
    else if (r->tree.num_children == 0)
        memcpy(to, r->in, r->length);
    r->turn++;
    return BCAST_HW_OK;
}

int bcast_hw_node_reduction_inline(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_reduction *r = (struct bcast_hw_node_reduction *) op;
    struct bcast_hw_node_out *out = &bcast_hw_node_lines(op, op->group->rank)->out;
    unsigned char *to = bcast_hw_node_reduction_in_result(r) ? r->out : out->body;

    if (!bcast_hw_node_group_may_open(op->group))
        return BCAST_HW_AGAIN;
    while (r->turn <= r->tree.num_children) {
        int err = combine_next(r, to);

        if (err != BCAST_HW_OK)
            return err;
    }
    if (!bcast_hw_node_reduction_is_root(r))
        bcast_hw_node_lines_open_body(op, r->length);
    else if (to != r->out)
        memcpy(r->out, to, r->length);
    return bcast_hw_node_op_end(op);
}
