// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The cost model: by hand, and that it is monotonous, without overflow, and free of anything local.
#include <gtest/gtest.h>

#include "core.h"
#include "sim_rng.h"

namespace {

constexpr uint64_t US = 1000, MS = 1000 * US;

// 8 hosts, 2 rails of 100 Mbit/s, 50 us.
const hwmc_network lab = {50 * US, 50 * US, 100, 200, 0, 0, 0, 0, 0, 0};
const hwmc_shape eight = {8, 8, 1, 1432, 2, 8192, 0};

uint64_t ns(hwmc_algorithm a, uint64_t bytes, const hwmc_network &net = lab,
            const hwmc_shape &shape = eight)
{
    return hwmc_model_ns(&net, &shape, a, bytes);
}

hwmc_algorithm best(uint64_t bytes, const hwmc_network &net = lab, const hwmc_shape &shape = eight)
{
    return hwmc_model_best(&net, &shape, HWMC_ALGORITHM_LIMIT, bytes);
}

} // namespace

TEST(Model, ByHand)
{
    EXPECT_EQ(50 * US, ns(HWMC_ALGORITHM_TWO_STAGE, 0));
    EXPECT_EQ(150 * US, ns(HWMC_ALGORITHM_BINOMIAL, 0));
    EXPECT_EQ(300 * US, ns(HWMC_ALGORITHM_DOUBLING, 0));
    EXPECT_EQ(500 * US, ns(HWMC_ALGORITHM_RING, 0));
    EXPECT_EQ(250 * US,
              ns(HWMC_ALGORITHM_MULTILANE, 0)); // 4 ranks to send in 3 levels, then the rest
    EXPECT_EQ(50 * US + 40 * MS, ns(HWMC_ALGORITHM_TWO_STAGE, 1000000));
    EXPECT_EQ(3 * (50 * US + 80 * MS), ns(HWMC_ALGORITHM_BINOMIAL, 1000000));
    EXPECT_EQ(500 * US + 140 * MS, ns(HWMC_ALGORITHM_RING, 1000000));
    EXPECT_EQ(50 * US + 4 * (50 * US + 655360) + 40 * MS, ns(HWMC_ALGORITHM_MULTILANE, 1000000));
}

TEST(Model, MulticastWinsWhereItWorks)
{
    for (uint64_t bytes = 0; bytes <= 64 << 20; bytes = 3 * bytes + 1)
        EXPECT_EQ(HWMC_ALGORITHM_TWO_STAGE, best(bytes)) << bytes;
}

TEST(Model, WithoutItShortMessagesAreMpichsAndLongOnesGoAlongTrees)
{
    hwmc_shape lanes = eight;

    lanes.frag_bytes = 0;
    EXPECT_EQ(UINT64_MAX, ns(HWMC_ALGORITHM_TWO_STAGE, 8, lab, lanes));
    EXPECT_EQ(HWMC_ALGORITHM_BINOMIAL, best(8, lab, lanes));
    EXPECT_EQ(HWMC_ALGORITHM_MULTILANE, best(1 << 20, lab, lanes));
    lanes.trees = 0;
    EXPECT_EQ(HWMC_ALGORITHM_DOUBLING, best(1 << 20, lab, lanes));
}

TEST(Model, LossMakesMulticastSlowerAndTreesNot)
{
    hwmc_network lossy = lab;

    lossy.loss_ppm = 300000;
    EXPECT_GT(ns(HWMC_ALGORITHM_TWO_STAGE, 1 << 20, lossy), ns(HWMC_ALGORITHM_TWO_STAGE, 1 << 20));
    EXPECT_EQ(ns(HWMC_ALGORITHM_MULTILANE, 1 << 20, lossy), ns(HWMC_ALGORITHM_MULTILANE, 1 << 20));
    EXPECT_EQ(HWMC_ALGORITHM_MULTILANE, best(32 << 20, lossy));
    lossy.loss_ppm = 1; // of one fragment for seven, a round trip in 7 of a million
    EXPECT_EQ(50 * US + 0 + 7 * 100 * US / 1000000, ns(HWMC_ALGORITHM_TWO_STAGE, 0, lossy));
}

