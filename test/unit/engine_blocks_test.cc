// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Exchanges through engines and groups, in turn with broadcasts.
#include "engine_groups.h"

namespace {

// One exchange of all with all, at one member.
struct AllToAll {
    std::vector<hwmc_block_in> in;
    std::vector<hwmc_block_out> out;
    std::vector<hwmc_block_place> in_place, out_place;
    std::vector<mem::Bytes> got, sent;
    hwmc_blocks_plan plan = {};

    // Blocks of `bytes`, but for what `ours` says of one to member 0.
    AllToAll(uint32_t p, uint32_t rank, uint32_t bytes, uint32_t part, uint32_t seed)
        : got(p, mem::Bytes(bytes + 1)), sent(p)
    {
        for (uint32_t n = 1; n < p; n++) {
            const uint32_t from = (rank + p - n) % p, to = (rank + n) % p;
            const uint32_t parts = hwmc_exchange_parts(bytes, part);
            hwmc_block_in i = {};
            hwmc_block_out o = {};

            sent[to] = pattern(bytes, seed + rank * p + to);
            sent[to].push_back(0);
            i.peer = from;
            o.peer = to;
            i.bytes = o.bytes = bytes;
            i.window = std::min(parts, 4u);
            o.ready = parts;
            in.push_back(i);
            out.push_back(o);
            in_place.push_back({got[from].data(), part, parts});
            out_place.push_back({sent[to].data(), part, parts});
        }
        plan = {in.data(),  in_place.data(),  (uint32_t) in.size(),
                out.data(), out_place.data(), (uint32_t) out.size(),
                part,       8 * part};
    }
    void take(hwmc_group *g)
    {
        for (uint32_t i = 0; i < in.size(); i++)
            hwmc_exchange_take(&g->blocks.exchange, i, in[i].have);
        hwmc_group_pump_blocks(g);
    }
};

void settle(mem::Net &net, Groups &g, std::vector<AllToAll> &all)
{
    for (int i = 0; i < 1000; i++) {
        uint32_t over = 0;

        net.settle();
        for (uint32_t r = 0; r < g.size(); r++) {
            all[r].take(g[r]);
            over += hwmc_group_exchanged(g[r]);
        }
        if (over == g.size())
            return;
    }
    FAIL() << "an exchange does not end";
}

void exchange(mem::Net &net, Groups &g, uint32_t bytes, uint32_t part, uint32_t seed)
{
    const uint32_t p = (uint32_t) g.size();
    std::vector<AllToAll> all;

    for (uint32_t r = 0; r < p; r++)
        all.emplace_back(p, r, bytes, part, seed);
    for (uint32_t r = 0; r < p; r++)
        hwmc_group_exchange(g[r], &all[r].plan, net.now);
    settle(net, g, all);
    for (uint32_t r = 0; r < p; r++)
        for (uint32_t from = 0; from < p; from++)
            if (from != r) {
                mem::Bytes want = pattern(bytes, seed + from * p + r);

                ASSERT_FALSE(g[r]->blocks.exchange.failed);
                ASSERT_EQ(0, memcmp(want.data(), all[r].got[from].data(), bytes)) << r << from;
            }
}

TEST(EngineBlocks, ComeInTurnWithBroadcasts)
{
    for (uint32_t p : {2, 3, 8}) {
        mem::Net net(p, 64 << 20, 40 + 100, 1 << 20, 2);
        Groups g;

        net.lanes_on({0, 1});
        g = net.group(first(p));
        net.settle();
        for (uint32_t i = 0; i < 20; i++) {
            exchange(net, g, i % 3 == 0 ? i * 50 : i * 3000, HWMC_PART_LEAST + i, i);
            broadcast(net, g, i % p, pattern(i * 91 % 1000, i));
            if (HasFatalFailure())
                return;
        }
        EXPECT_LT(0u, net.lane(0, 1).segments);
        EXPECT_LT(0u, net.lane(0, 2).segments);
        for (uint32_t r = 0; r < p; r++) {
            EXPECT_EQ(0u, net.engines[r]->wires.counts->bad);
            EXPECT_EQ(nullptr, g[r]->blocks.kept);
        }
    }
}

TEST(EngineBlocks, WhoIsAheadIsKept)
{
    const uint32_t p = 3;
    mem::Net net(p);
    Groups g = net.group(first(p));
    std::vector<AllToAll> all;

    net.settle();
    for (uint32_t r = 0; r < p; r++)
        all.emplace_back(p, r, 100, HWMC_PART_LEAST, 1);
    for (uint32_t r = 0; r + 1 < p; r++)
        hwmc_group_exchange(g[r], &all[r].plan, net.now);
    net.settle();
    EXPECT_NE(nullptr, g[2]->blocks.kept);
    EXPECT_FALSE(hwmc_group_exchanged(g[0]));
    hwmc_group_exchange(g[2], &all[2].plan, net.now);
    settle(net, g, all);
    EXPECT_EQ(nullptr, g[2]->blocks.kept);
    EXPECT_EQ(0, memcmp(all[2].got[1].data(), all[1].sent[2].data(), 100));
}

// A closed group frees what it keeps.
TEST(EngineBlocks, AClosedGroupFreesWhatItKeeps)
{
    mem::Net net(2);
    Groups g = net.group(first(2));
    AllToAll one(2, 0, 100, HWMC_PART_LEAST, 1);

    net.settle();
    hwmc_group_exchange(g[0], &one.plan, net.now);
    net.settle();
    EXPECT_NE(nullptr, g[1]->blocks.kept);
    hwmc_group_free(g[1]);
}

TEST(EngineBlocks, LengthsThatDisagreeAreAnError)
{
    for (uint32_t other : {99u, 9000u}) {
        mem::Net net(2);
        Groups g = net.group(first(2));
        std::vector<AllToAll> all;

        net.settle();
        all.emplace_back(2, 0, 100, HWMC_PART_LEAST, 1);
        all.emplace_back(2, 1, other, HWMC_PART_LEAST, 1);
        for (uint32_t r = 0; r < 2; r++)
            hwmc_group_exchange(g[r], &all[r].plan, net.now);
        for (int i = 0; i < 10; i++)
            net.settle(HWMC_EXCHANGE_ANNOUNCE_NS);
        EXPECT_TRUE(hwmc_group_exchanged(g[0]) && g[0]->blocks.exchange.failed) << other;
        EXPECT_TRUE(hwmc_group_exchanged(g[1]) && g[1]->blocks.exchange.failed) << other;
        exchange(net, g, 20000, HWMC_PART_LEAST, 3);
    }
}

} // namespace

