/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_inline: a small message travels in the slot, with the metadata (Velamati et al. 2009,
 * section 4, i). A rank takes it from its parent's slot and, if it has children, puts it into its
 * own, as soon as the run-ahead bound lets it. Nobody acknowledges: slots are kept by that bound.
 *
 * Example, 0 -> 1 2, 1 -> 3: 0 fills its slot and is done; 1 and 2 find the serial there; 2 is
 * done; 1 fills its slot and is done; 3 finds the serial there.
 */
#include <string.h>

#include "bcast_impl.h"

int bcast_hw_node_bcast_inline(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_bcast *b = (struct bcast_hw_node_bcast *) op;

    if (b->here < b->length) {
        int err = bcast_hw_node_bcast_is_root(b)
                      ? BCAST_HW_AGAIN
                      : bcast_hw_node_lines_look(&b->op, b->tree.parent, b->length);

        if (err != BCAST_HW_OK)
            return err;
        memcpy(b->buf, bcast_hw_node_lines(&b->op, b->tree.parent)->out.body, b->length);
        b->here = b->length;
    }
    if (b->tree.num_children > 0) {
        struct bcast_hw_node_out *out = &bcast_hw_node_lines(&b->op, op->group->rank)->out;

        if (!bcast_hw_node_group_may_open(op->group))
            return BCAST_HW_AGAIN;
        memcpy(out->body, b->buf, b->length);
        bcast_hw_node_open_out(out, op->serial, b->length, 0, 0);
    }
    return bcast_hw_node_op_end(op);
}
