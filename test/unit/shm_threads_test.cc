// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Collectives by threads that really run at the same time, under the thread sanitizer: the order of
// memory is as shm/segment/slot.h says.
#include <gtest/gtest.h>

#include "fake_xpmem.h"
#include "shm_ranks.h"

namespace {

using node::Config;
using node::Item;
using node::Script;

Config config_of(uint32_t ranks, uint64_t methods)
{
    Config s;

    s.layout = {ranks, 4, 2, 128};
    s.methods = methods;
    s.params = node::params_of(128);
    s.params.copy_min = 300;
    s.params.copy_step = 500;
    s.params.piece_min = 100;
    s.params.shift = 64;
    return s;
}

void run_all(const Config &config, uint64_t seed, uint32_t items)
{
    sim::Rng rng(seed);
    Script script;

    for (uint32_t i = 0; i < items; i++)
        script.push_back(any_item(config, rng));
    EXPECT_EQ("", run_threads(config, script, seed));
}

} // namespace

TEST(NodeThreads, AllKindsThroughTheSegment)
{
    for (uint32_t ranks : {2u, 3u, 4u, 7u})
        run_all(config_of(ranks, 0), ranks, 250);
}

TEST(NodeThreads, AllKindsBySingleCopy)
{
    for (uint32_t ranks : {2u, 3u, 4u, 7u})
        run_all(config_of(ranks, node::kMemcpy), 100 + ranks, 250);
}

TEST(NodeThreads, AllKindsByMemoryThatIsMapped)
{
    for (uint32_t ranks : {2u, 4u})
        run_all(config_of(ranks, node::kXpmem), 200 + ranks, 250);
    EXPECT_EQ("", fake_xpmem::wrong());
}

// Whoever stores something that another sleeps for rings: collectives of all kinds, none of which
// spins.
TEST(NodeThreads, SleepersAreWoken)
{
    for (uint32_t ranks : {2u, 4u, 7u})
        for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
            Config config = config_of(ranks, methods);
            sim::Rng rng(200 + ranks);
            Script script;

            for (uint32_t i = 0; i < 150; i++)
                script.push_back(any_item(config, rng));
            EXPECT_EQ("", run_sleepers(config, script, ranks));
        }
}

// Each barrier algorithm many times: words that are used again at once.
TEST(NodeThreads, Barriers)
{
    for (int a = 0; a < HWMC_SHM_BARRIER_NUM; a++) {
        Item barrier;

        barrier.kind = node::Kind::kBarrier;
        barrier.algorithm = a;
        EXPECT_EQ("", run_threads(config_of(5, 0), Script(400, barrier), 1));
    }
}

// Small messages, one after the other: slots that are used again as soon as that may be.
TEST(NodeThreads, SmallBroadcasts)
{
    for (int a = 0; a < HWMC_SHM_BCAST_NUM; a++)
        for (uint64_t length : {8, 88, 120}) {
            Script script;

            for (uint32_t i = 0; i < 300; i++) {
                Item item;

                item.algorithm = a;
                item.root = i / 20 % 4;
                item.length = length;
                script.push_back(item);
            }
            EXPECT_EQ("", run_threads(config_of(4, 0), script, 1));
        }
}
