// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// lag: which segments are late, and what becomes of a rail's share. Whole broadcasts are in
// rail_weight_lanes_test.cc.
#include <memory>
#include <vector>
#include <gtest/gtest.h>

#include "core.h"

namespace {

constexpr uint8_t A = 1, B = 2;

struct Lag {
    hwmc_counts counts = {};
    std::unique_ptr<hwmc_rail_weight> l = std::make_unique<hwmc_rail_weight>();

    explicit Lag(std::vector<uint32_t> speed = {100, 100})
    {
        hwmc_rail_weight_cfg cfg = {};

        cfg.rails = (uint32_t) speed.size();
        std::copy(speed.begin(), speed.end(), cfg.speed);
        hwmc_rail_weight_init(l.get(), &cfg, &counts);
    }
    void came(uint32_t index, uint8_t rail, uint64_t now, uint32_t window = 8)
    {
        hwmc_rail_weight_came(l.get(), 0, index, rail, window, now);
    }
    // What GRANT says: came, and late in the upper half.
    int told()
    {
        uint8_t late, came = hwmc_rail_weight_tell(l.get(), 0, &late);

        return came | late << 8;
    }
    void votes(int n, uint8_t came, uint8_t late, uint32_t peer = 7)
    {
        for (int i = 0; i < n; i++) {
            hwmc_rail_weight_on_told(l.get(), peer, came, late);
            hwmc_rail_weight_check(l.get());
        }
    }
    struct Dealt {
        std::vector<int> real, copies; // by rail
        bool operator==(const Dealt &other) const
        {
            return real == other.real && copies == other.copies;
        }
    };
    // Of so many segments.
    Dealt wrr(int n, uint32_t peer = 7)
    {
        Dealt dealt = {{0, 0, 0}, {0, 0, 0}};
        uint32_t rail;
        uint8_t copies;

        for (int i = 0; i < n; i++) {
            if (!hwmc_rail_weight_next(l.get(), peer, &rail, &copies))
                return dealt;
            dealt.real[rail]++;
            for (int k = 0; k < 3; k++)
                dealt.copies[k] += copies >> k & 1;
            hwmc_rail_weight_check(l.get());
        }
        return dealt;
    }
    bool deviates(uint32_t peer = 7)
    {
        uint32_t rail;
        uint8_t copies;

        return hwmc_rail_weight_next(l.get(), peer, &rail, &copies);
    }
};

} // namespace

TEST(Lag, ASegmentIsLateWhenOneFarBeyondItCameBefore)
{
    Lag g;

    hwmc_rail_weight_expect(g.l.get(), 0, 3);
    g.came(0, A, 1);
    g.came(4, A, 2);
    g.came(1, B, 3);
    EXPECT_EQ(A | B, g.told());
    g.came(6, A, 4);
    g.came(2, B, 5); // 6 is half a window beyond
    EXPECT_EQ(A | B, g.told());
    g.came(8, A, 6);
    g.came(3, B, 7);
    EXPECT_EQ((A | B) | B << 8, g.told());
    EXPECT_EQ(0, g.told()); // once
}

TEST(Lag, WhatIsTakenInOneLookHasComeAtOneTime)
{
    Lag g;

    hwmc_rail_weight_expect(g.l.get(), 0, 3);
    for (uint32_t i : {0, 2, 4, 6})
        g.came(i, A, 9);
    for (uint32_t i : {1, 3, 5, 7})
        g.came(i, B, 9);
    EXPECT_EQ(A | B, g.told());
    for (uint32_t i : {8, 10, 12, 14})
        g.came(i, A, 10);
    for (uint32_t i : {9, 11, 13, 15})
        g.came(i, B, 11); // in the next look
    EXPECT_EQ((A | B) | B << 8, g.told());
}

TEST(Lag, WhatIsNotToldYetIsForItsParent)
{
    Lag g;

    hwmc_rail_weight_expect(g.l.get(), 0, 3);
    g.came(7, A, 1);
    g.came(1, B, 2);
    hwmc_rail_weight_expect(g.l.get(), 0, 3); // the next broadcast
    EXPECT_EQ((A | B) | B << 8, g.told());
    g.came(1, A, 3);
    hwmc_rail_weight_expect(g.l.get(), 0, 4);
    EXPECT_EQ(0, g.told());
    g.came(0, A, 4); // of what came in another broadcast nothing counts
    EXPECT_EQ(A, g.told());
}

TEST(Lag, ThePeerThatNobodyComplainsOfIsDealtToAsBefore)
{
    Lag g;

    g.votes(1000, A | B, 0);
    EXPECT_FALSE(g.deviates());
    g.votes(1, A, B); // of a rail that brought nothing
    EXPECT_FALSE(g.deviates());
    g.votes(20, 0x84, 0x84); // that there are not
    EXPECT_FALSE(g.deviates());
    EXPECT_EQ(0u, g.counts.lane_late);
}

TEST(Lag, SixLateVotesOfEightHalveAShare)
{
    Lag g;

    g.votes(5, A | B, B);
    EXPECT_EQ((Lag::Dealt{{30, 30, 0}, {0, 0, 0}}), g.wrr(60));
    g.votes(2, A | B, 0);
    g.votes(1, A | B, B);
    EXPECT_EQ((Lag::Dealt{{40, 20, 0}, {0, 0, 0}}), g.wrr(60));
    EXPECT_EQ(1u, g.counts.lane_eased);
    EXPECT_FALSE(g.deviates(8));
}

TEST(Lag, LateNowAndThenChangesNothing)
{
    Lag g;

    for (int i = 0; i < 200; i++) {
        g.votes(3, A | B, B);
        g.votes(3, A | B, A);
    }
    EXPECT_EQ(0u, g.counts.lane_eased);
    EXPECT_EQ((Lag::Dealt{{30, 30, 0}, {0, 0, 0}}), g.wrr(60));
}

