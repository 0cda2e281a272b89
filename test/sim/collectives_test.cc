// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// collectives: other than broadcasts: every rank has the right outcome, for any number of ranks,
// any length and whatever is lost; times are those that the model of the network allows.
#include <math.h>

#include "run_one.h"
#include "value.h"

using namespace sim;

namespace {

struct Kind {
    Collective collective;
    Algorithm algorithm;
};

const std::vector<Kind> KINDS = {
    {Collective::BARRIER, Algorithm::STRIPED},
    {Collective::BARRIER, Algorithm::TWO_STAGE},
    {Collective::BARRIER, Algorithm::MULTILANE},
    {Collective::BARRIER, Algorithm::DISSEMINATION},
    {Collective::ALLREDUCE, Algorithm::STRIPED},
    {Collective::ALLREDUCE, Algorithm::TWO_STAGE},
    {Collective::ALLREDUCE, Algorithm::MULTILANE},
    {Collective::ALLREDUCE, Algorithm::DISSEMINATION},
    {Collective::REDUCE, Algorithm::EXCHANGE},
    {Collective::SCAN, Algorithm::EXCHANGE},
    {Collective::ALLGATHER, Algorithm::STRIPED},
    {Collective::ALLGATHER, Algorithm::TWO_STAGE},
    {Collective::ALLGATHER, Algorithm::EXCHANGE},
    {Collective::ALLTOALL, Algorithm::EXCHANGE},
    {Collective::REDUCE_SCATTER, Algorithm::EXCHANGE},
};

Options of(Kind k, uint32_t ranks, uint64_t bytes, std::vector<uint32_t> mbit = {1000})
{
    Options o = plain(k.algorithm, ranks, bytes, std::move(mbit));

    o.collective = k.collective;
    return o;
}

Options allreduce(uint32_t ranks, uint64_t bytes)
{
    return of({Collective::ALLREDUCE, Algorithm::STRIPED}, ranks, bytes);
}

bool combines(Collective c)
{
    return c == Collective::BARRIER || c == Collective::REDUCE || c == Collective::ALLREDUCE;
}

TEST(Value, KnowsTheOrder)
{
    const Value a = operand(1, 0, {0, 0}), b = operand(1, 1, {0, 0}), c = operand(1, 2, {0, 0});

    EXPECT_EQ(a.then(b).sum, b.then(a).sum);
    EXPECT_FALSE(a.then(b) == b.then(a));
    EXPECT_TRUE(a.then(b).then(c) == a.then(b.then(c)));
    EXPECT_TRUE(b.then(c).then(a) == operands(1, 1, 3, 3, {0, 0}));
}

TEST(Collectives, AreRightForAnyNumberOfRanks)
{
    for (const Kind &k : KINDS)
        for (uint32_t p = 2; p <= 34; p++)
            for (uint64_t bytes : {1, 8, 5000, 70001}) {
                Options o = of(k, p, bytes, {1000, 300, 100});

                if (p > 20 && bytes > 5000)
                    continue;
                o.mbit.resize(1 + p % 3);
                o.sites = std::min(p, 1 + p % 4);
                o.count = 1 + p % 3;
                o.overhead = 66;
                o.host_ns = 500;
                o.site_latency_ns = 100000;
                good(o);
            }
}

TEST(Collectives, CombineInOrderAlongAnyTree)
{
    for (const Kind &k : KINDS)
        for (uint32_t degree : {0, 1, 2, 3, 7, 32})
            for (uint32_t p : {2, 3, 8, 33, 70})
                for (bool ordered : {false, true})
                    for (uint64_t bytes : {8, 30000, 300000}) {
                        Options o = of(k, p, bytes);

                        if (!combines(k.collective) || k.algorithm == Algorithm::DISSEMINATION ||
                            (bytes > 8 && k.collective != Collective::REDUCE))
                            continue;
                        o.degree = degree;
                        o.ordered = ordered;
                        o.root = k.collective == Collective::REDUCE ? p * 2 / 3 : 0;
                        o.count = 3;
                        good(o);
                    }
}

TEST(Collectives, AreRightWhateverIsLost)
{
    for (const Kind &k : KINDS)
        for (uint64_t mask = 0; mask < 32; mask++) {
            Options o = of(k, 11, 3000);

            o.loss_mask = mask;
            o.count = 2;
            Result r = good(o);
            EXPECT_EQ(r.traffic.lost,
                      10u * (uint64_t) __builtin_popcountll(
                                mask & ((1ull << std::min<uint64_t>(r.traffic.datagrams, 63)) - 1)))
                << said(o);
        }
    for (const Kind &k : KINDS)
        for (uint32_t ppm : {10000, 100000, 500000, 1000000}) {
            Options o = of(k, 9, 20000, {100, 100});

            o.loss_ppm = ppm;
            o.count = 4;
            o.late_ns = 2000000;
            good(o);
        }
}

TEST(Collectives, MayBeCalledByLateRanks)
{
    for (const Kind &k : KINDS)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            Options o = of(k, 21, 6000, {100, 100});

            o.seed = seed;
            o.count = 12;
            o.late_ns = 5000000;
            o.root_late_ns = seed * 300000;
            Result r = good(o);
            EXPECT_LE(r.median_ns, r.ns);
        }
}

