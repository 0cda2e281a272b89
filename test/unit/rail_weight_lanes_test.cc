// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Broadcasts along trees over two rails of which one falls behind at a host, or is well again.
#include <gtest/gtest.h>

#include "lanes_net.h"

namespace {

using lanes::Config;
using lanes::Net;

// us of a broadcast over one rail alone.
double alone()
{
    Config c;

    c.rails = 1;
    c.measured = {100};
    return Net(c).mean(4, true);
}

double both()
{
    return Net(Config()).mean(4, true);
}

} // namespace

TEST(LagLanes, BothRailsCarryTheMessage)
{
    EXPECT_LT(both(), 0.6 * alone());
}

// Rail 1 of host 2 becomes slower, and is well again, for one root and for all in turn.
TEST(LagLanes, ARailThatFallsIsLeftAndTakenUpAgain)
{
    for (bool rotate : {false, true})
        for (uint32_t mbit : {30, 10, 1}) {
            Config c;
            Net net(c);

            net.mean(4, rotate);
            EXPECT_EQ(0u, net.total().lane_eased);
            net.speed(2, 1, mbit);
            net.mean(8, rotate); // while it is found
            EXPECT_LE(net.mean(8, rotate), 1.25 * alone()) << mbit << " Mbit/s, " << rotate;
            EXPECT_GT(net.total().lane_eased, 0u);
            EXPECT_GT(net.total().lane_copies, 0u);
            net.speed(2, 1, 100);
            net.mean(60, rotate);
            EXPECT_LE(net.mean(8, rotate), 1.1 * both()) << mbit << " Mbit/s, " << rotate;
            EXPECT_GT(net.total().lane_regained, 0u);
        }
}

// What the others are measured against.
TEST(LagLanes, AsDealtASlowRailSlowsAll)
{
    Config c;

    c.follow = false;
    Net net(c);
    net.speed(2, 1, 10);
    EXPECT_GT(net.mean(4), 4 * alone());
}

TEST(LagLanes, EqualRailsStayEqual)
{
    for (uint64_t seed = 1; seed <= 10; seed++)
        for (int how = 0; how < 4; how++) {
            Config c;

            c.seed = seed;
            c.jitter = how == 0 ? 3000 : 300;
            c.away_ppm = how == 1 ? 20000 : 0;
            c.away = 20000;
            c.stuck_ppm = how == 2 ? 5000 : 0;
            c.mismatch = 20000;
            if (how == 3) {
                c.away_ppm = 5000;
                c.stuck_ppm = 1000;
            }
            Net with(c);
            double follows = with.mean(20, true);
            c.follow = false;
            double dealt = Net(c).mean(20, true);

            EXPECT_LE(follows, dealt / 0.95) << "seed " << seed << ", " << how;
        }
}

// The start-up measure was wrong, or true no more.
TEST(LagLanes, ARailMeasuredTooSlowIsTakenUp)
{
    for (uint32_t mbit : {50, 10}) {
        Config c;

        c.measured = {100, mbit};
        Net net(c);
        net.mean(100);
        EXPECT_LE(net.mean(8), 1.15 * Net(Config()).mean(4)) << mbit;
    }
}

// Rails of other speeds, as measured, are not used worse than by these speeds.
TEST(LagLanes, UnequalRailsKeepTheirShares)
{
    for (uint32_t mbit : {80, 50, 25}) {
        Config c;

        c.measured = {100, mbit};
        Net follows(c);
        c.follow = false;
        Net dealt(c);
        for (uint32_t host = 0; host < 4; host++) {
            follows.speed(host, 1, mbit);
            dealt.speed(host, 1, mbit);
        }
        EXPECT_LE(follows.mean(30, true), 1.05 * dealt.mean(30, true)) << mbit;
    }
}

TEST(LagLanes, ShortBroadcastsLearnToo)
{
    Config c;

    c.segments = 32;
    Net net(c);
    net.speed(2, 1, 5);
    double before = net.mean(1);
    net.mean(60);
    EXPECT_LE(net.mean(10), 0.5 * before);
}
