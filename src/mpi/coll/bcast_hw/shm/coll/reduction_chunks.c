/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction_chunks: through buffers of the segment, chunk by chunk, up a tree (Velamati et al.
 * 2007, section 3.4, "TREE"). A rank combines into the next of its buffers its own chunk and that
 * of each child, read from the child's buffer, and shows how many chunks it has put. The root
 * combines them in the memory of the result. `taken` of a rank says how many chunks of all its
 * children it has combined; a child uses a buffer again when its parent has what was in it, so with
 * two of them one is filled while the other is read.
 *
 * Example, 2 -> 1 -> 0, chunks a b c, two buffers. 2 puts a, b; 1 puts a, combined with 2's, and
 * takes 1; now 2 may put c where a was, while 0 combines 1's a with its own. 2 is done once it has
 * put c, though nobody has read it: the next use of that buffer waits until all have finished this
 * collective (shm/segment/slot.h, rule 4).
 */
#include <string.h>

#include "reduction_impl.h"
#include "../copy/nontemporal.h"

/* Where the chunk is combined; NULL: what is in that buffer has not been read yet. Nobody reads the
 * root's, which is always the same one, where it needs any. */
static unsigned char *chunk_place(const struct hwmc_shm_reduction *r)
{
    struct hwmc_shm_group *g = r->op.group;
    uint32_t buffers = g->buffers;
    uint64_t put = r->way.chunks.put;
    uint64_t used = *hwmc_shm_next_used(g);

    if (hwmc_shm_reduction_in_result(r))
        return r->out + r->at;
    if (r->turn > 0)
        return hwmc_shm_next_buffer(g);
    if (put >= buffers ? hwmc_shm_lines_taken(&r->op, r->tree.parent) <= put - buffers
                       : !hwmc_shm_group_all_finished(g, used))
        return NULL;
    return hwmc_shm_next_buffer(g);
}

/* The operand of that turn, in *from: OK, AGAIN or ERR_INVAL. It stays until the chunk is taken. */
static int find_operand(const struct hwmc_shm_reduction *r, uint32_t turn,
                        const unsigned char **from)
{
    uint32_t peer = hwmc_shm_reduction_operand(r, turn);
    const struct hwmc_shm_out *out = &hwmc_shm_lines(&r->op, peer)->out;
    uint64_t chunk = r->at / r->chunk;
    int err;

    if (peer == r->op.group->rank) {
        *from = r->in + r->at;
        return HWMC_OK;
    }
    err = hwmc_shm_lines_look(&r->op, peer, r->length);
    if (err == HWMC_AGAIN || (err == HWMC_OK && hwmc_shm_load(&out->ready) <= chunk))
        return hwmc_shm_group_await(r->op.group, peer);
    if (err != HWMC_OK)
        return err;
    *from = hwmc_shm_buffer(r->op.group, peer, out->first + chunk);
    return HWMC_OK;
}

/* Combines the operand whose turn it is; that of turn 0 with that of turn 1. */
static void combine_operand(const struct hwmc_shm_reduction *r, unsigned char *to,
                            const unsigned char *from, size_t n)
{
    const unsigned char *so_far = to;

    if (r->turn == 1)
        (void) find_operand(r, 0, &so_far);
    if (r->turn > 0)
        hwmc_shm_operation_combine(&r->operation, to, from, so_far, n);
    else if (r->tree.num_children == 0)
        memcpy(to, from, n);
}

/* All operands of the chunk are combined. */
static void give_on(struct hwmc_shm_reduction *r, const unsigned char *combined, size_t n)
{
    struct hwmc_shm_group *g = r->op.group;

    if (r->tree.num_children > 0)
        hwmc_shm_lines_ack(&r->op, r->at / r->chunk + 1);
    if (hwmc_shm_reduction_is_root(r)) {
        if (combined != r->out + r->at)
            hwmc_shm_nontemporal_or_copy(hwmc_shm_reduction_streams(r), r->out + r->at, combined,
                                         n);
    } else {
        *hwmc_shm_next_used(g) = r->op.serial;
        g->chunks++;
        hwmc_shm_lines_show(&r->op, ++r->way.chunks.put);
    }
    r->at += n;
    r->turn = 0;
}

int hwmc_shm_reduction_chunks(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduction *r = (struct hwmc_shm_reduction *) op;
    size_t n = hwmc_shm_reduction_bytes(r);
    const unsigned char *from;
    unsigned char *to;
    int err;

    if (!hwmc_shm_lines_open(op, r->length, 0, r->way.chunks.first) ||
        (to = chunk_place(r)) == NULL)
        return HWMC_AGAIN;
    err = find_operand(r, r->turn, &from);
    if (err != HWMC_OK)
        return err;
    combine_operand(r, to, from, n);
    op->moved = true;
    if (++r->turn > r->tree.num_children)
        give_on(r, to, n);
    return r->at < r->end ? HWMC_AGAIN : hwmc_shm_op_end(op);
}
