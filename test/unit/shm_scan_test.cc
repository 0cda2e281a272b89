// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// scan, exscan and reduce_scatter: in each way, for all numbers of ranks, and lengths about each
// edge; with an operation that needs the order of ranks, and with one that does not; in place and
// not; blocks alike and not.
#include <gtest/gtest.h>

#include "shm_ranks.h"

namespace {

using node::Config;
using node::Item;
using node::Kind;
using node::Script;

// Chunks of 128, of which 126 or 128 are whole elements, in two buffers.
Config config_of(uint32_t ranks, uint64_t methods)
{
    Config s;

    s.layout = {ranks, 4, 2, 128};
    s.methods = methods;
    s.params = node::params_of(128);
    s.params.copy_min = 200;
    return s;
}

const uint64_t lengths[] = {2,   0,   3,   8,   16,  63,  64,  87,  88,  90,  96,  126,
                            128, 129, 136, 199, 200, 201, 252, 256, 258, 400, 630, 1024};

class NodeScan : public testing::TestWithParam<Kind> {
  protected:
    // Each with some algorithm of a reduction, which reduce_scatter may have to go by.
    Script all(uint32_t apart) const
    {
        Script script;

        for (size_t i = 0; i < std::size(lengths); i += apart)
            for (bool ordered : {false, true})
                for (bool in_place : {false, true}) {
                    Item item;

                    item.kind = GetParam();
                    item.length = lengths[i];
                    item.algorithm = (int) script.size() % HWMC_SHM_REDUCTION_NUM;
                    item.degree = (uint32_t) script.size() % 5;
                    item.ordered = ordered;
                    item.in_place = item.uneven = in_place;
                    script.push_back(item);
                }
        return script;
    }
};

} // namespace

TEST_P(NodeScan, ThroughTheSegment)
{
    for (uint32_t n = 1; n <= 16; n++)
        ASSERT_EQ("", run(config_of(n, 0), all(1), n));
}

TEST_P(NodeScan, BySingleCopy)
{
    for (uint32_t n = 1; n <= 16; n++)
        ASSERT_EQ("", run(config_of(n, node::kMemcpy), all(1), n));
}

// The kernel copies, here between ranks of one process.
TEST_P(NodeScan, ByCrossMemoryAttach)
{
    ASSERT_EQ("", run(config_of(5, node::kCma), all(1), 1));
}

TEST_P(NodeScan, WithASlowRank)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint32_t slow = 0; slow < 4; slow++) {
            std::vector<uint32_t> weights(4, 40);

            weights[slow] = 1;
            ASSERT_EQ("", run(config_of(4, methods), all(1), slow, weights));
        }
}

// One buffer, one slot, an element at a time.
TEST_P(NodeScan, WithTheLeastOfEverything)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
        Config config = config_of(7, methods);

        config.layout.slots = 1;
        config.layout.buffers = 1;
        config.params.chunk = 1;
        config.params.inline_max = 0;
        config.params.copy_min = 0;
        ASSERT_EQ("", run(config, all(3), 1));
    }
}

TEST_P(NodeScan, OfAsManyRanksAsThereMayBe)
{
    Script script = all(20);

    script = {script.front(), script.back()};
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        ASSERT_EQ("", run(config_of(256, methods), script, 1));
}

TEST_P(NodeScan, OfDifferentLengthsIsAnError)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint64_t other : {9, 60, 402}) {
            Item item;

            item.kind = GetParam();
            item.length = 300;
            Script one = {item}, two = {item};
            two[0].length = other;
            auto [a, b] = run_two(config_of(2, methods), one, two);

            EXPECT_NE(std::string::npos, (a + b).find("invalid argument")) << a << b;
        }
}

// A message that fills a slot, and one that does not fit.
TEST_P(NodeScan, InAllLinesOfASlot)
{
    for (uint32_t n : {2u, 3u, 6u}) {
        Script script;

        for (uint64_t length : node::kSlotLengths)
            for (bool ordered : {false, true}) {
                Item item;

                item.kind = GetParam();
                item.length = length;
                item.ordered = ordered;
                item.in_place = length % 3 == 0;
                script.push_back(item);
            }
        ASSERT_EQ("", run(config_of(n, 0).with_whole_slots(), script, n));
    }
}

INSTANTIATE_TEST_SUITE_P(All, NodeScan,
                         testing::Values(Kind::kReduceScatter, Kind::kScan, Kind::kExscan),
                         [](const auto &info) {
                             Item item;

                             item.kind = info.param;
                             return item.text().substr(0, item.text().find(' '));
                         });