TEST(Model, SitesAddTheirWay)
{
    hwmc_network far = lab;
    hwmc_shape two = eight;

    far.site_latency_ns = 10 * MS;
    two.sites = 4;
    for (int a = 0; a < HWMC_ALGORITHM_LIMIT; a++)
        EXPECT_EQ(ns((hwmc_algorithm) a, 1000), ns((hwmc_algorithm) a, 1000, far));
    EXPECT_EQ(10 * MS, ns(HWMC_ALGORITHM_TWO_STAGE, 0, far, two));
    EXPECT_EQ(ns(HWMC_ALGORITHM_BINOMIAL, 0) + 2 * (10 * MS - 50 * US),
              ns(HWMC_ALGORITHM_BINOMIAL, 0, far, two));
    EXPECT_GE(ns(HWMC_ALGORITHM_MULTILANE, 0, far, two), 3 * 10 * MS);
}

// Where the wire is faster than a host can take datagrams, trees and MPICH are not held up.
TEST(Model, AHostTakesItsTimeForADatagram)
{
    hwmc_network fast = {2 * US, 2 * US, 100000, 100000, 0, 1000, 0, 0, 0, 0};

    EXPECT_EQ(2 * US + 699 * US, ns(HWMC_ALGORITHM_TWO_STAGE, 1000000, fast));
    EXPECT_EQ(HWMC_ALGORITHM_TWO_STAGE, best(8, fast));
    EXPECT_EQ(HWMC_ALGORITHM_MULTILANE, best(32 << 20, fast));
    fast.mbit = fast.mbit_all = 10000;
    EXPECT_EQ(HWMC_ALGORITHM_TWO_STAGE, best(32 << 20, fast));
}

// The rate while all hosts send counts for each algorithm by what its hosts do at once.
TEST(Model, HostsThatHinderEachOtherAreSlower)
{
    hwmc_network shared = lab;
    const uint64_t n = 1000000, c = (n - HWMC_LOADED_FIRST) * (320 - 80); // ns, on a rail
    const hwmc_shape two = {2, 2, 1, 1432, 2, 8192, 0};

    shared.loaded_mbit = 25;
    for (auto a : {HWMC_ALGORITHM_TWO_STAGE, HWMC_ALGORITHM_MULTILANE, HWMC_ALGORITHM_BINOMIAL,
                   HWMC_ALGORITHM_DOUBLING, HWMC_ALGORITHM_RING}) {
        EXPECT_EQ(ns(a, HWMC_LOADED_FIRST), ns(a, HWMC_LOADED_FIRST, shared)) << a;
        EXPECT_EQ(ns(a, n, lab, two), ns(a, n, shared, two)) << a;
    }
    EXPECT_EQ(ns(HWMC_ALGORITHM_TWO_STAGE, n) + c / 4, ns(HWMC_ALGORITHM_TWO_STAGE, n, shared));
    EXPECT_EQ(ns(HWMC_ALGORITHM_MULTILANE, n) + c / 2, ns(HWMC_ALGORITHM_MULTILANE, n, shared));
    EXPECT_EQ(ns(HWMC_ALGORITHM_BINOMIAL, n) + 2 * c, ns(HWMC_ALGORITHM_BINOMIAL, n, shared));
    EXPECT_EQ(ns(HWMC_ALGORITHM_DOUBLING, n) + 2 * (c - c / 8),
              ns(HWMC_ALGORITHM_DOUBLING, n, shared));
    EXPECT_EQ(ns(HWMC_ALGORITHM_RING, n) + 2 * (c - c / 8), ns(HWMC_ALGORITHM_RING, n, shared));
}

// On processors that four hosts share: trees carry 12 Gbit/s between two of them, and half of that
// while all work. Multicast is slower than that between two, but its hosts have less to do.
TEST(Model, FewerBytesAHostWinWhereHostsHinderEachOther)
{
    hwmc_network shared = {4 * US, 4 * US, 12500, 12500, 0, 1000, 3 * US, 12500, 4 * US, 0};
    const hwmc_shape four = {4, 4, 1, 1432, 2, 8192, 0};

    EXPECT_EQ(HWMC_ALGORITHM_MULTILANE, best(16 << 20, shared, four));
    shared.loaded_mbit = 6000;
    EXPECT_EQ(HWMC_ALGORITHM_TWO_STAGE, best(16 << 20, shared, four));
}

