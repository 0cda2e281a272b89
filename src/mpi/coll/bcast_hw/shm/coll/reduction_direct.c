/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduction_direct: from memory to memory by single copy: AG and TREEMM (Velamati et al. 2007,
 * section 3.4). A rank takes a chunk of each operand from where it lies and combines them in a
 * buffer of its own, one half for the result and one for the operand that comes, where that cannot
 * be read in place; then it writes the result to where it belongs. Nobody else looks at that
 * buffer.
 *
 *   AG      All show where their memory is, and wait until all have. Then each rank combines a
 *           piece of the message of all ranks and writes it to the root, or to all, or keeps it.
 *           Only it reads that piece of anybody, and it writes a chunk when it has read it of all:
 *           so the result may go to the memory that the operands are in. A rank is through when all
 *           have shown that they are. Pieces have at least piece_min bytes, so of a short message
 *           the last ranks have none.
 *   TREEMM  A rank waits for the whole message of each child; combines them into its memory, shows
 *           that, and waits until its parent has it. A rank without children shows what it has.
 *
 * In AG a rank begins with its own and goes down, so that they do not all read from the same one;
 * where there is an order they begin with the last.
 */
#include <string.h>

#include "reduction_impl.h"

enum { GATHER, WORK, REST };

/* Opens both lines of this rank, once that may be and nobody reads the buffer any more. The
 * result's address travels in the body. */
static bool open_lines(struct hwmc_shm_reduction *r, const unsigned char *addr)
{
    struct hwmc_shm_group *g = r->op.group;
    struct hwmc_shm_slot *slot = hwmc_shm_lines(&r->op, g->rank);
    uint64_t out = (uintptr_t) r->out;

    if (r->op.opened)
        return true;
    if (!hwmc_shm_group_may_open(g) || !hwmc_shm_group_all_finished(g, *hwmc_shm_next_used(g)))
        return false;
    memcpy(slot->out.body, &out, sizeof(out));
    return hwmc_shm_lines_open(&r->op, r->length, (uintptr_t) addr, 0);
}

static unsigned char *chunk_buffer(const struct hwmc_shm_reduction *r)
{
    return hwmc_shm_buffer(r->op.group, r->op.group->rank, r->op.group->chunks);
}

/* The operand of `peer`, of the chunk at `at`: OK, or as shm/copy/copy.h. */
static int combine_operand(struct hwmc_shm_reduction *r, uint32_t peer)
{
    const struct hwmc_shm_group *g = r->op.group;
    unsigned char *result = chunk_buffer(r);
    unsigned char *theirs = r->turn == 0 ? result : result + g->segment->layout.chunk / 2;
    const unsigned char *operand = r->in + r->at;
    size_t n = hwmc_shm_reduction_bytes(r);

    if (peer != g->rank) {
        uint64_t from = hwmc_shm_lines(&r->op, peer)->out.addr + r->at;

        operand = r->turn > 0 ? hwmc_shm_group_at(g, peer, from, n) : NULL;
        if (operand == NULL) {
            int err = hwmc_shm_group_get(g, peer, theirs, from, n);

            if (err != HWMC_OK)
                return err;
            operand = theirs;
        }
    }
    if (r->turn > 0)
        hwmc_shm_operation_combine(&r->operation, result, operand, result, n);
    else if (peer == g->rank)
        memcpy(result, operand, n);
    return HWMC_OK;
}

/* The chunk to `peer`: OK, or as shm/copy/copy.h. */
static int deliver_chunk(const struct hwmc_shm_reduction *r, uint32_t peer)
{
    const struct hwmc_shm_group *g = r->op.group;
    size_t n = hwmc_shm_reduction_bytes(r);
    uint64_t to;

    if (peer == g->rank) {
        memcpy(r->out + (r->at - r->base), chunk_buffer(r), n);
        return HWMC_OK;
    }
    memcpy(&to, hwmc_shm_lines(&r->op, peer)->out.body, sizeof(to));
    return hwmc_shm_group_put(g, peer, to + r->at, chunk_buffer(r), n);
}

/* After each turn; `turns`: of a chunk. */
static void advance_turn(struct hwmc_shm_reduction *r, uint32_t turns)
{
    r->op.moved = true;
    if (++r->turn < turns)
        return;
    r->at += hwmc_shm_reduction_bytes(r);
    r->turn = 0;
}

void hwmc_shm_reduction_ag_init(struct hwmc_shm_reduction *r)
{
    const struct hwmc_shm_group *g = r->op.group;
    uint64_t elements = r->length / r->operation.element;
    uint64_t even = (elements + g->size - 1) / g->size;
    uint64_t least = (g->params.piece_min + r->operation.element - 1) / r->operation.element;
    uint64_t piece = (even > least ? even : least) * r->operation.element;

    r->at = g->rank * piece < r->length ? g->rank * piece : r->length;
    r->end = r->length - r->at < piece ? r->length : r->at + piece;
}

