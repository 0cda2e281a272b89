/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scan_way: see scan_way.h.
 */
#include "scan_way.h"

#include "reduce_way.h"

/* A round brings one vector, as an only child does. What a line lets through at first it does in
 * all rounds together. */
static uint64_t doubling_ns(const struct hwmc_network *net, uint32_t members, uint64_t bytes,
                            uint32_t part)
{
    const struct hwmc_reduce_case pair = {.members = 2, .bytes = bytes, .group = members};
    const struct hwmc_reduce_way one = {1, 1, part};
    struct hwmc_network in_each = *net;
    uint64_t rounds = 0;

    for (uint64_t reached = 1; reached < members; reached *= 2)
        rounds++;
    in_each.burst_bytes = net->burst_bytes / rounds;
    return rounds * hwmc_reduce_ns(&in_each, &pair, &one);
}

struct hwmc_scan_way hwmc_scan_way_of(const struct hwmc_network *net, uint32_t members,
                                      uint64_t bytes, uint32_t part)
{
    const struct hwmc_reduce_case all = {.members = members, .bytes = bytes};
    struct hwmc_scan_way way = {true, part};
    uint64_t best = UINT64_MAX;

    if (bytes <= HWMC_SCAN_DOUBLING_MAX) {
        way = (struct hwmc_scan_way){false, bytes < part ? (uint32_t) bytes : part};
        best = doubling_ns(net, members, bytes, way.part);
    }
    for (; part >= HWMC_PART_LEAST; part /= 2) {
        const struct hwmc_reduce_way chain = {1, 1, part};
        const uint64_t ns = hwmc_reduce_ns(net, &all, &chain);

        if (bytes > part && ns < best) {
            way = (struct hwmc_scan_way){true, part};
            best = ns;
        }
    }
    return way;
}
