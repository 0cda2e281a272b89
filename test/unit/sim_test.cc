// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The simulator itself: its chance is pinned, its runs repeat, its oracle sees.
#include <gtest/gtest.h>

#include "sim_net.h"

using sim::Config;
using sim::Net;
using sim::Rng;

TEST(SimRng, VectorIsPinned)
{
    Rng rng(42);

    EXPECT_EQ(UINT64_C(0x15780b2e0c2ec716), rng.next());
    EXPECT_EQ(UINT64_C(0x6104d9866d113a7e), rng.next());
    EXPECT_EQ(UINT64_C(0xae17533239e499a1), rng.next());
    EXPECT_EQ(UINT64_C(0xecb8ad4703b360a1), rng.next());
}

TEST(SimRng, ChanceIsInMillionths)
{
    Rng rng(1);
    int n = 0;

    for (int i = 0; i < 100000; i++) {
        n += rng.chance(100000);
        EXPECT_FALSE(rng.chance(0));
        EXPECT_TRUE(rng.chance(1000000));
    }
    EXPECT_NEAR(10000, n, 500);
}

static Config windy()
{
    Config c;

    c.seed = 7;
    c.ranks = 5;
    c.loss = {300000};
    c.dup = 100000;
    c.cast_max = 100 * sim::US;
    c.think_max = sim::MS;
    c.trace = true;
    for (uint32_t i = 0; i < 20; i++)
        c.script.push_back({i % 5, 32});
    return c;
}

TEST(SimNet, TheSameSeedIsTheSameRun)
{
    Net a(windy()), b(windy());

    EXPECT_EQ("", a.run());
    EXPECT_EQ("", b.run());
    EXPECT_EQ(a.trace(), b.trace());
    Config other = windy();
    other.seed++;
    Net c(other);
    EXPECT_EQ("", c.run());
    EXPECT_NE(a.trace(), c.trace());
}

TEST(SimNet, LossIsByReceiver)
{
    Config c;

    c.ranks = 4;
    c.loss = {0, 0, 1000000, 0};
    for (uint32_t i = 0; i < 10; i++)
        c.script.push_back({0, 32});
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(40u, net.counts(1).got_cast);
    EXPECT_EQ(0u, net.counts(2).got_cast);
    EXPECT_EQ(40u, net.counts(2).got_repair);
    EXPECT_EQ(40u, net.counts(3).got_cast);
    EXPECT_EQ(40u, net.counts(1).forwarded);
}

TEST(SimNet, CorruptionIsLoss)
{
    Config c;

    c.corrupt = 1000000;
    c.script = {{0, 32}};
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(4u, net.counts(1).got_repair);
}

TEST(SimNet, APartitionHealsAndAStallEnds)
{
    Config c;

    c.ranks = 4;
    c.partitions = {{0, 300 * sim::MS, 0x3}};
    c.stalls = {{0, 200 * sim::MS, 0x2}};
    for (uint32_t i = 0; i < 10; i++)
        c.script.push_back({3, 32});
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_GT(net.now(), sim::S + 300 * sim::MS);
    EXPECT_LT(net.now(), sim::S + 400 * sim::MS);
}

TEST(SimNet, OverrunsAreLoss)
{
    Config c;

    c.rx_slots = 1;
    c.stalls = {{0, 10 * sim::MS, 0x2}};
    c.script = {{0, 32}};
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(1u, net.counts(1).got_cast);
    EXPECT_EQ(3u, net.counts(1).got_repair);
}

// The oracle is worth something: each of these must be found.
TEST(SimOracle, FindsADeadlock)
{
    Config c;

    c.stalls = {{0, 1000 * sim::S, 0x2}};
    c.script = {{0, 32}};
    Net net(c);
    EXPECT_NE(std::string::npos, net.run().find("not over in time"));
}

