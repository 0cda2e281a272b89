// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// topo.h: the ring, and every k-ary tree up to 300 ranks and 16 children.
#include <vector>

#include <gtest/gtest.h>

#include "core.h"

TEST(Topo, RingGoesRoundAndBack)
{
    for (uint32_t p = 1; p <= 300; p++) {
        uint32_t at = 0;

        for (uint32_t i = 0; i < p; i++) {
            uint32_t next = hwmc_ring_next(at, p);

            ASSERT_LT(next, p);
            ASSERT_EQ(at, hwmc_ring_prev(next, p));
            at = next;
            ASSERT_EQ(i + 1 == p, at == 0);
        }
    }
}

TEST(Topo, EveryRankButTheFirstIsTheChildOfItsParentOnce)
{
    for (uint32_t k = 1; k <= HWMC_FANOUT_MAX; k++)
        for (uint32_t p = 1; p <= 300; p++) {
            std::vector<int> born(p, 0);

            for (uint32_t r = 0; r < p; r++) {
                uint32_t n = hwmc_tree_children(r, p, k);
                uint16_t all = hwmc_tree_all_children(r, p, k);

                ASSERT_LE(n, k);
                for (uint32_t i = 0; i < n; i++) {
                    uint64_t child = hwmc_tree_child(r, i, k);

                    ASSERT_LT(child, p);
                    ASSERT_EQ(r, hwmc_tree_parent((uint32_t) child, k));
                    ASSERT_EQ(i, hwmc_tree_child_number(r, (uint32_t) child, p, k));
                    ASSERT_EQ(child, hwmc_tree_take_child(r, &all, k));
                    born[child]++;
                }
                ASSERT_EQ(0, all);
                for (uint32_t other : {0u, r, p, p + 1})
                    ASSERT_EQ(k, hwmc_tree_child_number(r, other, p, k));
            }
            ASSERT_EQ(0, born[0]);
            for (uint32_t r = 1; r < p; r++)
                ASSERT_EQ(1, born[r]) << "p " << p << " k " << k << " rank " << r;
        }
}

TEST(Topo, ExampleOfTheHeader)
{
    EXPECT_EQ(2u, hwmc_tree_children(0, 6, 2));
    EXPECT_EQ(2u, hwmc_tree_children(1, 6, 2));
    EXPECT_EQ(1u, hwmc_tree_children(2, 6, 2));
    EXPECT_EQ(5u, hwmc_tree_child(2, 0, 2));
}

TEST(Topo, LargestRanksDoNotOverflow)
{
    uint32_t p = UINT32_MAX;

    EXPECT_EQ(0u, hwmc_tree_children(p - 1, p, 16));
    EXPECT_EQ(14u, hwmc_tree_children(p / 16, p, 16));
    EXPECT_EQ(0u, hwmc_tree_children(p / 16 + 1, p, 16));
    EXPECT_LT(p, hwmc_tree_child(p - 1, 15, 16));
}
