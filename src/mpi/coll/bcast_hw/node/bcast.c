/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast: see bcast.h.
 */
#include <assert.h>
#include <string.h>

#include "bcast_impl.h"

static bool along_tree(const struct bcast_hw_node_bcast *b)
{
    return b->algorithm == BCAST_HW_NODE_BCAST_TREE || b->algorithm == BCAST_HW_NODE_BCAST_TREEMM;
}

/* In which way, so by which steps. A group of one has nobody to give anything to. */
static void choose(struct bcast_hw_node_bcast *b)
{
    const struct bcast_hw_node_group *g = b->op.group;
    const struct bcast_hw_node_params *p = &g->params;

    memset(&b->way, 0, sizeof(b->way));
    if (b->length <= p->inline_max || g->size == 1) {
        b->op.step = bcast_hw_node_bcast_inline;
    } else if (g->copy == NULL || b->length < p->copy_min) {
        b->op.step = bcast_hw_node_bcast_chunks;
        bcast_hw_node_bcast_chunks_init(b);
    } else if (b->algorithm == BCAST_HW_NODE_BCAST_G) {
        b->op.step = bcast_hw_node_bcast_g;
    } else if (b->algorithm == BCAST_HW_NODE_BCAST_AG) {
        b->op.step = bcast_hw_node_bcast_ag;
        bcast_hw_node_bcast_ag_init(b);
    } else {
        b->op.step = bcast_hw_node_bcast_direct;
        bcast_hw_node_bcast_direct_init(b);
    }
}

void bcast_hw_node_bcast_begin(struct bcast_hw_node_bcast *b, struct bcast_hw_node_group *g,
                               const struct bcast_hw_node_tree *tree, uint32_t root, void *buf,
                               uint64_t length, uint64_t ready)
{
    assert(root < g->size && ready <= length && (g->rank == root || ready == 0));
    bcast_hw_node_op_begin(&b->op, g, NULL);
    b->algorithm = g->params.bcast;
    b->root = root;
    b->tree = along_tree(b) ? *tree : bcast_hw_node_group_star(g, root);
    b->buf = buf;
    b->length = length;
    b->room = length;
    b->cut = false;
    b->here = ready;
    choose(b);
}

/* From now on by the parent's length, and in its way. Nobody has looked at what this rank's line
 * says but the root, which may wait for the memory of a rank by G or AG; so only there it stays as
 * it is. */
static void follow(struct bcast_hw_node_bcast *b, uint64_t length)
{
    b->op.verdict = BCAST_HW_ERR_INVAL;
    b->op.moved = true;
    b->cut = true;
    b->length = length;
    choose(b);
    if (along_tree(b))
        b->op.opened = false;
}

int bcast_hw_node_bcast_look(struct bcast_hw_node_bcast *b)
{
    const struct bcast_hw_node_out *out = &bcast_hw_node_lines(&b->op, b->tree.parent)->out;

    if (bcast_hw_node_load(&out->serial) != b->op.serial ||
        (b->tree.parent != b->root && bcast_hw_node_load(&out->ready) == 0))
        return BCAST_HW_AGAIN;
    if (out->length == b->length)
        return BCAST_HW_OK;
    follow(b, out->length);
    return BCAST_HW_AGAIN;
}

void bcast_hw_node_bcast_more(struct bcast_hw_node_bcast *b, uint64_t ready)
{
    assert(bcast_hw_node_bcast_is_root(b) && ready >= b->here && ready <= b->length);
    b->here = ready;
}

bool bcast_hw_node_bcast_behind(const struct bcast_hw_node_bcast *b)
{
    if (b->op.step == bcast_hw_node_bcast_chunks)
        return b->here > b->way.chunks.put * b->op.group->params.chunk;
    if (b->op.step == bcast_hw_node_bcast_g)
        return b->here > b->way.g.at;
    return false; /* others take it from the root's own memory */
}
