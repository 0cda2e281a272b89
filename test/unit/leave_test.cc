// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Multicast that stops working in mid-run, on the simulated network: who leaves which rails with
// which broadcast, what that costs, and when they come back. HWMC_SIM_SEEDS says how many storms,
// HWMC_SIM_SEED replays one.
#include <stdlib.h>

#include <algorithm>
#include <gtest/gtest.h>

#include "sim_net.h"

namespace {

using sim::Config;
using sim::MS;
using sim::Net;
using sim::Rng;
using sim::US;

constexpr uint64_t EVER = 1000 * sim::S;

Config steady(uint32_t broadcasts, uint32_t frags)
{
    Config c;

    c.ranks = 8;
    c.channels = 16;
    c.period = 8;
    c.fanout = 4;
    c.max_frags = 46;
    c.trees = 2;
    c.lanes = c.far_lanes = 2;
    c.seg_bytes = 64;
    c.leaves = true;
    c.max_events = 20000000;
    for (uint32_t i = 0; i < broadcasts; i++)
        c.script.push_back({0, 8 * frags});
    return c;
}

uint64_t by_trees(const Net &net)
{
    uint64_t n = 0;

    for (uint64_t bid = 0; bid < net.config().script.size(); bid++)
        n += net.by_trees(bid);
    return n;
}

// A blackhole from `from` on; what it costs beside what broadcasts cost anyway.
struct Cost {
    uint64_t waits;   // tail waits that a rank had, at most
    uint64_t by_ring; // broadcasts after `from` that were not yet along trees
    uint64_t ns;      // what these took
};

Cost cost(Config c, uint64_t deaf)
{
    const uint64_t from = 300 * US;
    uint64_t first = 0;
    Cost cost = {};

    c.holes = {{from, EVER, deaf, (uint8_t) ((1u << c.rails) - 1)}};
    c.hook = [&](Net &n, uint32_t r) {
        uint64_t consumed = n.stream(r).channel.consumed;

        if (r == 0 && n.now() < sim::S + from)
            first = n.stream(0).posted;
        if (n.now() >= sim::S + from && consumed > 0 && !n.by_trees(consumed - 1))
            cost.ns = std::max(cost.ns, n.now() - sim::S - from);
    };
    Net net(c);
    EXPECT_EQ("", net.run());
    for (uint32_t r = 0; r < c.ranks; r++)
        cost.waits = std::max(cost.waits, net.counts(r).lost_tail);
    cost.by_ring = c.script.size() - by_trees(net) - first;
    return cost;
}

// Nothing comes any more, or nothing at one rank: a few broadcasts are waited for, some more go
// along the ring at once, all others along trees. A window until it is sure that they are lost, one
// until the epoch begins.
TEST(Leave, ADeadNetworkIsWaitedForAFewTimesAndLeftWithinThreeWindows)
{
    for (uint32_t rails : {1, 2})
        for (uint32_t frags : {1, 4, 46})
            for (uint64_t deaf : {0xffull, 0x8ull, 0xfeull, 0x2ull}) {
                Config c = steady(400, frags);

                c.rails = rails;
                SCOPED_TRACE(std::to_string(rails) + " rails, " + std::to_string(frags) +
                             " fragments, deaf " + std::to_string(deaf));
                Cost all = cost(c, deaf);
                EXPECT_LE(all.waits, 4u);
                EXPECT_LE(all.by_ring, 3u * c.channels + c.period);
                EXPECT_LE(all.ns, 20 * MS);
            }
}

// Without it every broadcast is waited for, for ever.
TEST(Leave, WhoIsToldToStayIsWaitingForEver)
{
    Config c = steady(100, 1);

    c.leaves = false;
    c.holes = {{0, EVER, 0xff, 1}};
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(0u, by_trees(net));
    EXPECT_EQ(0u, net.sum(&hwmc_counts::got_cast));
}

// One rail of two is dead: it alone is left, and nothing goes along trees.
TEST(Leave, TheRailThatIsDeadIsLeftAlone)
{
    for (uint32_t frags : {1, 8, 46})
        for (uint32_t dead : {0, 1}) {
            Config c = steady(400, frags);

            c.rails = 2;
            c.holes = {{300 * US, EVER, 0xff, (uint8_t) (1u << dead)}};
            Net net(c);
            EXPECT_EQ("", net.run());
            EXPECT_EQ(0u, by_trees(net));
            EXPECT_EQ(1u, net.counts(0).rails_disabled);
            EXPECT_EQ(3u & ~(1u << dead), net.stream(0).epoch.now.rails);
            EXPECT_LE(net.sum(&hwmc_counts::lost_tail), 8 * 20u);
        }
}

// Half of what goes on a rail is lost at one rank.
TEST(Leave, ARailThatLosesHalfIsLeft)
{
    for (uint32_t frags : {1, 46}) {
        Config c = steady(4000, frags);

        c.rails = 2;
        c.max_events = 200000000;
        c.holes = {{0, EVER, 0x10, 2, 500000}};
        Net net(c);
        EXPECT_EQ("", net.run());
        EXPECT_EQ(0u, by_trees(net));
        EXPECT_GE(net.counts(0).rails_disabled, 1u);
        EXPECT_EQ(1u, net.stream(0).epoch.now.rails);
    }
}

// What gets lost in a network in good order is no reason.
TEST(Leave, AFewLossesAreNoReason)
{
    Config c = steady(600, 8);

    c.rails = 2;
    c.loss = {50000};
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(0u, net.sum(&hwmc_counts::rails_disabled));
}

// A receiver that was not there for a moment has lost some broadcasts whole, and hears the later
// ones.
TEST(Leave, ABurstOfLossesIsNoReason)
{
    for (uint64_t length : {100 * US, 300 * US, 1 * MS})
        for (uint32_t frags : {1, 8, 46}) {
            Config c = steady(600, frags);

            c.rails = 2;
            for (uint64_t at = 300 * US; at < 100 * MS; at += 12 * MS)
                c.holes.push_back({at, at + length, 0x8, 3});
            Net net(c);
            EXPECT_EQ("", net.run());
            EXPECT_EQ(0u, net.sum(&hwmc_counts::rails_disabled)) << length << " " << frags;
        }
}

// Pushed repairs are here before the multicast is: nothing is lost for that.
TEST(Leave, WhatComesLaterThanItsRepairIsNotLost)
{
    for (uint32_t rails : {1, 2})
        for (uint32_t frags : {1, 8}) {
            Config c = steady(600, frags);

            c.push = true;
            c.rails = rails;
            c.cast_min = 40 * US;
            c.cast_max = 60 * US;
            c.lane_min = c.lane_max = 10 * US;
            Net net(c);
            EXPECT_EQ("", net.run());
            EXPECT_GT(net.sum(&hwmc_counts::repaired), 600u);
            EXPECT_EQ(0u, net.sum(&hwmc_counts::rails_disabled)) << rails << " " << frags;
        }
}

// When multicast works again it is taken up: at the latest after as much time again as it was dead
// for, one pause, and what the broadcasts take that had been multicast in vain.
TEST(Leave, ItIsTakenUpAgainWithinTheBackOff)
{
    for (uint64_t dead : {4, 10, 40}) {
        Config c = steady(4000, 1);
        uint64_t back = 0;

        c.holes = {{300 * US, 300 * US + dead * MS, 0xff, 1}};
        c.hook = [&back](Net &n, uint32_t r) {
            if (r == 0 && back == 0 && n.counts(0).rails_returned > 0)
                back = n.now() - sim::S;
        };
        Net net(c);
        EXPECT_EQ("", net.run());
        EXPECT_GT(by_trees(net), 0u);
        EXPECT_EQ(1u, net.counts(0).rails_disabled);
        EXPECT_EQ(1u, net.counts(0).rails_returned);
        EXPECT_EQ(1u, net.stream(0).epoch.now.rails);
        EXPECT_LE(back, 300 * US + 2 * dead * MS + 2 * c.pause + 16 * 2 * MS);
        EXPECT_FALSE(net.by_trees(3999));
    }
}

// One that dies whenever it is back is tried less and less often.
TEST(Leave, FlappingIsTriedLessAndLessOften)
{
    Config c = steady(6000, 1);
    Net *running = nullptr;

    // Data never get through, probes do.
    c.lose = [&running](const hwmc_msg &msg, uint32_t) {
        return msg.type == HWMC_MSG_DATA && running->now() > sim::S + 300 * US;
    };
    Net net(c);
    running = &net;
    EXPECT_EQ("", net.run());
    EXPECT_GE(net.counts(0).rails_disabled, 3u);
    EXPECT_LE(net.counts(0).rails_disabled, 12u);
}

// Where trees are not possible the last rail is kept.
TEST(Leave, TheLastRailIsKeptWhereThereAreNoTrees)
{
    Config c = steady(100, 1);

    c.trees = 0;
    c.holes = {{0, EVER, 0xff, 1}};
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(1u, net.stream(0).epoch.now.rails);
    EXPECT_LE(net.sum(&hwmc_counts::lost_tail), 8u * 2);
}

// One rank hears nothing, and hears again; also the one that probes, and the one that echoes.
TEST(Leave, WhoeverIsDeafNothingIsTakenUpBefore)
{
    for (uint32_t rank : {0, 1, 7}) {
        Config c = steady(4000, 1);
        const uint64_t until = 300 * US + 40 * MS;
        uint64_t back = 0;

        for (uint32_t i = 0; i < 4000; i++)
            c.script[i].root = i % 3 == 0 ? 3 : 5;
        c.holes = {{300 * US, until, 1ull << rank, 1}};
        c.hook = [&back](Net &n, uint32_t r) {
            if (r == 0 && back == 0 && n.counts(0).rails_returned > 0)
                back = n.now() - sim::S;
        };
        Net net(c);
        EXPECT_EQ("", net.run());
        EXPECT_EQ(1u, net.counts(0).rails_disabled) << rank;
        EXPECT_EQ(1u, net.counts(0).rails_returned) << rank;
        EXPECT_GE(back, until) << rank;
    }
}

uint64_t some_time(Rng &rng)
{
    static const uint64_t of[] = {100 * US, 1 * MS, 10 * MS, 100 * MS};

    return rng.below(of[rng.below(4)]);
}

// Holes that begin and end at random, for some or all ranks, on some or all rails, whole or in
// part.
Config storm(uint64_t seed)
{
    Rng rng(seed);
    Config c;

    c.seed = seed;
    c.leaves = true;
    c.adapt = rng.below(2);
    c.ranks = (uint32_t) rng.between(2, 12);
    c.push = rng.below(8) == 0;
    c.channels = (uint32_t) rng.between(1, 16);
    c.period = (uint32_t) rng.between(1, c.channels);
    c.fanout = (uint32_t) rng.between(1, 4);
    c.max_frags = (uint32_t) rng.between(1, 20);
    c.rails = (uint32_t) rng.between(1, 3);
    c.trees = rng.below(8) ? hwmc_trees_count(c.ranks, (uint32_t) rng.between(1, 4)) : 0;
    c.lanes = c.far_lanes = (uint32_t) rng.between(1, 3);
    c.window = c.far_window = (uint32_t) rng.between(1, 9);
    c.pause = 100 * US + some_time(rng);
    c.pause_max = c.pause * rng.between(1, 20);
    c.cast_max = c.cast_min + some_time(rng) / 10;
    c.lane_max = c.lane_min + some_time(rng) / 10;
    c.dup = rng.below(4) ? 0 : 100000;
    c.loss = {rng.below(3) ? 0 : (uint32_t) rng.below(100000)};
    c.think_max = some_time(rng) / 10 + 1;
    c.async = rng.below(2);
    c.stall = rng.below(3) ? 0 : 20000;
    c.stall_max = 1 + some_time(rng) / 10;
    c.rx_slots = rng.below(3) ? 0 : 3;
    c.credits = rng.below(3) ? 0 : 2;
    for (uint64_t n = rng.between(10, 250), root = 0; n > 0; n--) {
        root = rng.below(3) ? root : rng.below(c.ranks);
        c.script.push_back({(uint32_t) root, (uint32_t) rng.between(1, c.frag_bytes * c.max_frags),
                            rng.below(4) == 0, c.trees > 0 && rng.below(10) == 0});
    }
    for (uint64_t n = rng.between(1, 5); n > 0; n--) {
        uint64_t from = some_time(rng);

        c.holes.push_back({from, from + (rng.below(4) ? some_time(rng) : EVER),
                           rng.below(2) ? ~0ull : rng.next(),
                           (uint8_t) (rng.below(2) ? 0xff : rng.next()),
                           rng.below(2) ? 1000000 : (uint32_t) rng.below(1000000)});
    }
    return c;
}

TEST(Leave, Storm)
{
    const char *one = getenv("HWMC_SIM_SEED");
    const char *many = getenv("HWMC_SIM_SEEDS");
    uint64_t n = one ? 1 : many ? strtoull(many, nullptr, 0) / 4 : 250;
    uint64_t left = 0, returned = 0, trees = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t seed = one ? strtoull(one, nullptr, 0) : hwmc_prng(7, i);
        std::string replay = "replay: HWMC_SIM_SEED=" + std::to_string(seed) +
                             " build/unit/core_test --gtest_filter=Leave.Storm";
        Config c = storm(seed);

        sim::replay_line(replay);
        c.trace = one != nullptr;
        Net net(std::move(c));
        std::string wrong = net.run();
        ASSERT_TRUE(wrong.empty()) << net.trace() << wrong << replay;
        left += net.counts(0).rails_disabled;
        returned += net.counts(0).rails_returned;
        trees += net.counts(0).without_cast;
    }
    sim::replay_line("");
    printf("%llu storms: rails left %llu times, taken up %llu times, %llu broadcasts along trees\n",
           (unsigned long long) n, (unsigned long long) left, (unsigned long long) returned,
           (unsigned long long) trees);
    if (!one) {
        EXPECT_GT(left, n / 10);
        EXPECT_GE(returned, n / 50);
    }
}

} // namespace
