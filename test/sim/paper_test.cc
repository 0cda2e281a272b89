// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// paper: what Chiba, Endo and Matsuoka 2007, section 6, found, with their setting: 32 ranks with
// two links of 1 Gbit/s, on one site and on two. As figures/ runs it.
#include "run_one.h"

using namespace sim;

namespace {

Options setting(Algorithm a, uint64_t bytes, uint32_t sites)
{
    Options o = plain(a, 32, bytes, {1000, 1000});

    o.latency_ns = 2000000;
    o.segment = 4096;
    o.sites = sites;
    return o;
}

double us(Algorithm a, uint64_t bytes, uint32_t sites)
{
    Options o = setting(a, bytes, sites);

    return good(o).us(o);
}

TEST(Paper, LongMessagesOnOneSite)
{
    double multilane = us(Algorithm::MULTILANE, 128 * MIB, 1);

    EXPECT_NEAR(us(Algorithm::BINARY, 128 * MIB, 1) / multilane, 2, 0.3);
    EXPECT_NEAR(us(Algorithm::BINOMIAL, 128 * MIB, 1) / multilane, 4.5, 0.7);
    EXPECT_NEAR(us(Algorithm::CHAIN, 128 * MIB, 1) / multilane, 1, 0.15);
}

TEST(Paper, ShortMessagesOnOneSite)
{
    double multilane = us(Algorithm::MULTILANE, 8 * KIB, 1);

    EXPECT_LE(multilane / us(Algorithm::BINARY, 8 * KIB, 1), 1.6);
    EXPECT_LE(multilane / us(Algorithm::BINOMIAL, 8 * KIB, 1), 1.6);
    EXPECT_GE(us(Algorithm::CHAIN, 8 * KIB, 1) / multilane, 3);
}

TEST(Paper, LongMessagesOnTwoSites)
{
    double multilane = us(Algorithm::MULTILANE, 128 * MIB, 2);

    EXPECT_NEAR(us(Algorithm::CHAIN, 128 * MIB, 2) / multilane, 1, 0.4);
    EXPECT_GE(us(Algorithm::BINARY, 128 * MIB, 2) / multilane, 1.7);
    EXPECT_GE(us(Algorithm::BINOMIAL, 128 * MIB, 2) / multilane, 3);
}

} // namespace
