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

static uint32_t group_of(const struct hwmc_reduce_case *c)
{
    return c->group > 0 ? c->group : c->members;
}

static bool is_long(const struct hwmc_reduce_case *c, const struct hwmc_reduce_way *way)
{
    return hwmc_block_waits(c->bytes, way->part, group_of(c));
}

/* Parts that go up from one member, and the grants that they wait for. */
static uint64_t messages_of(const struct hwmc_network *net, const struct hwmc_reduce_case *c,
                            const struct hwmc_reduce_way *way, uint64_t bytes)
{
    const uint64_t parts = parts_of(bytes, way->part);

    /* A grant brings half of those on the way. */
    return is_long(c, way) ? parts + 1 + parts * 2 / hwmc_pace_of(net).combined : parts;
}

uint64_t hwmc_reduce_ns(const struct hwmc_network *net, const struct hwmc_reduce_case *c,
                        const struct hwmc_reduce_way *way)
{
    const uint64_t most = UINT64_C(1) << 40, bytes = c->bytes < most ? c->bytes : most;
    const uint32_t members = c->members;
    const uint64_t part = bytes < way->part ? bytes : way->part;
    const uint64_t depth = depth_of(members, way->trees == 1 ? way->fanout : 2);
    const uint32_t k = way->trees == 1 ? way->fanout : 2;
    const uint64_t in = way->trees == 1 ? k * bytes : bytes;
    const uint64_t later = in > k * part ? in - k * part : 0;
    /* A row of the tree: its last child's part. What follows comes at the slowest link's rate. */
    const uint64_t wire = depth * k * wire_ns(part, net->mbit) + wire_ns(later, net->mbit_all);
    const uint64_t burst = wire_ns(net->burst_bytes, net->mbit);
    const uint64_t busy = (depth * k + 2 * (parts_of(bytes, way->part) - 1)) * net->message_ns;
    const uint64_t more = c->awaited ? (k - 1) * net->message_ns * (hwmc_model_crowd(net) - 1) : 0;

    return (depth + is_long(c, way)) * net->latency_ns + (wire > burst ? wire - burst : 0) + more +
           hwmc_model_busy_ns(net, busy, (members - 1) * messages_of(net, c, way, bytes),
                              hwmc_pace_loaded(net, (members - 1) * bytes), members);
}

/* What is asked for, and the fastest way so far; of no trees: none. */
struct search {
    const struct hwmc_network *net;
    struct hwmc_reduce_case of;
    struct hwmc_reduce_way best;
    uint64_t ns; /* that it takes */
};

static void try_way(struct search *s, enum hwmc_reduce_kind kind, struct hwmc_reduce_way way)
{
    const uint64_t ns = hwmc_reduce_ns(s->net, &s->of, &way);

    if ((s->of.kind != HWMC_REDUCE_ANY && s->of.kind != kind) ||
        (s->best.trees != 0 && ns >= s->ns))
        return;
    s->best = way;
    s->ns = ns;
}

static void try_all(struct search *s)
{
    const struct hwmc_reduce_case *c = &s->of;
    const uint32_t eager = hwmc_eager_bytes(group_of(c));
    const uint32_t one = (uint32_t) (c->bytes <= eager || c->bytes < c->part ? c->bytes : c->part);
    const uint32_t widest =
        c->members - 1 < HWMC_REDUCE_FANOUT_MAX ? c->members - 1 : HWMC_REDUCE_FANOUT_MAX;

    try_way(s, HWMC_REDUCE_RANGES, (struct hwmc_reduce_way){1, widest, one});
    for (uint32_t k = 2; k < widest; k++)
        try_way(s, HWMC_REDUCE_RANGES, (struct hwmc_reduce_way){1, k, one});
    if (c->kind == HWMC_REDUCE_CHAIN && parts_of(c->bytes, HWMC_PART_LEAST) < 2)
        try_way(s, HWMC_REDUCE_CHAIN, (struct hwmc_reduce_way){1, 1, one});
    for (uint32_t part = c->part; part >= HWMC_PART_LEAST; part /= 2) {
        if (parts_of(c->bytes, part) < 2)
            continue;
        try_way(s, HWMC_REDUCE_CHAIN, (struct hwmc_reduce_way){1, 1, part});
        if (c->commutative && c->members > 3)
            try_way(s, HWMC_REDUCE_TREES, (struct hwmc_reduce_way){2, 2, part});
    }
}

struct hwmc_reduce_way hwmc_reduce_way_of(const struct hwmc_network *net,
                                          const struct hwmc_reduce_case *c)
{
    struct search s = {.net = net, .of = *c};

    try_all(&s);
    if (s.best.trees == 0) {
        s.of.kind = HWMC_REDUCE_ANY;
        try_all(&s);
    }
    return s.best;
}

static bool same_case(const struct hwmc_reduce_case *a, const struct hwmc_reduce_case *b)
{
    return a->members == b->members && a->commutative == b->commutative &&
           a->awaited == b->awaited && a->bytes == b->bytes && a->part == b->part &&
           a->kind == b->kind && a->group == b->group;
}

struct hwmc_reduce_way hwmc_reduce_way_again(struct hwmc_reduce_memo *memo,
                                             const struct hwmc_network *net,
                                             const struct hwmc_reduce_case *c)
{
    if (!same_case(&memo->of, c))
        *memo = (struct hwmc_reduce_memo){.of = *c, .way = hwmc_reduce_way_of(net, c)};
    return memo->way;
}
