/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * levels: see levels.h.
 */
#include "levels.h"

#include <assert.h>
#include <string.h>

/* One way to divide the ranks: each by the lowest rank of its group. */
struct division {
    enum hwmc_shm_part kind;
    uint32_t n;      /* ranks */
    uint32_t groups; /* 1 to n */
    uint16_t lowest[HWMC_SHM_RANKS_MAX];
};

static void count_groups(struct division *d)
{
    d->groups = 0;
    for (uint32_t r = 0; r < d->n; r++)
        d->groups += d->lowest[r] == r;
}

/* By what part they cannot leave. */
static void divide_ranks(struct division *d, const struct hwmc_shm_affinity *places, uint32_t n,
                         enum hwmc_shm_part kind)
{
    d->kind = kind;
    d->n = n;
    for (uint32_t r = 0; r < n; r++) {
        const int32_t part = places[r].part[kind];
        uint32_t q = 0;

        while (q < r && (part < 0 || places[q].part[kind] != part))
            q++;
        d->lowest[r] = (uint16_t) q;
    }
    count_groups(d);
}

/* Makes whole groups of `lower` of those of d, joining what shares one. */
static void join_groups(struct division *d, const struct division *lower)
{
    for (uint32_t r = 0; r < d->n; r++) {
        const uint16_t a = d->lowest[r], b = d->lowest[lower->lowest[r]];
        const uint16_t low = a < b ? a : b, high = a < b ? b : a;

        for (uint32_t q = 0; q < d->n; q++)
            if (d->lowest[q] == high)
                d->lowest[q] = low;
    }
    count_groups(d);
}

/* By the number of groups, most first; of equal ones as they are. */
static void sort_divisions(struct division *d, uint32_t num)
{
    for (uint32_t i = 1; i < num; i++)
        for (uint32_t k = i; k > 0 && d[k].groups > d[k - 1].groups; k--) {
            const struct division one = d[k];

            d[k] = d[k - 1];
            d[k - 1] = one;
        }
}

static void add_level(struct hwmc_shm_levels *levels, const struct division *d)
{
    levels->kind[levels->num] = d->kind;
    memcpy(levels->lowest[levels->num++], d->lowest, d->n * sizeof(d->lowest[0]));
}

void hwmc_shm_levels_flat(struct hwmc_shm_levels *levels, uint32_t n)
{
    assert(n >= 1 && n <= HWMC_SHM_RANKS_MAX);
    levels->n = (uint16_t) n;
    levels->num = 0; /* of the rest only what is used is touched: it has room for many ranks */
}

void hwmc_shm_levels_init(struct hwmc_shm_levels *levels, const struct hwmc_shm_affinity *places,
                          uint32_t n)
{
    struct division d[HWMC_SHM_PART_NUM];
    uint32_t below = n; /* groups of the level below; below the lowest every rank is alone */

    hwmc_shm_levels_flat(levels, n);
    for (uint32_t k = 0; k < HWMC_SHM_PART_NUM; k++)
        divide_ranks(&d[k], places, n, (enum hwmc_shm_part) k);
    sort_divisions(d, HWMC_SHM_PART_NUM);
    for (uint32_t k = 0; k < HWMC_SHM_PART_NUM; k++) {
        if (k > 0)
            join_groups(&d[k], &d[k - 1]);
        if (d[k].groups > 1 && d[k].groups < below)
            add_level(levels, &d[k]);
        below = d[k].groups;
    }
}

/* Puts together what is of one group of this level, where its first one is. Groups of the levels
 * below are in one piece already and stay so. */
static void gather_groups(const uint16_t *lowest, uint16_t *order, uint32_t n)
{
    uint16_t size[HWMC_SHM_RANKS_MAX] = {0}, to[HWMC_SHM_RANKS_MAX];
    uint16_t from[HWMC_SHM_RANKS_MAX], used = 0;

    memcpy(from, order, n * sizeof(from[0]));
    for (uint32_t i = 0; i < n; i++)
        size[lowest[from[i]]]++;
    for (uint32_t i = 0; i < n; i++) {
        const uint16_t group = lowest[from[i]];

        if (size[group] > 0) {
            to[group] = used;
            used += size[group];
            size[group] = 0;
        }
        order[to[group]++] = from[i];
    }
}

void hwmc_shm_levels_order(const struct hwmc_shm_levels *levels, uint32_t first, uint16_t *order)
{
    assert(first < levels->n);
    for (uint32_t i = 0; i < levels->n; i++)
        order[i] = (uint16_t) ((first + i) % levels->n);
    for (uint32_t l = 0; l < levels->num; l++)
        gather_groups(levels->lowest[l], order, levels->n);
}

void hwmc_shm_levels_check(const struct hwmc_shm_levels *levels)
{
    uint32_t below = levels->n;

    assert(levels->n >= 1 && levels->n <= HWMC_SHM_RANKS_MAX);
    assert(levels->num <= HWMC_SHM_PART_NUM);
    for (uint32_t l = 0; l < levels->num; l++) {
        const uint16_t *lowest = levels->lowest[l];
        uint32_t groups = 0;

        for (uint32_t r = 0; r < levels->n; r++) {
            assert(lowest[r] <= r && lowest[lowest[r]] == lowest[r]);
            assert(l == 0 || lowest[levels->lowest[l - 1][r]] == lowest[r]);
            groups += lowest[r] == r;
        }
        assert(groups > 1 && groups < below);
        below = groups;
    }
    (void) below; /* without assert */
}
