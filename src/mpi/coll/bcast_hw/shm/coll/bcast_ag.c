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
static uint64_t piece_of(const struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_group *g = b->op.group;
    uint64_t even = (b->length + g->size - 1) / g->size;

    return even > g->params.piece_min ? even : g->params.piece_min;
}

/* This rank's place, counted from the root. */
static uint32_t place_of(const struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_group *g = b->op.group;

    return g->rank >= b->root ? g->rank - b->root : g->rank + g->size - b->root;
}

void hwmc_shm_bcast_ag_init(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_ag *ag = &b->way.ag;
    uint64_t piece = piece_of(b);

    ag->at = hwmc_shm_min(place_of(b) * piece, b->length);
    ag->end = hwmc_shm_min(ag->at + piece, b->length);
}

/* All have told their addresses: OK or AGAIN. The first is the root, whose length holds. */
static int gather_addresses(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_ag *ag = &b->way.ag;

    if (ag->next == 0 && !hwmc_shm_bcast_is_root(b) && hwmc_shm_bcast_look(b) != HWMC_OK)
        return HWMC_AGAIN;
    for (; ag->next < b->op.group->size; ag->next++) {
        int err = hwmc_shm_lines_look(&b->op, hwmc_shm_bcast_rank(b, b->root, ag->next), b->length);

        if (err == HWMC_AGAIN)
            return err;
        if (err != HWMC_OK && hwmc_shm_bcast_is_root(b))
            b->op.verdict = err;
    }
    ag->next = 0;
    ag->phase = MOVE;
    return HWMC_OK;
}

/* Where the chunk at `at` is between being taken and being written: in memory, or, where that has
 * not room for it, in a buffer; NULL: which others may still read. */
static unsigned char *stage_of(const struct hwmc_shm_bcast *b, uint64_t n)
{
    struct hwmc_shm_group *g = b->op.group;
    uint64_t used = *hwmc_shm_next_used(g);

    if (b->way.ag.at + n <= b->room)
        return b->buf + b->way.ag.at;
    return hwmc_shm_group_all_finished(g, used) ? hwmc_shm_next_buffer(g) : NULL;
}

/* Takes the chunk at `at` from the root, which has shown it. */
static int take_chunk(const struct hwmc_shm_bcast *b, unsigned char *to, uint64_t n)
{
    uint64_t at = b->way.ag.at;
    size_t fits = hwmc_shm_bcast_fit(b->room, at, n);
    int err = hwmc_shm_group_get(b->op.group, b->root, to,
                                 hwmc_shm_lines(&b->op, b->root)->out.addr + at, n);

    if (err == HWMC_OK && fits > 0 && fits < n)
        memcpy(b->buf + at, to, fits);
    return err;
}

/* Of the chunk at `at`: takes it (to itself, next 0), or writes it to the rank that is next. */
static int move_chunk(struct hwmc_shm_bcast *b, uint64_t n)
{
    struct hwmc_shm_bcast_ag *ag = &b->way.ag;
    const struct hwmc_shm_group *g = b->op.group;
    uint32_t peer = hwmc_shm_bcast_rank(b, g->rank, ag->next);
    unsigned char *from = stage_of(b, n);

    if (from == NULL)
        return HWMC_AGAIN;
    if (ag->next > 0 && peer != b->root)
        return hwmc_shm_group_put(g, peer, hwmc_shm_lines(&b->op, peer)->out.addr + ag->at, from,
                                  hwmc_shm_bcast_wants(b, peer, ag->at, n));
    if (ag->next > 0)
        return HWMC_OK;
    if (peer == b->root)
        return b->here >= ag->at + n ? HWMC_OK : HWMC_AGAIN;
    if (hwmc_shm_load(&hwmc_shm_lines(&b->op, b->root)->out.ready) < ag->at + n)
        return HWMC_AGAIN;
    return take_chunk(b, from, n);
}

/* One move. OK: the piece is everywhere; AGAIN; or as shm/copy/copy.h. */
static int move_piece(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_ag *ag = &b->way.ag;

    if (ag->at < ag->end) {
        uint64_t n = hwmc_shm_min(b->op.group->params.chunk, ag->end - ag->at);
        int err = move_chunk(b, n);

        if (err != HWMC_OK)
            return err;
        b->op.moved = true;
        if (++ag->next == b->op.group->size) {
            ag->next = 0;
            ag->at += n;
        }
        if (ag->at < ag->end)
            return HWMC_AGAIN;
    }
    hwmc_shm_lines_ack(&b->op, 1);
    ag->phase = REST;
    return HWMC_OK;
}

/* All pieces are everywhere: OK or AGAIN. */
static int rest_pieces(struct hwmc_shm_bcast *b)
{
    struct hwmc_shm_bcast_ag *ag = &b->way.ag;

    for (; ag->next < b->op.group->size; ag->next++)
        if (hwmc_shm_lines_taken(&b->op, hwmc_shm_bcast_rank(b, b->root, ag->next)) == 0)
            return HWMC_AGAIN;
    b->here = b->length;
    return hwmc_shm_op_end(&b->op);
}

int hwmc_shm_bcast_ag(struct hwmc_shm_op *op)
{
    struct hwmc_shm_bcast *b = (struct hwmc_shm_bcast *) op;
    struct hwmc_shm_bcast_ag *ag = &b->way.ag;
    int err = HWMC_OK;

    if (!hwmc_shm_lines_open(&b->op, b->room, (uintptr_t) b->buf, 0))
        return HWMC_AGAIN;
    if (hwmc_shm_bcast_is_root(b) && ag->shown < b->here) {
        ag->shown = b->here;
        hwmc_shm_lines_show(&b->op, ag->shown);
    }
    if (ag->phase == GATHER)
        err = gather_addresses(b);
    else if (ag->phase == MOVE)
        err = move_piece(b);
    if (err != HWMC_OK || ag->phase != REST)
        return err == HWMC_OK ? HWMC_AGAIN : err;
    return rest_pieces(b);
}