// Four ranks a host: MPICH sends to hosts, multicast reaches all, trees feed each rank.
TEST(Model, RanksOfAHostShareItsRails)
{
    hwmc_shape full = {32, 8, 1, 1432, 2, 8192, 0};

    EXPECT_EQ(ns(HWMC_ALGORITHM_BINOMIAL, 1000), ns(HWMC_ALGORITHM_BINOMIAL, 1000, lab, full));
    EXPECT_EQ(ns(HWMC_ALGORITHM_TWO_STAGE, 1000), ns(HWMC_ALGORITHM_TWO_STAGE, 1000, lab, full));
    EXPECT_GT(ns(HWMC_ALGORITHM_MULTILANE, 1000000, lab, full), 160 * MS);
    full.frag_bytes = 0;
    EXPECT_TRUE(hwmc_algorithm_is_mpich(best(1 << 20, lab, full)));
}

// Longer never gets faster, whatever the network; and nothing overflows.
// Of a communicator whose set-up failed, or a network that nobody measured.
TEST(Model, SaysNothingOfWhatIsNotKnown)
{
    const hwmc_shape no_shape = {}, no_sites = {8, 8, 0, 1432, 2, 8192, 0},
                     no_hosts = {8, 0, 1, 1432, 2, 8192, 0};
    const hwmc_network no_network = {};

    for (int a = 0; a < HWMC_ALGORITHM_LIMIT; a++) {
        EXPECT_EQ(UINT64_MAX, ns((hwmc_algorithm) a, 1000, lab, no_shape)) << a;
        EXPECT_EQ(UINT64_MAX, ns((hwmc_algorithm) a, 1000, lab, no_sites)) << a;
        EXPECT_EQ(UINT64_MAX, ns((hwmc_algorithm) a, 1000, lab, no_hosts)) << a;
        EXPECT_EQ(UINT64_MAX, ns((hwmc_algorithm) a, 1000, no_network)) << a;
    }
    EXPECT_EQ(HWMC_ALGORITHM_BINOMIAL, best(1 << 20, lab, no_shape));
    EXPECT_EQ(HWMC_ALGORITHM_BINOMIAL, best(1 << 20, no_network));
}

TEST(Model, GrowsWithTheMessage)
{
    sim::Rng rng(1);

    for (int i = 0; i < 20000; i++) {
        hwmc_network net = {rng.below(1 << 30),
                            rng.below(1 << 30),
                            (uint32_t) rng.between(1, 800000),
                            0,
                            (uint32_t) rng.below(1000001),
                            (uint32_t) rng.below(100000),
                            0,
                            0,
                            0,
                            0};
        hwmc_shape shape = {(uint32_t) rng.between(2, 1000000),
                            1,
                            (uint32_t) rng.between(1, 9),
                            (uint32_t) rng.below(9000),
                            (uint32_t) rng.below(9),
                            (uint32_t) rng.between(1, 1 << 20),
                            (uint32_t) rng.below(9000)};
        uint64_t bytes = rng.next() >> rng.below(64), more = bytes + rng.below(1 << 20);

        shape.hosts = (uint32_t) rng.between(1, shape.ranks);
        net.mbit_all = net.mbit * (uint32_t) rng.between(1, 8) / (net.mbit > 500000000 ? 8 : 1);
        for (int a = 0; a < HWMC_ALGORITHM_LIMIT; a++)
            ASSERT_LE(hwmc_model_ns(&net, &shape, (hwmc_algorithm) a, bytes),
                      hwmc_model_ns(&net, &shape, (hwmc_algorithm) a, more < bytes ? bytes : more))
                << i << " " << a << " " << bytes;
    }
}

