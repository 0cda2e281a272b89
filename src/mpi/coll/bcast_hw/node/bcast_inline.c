/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_inline: a small message travels in the slot, with the metadata (Velamati et al. 2007,
 * section 4, i). A rank takes it from its parent's slot and, if it has children, copies it from
 * there into its own, as soon as the run-ahead bound lets it. Nobody acknowledges: slots are kept
 * by that bound. A message of no bytes goes so too, since only by its parent's line a rank knows
 * that it is one.
 *
 * Example, 0 -> 1 2, 1 -> 3: 0 fills its slot and is done; 1 and 2 find the serial there; 2 is
 * done; 1 fills its slot and is done; 3 finds the serial there.
 */
#include <string.h>

#include "bcast_impl.h"

int bcast_hw_node_bcast_inline(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_bcast *b = (struct bcast_hw_node_bcast *) op;
    bool root = bcast_hw_node_bcast_is_root(b);
    const unsigned char *message =
        root ? b->buf : bcast_hw_node_lines(&b->op, b->tree.parent)->out.body;

    if (root && b->here < b->length)
        return BCAST_HW_AGAIN;
    if (!root && !b->way.seen) {
        if (bcast_hw_node_bcast_look(b) != BCAST_HW_OK)
            return BCAST_HW_AGAIN;
        if (b->room > 0)
            memcpy(b->buf, message, bcast_hw_node_min(b->length, b->room));
        bcast_hw_node_lines_fetch_next(&b->op, b->tree.parent);
        b->way.seen = true;
        b->here = b->length;
    }
    if (b->tree.num_children > 0 && !bcast_hw_node_lines_put_body(op, message, b->length))
        return BCAST_HW_AGAIN;
    return bcast_hw_node_op_end(op);
}
