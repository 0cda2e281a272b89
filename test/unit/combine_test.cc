// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// combine and ranges: reductions along trees over the simulated lanes, with an operation that does
// not commute: each member adds its name, and the result must have all in order.
#include <algorithm>

#include "exchange_net.h"

namespace {

using exchange::Bytes;
using exchange::Net;

TEST(Ranges, BelowEachMemberAreThoseThatFollowIt)
{
    for (uint32_t p = 1; p < 70; p++)
        for (uint32_t fanout : {1u, 2u, 3u, 7u, 16u}) {
            uint32_t edges = 0;

            for (uint32_t m = 0; m < p; m++) {
                const hwmc_range r = hwmc_range_of(p, m, fanout);
                uint32_t at = m + 1;

                ASSERT_EQ(m, r.first);
                for (uint32_t slot = 0; slot < hwmc_range_children(&r, fanout); slot++) {
                    const hwmc_range c = hwmc_range_child(&r, slot, fanout);

                    ASSERT_EQ(at, c.first);
                    ASSERT_EQ(m, hwmc_range_of(p, c.first, fanout).parent);
                    ASSERT_EQ(slot, hwmc_range_of(p, c.first, fanout).slot);
                    at = c.end;
                    edges++;
                }
                ASSERT_EQ(r.end, at);
            }
            ASSERT_EQ(p - 1, edges);
        }
}

TEST(Combine, TheExampleInItsHead)
{
    hwmc_combine c;

    hwmc_combine_init(&c, 2);
    c.own = 2;
    EXPECT_FALSE(hwmc_combine_can(&c, 1, 2));
    EXPECT_TRUE(hwmc_combine_can(&c, 0, 1));
    EXPECT_EQ(0u, hwmc_combine_ready(&c));
    c.done[0]++;
    EXPECT_FALSE(hwmc_combine_can(&c, 0, 1));
    EXPECT_TRUE(hwmc_combine_can(&c, 1, 2));
    c.done[1]++;
    EXPECT_FALSE(hwmc_combine_can(&c, 1, 2));
    EXPECT_EQ(1u, hwmc_combine_ready(&c));
    hwmc_combine_check(&c);
}

// Names of a range of members: first and last. What is combined must touch.
struct Names {
    uint8_t first, last;
    bool whole;
};

// One reduction: parts of one Names each.
struct Reducer {
    hwmc_range range;
    hwmc_combine combine;
    std::vector<Names> sum, from[HWMC_COMBINE_CHILDREN];
    bool begun = false;

    void begin(Net &net, uint32_t r, uint32_t fanout, uint32_t parts, uint32_t window)
    {
        exchange::Member &m = net.members[r];
        const uint32_t part = sizeof(Names), bytes = parts * part;

        range = hwmc_range_of(net.size, r, fanout);
        hwmc_combine_init(&combine, hwmc_range_children(&range, fanout));
        sum.assign(parts, {(uint8_t) r, (uint8_t) r, true});
        m.in.clear();
        m.out.clear();
        m.in_place.clear();
        m.out_place.clear();
        for (uint32_t i = 0; i < combine.children; i++) {
            hwmc_block_in b = {};

            b.peer = hwmc_range_child(&range, i, fanout).first;
            b.bytes = bytes;
            b.window = window;
            m.in.push_back(b);
            from[i].resize(window);
            m.in_place.push_back({(unsigned char *) from[i].data(), part, window});
        }
        if (r > 0) {
            hwmc_block_out b = {};

            b.peer = range.parent;
            b.bytes = bytes;
            m.out.push_back(b);
            m.out_place.push_back({(unsigned char *) sum.data(), part, parts});
        }
        begun = true;
        net.begin(r, std::max(part, net.members[r].x.cfg.eager), UINT64_MAX);
    }

    void step(Net &net, uint32_t r, uint32_t parts)
    {
        exchange::Member &m = net.members[r];

        if (combine.own < parts)
            combine.own++;
        for (uint32_t i = 0; i < combine.children; i++)
            while (hwmc_combine_can(&combine, i, m.in[i].have)) {
                const uint32_t at = combine.done[i]++;
                const Names &b = from[i][at % from[i].size()];

                ASSERT_TRUE(b.whole);
                ASSERT_EQ(sum[at].last + 1, b.first) << "not in order";
                sum[at].last = b.last;
                hwmc_exchange_take(&m.x, i, combine.done[i]);
            }
        hwmc_combine_check(&combine);
        if (!m.out.empty())
            hwmc_exchange_ready(&m.x, 0, hwmc_combine_ready(&combine));
        net.pump(r);
    }
};

TEST(Combine, AReductionIsInOrderAndWholeWhoeverIsLate)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        sim::Rng rng(seed);
        const uint32_t p = 2 + (uint32_t) rng.below(20), fanout = 1 + (uint32_t) rng.below(8);
        const uint32_t parts = seed % 3 ? 1 + (uint32_t) rng.below(12) : 1;
        const uint32_t window = 1 + (uint32_t) rng.below(4);
        Net net(p, seed % 2 ? sizeof(Names) : 0, seed);
        std::vector<Reducer> all(p);
        std::vector<uint32_t> rounds(p, 0);

        for (int steps = 0; std::count(rounds.begin(), rounds.end(), 5u) < p; steps++) {
            const uint32_t r = (uint32_t) rng.below(p);
            hwmc_exchange &x = net.members[r].x;

            ASSERT_LT(steps, 2000000) << "seed " << seed;
            net.deliver();
            if (rounds[r] == 5)
                continue;
            if (!all[r].begun)
                all[r].begin(net, r, fanout, parts, window);
            all[r].step(net, r, parts);
            if (HasFatalFailure())
                return;
            if (hwmc_exchange_over(&x) && hwmc_combine_ready(&all[r].combine) == parts) {
                for (const Names &n : all[r].sum) {
                    ASSERT_EQ(r, n.first);
                    ASSERT_EQ(all[r].range.end - 1, n.last);
                }
                all[r].begun = false;
                rounds[r]++;
            }
        }
        EXPECT_EQ(0u, net.bad()) << "seed " << seed;
    }
}

} // namespace
