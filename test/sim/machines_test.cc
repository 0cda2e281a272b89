// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// machines: every algorithm delivers everything to any number of ranks; the machines take the time
// that the network allows, and repair what it loses.
#include <math.h>

#include <algorithm>

#include "report.h"
#include "run_one.h"

using namespace sim;

namespace {

TEST(All, DeliverToAnyNumberOfRanks)
{
    for (Algorithm a : ALL)
        for (uint32_t p = 2; p <= 65; p++)
            for (uint64_t bytes : {0, 1, 1433, 30000, 70001}) {
                Options o = plain(a, p, bytes, {1000, 300, 100});

                if (bytes == 0 && a == Algorithm::MULTILANE)
                    continue;
                o.mbit.resize(1 + p % 3);
                o.sites = std::min(p, 1 + p % 4);
                o.count = 1 + p % 2;
                o.overhead = 66;
                o.host_ns = 500;
                o.site_latency_ns = 100000;
                good(o);
            }
}

TEST(All, DeliverToLateRanksOfSeveralBroadcasts)
{
    for (Algorithm a : ALL)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            Options o = plain(a, 21, 20000, {100, 100});

            o.seed = seed;
            o.count = 20;
            o.late_ns = 5000000;
            o.root_late_ns = seed * 300000;
            EXPECT_GE(good(o).us(o), (double) o.root_late_ns / 1000 / o.count) << said(o);
        }
}

TEST(All, AreAFunctionOfTheOptions)
{
    for (Algorithm a : ALL) {
        Options o = plain(a, 40, 200000, {100, 25});

        o.loss_ppm = 20000;
        o.late_ns = 1000000;
        Result first = good(o), again = good(o);
        o.seed++;
        Result other = good(o);
        EXPECT_EQ(first.ns, again.ns);
        EXPECT_EQ(first.events, again.events);
        EXPECT_EQ(first.traffic.bytes, again.traffic.bytes);
        EXPECT_EQ(first.repairs, again.repairs);
        EXPECT_EQ(first.traffic.lost == other.traffic.lost, first.traffic.lost == 0) << said(o);
    }
}

TEST(TwoStage, ASmallBroadcastTakesOneDatagramForAnyNumberOfRanks)
{
    for (uint32_t p : {2, 50, 2000}) {
        Options o;

        o.algorithm = Algorithm::TWO_STAGE;
        o.ranks = p;
        Result r = good(o);
        EXPECT_EQ(r.traffic.datagrams, 1u);
        EXPECT_EQ(r.traffic.messages, 0u);
        EXPECT_EQ(r.ns, 2 * 1000 + 20000 + (8 + 40 + 66) * 8u);
    }
}

TEST(TwoStage, ALongBroadcastTakesWhatTheWireAllows)
{
    for (uint32_t p : {2, 8, 64}) {
        Options o = plain(Algorithm::TWO_STAGE, p, 4 * MIB, {1000});

        EXPECT_NEAR(good(o).ratio(o), 1472.0 / 1432, 0.02) << p;
    }
}

TEST(Striped, RailsOfAnySpeedEndTogether)
{
    for (std::vector<uint32_t> mbit :
         {std::vector<uint32_t>{100, 25}, {25, 100}, {100, 100}, {1000, 1000, 400}}) {
        Options o = plain(Algorithm::STRIPED, 8, 8 * MIB, mbit);

        EXPECT_NEAR(good(o).ratio(o), 1472.0 / 1432, 0.03) << said(o);
    }
}

TEST(Striped, LossIsRepairedByLane)
{
    for (uint32_t ppm : {1000, 10000, 100000, 500000, 1000000})
        for (bool push : {false, true}) {
            Options o = plain(Algorithm::STRIPED, 16, 300000, {100, 100});

            o.push = push;
            o.loss_ppm = ppm;
            o.count = 3;
            Result r = good(o);
            EXPECT_GT(r.traffic.lost, 0u);
            EXPECT_GT(r.repairs, 0u) << said(o);
            EXPECT_LE(r.repairs, 15u * 3 * (300000 / 1432 + 1)) << said(o);
        }
}

TEST(Striped, AFewLossesCostLittle)
{
    Options o = plain(Algorithm::STRIPED, 8, 4 * MIB, {100, 100});
    double without = good(o).us(o);

    o.loss_ppm = 10000;
    EXPECT_LE(good(o).us(o), 1.15 * without);
}

TEST(TwoStage, ALateRootCostsNoRepairs)
{
    Options o = plain(Algorithm::TWO_STAGE, 32, MIB, {1000});

    o.root_late_ns = 15000000;
    Result r = good(o);
    EXPECT_EQ(r.repairs, 0u);
    EXPECT_LE(r.us(o), 15000 + 1.1 * least_us(o));
}

TEST(TwoStage, MembersThatAreLateHaveItAtOnce)
{
    Options o = plain(Algorithm::TWO_STAGE, 32, 1000, {1000});

    o.late_ns = 3000000;
    Result r = good(o);
    EXPECT_EQ(r.repairs, 0u);
    EXPECT_LE(r.ns, 3000000u);
}

TEST(Multilane, TakesADepthAndOneMessage)
{
    for (uint32_t p : {7, 8, 15, 31, 32, 64}) {
        Options o = plain(Algorithm::MULTILANE, p, 8 * MIB, {1000, 1000});

        EXPECT_GE(good(o).ratio(o), 1) << p;
        EXPECT_LE(good(o).ratio(o), 1.1) << p;
    }
}

TEST(Multilane, CrossesABorderBetweenSitesOnce)
{
    for (uint32_t sites : {2, 3, 4})
        for (uint32_t p : {16, 31, 33}) {
            Options o = plain(Algorithm::MULTILANE, p, 4 * MIB, {1000, 1000});

            o.sites = sites;
            double crossed = (double) good(o).traffic.site_bytes / (sites - 1);
            EXPECT_GE(crossed, 4.0 * MIB) << said(o);
            EXPECT_LE(crossed, 4.05 * MIB) << said(o);
        }
}

TEST(Multilane, SlowConnectionsBetweenSitesAreUsedSideBySide)
{
    Options o = plain(Algorithm::MULTILANE, 32, 4 * MIB, {1000, 1000});

    o.sites = 2;
    o.site_connection_mbit = 40;
    double trees_times_rails = 4, us = good(o).us(o);
    EXPECT_NEAR(us, 4.0 * MIB * 8 / (40 * trees_times_rails) + 20000, 10000);
}

} // namespace
