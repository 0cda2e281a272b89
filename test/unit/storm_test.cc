// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Storms: everything at random, from one seed a run. HWMC_SIM_SEEDS says how many runs,
// HWMC_SIM_SEED replays one.
#include <stdlib.h>

#include <algorithm>
#include <string>
#include <gtest/gtest.h>

#include "sim_net.h"

namespace {

using sim::Config;
using sim::Net;
using sim::Rng;

uint32_t pick(Rng &rng, std::initializer_list<uint32_t> of)
{
    return of.begin()[rng.below(of.size())];
}

void make_group(Config &c, Rng &rng)
{
    c.ranks = (uint32_t) rng.between(1, 9);
    c.channels = (uint32_t) rng.between(1, 8);
    c.period = (uint32_t) rng.between(1, c.channels);
    c.fanout = (uint32_t) rng.between(1, 4);
    c.frag_bytes = pick(rng, {1, 7, 8, 64});
    c.max_frags = rng.below(20) ? (uint32_t) rng.between(1, 6) : (uint32_t) rng.between(60, 135);
    c.delay = (hwmc_delay_kind) rng.below(4);
    c.delay_ns = rng.below(100 * sim::US);
}

void make_script(Config &c, Rng &rng)
{
    uint64_t n = rng.below(3 * c.channels + 4);
    uint32_t roots = pick(rng, {0, 1, 2});
    uint32_t root = (uint32_t) rng.below(c.ranks);

    for (uint64_t i = 0; i < n; i++) {
        uint32_t max = c.frag_bytes * c.max_frags;

        if (roots == 1)
            root = (root + 1) % c.ranks;
        else if (roots == 2)
            root = (uint32_t) rng.below(c.ranks);
        uint32_t bytes = rng.below(5) ? (uint32_t) rng.between(0, max) : max;
        c.script.push_back({root, bytes, rng.below(2) == 1});
    }
    if (c.ranks < 2 || rng.below(2))
        return;
    c.trees = hwmc_trees_count(c.ranks, (uint32_t) rng.between(1, 4));
    c.lanes = (uint32_t) rng.between(1, 4);
    c.far_lanes = c.lanes + (uint32_t) rng.below(4);
    for (uint32_t n = (uint32_t) rng.between(1, c.lanes); n > 1 && c.speed.size() < n;)
        c.speed.push_back(pick(rng, {1, 30, 100, 100}));
    c.window = (uint32_t) rng.between(1, 9);
    c.far_window = (uint32_t) rng.between(1, 20);
    c.seg_bytes = (uint32_t) rng.between(1, 30);
    c.no_cast = rng.below(5) == 0;
    for (uint32_t r = 0, n = (uint32_t) rng.between(1, 4); n > 1 && r < c.ranks; r++)
        c.site.push_back(rng.below(n));
    for (sim::Bcast &b : c.script)
        if (c.no_cast || rng.below(3) == 0) {
            b.trees = true;
            b.bytes = (uint32_t) rng.between(1, 500);
        }
}

void make_multicast(Config &c, Rng &rng)
{
    static const uint32_t losses[] = {0, 0, 1000, 10000, 100000, 300000, 500000, 900000, 1000000};
    bool alike = rng.below(2);

    for (uint32_t r = 0; r < (alike ? 1 : c.ranks); r++)
        c.loss.push_back(losses[rng.below(9)]);
    c.dup = pick(rng, {0, 0, 10000, 500000});
    c.corrupt = pick(rng, {0, 0, 10000, 200000});
    c.rails = pick(rng, {1, 1, 2, 3, 8});
    c.rail_skew = pick(rng, {0, 1, 50, 3000}) * sim::US;
    c.cast_min = rng.between(1, 20 * sim::US);
    c.cast_max = c.cast_min + pick(rng, {0, 1, 50, 5000}) * sim::US;
    c.lane_min = rng.between(1, 50 * sim::US);
    c.lane_max = c.lane_min + pick(rng, {0, 1, 100, 10000}) * sim::US;
}

void make_ranks(Config &c, Rng &rng)
{
    for (uint32_t r = 0; r < c.ranks; r++)
        c.think.push_back(pick(rng, {0, 0, 0, 10, 1000, 20000}) * sim::US);
    c.think_max = pick(rng, {0, 1, 100, 5000}) * sim::US;
    c.async = rng.below(2);
    c.stall = pick(rng, {0, 0, 10000, 200000});
    c.stall_max = pick(rng, {1, 100, 10000}) * sim::US;
    c.rx_slots = pick(rng, {0, 0, 1, 5});
    c.credits = pick(rng, {0, 0, 1, 3});
    for (uint64_t i = rng.below(6); i > 3; i--) {
        uint64_t from = rng.below(20 * sim::MS);
        c.stalls.push_back({from, from + rng.below(200 * sim::MS), rng.next()});
    }
    for (uint64_t i = rng.below(6); i > 3; i--) {
        uint64_t from = rng.below(20 * sim::MS);
        c.partitions.push_back({from, from + rng.below(200 * sim::MS), rng.next()});
    }
}

Config storm(uint64_t seed, bool push)
{
    Rng rng(seed);
    Config c;

    c.seed = seed;
    c.push = push;
    make_group(c, rng);
    make_script(c, rng);
    make_multicast(c, rng);
    make_ranks(c, rng);
    return c;
}

void storms(uint64_t base, bool push)
{
    const char *one = getenv("HWMC_SIM_SEED");
    const char *many = getenv("HWMC_SIM_SEEDS");
    uint64_t n = one ? 1 : many ? strtoull(many, nullptr, 0) / 2 : 4000;
    std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    uint64_t casts = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t seed = one ? strtoull(one, nullptr, 0) : hwmc_prng(base, i);
        char replay[200];

        snprintf(replay, sizeof(replay),
                 "replay: HWMC_SIM_SEED=0x%llx build/unit/storm_test --gtest_filter=Storm.%s",
                 (unsigned long long) seed, test.c_str());
        sim::replay_line(replay);
        Config config = storm(seed, push);
        config.trace = one != nullptr;
        Net net(std::move(config));
        std::string wrong = net.run();
        ASSERT_TRUE(wrong.empty()) << net.trace() << wrong << replay;
        casts += net.sum(&hwmc_counts::cast_frags);
    }
    sim::replay_line("");
    printf("%llu storms, %llu fragments\n", (unsigned long long) n, (unsigned long long) casts);
}

} // namespace

TEST(Storm, Pull)
{
    storms(1, false);
}

TEST(Storm, Push)
{
    storms(2, true);
}
