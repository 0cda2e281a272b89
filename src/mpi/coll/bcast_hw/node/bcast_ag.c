/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_ag: each process transfers a piece of the data (Velamati et al. 2007, section 3.3, "AG").
 * All show where their message is, and wait until all have. Then each rank, chunk by chunk, takes
 * its piece from the root into its own memory and writes it from there, where it is in the cache,
 * to all others. A rank is through when all have shown that their pieces are everywhere. Pieces
 * have at least piece_min bytes, so of a short message the last ranks have none.
 *
 * Ranks are counted from the root; that has the first piece, which it need not take. Each begins to
 * write at the rank after its own, so that they do not all write to the same one.
 *
 * Example, 3 ranks, root 1, 10000 bytes, piece_min 4096: 1 has bytes 0 to 4095 and writes them to 2
 * and 0; 2 takes 4096 to 8191 and writes them to 0; 0 takes the rest and writes it to 2.
 */
#include <string.h>

#include "bcast_impl.h"

enum { GATHER, MOVE, REST };

/* Bytes of all pieces but the last. */
static uint64_t piece_of(const struct bcast_hw_node_bcast *b)
{
    const struct bcast_hw_node_group *g = b->op.group;
    uint64_t even = (b->length + g->size - 1) / g->size;

    return even > g->params.piece_min ? even : g->params.piece_min;
}

/* This rank's place, counted from the root. */
static uint32_t place_of(const struct bcast_hw_node_bcast *b)
{
    const struct bcast_hw_node_group *g = b->op.group;

    return g->rank >= b->root ? g->rank - b->root : g->rank + g->size - b->root;
}

void bcast_hw_node_bcast_ag_init(struct bcast_hw_node_bcast *b)
{
    struct bcast_hw_node_bcast_ag *ag = &b->way.ag;
    uint64_t piece = piece_of(b);

    ag->at = bcast_hw_node_min(place_of(b) * piece, b->length);
    ag->end = bcast_hw_node_min(ag->at + piece, b->length);
}

/* All have told their addresses: OK or AGAIN. The first is the root, whose length holds. */
static int gather(struct bcast_hw_node_bcast *b)
{
    struct bcast_hw_node_bcast_ag *ag = &b->way.ag;

    if (ag->next == 0 && !bcast_hw_node_bcast_is_root(b) &&
        bcast_hw_node_bcast_look(b) != BCAST_HW_OK)
        return BCAST_HW_AGAIN;
    for (; ag->next < b->op.group->size; ag->next++) {
        int err = bcast_hw_node_lines_look(&b->op, bcast_hw_node_bcast_rank(b, b->root, ag->next),
                                           b->length);

        if (err == BCAST_HW_AGAIN)
            return err;
        if (err != BCAST_HW_OK && bcast_hw_node_bcast_is_root(b))
            b->op.verdict = err;
    }
    ag->next = 0;
    ag->phase = MOVE;
    return BCAST_HW_OK;
}

/* Where the chunk at `at` is between being taken and being written: in memory, or, where that has
 * not room for it, in a buffer; NULL: which others may still read. */
static unsigned char *stage(const struct bcast_hw_node_bcast *b, uint64_t n)
{
    struct bcast_hw_node_group *g = b->op.group;
    uint64_t used = *bcast_hw_node_next_used(g);

    if (b->way.ag.at + n <= b->room)
        return b->buf + b->way.ag.at;
    return bcast_hw_node_group_all_finished(g, used) ? bcast_hw_node_next_buffer(g) : NULL;
}

/* Takes the chunk at `at` from the root, which has shown it. */
static int take(const struct bcast_hw_node_bcast *b, unsigned char *to, uint64_t n)
{
    uint64_t at = b->way.ag.at;
    size_t fits = bcast_hw_node_bcast_fit(b->room, at, n);
    int err = bcast_hw_node_group_get(b->op.group, b->root, to,
                                      bcast_hw_node_lines(&b->op, b->root)->out.addr + at, n);

    if (err == BCAST_HW_OK && fits > 0 && fits < n)
        memcpy(b->buf + at, to, fits);
    return err;
}

/* Of the chunk at `at`: takes it (to itself, next 0), or writes it to the rank that is next. */
static int move(struct bcast_hw_node_bcast *b, uint64_t n)
{
    struct bcast_hw_node_bcast_ag *ag = &b->way.ag;
    const struct bcast_hw_node_group *g = b->op.group;
    uint32_t peer = bcast_hw_node_bcast_rank(b, g->rank, ag->next);
    unsigned char *from = stage(b, n);

    if (from == NULL)
        return BCAST_HW_AGAIN;
    if (ag->next > 0 && peer != b->root)
        return bcast_hw_node_group_put(g, peer,
                                       bcast_hw_node_lines(&b->op, peer)->out.addr + ag->at, from,
                                       bcast_hw_node_bcast_wants(b, peer, ag->at, n));
    if (ag->next > 0)
        return BCAST_HW_OK;
    if (peer == b->root)
        return b->here >= ag->at + n ? BCAST_HW_OK : BCAST_HW_AGAIN;
    if (bcast_hw_node_load(&bcast_hw_node_lines(&b->op, b->root)->out.ready) < ag->at + n)
        return BCAST_HW_AGAIN;
    return take(b, from, n);
}

/* One move. OK: the piece is everywhere; AGAIN; or as copy.h. */
static int move_piece(struct bcast_hw_node_bcast *b)
{
    struct bcast_hw_node_bcast_ag *ag = &b->way.ag;

    if (ag->at < ag->end) {
        uint64_t n = bcast_hw_node_min(b->op.group->params.chunk, ag->end - ag->at);
        int err = move(b, n);

        if (err != BCAST_HW_OK)
            return err;
        b->op.moved = true;
        if (++ag->next == b->op.group->size) {
            ag->next = 0;
            ag->at += n;
        }
        if (ag->at < ag->end)
            return BCAST_HW_AGAIN;
    }
    bcast_hw_node_lines_ack(&b->op, 1);
    ag->phase = REST;
    return BCAST_HW_OK;
}

/* All pieces are everywhere: OK or AGAIN. */
static int rest(struct bcast_hw_node_bcast *b)
{
    struct bcast_hw_node_bcast_ag *ag = &b->way.ag;

    for (; ag->next < b->op.group->size; ag->next++)
        if (bcast_hw_node_lines_taken(&b->op, bcast_hw_node_bcast_rank(b, b->root, ag->next)) == 0)
            return BCAST_HW_AGAIN;
    b->here = b->length;
    return bcast_hw_node_op_end(&b->op);
}

int bcast_hw_node_bcast_ag(struct bcast_hw_node_op *op)
{
    struct bcast_hw_node_bcast *b = (struct bcast_hw_node_bcast *) op;
    struct bcast_hw_node_bcast_ag *ag = &b->way.ag;
    int err = BCAST_HW_OK;

    if (!bcast_hw_node_lines_open(&b->op, b->room, (uintptr_t) b->buf, 0))
        return BCAST_HW_AGAIN;
    if (bcast_hw_node_bcast_is_root(b) && ag->shown < b->here) {
        ag->shown = b->here;
        bcast_hw_node_lines_show(&b->op, ag->shown);
    }
    if (ag->phase == GATHER)
        err = gather(b);
    else if (ag->phase == MOVE)
        err = move_piece(b);
    if (err != BCAST_HW_OK || ag->phase != REST)
        return err == BCAST_HW_OK ? BCAST_HW_AGAIN : err;
    return rest(b);
}
