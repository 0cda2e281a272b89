/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_line: a rank looks at its parent's line, which says the message's length. All ways of the
 * broadcast call this; a rank of another length changes its way by the function that bcast.c gave.
 */
#include "bcast_impl.h"

/* From now on by the parent's length, and in its way. Nobody has looked at what this rank's line
 * says but the root, which may wait for the memory of a rank by G or AG; so only there it stays as
 * it is. */
static void follow_length(struct hwmc_shm_bcast *b, uint64_t length)
{
    b->op.verdict = HWMC_ERR_INVAL;
    b->op.moved = true;
    b->cut = true;
    b->length = length;
    b->choose_steps(b);
    if (hwmc_shm_bcast_along_tree(b))
        b->op.opened = false;
}

int hwmc_shm_bcast_look(struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&b->op, b->tree.parent)->out;

    if (hwmc_shm_load(&out->serial) != b->op.serial ||
        (b->tree.parent != b->root && hwmc_shm_load(&out->ready) == 0))
        return HWMC_AGAIN;
    if (out->length == b->length)
        return HWMC_OK;
    follow_length(b, out->length);
    return HWMC_AGAIN;
}
