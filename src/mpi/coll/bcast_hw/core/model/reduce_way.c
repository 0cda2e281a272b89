/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_way: see reduce_way.h.
 */
#include "reduce_way.h"

static uint64_t wire_ns(uint64_t bytes, uint32_t mbit)
{
    const uint64_t most = UINT64_C(1) << 40;

    return (bytes < most ? bytes : most) * 8000 / (mbit > 0 ? mbit : HWMC_GUESSED_MBIT);
}

/* Of a tree of degree k over `members`: rows below the root. */
static uint32_t depth_of(uint32_t members, uint32_t k)
{
    uint64_t reached = 1, row = 1;
    uint32_t depth = 0;

    if (k == 1)
        return members - 1;
    for (; reached < members; depth++) {
        row *= k;
        reached += row;
    }
    return depth;
}

static uint64_t parts_of(uint64_t bytes, uint32_t part)
{
    return bytes > part ? (bytes - 1) / part + 1 : 1;
}

uint64_t hwmc_reduce_ns(const struct hwmc_network *net, uint32_t members,
                        const struct hwmc_reduce_way *way, uint64_t bytes)
{
    const uint64_t part = bytes < way->part ? bytes : way->part;
    const uint64_t busy = net->latency_ns;
    const uint32_t k = way->trees == 1 ? way->fanout : 2;
    /* A row of the tree: its last child's part. What follows comes at the slowest link's rate. */
    const uint64_t row = net->latency_ns + k * (busy + wire_ns(part, net->mbit));
    const uint64_t in = way->trees == 1 ? k * bytes : bytes;

    return depth_of(members, k) * row + wire_ns(in > k * part ? in - k * part : 0, net->mbit_all) +
           (parts_of(bytes, way->part) - 1) * busy;
}

static struct hwmc_reduce_way faster_way(const struct hwmc_network *net, uint32_t members,
                                         uint64_t bytes, struct hwmc_reduce_way a,
                                         struct hwmc_reduce_way b)
{
    return hwmc_reduce_ns(net, members, &b, bytes) < hwmc_reduce_ns(net, members, &a, bytes) ? b
                                                                                             : a;
}

struct hwmc_reduce_way hwmc_reduce_way_of(const struct hwmc_network *net, uint32_t members,
                                          bool commutative, uint64_t bytes, uint32_t part)
{
    const uint32_t one = bytes < UINT32_MAX / 2 ? (uint32_t) bytes : UINT32_MAX / 2;
    const uint32_t widest =
        members - 1 < HWMC_REDUCE_FANOUT_MAX ? members - 1 : HWMC_REDUCE_FANOUT_MAX;
    struct hwmc_reduce_way way = {1, widest, one};

    for (uint32_t k = 2; k < widest; k++)
        way = faster_way(net, members, bytes, way, (struct hwmc_reduce_way){1, k, one});
    for (; part >= HWMC_REDUCE_PART_LEAST; part /= 2) {
        if (parts_of(bytes, part) < 2)
            continue;
        way = faster_way(net, members, bytes, way, (struct hwmc_reduce_way){1, 1, part});
        if (commutative && members > 3)
            way = faster_way(net, members, bytes, way, (struct hwmc_reduce_way){2, 2, part});
    }
    return way;
}
