// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// reference: chain, binary, binomial and van de Geijn take the time of their formulas.
#include <math.h>

#include "run_one.h"

using namespace sim;

namespace {

constexpr double LATENCY = 20; // us

double ceil_log2(uint32_t p)
{
    return ceil(log2(p));
}

TEST(Reference, ChainTakesAsLongAsItsFormula)
{
    for (uint32_t p : {2, 3, 17, 64})
        for (uint64_t bytes : {8 * KIB, 64 * KIB, MIB}) {
            Options o = plain(Algorithm::CHAIN, p, bytes, {1000, 500});
            double segment = 8192 * 8 / 1500.0, m = (double) bytes / 8192;

            EXPECT_NEAR(good(o).us(o), (p - 1) * (LATENCY + segment) + (m - 1) * segment,
                        0.01 * least_us(o) + 0.2 * p)
                << said(o);
        }
}

TEST(Reference, UncutChainAndBinomialTakeAWholeMessageAHop)
{
    for (uint32_t p : {2, 3, 16, 33, 64}) {
        Options o = plain(Algorithm::CHAIN, p, MIB, {1000});

        o.segment = 0;
        EXPECT_NEAR(good(o).us(o), (p - 1) * (LATENCY + least_us(o)), p);
        o.algorithm = Algorithm::BINOMIAL;
        // The root's last child has the least latency, and its first the most descendants.
        EXPECT_NEAR(good(o).us(o), ceil_log2(p) * (LATENCY + least_us(o)), ceil_log2(p) * LATENCY)
            << p;
    }
}

TEST(Reference, BinaryTakesTwoMessagesAndADepth)
{
    for (uint32_t p : {7, 15, 32, 63}) {
        Options o = plain(Algorithm::BINARY, p, 4 * MIB, {1000, 1000});
        double depth = floor(log2(p)), segment = 8192 * 8 / 2000.0;
        double us = good(o).us(o);

        EXPECT_LE(us, depth * (LATENCY + 2 * segment) + 2 * least_us(o) + 1) << p;
        EXPECT_GE(us, 2 * least_us(o) + depth * LATENCY) << p;
    }
}

TEST(Reference, VandegeijnTakesAScatterAndARing)
{
    for (uint32_t p : {2, 8, 32}) {
        Options o = plain(Algorithm::VANDEGEIJN, p, 4 * MIB, {1000});
        double part = (p - 1.0) / p * least_us(o);

        EXPECT_NEAR(good(o).us(o), (ceil_log2(p) + p - 1) * LATENCY + 2 * part, 0.02 * least_us(o))
            << p;
    }
}

TEST(Reference, TwoSitesCostAsSectionSixSays)
{
    const double site = 10000, half = 16, segment = 8192 * 8 / 2000.0;

    Options o = plain(Algorithm::CHAIN, 32, 16 * MIB, {1000, 1000});
    o.sites = 2;
    EXPECT_NEAR(good(o).us(o), 2 * (half - 1) * (LATENCY + segment) + site + least_us(o), 100);
    o.algorithm = Algorithm::BINARY;
    EXPECT_NEAR(good(o).us(o), 4 * LATENCY + 3 * least_us(o), 0.02 * least_us(o)); // the first site
    o.bytes = MIB;
    EXPECT_NEAR(good(o).us(o), 4 * (LATENCY + 2 * segment) + site + 2 * least_us(o), 300);
    o.algorithm = Algorithm::BINOMIAL;
    o.segment = 0;
    EXPECT_NEAR(good(o).us(o), site + least_us(o) + 4 * (LATENCY + least_us(o)), 10);
}

TEST(Reference, ReceiversCrossTheBorderOnce)
{
    for (Algorithm a : {Algorithm::CHAIN, Algorithm::BINARY, Algorithm::BINOMIAL})
        for (uint32_t sites : {1, 2, 3, 5}) {
            Options o = plain(a, 23, 100000, {100});

            o.sites = sites;
            EXPECT_EQ(good(o).traffic.site_bytes, (sites - 1) * o.bytes) << said(o);
        }
}

} // namespace
