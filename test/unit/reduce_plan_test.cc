// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// reduce_plan, scan_plan: members agree on who sends to whom, and all vectors come to one.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

extern "C" {
#include "core/exchange/reduce_plan.h"
#include "core/exchange/scan_plan.h"
}

namespace {

struct Setting {
    uint32_t size, root, bytes;
    bool commutative;
    hwmc_reduce_way way;
};

hwmc_reduce_plan plan_at(const Setting &s, uint32_t rank)
{
    const hwmc_reduce_plan_cfg cfg = {s.size, rank, s.root, s.commutative, s.way, s.bytes, 10};
    hwmc_reduce_plan p;

    hwmc_reduce_plan_init(&p, &cfg);
    return p;
}

// The members whose vectors are in what `rank` has at the end, in the order of combination.
void collect(const Setting &s, uint32_t t, uint32_t rank, std::vector<uint32_t> *in)
{
    const hwmc_reduce_plan p = plan_at(s, rank);

    in->push_back(rank);
    ASSERT_LE(in->size(), s.size);
    for (uint32_t i = 0; i < hwmc_reduce_plan_children(&p, t); i++) {
        const uint32_t child = hwmc_reduce_plan_child(&p, t, i);
        const hwmc_reduce_plan below = plan_at(s, child);
        uint32_t parent = UINT32_MAX;

        EXPECT_TRUE(hwmc_reduce_plan_parent(&below, t, &parent));
        EXPECT_EQ(parent, rank);
        collect(s, t, child, in);
    }
}

TEST(ReducePlan, OneTreeCombinesInTheOrderOfMembers)
{
    for (uint32_t size = 2; size <= 40; size++)
        for (uint32_t fanout : {1, 2, 3, 32})
            for (uint32_t root : {0u, size / 2, size - 1})
                for (bool commutative : {true, false}) {
                    const Setting s = {size, root, 25, commutative, {1, fanout, 10}};
                    const uint32_t first = commutative ? root : 0;
                    const hwmc_reduce_plan p = plan_at(s, first);
                    std::vector<uint32_t> in;
                    uint32_t parent;

                    EXPECT_FALSE(hwmc_reduce_plan_parent(&p, 0, &parent));
                    EXPECT_EQ(hwmc_reduce_plan_is_relayed(&p), !commutative && root != 0);
                    EXPECT_EQ(hwmc_reduce_plan_parts(&p, 0), 3u);
                    EXPECT_EQ(hwmc_reduce_plan_bytes(&p, 0), 25u);
                    collect(s, 0, first, &in);
                    ASSERT_EQ(in.size(), size);
                    for (uint32_t i = 0; i < size; i++)
                        EXPECT_EQ(in[i], (first + i) % size);
                }
}

TEST(ReducePlan, OfTwoTreesEachHasEveryOtherPart)
{
    for (uint32_t size = 4; size <= 40; size++)
        for (uint32_t root : {0u, size - 1})
            for (uint32_t bytes : {5, 20, 35}) {
                const Setting s = {size, root, bytes, true, {2, 2, 10}};
                const hwmc_reduce_plan p = plan_at(s, root);
                const uint32_t parts = (bytes + 9) / 10;
                uint32_t all = 0;

                for (uint32_t t = 0; t < 2; t++) {
                    const bool used = hwmc_reduce_plan_parts(&p, t) > 0;
                    std::vector<uint32_t> in;
                    uint32_t parent;

                    EXPECT_EQ(hwmc_reduce_plan_parts(&p, t), (parts + 1 - t) / 2);
                    EXPECT_FALSE(hwmc_reduce_plan_parent(&p, t, &parent));
                    collect(s, t, root, &in);
                    EXPECT_EQ(in.size(), used ? size : 1);
                    all += used ? hwmc_reduce_plan_bytes(&p, t) : 0;
                }
                EXPECT_EQ(all, bytes);
            }
}

TEST(ScanPlan, WhatComesWasSent)
{
    for (uint32_t size = 2; size <= 70; size++)
        for (bool chain : {false, true}) {
            uint32_t ins = 0, outs = 0;

            for (uint32_t rank = 0; rank < size; rank++) {
                const hwmc_scan_plan p = {size, rank, chain};

                ins += hwmc_scan_plan_ins(&p);
                outs += hwmc_scan_plan_outs(&p);
                for (uint32_t i = 0; i < hwmc_scan_plan_ins(&p); i++) {
                    const hwmc_scan_plan from = {size, hwmc_scan_plan_in(&p, i), chain};

                    ASSERT_LT(i, hwmc_scan_plan_outs(&from));
                    EXPECT_EQ(hwmc_scan_plan_out(&from, i), rank);
                    EXPECT_EQ(hwmc_scan_plan_before(&from, i),
                              chain ? hwmc_scan_plan_ins(&from)
                                    : std::min(i, hwmc_scan_plan_ins(&from)));
                }
            }
            EXPECT_EQ(ins, outs);
        }
}

} // namespace
