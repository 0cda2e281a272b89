// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// barrier: each algorithm, for all numbers of ranks up to a bit more than a power of 2.
#include <gtest/gtest.h>

#include "shm_ranks.h"

namespace {

using node::Config;
using node::Item;
using node::Script;

Item barrier(int algorithm, uint32_t root = 0, uint32_t degree = 2)
{
    Item item;

    item.kind = node::Kind::kBarrier;
    item.algorithm = algorithm;
    item.root = root;
    item.degree = degree;
    return item;
}

// The same scripts in a few orders, one of them with a rank that is much slower than the others.
void run_orders(const Config &config, const Script &script)
{
    std::vector<uint32_t> slow(config.layout.ranks, 30);

    slow[config.layout.ranks / 2] = 1;
    for (uint64_t seed = 1; seed <= 3; seed++)
        ASSERT_EQ("", run(config, script, seed));
    ASSERT_EQ("", run(config, script, 4, slow));
}

class NodeBarrier : public testing::TestWithParam<int> {};

} // namespace

TEST_P(NodeBarrier, LetsNobodyOutBeforeAllHaveCome)
{
    for (uint32_t n = 1; n <= 20; n++) {
        Config config;
        Script script;

        config.layout.ranks = n;
        for (uint32_t root = 0; root < n; root++)
            for (uint32_t degree = 0; degree <= 4; degree++)
                script.push_back(barrier(GetParam(), root, degree));
        run_orders(config, script);
    }
}

// The most ways wait for all in one phase; beyond that there is nobody to wait for.
TEST_P(NodeBarrier, WaitsForSeveralAtATime)
{
    for (uint32_t n = 1; n <= 20; n++)
        for (uint32_t ways : {2u, 3u, 4u, n, n + 5, UINT32_MAX}) {
            Config config;

            config.layout.ranks = n;
            config.params.ways = ways;
            run_orders(config, Script(8, barrier(GetParam(), n - 1)));
        }
}

TEST_P(NodeBarrier, WorksForAsManyRanksAsThereMayBe)
{
    for (uint32_t n : {63u, 64u, 65u, 128u, 255u, 256u, 257u, 300u}) {
        Config config;

        config.layout.ranks = n;
        ASSERT_EQ("", run(config, Script(3, barrier(GetParam(), n - 1, 3)), 1));
    }
}

INSTANTIATE_TEST_SUITE_P(All, NodeBarrier, testing::Range(0, (int) HWMC_SHM_BARRIER_NUM),
                         [](const auto &info) {
                             return hwmc_shm_barrier_name((hwmc_shm_barrier_algorithm) info.param);
                         });

TEST(NodeBarriers, OfDifferentKindsFollowEachOther)
{
    Config config;
    Script script;

    config.layout.ranks = 6;
    for (int a = 0; a < HWMC_SHM_BARRIER_NUM; a++)
        for (int b = 0; b < HWMC_SHM_BARRIER_NUM; b++) {
            script.push_back(barrier(a, 5));
            script.push_back(barrier(b, 2, 1));
        }
    run_orders(config, script);
}

TEST(NodeBarriers, AreKnownByName)
{
    EXPECT_EQ(HWMC_SHM_BARRIER_PE, hwmc_shm_barrier_named("pe"));
    EXPECT_EQ(HWMC_SHM_BARRIER_SIG, hwmc_shm_barrier_named("sig"));
    EXPECT_EQ(-1, hwmc_shm_barrier_named("ag"));
    EXPECT_STREQ("dis", hwmc_shm_barrier_name(HWMC_SHM_BARRIER_DIS));
}
