// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Repair and period that follow what is measured: the judgement alone, then on the simulated
// network.
#include <algorithm>
#include <gtest/gtest.h>

#include "core.h"
#include "sim_net.h"

namespace {

using sim::Config;
using sim::MS;
using sim::Net;
using sim::US;

constexpr uint32_t N = 16;

// A leader whose epochs begin at once.
struct Leader {
    hwmc_adapt a;
    hwmc_policy policy = {1, false, N / 2};
    hwmc_adapt_sample at = {1, 0, 0, 0, 0};

    Leader()
    {
        hwmc_adapt_init(&a, true, true, N);
        hwmc_adapt_enter(&a, &policy);
        learn(0, 0, 0, 1, 1);
    }

    void learn(uint64_t n, uint64_t repaired, uint64_t frags, uint64_t gap, uint64_t sync)
    {
        at = {at.now + n * gap, at.floor + n, repaired, n * frags, sync};
        hwmc_adapt_learn(&a, &at);
        hwmc_policy want = hwmc_adapt_want(&a);
        if (!hwmc_policy_same(want, policy)) {
            policy = want;
            hwmc_adapt_enter(&a, &policy);
            hwmc_adapt_learn(&a, &at);
        }
    }

    // Broadcasts, eight to a floor, until the repair is another one; at most `most`.
    uint64_t until(bool push, uint64_t repaired_of_eight, uint64_t frags, uint64_t most)
    {
        uint64_t n = 0;

        for (; n < most && policy.push != push; n += 8)
            learn(8, repaired_of_eight, frags, 100 * US, US);
        return n;
    }
};

TEST(Adapt, ManyRepairsOfShortBroadcastsArePushed)
{
    Leader l;

    EXPECT_EQ(64u, l.until(true, 1, 1, 1000));
    EXPECT_TRUE(l.policy.push);
    EXPECT_EQ(1u, l.policy.rails);
}

TEST(Adapt, FewRepairsAndLongBroadcastsArePulled)
{
    for (uint64_t frags : {1, 4, 5, 46}) {
        Leader l;

        EXPECT_EQ(frags > 4 ? 4000u : 64u, l.until(true, 8, frags, 4000)) << frags;
    }
    Leader l;
    for (uint32_t i = 0; i < 1000; i++)
        l.learn(8, i % 2 == 0, 1, 100 * US, US); // one in sixteen
    EXPECT_FALSE(l.policy.push);
}

// Pull is tried again, less and less often while it is no good; after a good time as at first.
TEST(Adapt, PullIsTriedAgain)
{
    Leader l;
    uint64_t lasted = 0;

    for (uint64_t expected = 256; expected <= 65536; expected *= 2) {
        l.until(true, 4, 1, 1000);
        lasted = l.until(false, 0, 1, 1000000);
        EXPECT_GE(lasted, expected);
        EXPECT_LE(lasted, expected + 8);
    }
    l.until(true, 4, 1, 1000);
    lasted = l.until(false, 0, 1, 1000000);
    EXPECT_LE(lasted, 65536u + 8); // no longer than that
    EXPECT_EQ(640u, l.until(true, 0, 1, 640));
    EXPECT_EQ(64u, l.until(true, 4, 1, 1000));
    EXPECT_LE(l.until(false, 0, 1, 1000000), 256u + 8);
}

// The example of core/flow/adapt.h, and both ends.
TEST(Adapt, ThePeriodIsTheLongestForWhichTheFloorIsInTime)
{
    struct {
        uint64_t gap, sync;
        uint32_t period;
    } const rows[] = {{10 * US, 25 * US, 12},  {10 * US, 39 * US, 12},
                      {10 * US, 41 * US, 8},   {10 * US, 60 * US, 8},
                      {10 * US, 81 * US, 4},   {10 * US, 5 * MS, 4},
                      {100 * MS, 10 * US, 12}, {US, 0, 8}};

    for (auto &row : rows) {
        Leader l;

        for (uint32_t i = 0; i < 40; i++)
            l.learn(8, 0, 1, row.gap, row.sync);
        EXPECT_EQ(row.period, l.policy.period) << row.gap << " " << row.sync;
    }
}

TEST(Adapt, OneOddSynchronizationChangesNothing)
{
    Leader l;

    for (uint32_t i = 0; i < 200; i++)
        l.learn(8, 0, 1, 10 * US, i % 20 == 10 ? 200 * US : 60 * US);
    EXPECT_NE(12u, l.policy.period); // what took long is remembered for some time
    for (uint32_t i = 0; i < 200; i++)
        l.learn(8, 0, 1, 10 * US, 60 * US);
    EXPECT_EQ(8u, l.policy.period);
}

TEST(Adapt, WhatTheUserSaidStays)
{
    hwmc_adapt a;
    hwmc_policy policy = {3, false, 5};
    hwmc_adapt_sample at = {1, 0, 0, 0, 1};

    hwmc_adapt_init(&a, false, false, N);
    hwmc_adapt_enter(&a, &policy);
    for (uint32_t i = 0; i < 1000; i++, at.now += MS, at.floor += 5, at.repaired = at.frags = 5) {
        hwmc_adapt_learn(&a, &at);
        EXPECT_TRUE(hwmc_policy_same(policy, hwmc_adapt_want(&a)));
    }
}

Config steady(uint32_t broadcasts)
{
    Config c;

    c.ranks = 8;
    c.channels = N;
    c.period = N / 2;
    c.fanout = 4;
    c.leaves = c.adapt = true;
    c.trees = 2;
    c.max_events = 20000000;
    c.think = {200 * US};
    for (uint32_t i = 0; i < broadcasts; i++)
        c.script.push_back({i % 3, 8});
    return c;
}

// Where one fragment in twelve is lost at each rank waiting for what does not come is what takes
// the time.
TEST(Adapt, ALossyNetworkIsFasterByPush)
{
    uint64_t took[2];

    for (bool adapt : {false, true}) {
        Config c = steady(2000);

        c.adapt = adapt;
        c.loss = {80000};
        Net net(c);
        EXPECT_EQ("", net.run());
        took[adapt] = net.now();
        EXPECT_EQ(adapt, net.counts(0).to_push > 0);
        EXPECT_EQ(adapt, net.counts(5).pushed > 1000);
    }
    EXPECT_LT(took[1], took[0]);
}

// When nothing is lost any more, pull is taken again, and stays.
TEST(Adapt, WhenLossesEndItIsPullAgain)
{
    Config c = steady(4000);

    c.holes = {{0, 200 * MS, 0xff, 1, 50000}};
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_GE(net.counts(0).to_push, 1u);
    EXPECT_EQ(net.counts(0).to_push, net.counts(0).to_pull);
    EXPECT_FALSE(net.stream(3).epoch.now.push);
}

// Broadcasts that follow each other closely, or not: nobody waits for a channel that a shorter
// period would free.
TEST(Adapt, ThePeriodFollowsThePace)
{
    Config slow = steady(1000);
    Net net(slow);
    EXPECT_EQ("", net.run());
    for (uint32_t r = 0; r < 8; r++)
        EXPECT_EQ(12u, net.stream(r).channel.period) << r;
    EXPECT_EQ(1u, net.counts(7).periods);
}

} // namespace