/* All have told their addresses: OK, AGAIN, or ERR_INVAL. */
static int gather_addresses(struct hwmc_shm_reduction *r)
{
    for (; r->way.direct.next < r->op.group->size; r->way.direct.next++) {
        int err = hwmc_shm_lines_look(&r->op, r->way.direct.next, r->length);

        if (err != HWMC_OK)
            return err;
    }
    r->way.direct.next = 0;
    r->way.direct.phase = WORK;
    return HWMC_OK;
}

/* One turn. OK: the piece is where it belongs; AGAIN; or as shm/copy/copy.h. */
static int work_turn(struct hwmc_shm_reduction *r)
{
    const struct hwmc_shm_group *g = r->op.group;
    uint32_t from = r->operation.commutative ? g->rank : g->size - 1;

    if (r->at < r->end) {
        int err = r->turn < g->size ? combine_operand(r, g->ring[from + g->size - r->turn])
                  : r->apart        ? deliver_chunk(r, g->rank)
                  : r->to_all       ? deliver_chunk(r, g->ring[g->rank + r->turn - g->size])
                                    : deliver_chunk(r, r->root);

        if (err != HWMC_OK)
            return err;
        advance_turn(r, g->size + (r->to_all ? g->size : 1));
        if (r->at < r->end)
            return HWMC_AGAIN;
    }
    hwmc_shm_lines_ack(&r->op, 1);
    r->way.direct.phase = REST;
    return HWMC_OK;
}

/* All are through with this rank's memory: OK or AGAIN. */
static int rest_ranks(struct hwmc_shm_reduction *r)
{
    for (; r->way.direct.next < r->op.group->size; r->way.direct.next++)
        if (hwmc_shm_lines_taken(&r->op, r->way.direct.next) == 0)
            return HWMC_AGAIN;
    return hwmc_shm_op_end(&r->op);
}

int hwmc_shm_reduction_ag(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduction *r = (struct hwmc_shm_reduction *) op;
    int err = HWMC_OK;

    if (!open_lines(r, r->in))
        return HWMC_AGAIN;
    if (r->way.direct.phase == GATHER)
        err = gather_addresses(r);
    else if (r->way.direct.phase == WORK)
        err = work_turn(r);
    if (err != HWMC_OK || r->way.direct.phase != REST)
        return err == HWMC_OK ? HWMC_AGAIN : err;
    return rest_ranks(r);
}

/* The children's messages are there: OK, AGAIN, or ERR_INVAL. */
static int children_there(struct hwmc_shm_reduction *r)
{
    for (; r->way.direct.next < r->tree.num_children; r->way.direct.next++) {
        uint32_t child = r->tree.children[r->way.direct.next];
        int err = hwmc_shm_lines_look(&r->op, child, r->length);

        if (err != HWMC_OK)
            return err;
        if (hwmc_shm_load(&hwmc_shm_lines(&r->op, child)->out.ready) == 0)
            return HWMC_AGAIN;
    }
    return HWMC_OK;
}

/* One turn. OK: the message is combined and shown; AGAIN; or as shm/copy/copy.h. */
static int combine_children(struct hwmc_shm_reduction *r)
{
    uint32_t operands = r->tree.num_children + 1u;
    int err = r->turn < operands ? combine_operand(r, hwmc_shm_reduction_operand(r, r->turn))
                                 : deliver_chunk(r, r->op.group->rank);

    if (err != HWMC_OK)
        return err;
    advance_turn(r, operands + 1);
    if (r->at < r->end)
        return HWMC_AGAIN;
    hwmc_shm_lines_ack(&r->op, 1);
    return HWMC_OK;
}

int hwmc_shm_reduction_treemm(struct hwmc_shm_op *op)
{
    struct hwmc_shm_reduction *r = (struct hwmc_shm_reduction *) op;
    bool leaf = r->tree.num_children == 0;

    if (!open_lines(r, leaf ? r->in : r->out))
        return HWMC_AGAIN;
    if (r->way.direct.phase != REST) {
        int err = leaf ? HWMC_OK : children_there(r);

        if (err == HWMC_OK && !leaf)
            err = combine_children(r);
        if (err != HWMC_OK)
            return err;
        hwmc_shm_lines_show(&r->op, r->length);
        r->way.direct.phase = REST;
    }
    if (!hwmc_shm_reduction_is_root(r) && hwmc_shm_lines_taken(&r->op, r->tree.parent) == 0)
        return HWMC_AGAIN;
    return hwmc_shm_op_end(op);
}