// Two sites of four hosts: a short message crosses once and is multicast once more; a long one is
// as long on the wires as along trees.
TEST(Model, WhereMulticastEndsWithASiteItGoesInsideEachAndTreesBetween)
{
    hwmc_network net = lab;
    hwmc_shape shape = {8, 8, 2, 0, 2, 8192, 0};
    uint64_t ns, trees;

    EXPECT_EQ(UINT64_MAX, hwmc_model_ns(&net, &shape, HWMC_ALGORITHM_TWO_STAGE, 8));
    shape.site_frag_bytes = 1432;
    net.site_latency_ns = 1000000;
    ns = hwmc_model_ns(&net, &shape, HWMC_ALGORITHM_TWO_STAGE, 8);
    trees = hwmc_model_ns(&net, &shape, HWMC_ALGORITHM_MULTILANE, 8);
    EXPECT_LT(ns, trees);
    EXPECT_GE(ns, 2 * (net.site_latency_ns - net.latency_ns));
    ns = hwmc_model_ns(&net, &shape, HWMC_ALGORITHM_TWO_STAGE, 8 << 20);
    trees = hwmc_model_ns(&net, &shape, HWMC_ALGORITHM_MULTILANE, 8 << 20);
    EXPECT_NEAR((double) ns, (double) trees, 0.02 * (double) trees);
    shape.sites = 8; // each host by itself
    EXPECT_EQ(UINT64_MAX, hwmc_model_ns(&net, &shape, HWMC_ALGORITHM_TWO_STAGE, 8));
}

TEST(Model, GainIsWhatTheFastestOfOursSavesOnTheFastestOfTheirs)
{
    hwmc_shape lanes = eight;

    lanes.frag_bytes = 0;
    EXPECT_EQ(100 * US, hwmc_model_gain(&lab, &eight, 0)); // 3 hops or one
    EXPECT_EQ(300 * US + 140 * MS - (50 * US + 40 * MS),
              hwmc_model_gain(&lab, &eight, 1000000)); // doubling
    EXPECT_EQ(0u, hwmc_model_gain(&lab, &lanes, 8));   // binomial is the fastest
    EXPECT_EQ(300 * US + 140 * MS - (50 * US + 4 * (50 * US + 655360) + 40 * MS),
              hwmc_model_gain(&lab, &lanes, 1000000));
    for (uint64_t bytes = 1; bytes < UINT64_C(1) << 62; bytes *= 3)
        EXPECT_GE(hwmc_model_gain(&lab, &eight, 3 * bytes), hwmc_model_gain(&lab, &eight, bytes));
}

TEST(Model, SetUpCostsTheTreeFourTimesBothWaysAndAProbe)
{
    hwmc_shape s = eight;
    hwmc_network far = lab;

    EXPECT_EQ((8 * 2 + 1) * 50 * US, hwmc_model_setup(&lab, &s, 4)); // 1 to 4, then 5 to 7
    EXPECT_EQ((8 * 7 + 1) * 50 * US, hwmc_model_setup(&lab, &s, 1));
    s.ranks = 5;
    EXPECT_EQ((8 * 1 + 1) * 50 * US, hwmc_model_setup(&lab, &s, 4));
    s.sites = 2;
    far.site_latency_ns = 2 * MS;
    EXPECT_EQ(9 * 2 * MS, hwmc_model_setup(&far, &s, 4));
}

// Longer pieces where the network carries more than a processor sends; the same everywhere else.
TEST(Model, PiecesFollowTheRate)
{
    const struct {
        uint32_t mbit, piece;
    } by_rate[] = {{100, 65536},   {1000, 65536},   {2500, 65536},
                   {5000, 131072}, {10000, 262144}, {100000, 262144}};

    for (const auto &want : by_rate) {
        const hwmc_network net = {10 * US, 10 * US, want.mbit, want.mbit, 0, 0, 0, 0, 0, 0};

        EXPECT_EQ(want.piece, hwmc_model_piece(&net, false, 16)) << want.mbit;
    }
    const hwmc_network far = {10 * US, 100 * MS, 10000, 10000, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(1048576u, hwmc_model_piece(&far, true, 16));
    const hwmc_network unknown = {};
    EXPECT_EQ(65536u, hwmc_model_piece(&unknown, false, 16));
}
