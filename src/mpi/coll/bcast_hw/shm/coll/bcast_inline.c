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

int hwmc_shm_bcast_inline(struct hwmc_shm_op *op)
{
    struct hwmc_shm_bcast *b = (struct hwmc_shm_bcast *) op;
    bool root = hwmc_shm_bcast_is_root(b);
    const unsigned char *message = root ? b->buf : hwmc_shm_lines(&b->op, b->tree.parent)->out.body;

    if (root && b->here < b->length)
        return HWMC_AGAIN;
    if (!root && !b->way.seen) {
        if (hwmc_shm_bcast_look(b) != HWMC_OK)
            return hwmc_shm_group_await(op->group, b->tree.parent);
        if (b->room > 0)
            memcpy(b->buf, message, hwmc_shm_min(b->length, b->room));
        hwmc_shm_lines_fetch_next(&b->op, b->tree.parent);
        b->way.seen = true;
        b->here = b->length;
    }
    if (b->tree.num_children > 0 && !hwmc_shm_lines_put_body(op, message, b->length))
        return HWMC_AGAIN;
    return hwmc_shm_op_end(op);
}
