/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast: see bcast.h.
 */
#include <assert.h>
#include <string.h>

#include "bcast_impl.h"

/* In which way, so by which steps. A group of one has nobody to give anything to. */
static void choose_steps(struct hwmc_shm_bcast *b)
{
    const struct hwmc_shm_group *g = b->op.group;
    const struct hwmc_shm_params *p = &g->params;

    memset(&b->way, 0, sizeof(b->way));
    if (b->length <= p->inline_max || g->size == 1) {
        b->op.step = hwmc_shm_bcast_inline;
    } else if (g->copy == NULL || b->length < p->copy_min) {
        b->op.step = hwmc_shm_bcast_chunks;
        hwmc_shm_bcast_chunks_init(b);
    } else if (b->algorithm == HWMC_SHM_BCAST_G) {
        b->op.step = hwmc_shm_bcast_g;
    } else if (b->algorithm == HWMC_SHM_BCAST_AG) {
        b->op.step = hwmc_shm_bcast_ag;
        hwmc_shm_bcast_ag_init(b);
    } else {
        b->op.step = hwmc_shm_bcast_direct;
        hwmc_shm_bcast_direct_init(b);
    }
}

void hwmc_shm_bcast_begin(struct hwmc_shm_bcast *b, struct hwmc_shm_group *g,
                          const struct hwmc_shm_tree *tree, uint32_t root, void *buf,
                          uint64_t length, uint64_t ready)
{
    assert(root < g->size && ready <= length && (g->rank == root || ready == 0));
    hwmc_shm_op_begin(&b->op, g, NULL);
    b->algorithm = g->params.bcast;
    b->root = root;
    b->tree = hwmc_shm_bcast_along_tree(b) ? *tree : hwmc_shm_group_star(g, root);
    b->buf = buf;
    b->length = length;
    b->room = length;
    b->cut = false;
    b->here = ready;
    b->choose_steps = choose_steps;
    choose_steps(b);
}

void hwmc_shm_bcast_more(struct hwmc_shm_bcast *b, uint64_t ready)
{
    assert(hwmc_shm_bcast_is_root(b) && ready >= b->here && ready <= b->length);
    b->here = ready;
}

bool hwmc_shm_bcast_behind(const struct hwmc_shm_bcast *b)
{
    if (b->op.step == hwmc_shm_bcast_chunks)
        return b->here > b->way.chunks.put * b->op.group->params.chunk;
    if (b->op.step == hwmc_shm_bcast_g)
        return b->here > b->way.g.at;
    return false; /* others take it from the root's own memory */
}
