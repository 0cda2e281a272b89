/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: see group.h.
 */
#include "group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bell.h"
#include "slot.h"

#define BUFFERS_NEAR 4u /* used for small chunks, so many of which one holds */

static bool fits(const struct bcast_hw_node_params *p, const struct bcast_hw_node_layout *l)
{
    return p->barrier < BCAST_HW_NODE_BARRIER_NUM && p->bcast < BCAST_HW_NODE_BCAST_NUM &&
           p->reduction < BCAST_HW_NODE_REDUCTION_NUM && p->chunk >= 1 && p->chunk <= l->chunk &&
           p->inline_max <= BCAST_HW_NODE_INLINE && p->copy_step >= 1 && p->piece_min >= 1 &&
           p->ways >= 1;
}

/* Chunks much smaller than the buffers are for processors that share a near cache. Few buffers
 * then, for what goes round in them is to stay there, and each chunk behind where the one before it
 * ends in its buffer, for at the same place in each they would compete for the same sets of the
 * cache. Else all buffers, so that who has something for others can be ahead. */
static void lay_chunks(struct bcast_hw_node_group *g)
{
    const struct bcast_hw_node_layout *l = &g->segment->layout;
    const bool near = g->params.chunk <= l->chunk / BUFFERS_NEAR && l->buffers > BUFFERS_NEAR;

    g->buffers = near ? BUFFERS_NEAR : l->buffers;
    g->stride = l->chunk + (near ? g->params.chunk : 0);
}

/* What others try by which they reach this rank's memory. */
static void show_card(struct bcast_hw_node_group *g)
{
    struct bcast_hw_node_card *card = &bcast_hw_node_words(g->segment, g->rank)->card;

    if (bcast_hw_node_copy_self(&card->owner, g->methods) != BCAST_HW_OK)
        g->methods = 0;
    card->methods = g->methods;
    bcast_hw_node_store(&card->there, 1);
}

int bcast_hw_node_group_init(struct bcast_hw_node_group *g, struct bcast_hw_node_segment *segment,
                             uint32_t rank, uint64_t methods,
                             const struct bcast_hw_node_params *params)
{
    if (rank >= segment->layout.ranks || !fits(params, &segment->layout))
        return BCAST_HW_ERR_INVAL;
    *g = (struct bcast_hw_node_group){
        .segment = segment,
        .rank = rank,
        .size = segment->layout.ranks,
        .params = *params,
        .scan_low = UINT64_MAX,
        .methods = methods,
        .peers = calloc(segment->layout.ranks, sizeof(*g->peers)),
        .ring = malloc(2 * (size_t) segment->layout.ranks * sizeof(*g->ring)),
        .stuck.noted = malloc(segment->layout.ranks * sizeof(*g->stuck.noted)),
    };
    if (g->peers == NULL || g->ring == NULL || g->stuck.noted == NULL) {
        bcast_hw_node_group_fini(g);
        return BCAST_HW_ERR_NOMEM;
    }
    lay_chunks(g);
    for (uint32_t i = 0; i < 2 * g->size; i++)
        g->ring[i] = (uint16_t) (i % g->size);
    bcast_hw_node_bell_register();
    show_card(g);
    return BCAST_HW_OK;
}

void bcast_hw_node_group_fini(struct bcast_hw_node_group *g)
{
    for (uint32_t r = 0; g->peers != NULL && r < g->size; r++)
        bcast_hw_node_peer_close(&g->peers[r]);
    free(g->peers);
    free(g->ring);
    free(g->stuck.noted);
    g->peers = NULL;
    g->ring = NULL;
    g->stuck.noted = NULL;
}

int bcast_hw_node_group_set(struct bcast_hw_node_group *g,
                            const struct bcast_hw_node_params *params)
{
    assert(g->finished == g->serial);
    if (!fits(params, &g->segment->layout))
        return BCAST_HW_ERR_INVAL;
    g->params = *params;
    lay_chunks(g);
    return BCAST_HW_OK;
}

static uint64_t that_work(uint64_t methods, const struct bcast_hw_node_owner *owner)
{
    for (unsigned m = 0; m < BCAST_HW_NODE_COPY_NUM; m++)
        if ((methods & BCAST_HW_NODE_COPY_BIT(m)) && !bcast_hw_node_copy_works(m, owner))
            methods &= ~BCAST_HW_NODE_COPY_BIT(m);
    return methods;
}