// What a member waits for, and whether the lanes of all rails must answer for that.
TEST(EngineBlocks, AreAStageOfTheirOwn)
{
    for (uint32_t bytes : {100u, 20000u}) {
        mem::Net net(2);
        Groups g = net.group(first(2));
        std::vector<AllToAll> all;

        net.settle();
        for (uint32_t r = 0; r < 2; r++)
            all.emplace_back(2, r, bytes, HWMC_PART_LEAST, 1);
        EXPECT_EQ(HWMC_STAGE_SYNC, hwmc_group_stage(g[0]));
        hwmc_group_exchange(g[0], &all[0].plan, net.now);
        net.settle();
        EXPECT_EQ(HWMC_STAGE_BLOCKS, hwmc_group_stage(g[0]));
        EXPECT_EQ(bytes == 20000, hwmc_group_waits_for_lanes(g[0], HWMC_STAGE_BLOCKS));
        hwmc_group_exchange(g[1], &all[1].plan, net.now);
        settle(net, g, all);
        EXPECT_EQ(HWMC_STAGE_SYNC, hwmc_group_stage(g[0]));
        EXPECT_FALSE(hwmc_group_waits_for_lanes(g[0], HWMC_STAGE_BLOCKS));
    }
}

// One that has all that comes to it, but is not through with what it sends, waits too.
TEST(EngineBlocks, WaitForLanesThatHaveThem)
{
    mem::Net net(2);
    Groups g = net.group(first(2));
    AllToAll one(2, 0, 20000, HWMC_PART_LEAST, 1);

    net.settle();
    one.plan.num_in = 0;
    hwmc_group_exchange(g[0], &one.plan, net.now);
    net.settle();
    EXPECT_TRUE(hwmc_group_waits_for_lanes(g[0], HWMC_STAGE_BLOCKS));
}
