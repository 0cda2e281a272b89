// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// bcast: each algorithm in each way, for all numbers of ranks and roots, and lengths about each
// edge.
#include <gtest/gtest.h>

#include <string.h>

#include "shm_ranks.h"

namespace {

using node::Config;
using node::Item;
using node::Script;

Item bcast(int algorithm, uint32_t root, uint64_t length, uint32_t degree = 2)
{
    Item item;

    item.algorithm = algorithm;
    item.root = root;
    item.length = length;
    item.degree = degree;
    return item;
}

// Chunks of 128 in two buffers.
Config config_of(uint32_t ranks, uint64_t methods)
{
    Config s;

    s.layout = {ranks, 4, 2, 128};
    s.methods = methods;
    s.params = node::params_of(128);
    s.params.copy_min = 200;
    s.params.copy_step = 300;
    s.params.piece_min = 150;
    s.params.shift = 70;
    return s;
}

const uint64_t lengths[] = {0,   1,   7,   8,   9,   63,  64,  65,  87,  88,  89,  127,  128,
                            129, 149, 150, 151, 199, 200, 201, 255, 256, 257, 300, 301,  383,
                            384, 385, 449, 450, 451, 511, 512, 513, 600, 601, 640, 1023, 1025};

class NodeBcast : public testing::TestWithParam<int> {
  protected:
    // Every length from every root, one after the other.
    void all(uint64_t methods, bool by_bits)
    {
        for (uint32_t n = 1; n <= 16; n++) {
            Config config = config_of(n, methods);
            Script script;

            for (uint32_t root = 0; root < n; root++)
                for (uint64_t length : lengths) {
                    script.push_back(bcast(GetParam(), root, length, (root + n) % 5));
                    script.back().by_bits = by_bits;
                }
            ASSERT_EQ("", run(config, script, n));
        }
    }
};

} // namespace

TEST_P(NodeBcast, ThroughTheSegment)
{
    all(0, false);
}

TEST_P(NodeBcast, BySingleCopy)
{
    all(node::kMemcpy, false);
}

TEST_P(NodeBcast, ThroughTheSegmentOfWhatIsStillComing)
{
    all(0, true);
}

TEST_P(NodeBcast, BySingleCopyOfWhatIsStillComing)
{
    all(node::kMemcpy, true);
}

// The kernel copies, here between ranks of one process.
TEST_P(NodeBcast, ByCrossMemoryAttach)
{
    Config config = config_of(5, node::kCma);
    Script script;

    for (uint64_t length : lengths)
        script.push_back(bcast(GetParam(), (uint32_t) length % 5, length));
    script.push_back(bcast(GetParam(), 0, 50000));
    ASSERT_EQ("", run(config, script, 1));
}

TEST_P(NodeBcast, WithASlowRank)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint32_t slow = 0; slow < 4; slow++) {
            std::vector<uint32_t> weights(4, 40);
            Script script;

            weights[slow] = 1;
            for (uint32_t i = 0; i < 60; i++)
                script.push_back(bcast(GetParam(), i / 10 % 4, lengths[i * 7 % 39], i % 4));
            ASSERT_EQ("", run(config_of(4, methods), script, slow, weights));
        }
}

// One buffer, one slot: nothing is done ahead, but all is done.
TEST_P(NodeBcast, WithTheLeastOfEverything)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
        Config config = config_of(7, methods);
        Script script;

        config.layout.slots = 1;
        config.layout.buffers = 1;
        config.params.chunk = 1;
        config.params.copy_step = 1;
        config.params.piece_min = 1;
        config.params.inline_max = 0;
        config.params.copy_min = 0;
        config.params.shift = 1;
        for (uint64_t length : {1, 2, 6, 7, 8, 50})
            for (uint32_t root = 0; root < 7; root++)
                script.push_back(bcast(GetParam(), root, length, root % 4));
        ASSERT_EQ("", run(config, script, 1));
    }
}

TEST_P(NodeBcast, ToManyRanks)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
        Script script;

        for (uint64_t length : {8, 129, 201, 1025})
            script.push_back(bcast(GetParam(), 255, length, 3));
        ASSERT_EQ("", run(config_of(256, methods), script, 1));
        for (auto &item : script)
            item.root = 299;
        ASSERT_EQ("", run(config_of(300, methods), script, 1));
    }
}

// A rank has another length, root, relay or leaf: it is told, all others have their message, and
// what comes next goes well.
TEST_P(NodeBcast, WithOneOfAnotherLengthGoesOn)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint32_t n : {2u, 3u, 8u}) {
            Script script;

            for (uint64_t length : {0, 8, 100, 150, 300, 1000, 1500})
                for (uint64_t other : {0, 9, 120, 260, 900, 1400})
                    for (uint32_t odd = 0; odd < n; odd += 1 + n / 5) {
                        script.push_back(bcast(GetParam(), other % n, length, odd % 4));
                        script.back().odd = odd;
                        script.back().odd_length = other;
                        script.back().by_bits = length == 300;
                        script.push_back(bcast(GetParam(), odd, 300, 2));
                    }
            ASSERT_EQ("", run(config_of(n, methods), script, n));
        }
}

// Where ranks disagree, one of them says so, and nothing is written past the end of what it has.
TEST_P(NodeBcast, OfDifferentLengthsIsAnError)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint64_t other : {8, 100, 400}) {
            Script one = {bcast(GetParam(), 0, 300)}, two = {bcast(GetParam(), 0, other)};
            auto [a, b] = run_two(config_of(2, methods), one, two);

            EXPECT_NE(std::string::npos, b.find("invalid argument")) << b;
        }
}

// A message that fills a slot, and one that does not fit.
TEST_P(NodeBcast, InAllLinesOfASlot)
{
    for (uint32_t n : {2u, 3u, 6u}) {
        Script script;

        for (uint64_t length : node::kSlotLengths)
            for (uint32_t root = 0; root < n; root++)
                script.push_back(bcast(GetParam(), root, length, 2));
        ASSERT_EQ("", run(config_of(n, 0).with_whole_slots(), script, n));
    }
}

INSTANTIATE_TEST_SUITE_P(All, NodeBcast, testing::Range(0, (int) HWMC_SHM_BCAST_NUM),
                         [](const auto &info) {
                             return hwmc_shm_bcast_name((hwmc_shm_bcast_algorithm) info.param);
                         });

TEST(NodeBcasts, AreKnownByName)
{
    EXPECT_EQ(HWMC_SHM_BCAST_TREEMM, hwmc_shm_bcast_named("treemm"));
    EXPECT_EQ(HWMC_SHM_BCAST_AG, hwmc_shm_bcast_named("ag"));
    EXPECT_EQ(-1, hwmc_shm_bcast_named("pe"));
    EXPECT_STREQ("g", hwmc_shm_bcast_name(HWMC_SHM_BCAST_G));
}
