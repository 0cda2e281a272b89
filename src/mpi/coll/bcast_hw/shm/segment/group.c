/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: see shm/segment/group.h.
 */
#include "group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "wakeup.h"
#include "slot.h"

#define BUFFERS_NEAR 4u /* used for small chunks, so many of which one holds */

static bool params_fit(const struct hwmc_shm_params *p, const struct hwmc_shm_layout *l)
{
    return p->barrier < HWMC_SHM_BARRIER_NUM && p->bcast < HWMC_SHM_BCAST_NUM &&
           p->reduction < HWMC_SHM_REDUCTION_NUM && p->chunk >= 1 && p->chunk <= l->chunk &&
           p->inline_max <= HWMC_SHM_INLINE && p->copy_step >= 1 && p->piece_min >= 1 &&
           p->ways >= 1;
}

/* Chunks much smaller than the buffers are for processors that share a near cache. Few buffers
 * then, for what goes round in them is to stay there, and each chunk behind where the one before it
 * ends in its buffer, for at the same place in each they would compete for the same sets of the
 * cache; where the last of them does not end in its own buffer, what lies in the next one would be
 * lost. Else all buffers, so that who has something for others can be ahead. */
void hwmc_shm_group_lay(struct hwmc_shm_group *g, uint32_t extent)
{
    const struct hwmc_shm_layout *l = &g->segment->layout;
    const bool near = g->params.chunk <= l->chunk / BUFFERS_NEAR && l->buffers > BUFFERS_NEAR &&
                      (BUFFERS_NEAR - 1) * g->params.chunk + extent <= l->chunk;

    assert(extent <= l->chunk);
    g->extent = extent;
    g->buffers = near ? BUFFERS_NEAR : l->buffers;
    g->stride = l->chunk + (near ? g->params.chunk : 0);
}

/* What others try by which they reach this rank's memory. */
static void show_peer_info(struct hwmc_shm_group *g)
{
    struct hwmc_shm_peer_info *peer_info = &hwmc_shm_words(g->segment, g->rank)->peer_info;

    if (hwmc_shm_copy_self(&peer_info->owner, g->methods) != HWMC_OK)
        g->methods = 0;
    peer_info->methods = g->methods;
    hwmc_shm_store(&peer_info->there, 1);
}

int hwmc_shm_group_init(struct hwmc_shm_group *g, struct hwmc_shm_segment *segment, uint32_t rank,
                        uint64_t methods, const struct hwmc_shm_params *params)
{
    if (rank >= segment->layout.ranks || !params_fit(params, &segment->layout))
        return HWMC_ERR_INVAL;
    *g = (struct hwmc_shm_group){
        .segment = segment,
        .rank = rank,
        .size = segment->layout.ranks,
        .params = *params,
        .scan_low = UINT64_MAX,
        .awaits = HWMC_SHM_ANYONE,
        .methods = methods,
        .peers = calloc(segment->layout.ranks, sizeof(*g->peers)),
        .ring = malloc(2 * (size_t) segment->layout.ranks * sizeof(*g->ring)),
        .mismatch.noted = malloc(segment->layout.ranks * sizeof(*g->mismatch.noted)),
    };
    if (g->peers == NULL || g->ring == NULL || g->mismatch.noted == NULL) {
        hwmc_shm_group_fini(g);
        return HWMC_ERR_NOMEM;
    }
    hwmc_shm_group_lay(g, g->params.chunk);
    for (uint32_t i = 0; i < 2 * g->size; i++)
        g->ring[i] = (uint16_t) (i % g->size);
    hwmc_shm_wakeup_register();
    show_peer_info(g);
    return HWMC_OK;
}

void hwmc_shm_group_fini(struct hwmc_shm_group *g)
{
    for (uint32_t r = 0; g->peers != NULL && r < g->size; r++)
        hwmc_shm_peer_close(&g->peers[r]);
    free(g->peers);
    free(g->ring);
    free(g->mismatch.noted);
    g->peers = NULL;
    g->ring = NULL;
    g->mismatch.noted = NULL;
}

int hwmc_shm_group_set(struct hwmc_shm_group *g, const struct hwmc_shm_params *params)
{
    assert(g->finished == g->serial);
    if (!params_fit(params, &g->segment->layout))
        return HWMC_ERR_INVAL;
    g->params = *params;
    hwmc_shm_group_lay(g, g->params.chunk);
    return HWMC_OK;
}

static uint64_t that_work(uint64_t methods, const struct hwmc_shm_owner *owner)
{
    for (unsigned m = 0; m < HWMC_SHM_COPY_NUM; m++)
        if ((methods & HWMC_SHM_COPY_BIT(m)) && !hwmc_shm_copy_works(m, owner))
            methods &= ~HWMC_SHM_COPY_BIT(m);
    return methods;
}

