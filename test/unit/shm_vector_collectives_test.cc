// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Collectives in which each rank has a part of its own: in each way, for all numbers of ranks and
// roots, and lengths about each edge; parts alike and not, in place and not.
#include <gtest/gtest.h>

#include "shm_ranks.h"

namespace {

using node::Config;
using node::Item;
using node::Kind;
using node::Script;

Item item_of(Kind kind, uint32_t root, uint64_t length)
{
    Item item;

    item.kind = kind;
    item.root = root;
    item.length = length;
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
    return s;
}

const uint64_t lengths[] = {0,  1,  5,   8,   11,  12,  13,  22,  43,  44,  45,  63,  64,  65,  87,
                            88, 89, 127, 128, 129, 199, 200, 201, 255, 256, 257, 300, 601, 1000};

class NodeParts : public testing::TestWithParam<Kind> {
  protected:
    bool has_root() const
    {
        return GetParam() == Kind::kGather || GetParam() == Kind::kScatter;
    }

    void all(uint64_t methods, bool uneven)
    {
        for (uint32_t n = 1; n <= 16; n++) {
            Script script;

            for (uint32_t root = 0; root < (has_root() ? n : 1); root++)
                for (uint64_t length : lengths) {
                    if (root > 0 && length % 4 != 0)
                        continue;
                    script.push_back(item_of(GetParam(), root, length));
                    script.back().uneven = uneven;
                    script.back().in_place = (script.size() + root) % 2;
                }
            ASSERT_EQ("", run(config_of(n, methods), script, n));
        }
    }
};

} // namespace

TEST_P(NodeParts, ThroughTheSegment)
{
    all(0, false);
}

TEST_P(NodeParts, BySingleCopy)
{
    all(node::kMemcpy, false);
}

TEST_P(NodeParts, OfDifferentLengthsThroughTheSegment)
{
    all(0, true);
}

TEST_P(NodeParts, OfDifferentLengthsBySingleCopy)
{
    all(node::kMemcpy, true);
}

// The kernel copies, here between ranks of one process.
TEST_P(NodeParts, ByCrossMemoryAttach)
{
    Script script;

    for (uint64_t length : {8, 300, 50000})
        for (bool uneven : {false, true}) {
            script.push_back(item_of(GetParam(), 3, length));
            script.back().uneven = uneven;
        }
    ASSERT_EQ("", run(config_of(5, node::kCma), script, 1));
}

TEST_P(NodeParts, WithASlowRank)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint32_t slow = 0; slow < 4; slow++) {
            std::vector<uint32_t> weights(4, 40);
            Script script;

            weights[slow] = 1;
            for (uint32_t i = 0; i < 60; i++) {
                script.push_back(item_of(GetParam(), i / 10 % 4, lengths[i * 7 % 29]));
                script.back().uneven = i % 3 == 0;
            }
            ASSERT_EQ("", run(config_of(4, methods), script, slow, weights));
        }
}

// One buffer, one slot: nothing is done ahead, but all is done.
TEST_P(NodeParts, WithTheLeastOfEverything)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
        Config config = config_of(7, methods);
        Script script;

        config.layout.slots = 1;
        config.layout.buffers = 1;
        config.params.chunk = 1;
        config.params.copy_step = 1;
        config.params.inline_max = 0;
        config.params.copy_min = 0;
        for (uint64_t length : {1, 2, 6, 7, 8, 20})
            for (bool uneven : {false, true}) {
                script.push_back(item_of(GetParam(), (uint32_t) length % 7, length));
                script.back().uneven = uneven;
            }
        ASSERT_EQ("", run(config, script, 1));
    }
}

TEST_P(NodeParts, OfManyRanks)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy}) {
        Script script = {item_of(GetParam(), 299, methods == 0 ? 129 : 201)};

        script.back().uneven = methods == 0;
        ASSERT_EQ("", run(config_of(300, methods), script, 1));
    }
}

// A rank gives more or less than is expected of it: those who read it are told, nothing is written
// where it does not belong, all else is as it should be, and what comes next goes well.
TEST_P(NodeParts, WithOneOfAnotherLengthGoesOn)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (uint32_t n : {1u, 2u, 3u, 6u}) {
            Script script;

            for (uint64_t length : {0, 8, 20, 100, 150, 300, 1000})
                for (uint64_t other : {0, 9, 21, 120, 260, 900})
                    for (uint32_t odd = 0; odd < n; odd += 1 + n / 4)
                        for (bool uneven : {false, true}) {
                            script.push_back(item_of(GetParam(), other % n, length));
                            script.back().odd = odd;
                            script.back().odd_length = other;
                            script.back().uneven = uneven;
                        }
            ASSERT_EQ("", run(config_of(n, methods), script, n));
        }
}

// A message that fills a slot, and one that does not fit.
TEST_P(NodeParts, InAllLinesOfASlot)
{
    for (uint32_t n : {2u, 3u, 6u}) {
        Script script;

        for (uint64_t length : node::kSlotLengths)
            for (uint64_t vector : {UINT64_C(1), (uint64_t) n})
                script.push_back(item_of(GetParam(), 0, length / vector));
        ASSERT_EQ("", run(config_of(n, 0).with_whole_slots(), script, n));
    }
}

INSTANTIATE_TEST_SUITE_P(All, NodeParts,
                         testing::Values(Kind::kGather, Kind::kAllgather, Kind::kScatter,
                                         Kind::kAlltoall),
                         [](const auto &info) {
                             Item item = item_of(info.param, 0, 0);

                             return item.text().substr(0, item.text().find(' '));
                         });