TEST(Lag, AShareRisesAgainWhileTheRailIsNotLate)
{
    Lag g;

    g.votes(6, A | B, B);
    g.votes(4 * 8 - 1, A | B, 0);
    EXPECT_NE((Lag::Dealt{{30, 30, 0}, {0, 0, 0}}), g.wrr(60));
    g.votes(1, A | B, 0);
    g.wrr(8);
    EXPECT_EQ((Lag::Dealt{{30, 30, 0}, {0, 0, 0}}), g.wrr(60));
}

TEST(Lag, ARailBelowAQuarterCarriesCopiesOnly)
{
    Lag g;
    Lag::Dealt dealt;

    g.votes(18, A | B, B); // 512, 256, 128
    dealt = g.wrr(32);
    EXPECT_EQ((std::vector<int>{32, 0, 0}), dealt.real);
    EXPECT_NEAR(4, dealt.copies[1], 1);
    g.votes(1, B, B); // 64
    g.wrr(16);
    EXPECT_NEAR(2, g.wrr(32).copies[1], 1);
    g.votes(20, B, B);
    EXPECT_NEAR(4, g.wrr(512).copies[1], 1); // and so many however late
}

TEST(Lag, ARailThatIsWellAgainIsTakenUp)
{
    Lag g;

    g.votes(18, A | B, B);
    for (int i = 0; i < 10; i++)
        g.votes(1, B, B);
    EXPECT_EQ(0u, g.counts.lane_regained);
    g.votes(5 * 2 + 7, A | B, 0); // doubled five times; a quarter is proven by eight more
    EXPECT_EQ(0, g.wrr(20).real[1]);
    g.votes(1, A | B, 0);
    EXPECT_EQ(1u, g.counts.lane_regained);
    EXPECT_NEAR(4, g.wrr(20).real[1], 1);
    g.votes(6 * 8, A | B, 0);
    g.wrr(8);
    EXPECT_EQ((Lag::Dealt{{30, 30, 0}, {0, 0, 0}}), g.wrr(60));
}

TEST(Lag, CopiesThatNobodyTellsOfAreFewAndFewer)
{
    Lag g;
    int copies = 0;

    g.votes(18, A | B, B);
    EXPECT_EQ((int) HWMC_RAIL_WEIGHT_UNHEARD, g.wrr(10000).copies[1]);
    EXPECT_EQ(0, g.wrr(10000).copies[1]);
    for (int i = 0; i < 40; i++) { // broadcasts of 100 segments
        hwmc_rail_weight_serve(g.l.get(), 7);
        copies += g.wrr(100).copies[1];
    }
    EXPECT_LE(copies, 60);
    copies = 0;
    for (int i = 0; i < 40; i++) {
        hwmc_rail_weight_serve(g.l.get(), 7);
        copies += g.wrr(100).copies[1];
    }
    EXPECT_LE(copies, 8);
}

TEST(Lag, OneRailIsAlwaysLeft)
{
    Lag g({100, 100, 100});
    uint32_t seed = 1;

    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        g.votes(1, (uint8_t) (seed >> 16 & 7), (uint8_t) (seed >> 20 & 7 & (i / 1000 % 8)));
        if (seed >> 28 == 0)
            g.wrr(3);
    }
    g.votes(100, 7, 7);
    Lag::Dealt dealt = g.wrr(60);
    EXPECT_EQ(60, dealt.real[0] + dealt.real[1] + dealt.real[2]);
}

TEST(Lag, SharesBeginAsMeasured)
{
    Lag g({100, 50, 20});

    EXPECT_FALSE(g.deviates());
    g.votes(1, 7, 0);
    EXPECT_EQ((std::vector<int>{20, 10, 0}), g.wrr(30).real);
    EXPECT_NEAR(5, g.wrr(960).copies[2], 1);
}

// Measured too slow: raised while it is not late, and back to what was measured when it is.
TEST(Lag, ARailMayTurnOutFasterThanMeasured)
{
    Lag g({100, 50});
    int raised = 0;

    g.votes(1000, A | B, 0);
    g.wrr(8);
    EXPECT_EQ((Lag::Dealt{{30, 30, 0}, {0, 0, 0}}), g.wrr(60));
    g.votes(6, A | B, B);
    g.wrr(8);
    EXPECT_EQ((Lag::Dealt{{40, 20, 0}, {0, 0, 0}}), g.wrr(60));
    for (int i = 0; i < 1000; i++) { // it cannot carry more: tried less and less often
        bool more = g.wrr(600).real[1] > 208;

        raised += more;
        g.votes(1, A | B, more ? B : 0);
    }
    EXPECT_LE(raised, 45);
}

TEST(Lag, ARailThatIsNotUsedStaysSo)
{
    Lag g({100, 0, 100});

    g.votes(20, 7, 4);
    g.votes(2000, 7, 0);
    EXPECT_EQ((Lag::Dealt{{30, 0, 30}, {0, 0, 0}}), g.wrr(60));
}

TEST(Lag, TheTableForgetsWhoWasNotServedForLongest)
{
    Lag g;

    for (uint32_t peer = 0; peer < HWMC_RAIL_WEIGHT_PEERS; peer++)
        g.votes(1, B, B, peer);
    hwmc_rail_weight_serve(g.l.get(), 0);
    g.votes(1, B, B, 1000);
    EXPECT_TRUE(g.deviates(0));
    EXPECT_FALSE(g.deviates(1));
    EXPECT_TRUE(g.deviates(2));
    EXPECT_TRUE(g.deviates(1000));
}