TEST(Collectives, AreAFunctionOfTheOptions)
{
    for (const Kind &k : KINDS) {
        Options o = of(k, 20, 20000, {100, 25});

        o.loss_ppm = 20000;
        o.late_ns = 1000000;
        Result first = good(o), again = good(o);
        EXPECT_EQ(first.ns, again.ns);
        EXPECT_EQ(first.median_ns, again.median_ns);
        EXPECT_EQ(first.events, again.events);
        EXPECT_EQ(first.traffic.bytes, again.traffic.bytes);
    }
}

TEST(Barrier, TakesOneMessageOfEachRankAndOneDatagram)
{
    for (uint32_t p : {2, 8, 500}) {
        Options o = of({Collective::BARRIER, Algorithm::STRIPED}, p, 1);
        Result r = good(o);

        EXPECT_EQ(r.traffic.messages, p - 1);
        EXPECT_EQ(r.traffic.datagrams, 1u);
    }
}

// Up a tree in which nobody waits for another one's message, and down by multicast.
TEST(Allreduce, TakesTheWayUpAndOneMulticast)
{
    const uint64_t up = 20000 + (8 + 64) * 8, down = 20000 + (8 + 40) * 8;
    Options o = allreduce(2, 8);

    EXPECT_EQ(good(o).ns, up + down);
    o.degree = 2;
    o.ranks = 3;
    EXPECT_EQ(good(o).ns, up + (8 + 64) * 8 + down);
    o.ranks = 7;
    EXPECT_EQ(good(o).ns, 2 * (up + (8 + 64) * 8) + down);
    o.degree = 1;
    EXPECT_EQ(good(o).ns, 6 * up + down);
}

TEST(Allreduce, LastsUntilTheLastRankCalls)
{
    for (const Kind &k : KINDS) {
        Options o = of(k, 30, 8);

        if (k.collective != Collective::BARRIER && k.collective != Collective::ALLREDUCE)
            continue;
        o.late_ns = 3000000;
        Result r = good(o);
        EXPECT_GT(r.median_ns, 2000000u) << said(o);
        EXPECT_GT(r.ns, r.median_ns - 1);
    }
}

// And, on the way up, a part or two in each row of a tree.
TEST(Reduce, OfLongVectorsTakesOneVectorsTime)
{
    for (uint32_t p : {4, 8, 31}) {
        Options o = of({Collective::REDUCE, Algorithm::EXCHANGE}, p, 8 * MIB, {1000, 1000});

        EXPECT_GE(good(o).ratio(o), 1) << p;
        EXPECT_LE(good(o).ratio(o), 1.3) << p;
    }
}

TEST(Scan, OfLongVectorsTakesOneVectorsTime)
{
    Options o = of({Collective::SCAN, Algorithm::EXCHANGE}, 16, 8 * MIB);

    EXPECT_GE(good(o).ratio(o), 1);
    EXPECT_LE(good(o).ratio(o), 1.2);
}

TEST(Exchange, OfLongBlocksTakesWhatTheWireAllows)
{
    for (Collective c : {Collective::ALLGATHER, Collective::ALLTOALL, Collective::REDUCE_SCATTER})
        for (uint32_t p : {2, 8, 24}) {
            Options o = of({c, Algorithm::EXCHANGE}, p, 512 * KIB, {1000, 1000});

            EXPECT_GE(good(o).ratio(o), p - 1) << said(o);
            EXPECT_LE(good(o).ratio(o), 1.15 * (p - 1)) << said(o);
        }
}

TEST(Turns, MulticastEachBlockOnce)
{
    for (uint32_t p : {2, 8, 24}) {
        Options o = of({Collective::ALLGATHER, Algorithm::STRIPED}, p, 256 * KIB, {1000, 1000});
        Result r = good(o);

        EXPECT_GE(r.ratio(o), p - 1) << said(o);
        EXPECT_LE(r.ratio(o), 1.15 * p) << said(o);
        EXPECT_LE(r.traffic.bytes, 1.2 * (double) (p * o.bytes));
    }
}

TEST(Dissemination, TakesARoundForEachPowerOfTwo)
{
    for (uint32_t p : {2, 3, 8, 9, 100}) {
        Options o = of({Collective::BARRIER, Algorithm::DISSEMINATION}, p, 1);

        EXPECT_EQ(good(o).ns, (uint64_t) ceil(log2(p)) * (20000 + 8)) << p;
    }
}

} // namespace
