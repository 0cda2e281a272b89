// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// scale: a hundred thousand ranks; what grows with them and what does not.
#include "run_one.h"

using namespace sim;

namespace {

constexpr uint32_t MANY = 100000;

Options many(Algorithm a, uint64_t bytes)
{
    Options o;

    o.algorithm = a;
    o.ranks = MANY;
    o.bytes = bytes;
    return o;
}

TEST(Scale, MulticastTakesAsLongAsToTwoRanks)
{
    Options o = many(Algorithm::TWO_STAGE, 8);
    Result r = good(o);

    EXPECT_EQ(r.traffic.datagrams, 1u);
    o.ranks = 2;
    EXPECT_EQ(r.ns, good(o).ns);
}

TEST(Scale, MulticastIsRepaired)
{
    Options o = many(Algorithm::STRIPED, 64 * KIB);

    o.loss_ppm = 1000;
    Result r = good(o);
    EXPECT_GT(r.repairs, 3000u);
    EXPECT_LE(r.us(o), 10000);
}

TEST(Scale, TreesAreDeepAsTheLogarithm)
{
    Options o = many(Algorithm::MULTILANE, 64 * KIB);
    double us = good(o).us(o);

    // About 17 hops of a latency, the two sends of a segment, and headers.
    EXPECT_GE(us, 17 * 20 + least_us(o));
    EXPECT_LE(us, 17 * (20 + 2.5 * 70) + 2 * least_us(o));
}

TEST(Scale, ARankTakesAFewKilobytes)
{
    EXPECT_LE(good(many(Algorithm::TWO_STAGE, 8)).rank_bytes, 4096u);
    EXPECT_LE(good(many(Algorithm::BINARY, 64 * KIB)).rank_bytes, 256u);
}

TEST(Scale, ABarrierIsALogarithm)
{
    Options o = many(Algorithm::STRIPED, 1);

    o.collective = Collective::BARRIER;
    o.degree = 10;
    Result r = good(o);
    EXPECT_EQ(r.traffic.messages, MANY - 1);
    EXPECT_EQ(r.traffic.datagrams, 1u);
    EXPECT_LE(r.rank_bytes, 5120u);
    // Five rows of a latency and ten messages of 1 us, and a multicast.
    EXPECT_LE(r.us(o), 5 * (22 + 10 * 1.1) + 22);
    o.ranks = MANY / 10;
    EXPECT_LE(good(o).us(o), 4 * (22 + 10 * 1.1) + 22);
}

TEST(Scale, AnAllreduceIsRightAfterLosses)
{
    Options o = many(Algorithm::STRIPED, 8);

    o.collective = Collective::ALLREDUCE;
    o.ranks = 30000;
    o.loss_ppm = 1000;
    o.count = 3;
    EXPECT_GT(good(o).repairs, 60u);
    o.loss_ppm = 0;
    o.collective = Collective::SCAN;
    o.algorithm = Algorithm::EXCHANGE;
    EXPECT_EQ(good(o).repairs, 0u);
}

} // namespace
