/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * feeds: see feeds.h.
 */
#include "feeds.h"

#include <string.h>

#include "../base/mask.h"

struct who {
    const struct hwmc_leaders *leaders;
    const struct hwmc_near *near; /* by rank */
};

static uint32_t lowest(uint32_t mask)
{
    return (uint32_t) __builtin_ctz(mask);
}

/* One of the first `feeds` feeds has this rank of the host. */
static bool is_used(const struct hwmc_feeds *f, uint32_t feeds, uint32_t host, uint32_t rank)
{
    for (uint32_t i = 0; i < feeds; i++)
        if (hwmc_feeds_at(f, i, host) == rank)
            return true;
    return false;
}

/* The nearest to `rail` of the host's ranks that are in none of the first `feeds` feeds; of several
 * the first by place. There is one. */
static uint32_t nearest(const struct hwmc_feeds *f, const struct who *w, uint32_t feeds,
                        uint32_t host, uint32_t rail)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t place = 0; place < hwmc_leaders_on(w->leaders, host); place++) {
        uint32_t rank = hwmc_leaders_at(w->leaders, place, host);

        if (!is_used(f, feeds, host, rank) &&
            (best == UINT32_MAX || w->near[rank].distance[rail] < w->near[best].distance[rail]))
            best = rank;
    }
    return best;
}

/* On every host the same rank is the nearest to both. */
static bool is_one(const struct hwmc_feeds *f, const struct who *w, uint32_t a, uint32_t b)
{
    for (uint32_t host = 0; host < f->hosts; host++)
        if (nearest(f, w, 0, host, a) != nearest(f, w, 0, host, b))
            return false;
    return true;
}

/* Puts rails together that are one feed. */
static void group_rails(struct hwmc_feeds *f, const struct who *w, uint32_t rails)
{
    FOR_EACH (rail, rails) {
        uint32_t feed = 0;

        while (feed < f->num && !is_one(f, w, lowest(f->rails[feed]), rail))
            feed++;
        if (feed == f->num)
            f->rails[f->num++] = 0;
        f->rails[feed] |= (uint8_t) (1u << rail);
    }
}

/* None is slower than two thirds of another; all are known. */
static bool are_alike(uint32_t rails, const uint32_t *mbit)
{
    uint32_t least = UINT32_MAX, most = 0;

    FOR_EACH (rail, rails) {
        least = mbit[rail] < least ? mbit[rail] : least;
        most = mbit[rail] > most ? mbit[rail] : most;
    }
    return least > 0 && (uint64_t) least * 3 >= (uint64_t) most * 2;
}

/* No host has fewer ranks than there are feeds. */
static bool is_possible(const struct hwmc_feeds *f, const struct hwmc_leaders *leaders)
{
    for (uint32_t host = 0; host < f->hosts; host++)
        if (hwmc_leaders_on(leaders, host) < f->num)
            return false;
    return f->num > 1;
}

uint32_t hwmc_feeds_rails(const struct hwmc_near *near, uint32_t ranks, uint32_t lane_rails)
{
    uint32_t rails = (uint32_t) near[0].casts;

    for (uint32_t i = 1; i < ranks; i++)
        rails &= (uint32_t) near[i].casts;
    return rails != 0 ? rails : lane_rails;
}

void hwmc_feeds_init(struct hwmc_feeds *f, const struct hwmc_leaders *leaders,
                     const struct hwmc_near *near, uint32_t rails, const uint32_t *mbit,
                     uint32_t *memory)
{
    const struct who w = {.leaders = leaders, .near = near};

    memset(f, 0, sizeof(*f));
    f->hosts = leaders->hosts;
    f->feeder = memory;
    group_rails(f, &w, rails);
    if (!are_alike(rails, mbit) || !is_possible(f, leaders))
        f->num = 0;
    for (uint32_t feed = 0; feed < f->num; feed++)
        for (uint32_t host = 0; host < f->hosts; host++)
            f->feeder[feed * f->hosts + host] = nearest(f, &w, feed, host, lowest(f->rails[feed]));
}

uint64_t hwmc_feeds_begin(const struct hwmc_feeds *f, uint32_t feed, uint64_t bytes)
{
    uint64_t before = 0, all = 0, at;

    if (feed == f->num)
        return bytes;
    for (uint32_t i = 0; i < f->num; i++) {
        before += i < feed ? hwmc_feeds_share(f, i) : 0;
        all += hwmc_feeds_share(f, i);
    }
    at = bytes / all * before + bytes % all * before / all;
    return at / HWMC_FEEDS_PAGE * HWMC_FEEDS_PAGE;
}

bool hwmc_feeds_fit(const struct hwmc_feeds *f, uint64_t bytes)
{
    for (uint32_t i = 0; i < f->num; i++)
        if (hwmc_feeds_begin(f, i, bytes) == hwmc_feeds_begin(f, i + 1, bytes))
            return false;
    return f->num > 0;
}
