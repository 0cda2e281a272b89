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
static const unsigned char *operand_of(const struct hwmc_shm_reduction *r, uint32_t turn)
{
    uint32_t peer = hwmc_shm_reduction_operand(r, turn);

    return peer == r->op.group->rank ? r->in : hwmc_shm_lines(&r->op, peer)->out.body;
}

/* Combines the operand whose turn it is into `to`: OK, AGAIN or ERR_INVAL. */
static int combine_next(struct hwmc_shm_reduction *r, unsigned char *to)
{
    uint32_t peer = hwmc_shm_reduction_operand(r, r->turn);

    if (peer != r->op.group->rank) {
        int err = hwmc_shm_lines_look(&r->op, peer, r->length);

        if (err != HWMC_OK)
            return err == HWMC_AGAIN ? hwmc_shm_group_await(r->op.group, peer) : err;
        hwmc_shm_lines_fetch_next(&r->op, peer);
    }
    if (r->turn > 0)
        hwmc_shm_operation_combine(&r->operation, to, operand_of(r, r->turn),
                                   r->turn == 1 ? operand_of(r, 0) : to, r->length);
    else if (r->tree.num_children == 0)
        memcpy(to, r->in, r->length);
    r->turn++;
    return HWMC_OK;
}

int hwmc_shm_reduction_inline(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduction *r = (struct hwmc_shm_reduction *) op;
    struct hwmc_shm_out *out = &hwmc_shm_lines(op, op->group->rank)->out;
    unsigned char *to = hwmc_shm_reduction_in_result(r) ? r->out : out->body;

    if (!hwmc_shm_group_may_open(op->group))
        return HWMC_AGAIN;
    while (r->turn <= r->tree.num_children) {
        int err = combine_next(r, to);

        if (err != HWMC_OK)
            return err;
    }
    if (!hwmc_shm_reduction_is_root(r))
        hwmc_shm_lines_open_body(op, r->length);
    else if (to != r->out)
        memcpy(r->out, to, r->length);
    return hwmc_shm_op_end(op);
}
