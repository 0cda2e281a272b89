// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// reduction and allreduce: each algorithm in each way, for all numbers of ranks and roots, and
// lengths about each edge; with an operation that needs the order of ranks, and with one that does
// not; in place and not.
#include <gtest/gtest.h>

#include "shm_ranks.h"

namespace {

using node::Config;
using node::Item;
using node::Kind;
using node::Script;

Item reduction(Kind kind, int algorithm, uint32_t root, uint64_t length, uint32_t degree = 2)
{
    Item item;

    item.kind = kind;
    item.algorithm = algorithm;
    item.root = root;
    item.length = length;
    item.degree = degree;
    return item;
}

// Chunks of 128, of which 126 or 128 are whole elements, in two buffers.
Config config_of(uint32_t ranks, uint64_t methods)
{
    Config s;

    s.layout = {ranks, 4, 2, 128};
    s.methods = methods;
    s.params = node::params_of(128);
    s.params.copy_min = 200;
    s.params.copy_step = 300;
    s.params.piece_min = 50;
    return s;
}

const uint64_t lengths[] = {0,   2,   3,   8,   16,  63,  64,  87,  88,  90,  96,  126,
                            128, 129, 136, 199, 200, 201, 252, 256, 258, 400, 630, 1024};

class NodeReduction : public testing::TestWithParam<int> {
  protected:
    // Every length to every root, one after the other. Through the segment AG and TREEMM go as TREE
    // does, and EACH to one rank: for them some numbers of ranks suffice there.
    void all(Kind kind, uint64_t methods)
    {
        bool as_tree = GetParam() == HWMC_SHM_REDUCTION_AG ||
                       GetParam() == HWMC_SHM_REDUCTION_TREEMM ||
                       (GetParam() == HWMC_SHM_REDUCTION_EACH && kind == Kind::kReduction);
        uint32_t apart = methods == 0 && as_tree ? 5 : 1;

        for (uint32_t n = 1; n <= 16; n += apart) {
            Config config = config_of(n, methods);
            uint32_t roots = kind == Kind::kReduction ? n : 2;
            Script script;

            for (uint32_t root = 0; root < roots; root++)
                for (uint64_t length : lengths)
                    for (bool ordered : {false, true}) {
                        script.push_back(reduction(kind, GetParam(), root, length, (root + n) % 5));
                        script.back().ordered = ordered;
                        script.back().in_place = (script.size() / 2 + root) % 2;
                        if (kind == Kind::kAllreduce)
                            script.back().root = 0;
                    }
            ASSERT_EQ("", run(config, script, n));
        }
    }
};

} // namespace

TEST_P(NodeReduction, ThroughTheSegment)
{
    all(Kind::kReduction, 0);
}

TEST_P(NodeReduction, BySingleCopy)
{
    all(Kind::kReduction, node::kMemcpy);
}

TEST_P(NodeReduction, ToAllThroughTheSegment)
{
    all(Kind::kAllreduce, 0);
}

TEST_P(NodeReduction, ToAllBySingleCopy)
{
    all(Kind::kAllreduce, node::kMemcpy);
}

// The kernel copies, here between ranks of one process.
TEST_P(NodeReduction, ByCrossMemoryAttach)
{
    Script script;

    for (uint64_t length : lengths)
        for (Kind kind : {Kind::kReduction, Kind::kAllreduce})
            script.push_back(reduction(kind, GetParam(), 0, length));
    ASSERT_EQ("", run(config_of(5, node::kCma), script, 1));
}

TEST_P(NodeReduction, WithASlowRank)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint32_t slow = 0; slow < 4; slow++) {
            std::vector<uint32_t> weights(4, 40);
            Script script;

            weights[slow] = 1;
            for (uint32_t i = 0; i < 60; i++) {
                script.push_back(reduction(Kind::kReduction, GetParam(), i / 10 % 4,
                                           lengths[i * 7 % std::size(lengths)], i % 4));
                script.back().ordered = i % 3 == 0;
            }
            ASSERT_EQ("", run(config_of(4, methods), script, slow, weights));
        }
}

