// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include <vector>
#include <gtest/gtest.h>

#include "core.h"

static std::vector<int> hand(const std::vector<uint32_t> &speed)
{
    hwmc_wrr d;

    hwmc_wrr_init(&d, (uint32_t) speed.size(), speed.data());
    return std::vector<int>(d.lane, d.lane + d.n);
}

TEST(Deal, EqualLanesComeInTurn)
{
    EXPECT_EQ(std::vector<int>({0}), hand({100}));
    EXPECT_EQ(std::vector<int>({0, 1, 2}), hand({7, 7, 7}));
    EXPECT_EQ(std::vector<int>({0, 1}), hand({0, 0}));
    hwmc_wrr d;
    hwmc_wrr_init(&d, 4, nullptr);
    EXPECT_EQ(4, d.n);
    EXPECT_EQ(3, hwmc_wrr_of(&d, 11));
}

TEST(Deal, SharesFollowSpeed)
{
    EXPECT_EQ(5u, hand({100, 25}).size());
    for (uint32_t slow = 25; slow <= 100; slow++) {
        std::vector<int> cards = hand({slow, 100, 100});
        double count = 0;

        for (int lane : cards)
            count += lane == 0;
        EXPECT_NEAR(slow / (slow + 200.0), count / (double) cards.size(), 0.02) << slow;
    }
}

TEST(Deal, ALaneSlowerThanAQuarterGetsNone)
{
    EXPECT_EQ(std::vector<int>({1}), hand({22, 100}));
    EXPECT_EQ(std::vector<int>({1}), hand({0, 100}));
}

// No stretch of the row gives a lane much more than its share.
TEST(Deal, IsSmooth)
{
    hwmc_wrr d;
    uint32_t speed[3] = {100, 50, 25}, given[3] = {};

    hwmc_wrr_init(&d, 3, speed);
    for (uint32_t i = 0; i < 1000; i++) {
        given[hwmc_wrr_of(&d, i)]++;
        for (int lane = 0; lane < 3; lane++)
            EXPECT_NEAR(speed[lane] / 175.0 * (i + 1), given[lane], 1.5) << i;
    }
}