TEST(SimOracle, FindsAWrongByte)
{
    Config c;

    c.script = {{0, 32}};
    c.lose = [](const hwmc_msg &msg, uint32_t) {
        return msg.type == HWMC_MSG_DATA && msg.data.index == 3;
    };
    c.hook = [](Net &net, uint32_t rank) {
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_DATA;
        msg.multicast = true;
        msg.data.rails = 1;
        msg.data.frags = 4;
        msg.data.bytes = 32;
        msg.data.index = 3;
        if (rank == 1 && !net.gone(1) && net.counts(1).got_cast == 1)
            net.inject(1, msg);
    };
    Net net(c);
    EXPECT_NE(std::string::npos, net.run().find("wrong byte at 24"));
}

TEST(SimOracle, FindsAnHonestMessageCalledBad)
{
    Config c;

    c.script = {{0, 32}};
    c.hook = [](Net &net, uint32_t rank) {
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_DATA;
        msg.multicast = true;
        msg.data.rails = 1;
        msg.data.frags = 3;
        msg.data.bytes = 24;
        if (rank == 1 && !net.gone(1) && net.counts(1).got_cast == 0)
            net.inject(1, msg);
    };
    Net net(c);
    EXPECT_NE(std::string::npos, net.run().find("honest message bad"));
}

// What all have lost comes to all by one more multicast, not to one after the other.
TEST(SimNet, WhatAllHaveLostIsMulticastAgain)
{
    for (uint32_t frags : {1, 4, 40}) {
        Config c;
        std::set<uint32_t> lost;

        c.ranks = 32;
        c.max_frags = 40;
        c.script = {{0, 8}, {0, 8 * frags}};
        c.lose = [&lost](const hwmc_msg &msg, uint32_t to) {
            return msg.bid == 1 && msg.type == HWMC_MSG_DATA && msg.data.index == 0 &&
                   lost.insert(to).second;
        };
        Net net(c);
        ASSERT_EQ("", net.run());
        EXPECT_EQ(31u, lost.size());
        EXPECT_GE(net.counts(0).cast_again, 1u);
        EXPECT_LE(net.counts(0).cast_again, frags);
        EXPECT_GE(net.sum(&hwmc_counts::got_cast), 31u * (1 + frags) - 8);
    }
}

// Ranks that call with another length fail, and those that they feed; all get through, and the next
// broadcast finds everything in order.
TEST(SimNet, RanksThatDisagreeAboutTheLengthFailAndHoldUpNobody)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        Rng rng(seed);
        Config c;
        std::set<uint32_t> wrong;
        uint32_t other = (uint32_t) rng.between(1, 300);

        sim::replay_line("length " + std::to_string(seed));
        c.seed = seed;
        c.ranks = (uint32_t) rng.between(2, 12);
        c.trees = hwmc_trees_count(c.ranks, (uint32_t) rng.between(1, 4));
        c.window = c.far_window = (uint32_t) rng.between(1, 5);
        c.think_max = rng.below(2000) * sim::US + 1;
        c.lane_max = c.lane_min + rng.below(300 * sim::US);
        for (uint32_t i = 0; i < 5; i++)
            c.script.push_back({(uint32_t) rng.below(c.ranks), 200, false, true});
        for (uint32_t r = 0; r < c.ranks; r++)
            if (rng.below(4) == 0)
                wrong.insert(r);
        c.own_bytes = [&](uint32_t r, const sim::Bcast &b) {
            return wrong.count(r) ? other : b.bytes;
        };
        Net net(c);
        ASSERT_EQ("", net.run()) << "seed " << seed;
        for (uint32_t r = 0; r < c.ranks; r++) {
            uint64_t least = 0;

            for (const sim::Bcast &b : c.script)
                least += wrong.count(r) != wrong.count(b.root) && other != 200;
            ASSERT_GE(net.failed(r), least) << "seed " << seed << ", rank " << r;
            ASSERT_TRUE(net.failed(r) == 0 || (!wrong.empty() && other != 200));
        }
    }
    sim::replay_line("");
}