/* Tries the methods on each other rank as it comes. */
static int judge_methods(struct hwmc_shm_group *g)
{
    for (; g->joined < g->size; g->joined++) {
        const struct hwmc_shm_peer_info *peer_info =
            &hwmc_shm_words(g->segment, g->joined)->peer_info;

        if (hwmc_shm_load(&peer_info->there) == 0)
            return HWMC_AGAIN;
        g->peers[g->joined].owner = peer_info->owner;
        g->methods &= peer_info->methods;
        if (g->joined != g->rank)
            g->methods = that_work(g->methods, &peer_info->owner);
    }
    hwmc_shm_store(&hwmc_shm_words(g->segment, g->rank)->verdict, g->methods | HWMC_SHM_VERDICT);
    g->joined = 0;
    g->judged = true;
    return HWMC_OK;
}

int hwmc_shm_group_join(struct hwmc_shm_group *g)
{
    if (!g->judged && judge_methods(g) == HWMC_AGAIN)
        return HWMC_AGAIN;
    for (; g->joined < g->size; g->joined++) {
        uint64_t verdict = hwmc_shm_load(&hwmc_shm_words(g->segment, g->joined)->verdict);

        if (verdict == 0)
            return HWMC_AGAIN;
        g->methods &= verdict;
    }
    for (unsigned m = 0; m < HWMC_SHM_COPY_NUM && !g->copy; m++)
        if (g->methods & HWMC_SHM_COPY_BIT(m))
            g->copy = hwmc_shm_copy_of(m);
    return HWMC_OK;
}

void hwmc_shm_group_fail(struct hwmc_shm_group *g)
{
    hwmc_shm_store(&hwmc_shm_words(g->segment, g->rank)->failed, g->serial + 1);
}

/* By rank `r`, in the collective under way here or before. */
static bool has_failed(const struct hwmc_shm_group *g, uint32_t r)
{
    const uint64_t failed = hwmc_shm_load(&hwmc_shm_words(g->segment, r)->failed);

    return failed != 0 && failed <= g->serial + 1;
}

bool hwmc_shm_group_failed(const struct hwmc_shm_group *g)
{
    for (uint32_t r = 0; r < g->size; r++)
        if (has_failed(g, r))
            return true;
    return false;
}

void hwmc_shm_group_note_lost(struct hwmc_shm_group *g, const struct hwmc_shm_loss *loss)
{
    hwmc_shm_store(&hwmc_shm_words(g->segment, g->rank)->lost,
                   (uint64_t) loss->finder << 32 | (loss->rank + 1));
}

bool hwmc_shm_group_lost(const struct hwmc_shm_group *g, struct hwmc_shm_loss *loss)
{
    for (uint32_t r = 0; r < g->size; r++) {
        const uint64_t lost =
            has_failed(g, r) ? hwmc_shm_load(&hwmc_shm_words(g->segment, r)->lost) : 0;

        if (lost != 0) {
            loss->rank = (uint32_t) lost - 1;
            loss->finder = (uint32_t) (lost >> 32);
            return true;
        }
    }
    return false;
}

bool hwmc_shm_group_all_finished(struct hwmc_shm_group *g, uint64_t serial)
{
    while (serial > g->floor) {
        for (; g->scan < g->size; g->scan++) {
            uint64_t finished = hwmc_shm_load(&hwmc_shm_words(g->segment, g->scan)->finished);

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

const void *hwmc_shm_group_at(const struct hwmc_shm_group *g, uint32_t peer, uint64_t from,
                              size_t bytes)
{
    return bytes == 0 || g->copy == NULL ? NULL : g->copy->at(&g->peers[peer], from, bytes);
}

int hwmc_shm_group_get(const struct hwmc_shm_group *g, uint32_t peer, void *to, uint64_t from,
                       size_t bytes)
{
    if (bytes == 0)
        return HWMC_OK;
    return g->copy == NULL ? HWMC_ERR_INVAL : g->copy->get(&g->peers[peer], to, from, bytes);
}

int hwmc_shm_group_put(const struct hwmc_shm_group *g, uint32_t peer, uint64_t to, const void *from,
                       size_t bytes)
{
    if (bytes == 0)
        return HWMC_OK;
    return g->copy == NULL ? HWMC_ERR_INVAL : g->copy->put(&g->peers[peer], to, from, bytes);
}

void hwmc_shm_group_check(const struct hwmc_shm_group *g)
{
    assert(g->rank < g->size && g->size == g->segment->layout.ranks);
    assert(g->serial - g->finished <= 1);
    assert(g->floor <= g->finished && g->scan < g->size);
    assert(hwmc_shm_load(&hwmc_shm_words(g->segment, g->rank)->finished) == g->finished);
    for (uint32_t r = 0; r < g->size; r++) {
        const struct hwmc_shm_words *words = hwmc_shm_words(g->segment, r);

        assert(hwmc_shm_load(&words->finished) >= g->floor);
        if (r < g->scan)
            assert(hwmc_shm_load(&words->finished) >= g->scan_low);
    }
    for (uint32_t i = 0; i < g->segment->layout.buffers; i++)
        assert(g->used[i] <= g->serial);
}