// One buffer, one slot, chunks shorter than an element: nothing is done ahead, but all is done.
TEST_P(NodeReduction, WithTheLeastOfEverything)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
        Config config = config_of(7, methods);
        Script script;

        config.layout.slots = 1;
        config.layout.buffers = 1;
        config.params.chunk = 1;
        config.params.piece_min = 1;
        config.params.inline_max = 0;
        config.params.copy_min = 0;
        for (uint64_t length : {1, 3, 8, 16, 48})
            for (uint32_t root = 0; root < 7; root++) {
                script.push_back(reduction(Kind::kReduction, GetParam(), root, length, root % 4));
                script.back().ordered = length % 8 == 0;
                script.push_back(reduction(Kind::kAllreduce, GetParam(), 0, length, root % 4));
                script.back().ordered = root % 2;
                script.back().in_place = root % 3;
            }
        ASSERT_EQ("", run(config, script, 1));
    }
}

TEST_P(NodeReduction, OfManyRanks)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
        Script script;

        for (uint64_t length : {8, 256, 512})
            for (bool ordered : {false, true}) {
                script.push_back(reduction(Kind::kReduction, GetParam(), 299, length, 3));
                script.back().ordered = ordered;
            }
        ASSERT_EQ("", run(config_of(300, methods), script, 1));
    }
}

// Where ranks disagree, the one that takes from the other says so.
TEST_P(NodeReduction, OfDifferentLengthsIsAnError)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint64_t other : {9, 60, 402}) {
            Script one = {reduction(Kind::kReduction, GetParam(), 0, 300)};
            Script two = {reduction(Kind::kReduction, GetParam(), 0, other)};
            auto [a, b] = run_two(config_of(2, methods), one, two);

            EXPECT_NE(std::string::npos, a.find("invalid argument")) << a;
        }
}

// A message that fills a slot, and one that does not fit.
TEST_P(NodeReduction, InAllLinesOfASlot)
{
    for (uint32_t n : {2u, 3u, 6u}) {
        Script script;

        for (uint64_t length : node::kSlotLengths)
            for (Kind kind : {Kind::kReduction, Kind::kAllreduce})
                for (bool ordered : {false, true}) {
                    script.push_back(reduction(kind, GetParam(), 0, length, 2));
                    script.back().ordered = ordered;
                    script.back().in_place = length % 3 == 0;
                }
        ASSERT_EQ("", run(config_of(n, 0).with_whole_slots(), script, n));
    }
}

INSTANTIATE_TEST_SUITE_P(All, NodeReduction, testing::Range(0, (int) HWMC_SHM_REDUCTION_NUM),
                         [](const auto &info) {
                             return hwmc_shm_reduction_name(
                                 (hwmc_shm_reduction_algorithm) info.param);
                         });

TEST(NodeReductions, AreKnownByName)
{
    EXPECT_EQ(HWMC_SHM_REDUCTION_AG, hwmc_shm_reduction_named("ag"));
    EXPECT_EQ(HWMC_SHM_REDUCTION_TREEMM, hwmc_shm_reduction_named("treemm"));
    EXPECT_EQ(HWMC_SHM_REDUCTION_EACH, hwmc_shm_reduction_named("each"));
    EXPECT_EQ(-1, hwmc_shm_reduction_named("ota"));
    EXPECT_STREQ("tree", hwmc_shm_reduction_name(HWMC_SHM_REDUCTION_TREE));
}

// An element is not cut: one that is longer than half a buffer is refused, and nothing has begun.
TEST(NodeReductions, OfElementsThatAreTooLongAreRefused)
{
    Config config = config_of(1, 0);
    node::Memory memory(config.layout);
    hwmc_shm_segment segment;
    hwmc_shm_group group;
    hwmc_shm_reduction r;
    hwmc_shm_tree tree = {0, 0, nullptr};
    hwmc_shm_operation operation = {nullptr, nullptr, 65, true};
    unsigned char in[65], out[65];

    ASSERT_EQ(HWMC_OK, hwmc_shm_segment_over(&segment, &config.layout, memory.at));
    ASSERT_EQ(HWMC_OK, hwmc_shm_group_init(&group, &segment, 0, 0, &config.params));
    EXPECT_EQ(HWMC_ERR_LIMIT,
              hwmc_shm_reduction_begin(&r, &group, &tree, 0, &operation, in, out, 1));
    EXPECT_EQ(0u, group.serial);
    operation.element = 64;
    EXPECT_EQ(HWMC_OK, hwmc_shm_reduction_begin(&r, &group, &tree, 0, &operation, in, out, 1));
    hwmc_shm_group_fini(&group);
}
