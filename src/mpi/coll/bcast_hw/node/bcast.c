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

    if (b->length == 0) {
        b->op.step = bcast_hw_node_op_nothing;
    } else if (b->length <= p->inline_max || g->size == 1) {
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
    b->here = ready;
    memset(&b->way, 0, sizeof(b->way));
    choose(b);
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