/* Tries the methods on each other rank as it comes. */
static int judge(struct bcast_hw_node_group *g)
{
    for (; g->joined < g->size; g->joined++) {
        const struct bcast_hw_node_card *card = &bcast_hw_node_words(g->segment, g->joined)->card;

        if (bcast_hw_node_load(&card->there) == 0)
            return BCAST_HW_AGAIN;
        g->peers[g->joined].owner = card->owner;
        g->methods &= card->methods;
        if (g->joined != g->rank)
            g->methods = that_work(g->methods, &card->owner);
    }
    bcast_hw_node_store(&bcast_hw_node_words(g->segment, g->rank)->verdict,
                        g->methods | BCAST_HW_NODE_VERDICT);
    g->joined = 0;
    g->judged = true;
    return BCAST_HW_OK;
}

int bcast_hw_node_group_join(struct bcast_hw_node_group *g)
{
    if (!g->judged && judge(g) == BCAST_HW_AGAIN)
        return BCAST_HW_AGAIN;
    for (; g->joined < g->size; g->joined++) {
        uint64_t verdict = bcast_hw_node_load(&bcast_hw_node_words(g->segment, g->joined)->verdict);

        if (verdict == 0)
            return BCAST_HW_AGAIN;
        g->methods &= verdict;
    }
    for (unsigned m = 0; m < BCAST_HW_NODE_COPY_NUM && !g->copy; m++)
        if (g->methods & BCAST_HW_NODE_COPY_BIT(m))
            g->copy = bcast_hw_node_copy_of(m);
    return BCAST_HW_OK;
}

void bcast_hw_node_group_fail(struct bcast_hw_node_group *g)
{
    bcast_hw_node_store(&bcast_hw_node_words(g->segment, g->rank)->failed, g->serial + 1);
}

bool bcast_hw_node_group_failed(const struct bcast_hw_node_group *g)
{
    for (uint32_t r = 0; r < g->size; r++) {
        uint64_t failed = bcast_hw_node_load(&bcast_hw_node_words(g->segment, r)->failed);

        if (failed != 0 && failed <= g->serial + 1)
            return true;
    }
    return false;
}

bool bcast_hw_node_group_all_finished(struct bcast_hw_node_group *g, uint64_t serial)
{
    while (serial > g->floor) {
        for (; g->scan < g->size; g->scan++) {
            uint64_t finished =
                bcast_hw_node_load(&bcast_hw_node_words(g->segment, g->scan)->finished);

            if (finished < serial)
                return false;
            if (finished < g->scan_low)
                g->scan_low = finished;
        }
        /* A barrier may have lifted the floor since the scan began. */
        if (g->scan_low > g->floor)
            g->floor = g->scan_low;
        g->scan = 0;
        g->scan_low = UINT64_MAX;
    }
    return true;
}

const void *bcast_hw_node_group_at(const struct bcast_hw_node_group *g, uint32_t peer,
                                   uint64_t from, size_t bytes)
{
    return bytes == 0 || g->copy == NULL ? NULL : g->copy->at(&g->peers[peer], from, bytes);
}

int bcast_hw_node_group_get(const struct bcast_hw_node_group *g, uint32_t peer, void *to,
                            uint64_t from, size_t bytes)
{
    if (bytes == 0)
        return BCAST_HW_OK;
    return g->copy == NULL ? BCAST_HW_ERR_INVAL : g->copy->get(&g->peers[peer], to, from, bytes);
}

int bcast_hw_node_group_put(const struct bcast_hw_node_group *g, uint32_t peer, uint64_t to,
                            const void *from, size_t bytes)
{
    if (bytes == 0)
        return BCAST_HW_OK;
    return g->copy == NULL ? BCAST_HW_ERR_INVAL : g->copy->put(&g->peers[peer], to, from, bytes);
}

void bcast_hw_node_group_check(const struct bcast_hw_node_group *g)
{
    assert(g->rank < g->size && g->size == g->segment->layout.ranks);
    assert(g->serial - g->finished <= 1);
    assert(g->floor <= g->finished && g->scan < g->size);
    assert(bcast_hw_node_load(&bcast_hw_node_words(g->segment, g->rank)->finished) == g->finished);
    for (uint32_t r = 0; r < g->size; r++) {
        const struct bcast_hw_node_words *words = bcast_hw_node_words(g->segment, r);

        assert(bcast_hw_node_load(&words->finished) >= g->floor);
        if (r < g->scan)
            assert(bcast_hw_node_load(&words->finished) >= g->scan_low);
    }
    for (uint32_t i = 0; i < g->segment->layout.buffers; i++)
        assert(g->used[i] <= g->serial);
}
