// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The cost model of collectives over hosts: by hand, who is selected, and that it is monotonous and
// free of overflow.
#include <gtest/gtest.h>

#include "core.h"
#include "sim_rng.h"

extern "C" {
#include "core/model/scan_way.h"
}

namespace {

constexpr uint64_t US = 1000;

// A rail of 1000 Mbit/s, 20 us, 2 us for a message.
hwmc_network gbit()
{
    hwmc_network net = {};

    net.latency_ns = net.site_latency_ns = 20 * US;
    net.mbit = net.mbit_all = 1000;
    net.datagram_ns = 1000;
    net.message_ns = 2000;
    return net;
}

// The same, where each message of all hosts at once takes 50 us more.
hwmc_network crowded()
{
    hwmc_network net = gbit();

    net.loaded_ns = 70 * US;
    return net;
}

hwmc_reduce_way way_of(const hwmc_network &net, uint32_t members, bool commutative, uint64_t bytes,
                       uint32_t part, hwmc_reduce_kind kind, bool awaited = false)
{
    const hwmc_reduce_case c = {members, commutative, awaited, bytes, part, kind, 0};

    return hwmc_reduce_way_of(&net, &c);
}

hwmc_coll_case of(hwmc_coll coll, uint64_t bytes, uint32_t members = 8, uint32_t each = 1)
{
    hwmc_coll_case c = {};

    c.coll = coll;
    c.commutative = true;
    c.members = members;
    c.each = each;
    c.bytes = bytes;
    c.part = 65536;
    c.shape = {members, members, 1, 1432, 2, 8192, 0};
    return c;
}

// Of a group that does not multicast.
hwmc_coll_case unicast(hwmc_coll coll, uint64_t bytes)
{
    hwmc_coll_case c = of(coll, bytes);

    c.shape.frag_bytes = 0;
    return c;
}

uint64_t ours(const hwmc_network &net, const hwmc_coll_case &c)
{
    return hwmc_coll_ours_ns(&net, &c);
}

uint64_t mpich(const hwmc_network &net, const hwmc_coll_case &c)
{
    return hwmc_coll_mpich_ns(&net, &c);
}

} // namespace

TEST(CollModel, ByHand)
{
    const hwmc_network net = gbit(), crowd = crowded();

    // Three rounds, in each of which every host has a message on the way.
    EXPECT_EQ(60 * US, mpich(net, of(HWMC_COLL_BARRIER, 0)));
    EXPECT_EQ(210 * US, mpich(crowd, of(HWMC_COLL_BARRIER, 0)));
    // Seven come to the root, then a datagram to all.
    EXPECT_EQ(20 * US + 7 * 2008 + 20 * US + 1 * US, ours(net, of(HWMC_COLL_BARRIER, 0)));
    // Halving: 16, 8 and 4 KiB of 8 ns a byte, there and back; 128 KiB would be announced.
    EXPECT_EQ(6 * 20 * US + 2 * 28672 * 8, mpich(net, of(HWMC_COLL_ALLREDUCE, 32768)));
    EXPECT_EQ((6 + 2 * 2) * 20 * US + 2 * 229376 * 8, mpich(net, of(HWMC_COLL_ALLREDUCE, 262144)));
    // In turn: 7 blocks come, and one goes.
    EXPECT_EQ(20 * US + 7 * 2 * US + 8 * 1024 * 8, ours(net, of(HWMC_COLL_ALLGATHER, 1024)));
    // All at once, without multicast: 7 blocks come and 7 go, of which one has its time in the
    // latency.
    EXPECT_EQ(20 * US + 12 * 2 * US + 7 * 4096 * 8, ours(net, unicast(HWMC_COLL_ALLGATHER, 4096)));
    // Where hosts hinder each other, that and what the busiest host does are not added up.
    EXPECT_EQ(20 * US + 7 * 4096 * 8 + 7 * 50 * US,
              ours(crowd, unicast(HWMC_COLL_ALLGATHER, 4096)));
    EXPECT_EQ(3 * 20 * US + 7 * 4096 * 8 + 3 * 50 * US,
              mpich(crowd, of(HWMC_COLL_ALLGATHER, 4096)));
    // Of unlike parts MPICH has all at once too, also long ones, which it announces; of 33 ranks in
    // two rounds.
    EXPECT_EQ(20 * US + 12 * 2 * US + 7 * 4096 * 8, mpich(net, of(HWMC_COLL_ALLTOALLV, 4096)));
    EXPECT_EQ(ours(net, of(HWMC_COLL_ALLTOALL, 4096)), ours(net, of(HWMC_COLL_ALLTOALLW, 4096)));
    EXPECT_EQ(3 * 20 * US + 12 * 2 * US + 7 * (UINT64_C(1) << 20) * 8,
              mpich(net, of(HWMC_COLL_ALLTOALLW, 1 << 20)));
    EXPECT_EQ(20 * US + 60 * 2 * US + 31 * 4096 * 8, mpich(net, of(HWMC_COLL_ALLTOALLV, 4096, 32)));
    EXPECT_EQ(2 * 20 * US + 62 * 2 * US + 32 * 4096 * 8,
              mpich(net, of(HWMC_COLL_ALLTOALLV, 4096, 33)));
}

// What a rail carries in 200 us, from 16 to 32 KiB; or while ten messages are handled; and 16 parts
// fill it for a round trip.
TEST(Pace, PartsAreLongWhereARailIsFastOrFarAway)
{
    hwmc_network net = gbit();

    EXPECT_EQ(24576u, hwmc_pace_of(&net).part); // of 25,000 bytes
    net.mbit = net.mbit_all = 100;
    EXPECT_EQ(16384u, hwmc_pace_of(&net).part);
    net.mbit_all = 200; // a part goes by one rail
    EXPECT_EQ(HWMC_PART_LEAST, hwmc_pace_of(&net).part);
    net.mbit = net.mbit_all = 10000;
    net.message_ns = 4000; // 50,000 bytes
    EXPECT_EQ(32768u, hwmc_pace_of(&net).part);
    net.mbit = net.mbit_all = 100000;
    EXPECT_EQ(256u << 10, hwmc_pace_of(&net).part);
    net = gbit();
    net.site_latency_ns = 10000 * US; // 2.5 MB in a round trip
    EXPECT_EQ(128u << 10, hwmc_pace_of(&net).part);
}

// Over one rail a part of a block; as many as it carries in 200 us, or in a round trip; over
// several rails two for each.
TEST(Pace, AFewPartsOfABlockAreOnTheWay)
{
    hwmc_network net = gbit();
    hwmc_pace p = hwmc_pace_of(&net);

    EXPECT_EQ(1u, p.ahead);
    EXPECT_EQ(2u, p.combined);
    EXPECT_EQ(2u, hwmc_pace_ahead(&p, 3)); // two others may not fill the line
    EXPECT_EQ(1u, hwmc_pace_ahead(&p, 4));
    EXPECT_EQ(4u * 24576, hwmc_pace_budget(&p));
    net.mbit_all = 2 * net.mbit;
    p = hwmc_pace_of(&net);
    EXPECT_EQ(8u, p.ahead);
    EXPECT_EQ(8u, p.combined);
    net.mbit = net.mbit_all = 3000; // 75,000 bytes in parts of 32 KiB
    p = hwmc_pace_of(&net);
    EXPECT_EQ(3u, p.ahead);
    EXPECT_EQ(6u, p.combined);
    net = gbit();
    net.site_latency_ns = 10000 * US;
    p = hwmc_pace_of(&net);
    EXPECT_EQ(HWMC_PACE_MOST, p.ahead);
    EXPECT_EQ(HWMC_PACE_MOST / 2, p.combined);
}

// Blocks that are sent unasked need no pace; where there are several rails, shorter ones.
TEST(Pace, ShortBlocksNeedNone)
{
    hwmc_network net = gbit();

    EXPECT_EQ(24576u, hwmc_pace_short(&net, 8));  // longer than a part
    EXPECT_EQ(16384u, hwmc_pace_short(&net, 16)); // longer than an eager block
    net.mbit_all = 2 * net.mbit;
    EXPECT_EQ(1024u, hwmc_pace_short(&net, 8));
}

// More messages in fewer steps lose where hosts hinder each other.
TEST(CollModel, FewMessagesWinWhereHostsHinderEachOther)
{
    const hwmc_network net = crowded();

    for (const hwmc_coll_case &c :
         {of(HWMC_COLL_ALLGATHER, 4096), of(HWMC_COLL_REDUCE_SCATTER, 32768),
          of(HWMC_COLL_ALLREDUCE, 32768), of(HWMC_COLL_ALLTOALL, 8)})
        EXPECT_FALSE(hwmc_coll_is_ours(&net, &c)) << c.coll;
    for (const hwmc_coll_case &c : {of(HWMC_COLL_BARRIER, 0), of(HWMC_COLL_GATHER, 8),
                                    of(HWMC_COLL_SCATTER, 8), of(HWMC_COLL_REDUCE, 8)})
        EXPECT_TRUE(hwmc_coll_is_ours(&net, &c)) << c.coll;
}

// Of long vectors fewer bytes go by hwmc's trees.
TEST(CollModel, FewBytesWinWhereHostsHinderEachOther)
{
    hwmc_network net = crowded();
    const hwmc_coll_case c = of(HWMC_COLL_ALLREDUCE, 1 << 20);

    net.loaded_mbit = 250;
    EXPECT_TRUE(hwmc_coll_is_ours(&net, &c));
    // 14 times an eighth go to and from each host, at 32 ns a byte but for the first of them; the
    // longest three are announced.
    EXPECT_EQ((6 + 2 * 2 * 3) * 70 * US + 14 * (UINT64_C(1) << 17) * 32 - 65536 * (32 - 8),
              mpich(net, c));
}

// Each member combines a block, of which 7 come, and 7 come again.
TEST(CollModel, ALongAllreduceGoesByBlocks)
{
    const hwmc_network net = gbit();
    const hwmc_coll_case c = of(HWMC_COLL_ALLREDUCE, 262144);
    const hwmc_coll_case least = of(HWMC_COLL_ALLREDUCE, 4096);

    EXPECT_EQ(2 * 20 * US + 2 * 12 * 2 * US + 2 * 7 * 32768 * 8, hwmc_coll_direct_ns(&net, &c));
    EXPECT_EQ(HWMC_WAY_DIRECT, hwmc_coll_way(&net, &c, true));
    EXPECT_LT(hwmc_coll_direct_ns(&net, &c), ours(net, c));
    EXPECT_EQ(UINT64_MAX, hwmc_coll_direct_ns(&net, &least));
    EXPECT_EQ(HWMC_WAY_HWMC, hwmc_coll_way(&net, &least, true));
}

// Where many members hinder each other a tree has fewer messages.
TEST(CollModel, BlocksAreManyMessages)
{
    const hwmc_network net = crowded();
    const hwmc_coll_case few = of(HWMC_COLL_ALLREDUCE, 65536, 4);
    const hwmc_coll_case many = of(HWMC_COLL_ALLREDUCE, 65536, 32);

    EXPECT_EQ(HWMC_WAY_DIRECT, hwmc_coll_way(&net, &few, true));
    EXPECT_EQ(HWMC_WAY_HWMC, hwmc_coll_way(&net, &many, true));
}

// Hosts of several ranks run theirs by hwmc, unless MPICH's is far faster between hosts.
TEST(CollModel, HostsOfSeveralRanks)
{
    const hwmc_network alone = gbit(), shared = crowded();

    for (hwmc_coll coll : {HWMC_COLL_BARRIER, HWMC_COLL_REDUCE, HWMC_COLL_ALLREDUCE}) {
        const hwmc_coll_case c = of(coll, 8, 16, 4);

        EXPECT_TRUE(hwmc_coll_is_ours(&alone, &c));
        EXPECT_TRUE(hwmc_coll_is_ours(&shared, &c));
    }
    // Slower than what the model cannot tell apart, but not twice as slow.
    const hwmc_coll_case longer = of(HWMC_COLL_SCAN, 128 << 10, 16, 4);
    const hwmc_coll_case single = of(HWMC_COLL_SCAN, 128 << 10, 16, 1);
    EXPECT_GT(ours(shared, longer), mpich(shared, longer) * 9 / 8);
    EXPECT_TRUE(hwmc_coll_is_ours(&shared, &longer));
    EXPECT_GT(ours(shared, single), mpich(shared, single) * 9 / 8);
    EXPECT_FALSE(hwmc_coll_is_ours(&shared, &single));
    const hwmc_coll_case barrier = of(HWMC_COLL_BARRIER, 8, 16, 1);
    EXPECT_TRUE(hwmc_coll_is_ours(&shared, &barrier));
    hwmc_network rails = shared;
    rails.mbit_all = 4000;
    const hwmc_coll_case longest = of(HWMC_COLL_ALLREDUCE, 4 << 20, 16, 4);
    EXPECT_TRUE(hwmc_coll_is_ours(&rails, &longest));
}

// MPICH uses one rail.
TEST(CollModel, LongMessagesAreOursWhereThereAreRails)
{
    hwmc_network net = crowded();

    net.mbit = 100;
    net.mbit_all = 200;
    for (int i = HWMC_COLL_REDUCE; i < HWMC_COLL_SCAN; i++) {
        const hwmc_coll_case c = of((hwmc_coll) i, 1 << 20);

        EXPECT_TRUE(hwmc_coll_is_ours(&net, &c)) << i;
    }
}

// Of ways that are alike MPICH's executes least; hwmc's gain where lines decide, or rails fail.
TEST(CollModel, WaysThatAreAlike)
{
    hwmc_network slow = gbit(), fast = gbit(), rails = gbit();
    const hwmc_coll_case few = of(HWMC_COLL_ALLTOALL, 4096), many = of(HWMC_COLL_ALLTOALL, 32768),
                         any = of(HWMC_COLL_ALLTOALLV, HWMC_LENGTH_UNKNOWN),
                         hosts = of(HWMC_COLL_ALLTOALL, 4096, 8, 2);

    fast.mbit = fast.mbit_all = 10000;
    rails.mbit_all = 2000;
    for (const hwmc_network *net : {&slow, &fast})
        EXPECT_EQ(mpich(*net, few), ours(*net, few));
    EXPECT_FALSE(hwmc_coll_is_ours(&slow, &few));
    EXPECT_FALSE(hwmc_coll_is_ours(&slow, &any));
    EXPECT_TRUE(hwmc_coll_is_ours(&slow, &many)); // 262 us on a line, 80 of latency
    EXPECT_FALSE(hwmc_coll_is_ours(&fast, &few));
    EXPECT_FALSE(hwmc_coll_is_ours(&fast, &many));
    for (const hwmc_coll_case *c : {&few, &many, &any})
        EXPECT_TRUE(hwmc_coll_is_ours(&rails, c));
    for (const hwmc_network *net : {&slow, &fast})
        EXPECT_TRUE(hwmc_coll_is_ours(net, &hosts));
}

// Of a length that is not known that one is selected which loses less where it loses most.
TEST(CollModel, OfAnUnknownLength)
{
    hwmc_network net = crowded();
    const hwmc_coll_case c = of(HWMC_COLL_ALLTOALLV, HWMC_LENGTH_UNKNOWN);

    // Where MPICH and hwmc send as much at the same rate, and messages cost much, grants do.
    net.message_ns = 400 * US;
    EXPECT_FALSE(hwmc_coll_is_ours(&net, &c));
    net.mbit_all = 2 * net.mbit;
    net.loaded_ns = 0;
    net.message_ns = 1000;
    EXPECT_TRUE(hwmc_coll_is_ours(&net, &c));
}

// What a line lets through at first costs nothing.
TEST(CollModel, ABurstIsTakenOffOnce)
{
    hwmc_network net = gbit();
    const uint64_t before = mpich(net, of(HWMC_COLL_ALLREDUCE, 32768));

    net.burst_bytes = 32768;
    EXPECT_EQ(before - 32768 * 8, mpich(net, of(HWMC_COLL_ALLREDUCE, 32768)));
    net.burst_bytes = UINT64_MAX / 2;
    EXPECT_EQ(6 * 20 * US, mpich(net, of(HWMC_COLL_ALLREDUCE, 32768)));
}

// Doubling sends a vector in each round by the same line, which lets so much through once.
TEST(CollModel, AScanGoesTheSameWayWhateverALineLetsThroughAtFirst)
{
    hwmc_network net = gbit();

    for (uint64_t burst : {0, 8192, 16384, 28000, 32768}) {
        net.burst_bytes = burst;
        EXPECT_TRUE(hwmc_scan_way_of(&net, 8, 32768, 65536).chain) << burst;
    }
    EXPECT_FALSE(hwmc_scan_way_of(&net, 8, 1024, 65536).chain);
}

uint64_t directly(const hwmc_network &net, const hwmc_coll_case &c)
{
    return hwmc_coll_direct_ns(&net, &c);
}

// A message for each rank of another host, at the root one after the other.
TEST(CollModel, DirectlyByHand)
{
    const hwmc_network net = gbit();

    EXPECT_EQ(20 * US + 6 * 2 * US + 7 * 4096 * 8, directly(net, of(HWMC_COLL_GATHER, 4096)));
    EXPECT_EQ(20 * US + 11 * 2 * US + 12 * 4096 * 8,
              directly(net, of(HWMC_COLL_SCATTER, 4096, 4, 4)));
    EXPECT_EQ(3 * 20 * US + 3 * 6 * 2 * US + 7 * (UINT64_C(1) << 17) * 8,
              directly(net, of(HWMC_COLL_GATHER, 1 << 17)));
    EXPECT_EQ(directly(net, of(HWMC_COLL_GATHER, 4096)), directly(net, of(HWMC_COLL_REDUCE, 4096)));
    // A scan: a hop to each other host.
    EXPECT_EQ(7 * (20 * US + 4096 * 8), directly(net, of(HWMC_COLL_SCAN, 4096)));
    // Of alltoall what MPICH does not choose by itself.
    EXPECT_EQ(UINT64_MAX, directly(net, of(HWMC_COLL_ALLTOALL, 32768)));
    EXPECT_EQ(20 * US + 12 * 2 * US + 7 * 40960 * 8, directly(net, of(HWMC_COLL_ALLTOALL, 40960)));
}

TEST(CollModel, WhatDoesNotGoDirectly)
{
    const hwmc_network net = gbit(), none = {};

    for (int i = 0; i < HWMC_COLL_LIMIT; i++) {
        const bool can = i == HWMC_COLL_GATHER || i == HWMC_COLL_SCATTER || i == HWMC_COLL_REDUCE ||
                         i == HWMC_COLL_ALLTOALL || i == HWMC_COLL_SCAN || i == HWMC_COLL_ALLREDUCE;

        EXPECT_EQ(can, directly(net, of((hwmc_coll) i, 65536)) != UINT64_MAX) << i;
        EXPECT_EQ(UINT64_MAX, directly(none, of((hwmc_coll) i, 65536))) << i;
    }
    // Connections and memory at the root.
    EXPECT_NE(UINT64_MAX, directly(net, of(HWMC_COLL_GATHER, 8, 64, 4)));
    EXPECT_EQ(UINT64_MAX, directly(net, of(HWMC_COLL_GATHER, 8, 65, 4)));
    EXPECT_NE(UINT64_MAX, directly(net, of(HWMC_COLL_ALLREDUCE, 65536, 256, 4)));
    EXPECT_EQ(UINT64_MAX, directly(net, of(HWMC_COLL_ALLREDUCE, 65536, 257, 4)));
    EXPECT_NE(UINT64_MAX, directly(net, of(HWMC_COLL_REDUCE, 1 << 17)));
    EXPECT_EQ(UINT64_MAX, directly(net, of(HWMC_COLL_REDUCE, (1 << 17) + 8)));
    EXPECT_NE(UINT64_MAX, directly(net, of(HWMC_COLL_SCAN, 1 << 20)));
    EXPECT_EQ(UINT64_MAX, directly(net, of(HWMC_COLL_SCAN, (1 << 20) + 8)));
}

// Of ways that are alike the direct one; leaders save messages, and trees too, but not of the root
// that all bytes go to or come from.
TEST(CollModel, WhereCallsBegin)
{
    const hwmc_network net = gbit(), none = {};
    const auto way = [](const hwmc_network &n, const hwmc_coll_case &c, bool ours) {
        return hwmc_coll_way(&n, &c, ours);
    };
    hwmc_network rails = gbit();

    rails.mbit_all = 2 * rails.mbit;
    for (hwmc_coll coll : {HWMC_COLL_GATHER, HWMC_COLL_SCATTER}) {
        EXPECT_EQ(HWMC_WAY_DIRECT, way(net, of(coll, 1024), true));
        EXPECT_EQ(HWMC_WAY_DIRECT, way(net, of(coll, 32768), false));
        EXPECT_EQ(HWMC_WAY_HWMC, way(net, of(coll, 8, 4, 4), true));
        EXPECT_EQ(HWMC_WAY_MPICH, way(net, of(coll, 8, 64), false));
        EXPECT_EQ(HWMC_WAY_HWMC, way(rails, of(coll, 1 << 20), true));
        EXPECT_EQ(HWMC_WAY_HWMC, way(net, of(coll, HWMC_LENGTH_UNKNOWN), true));
        EXPECT_EQ(HWMC_WAY_HWMC, way(none, of(coll, 1024), true));
    }
    // All send to the root in either way.
    EXPECT_EQ(HWMC_WAY_DIRECT, way(net, of(HWMC_COLL_REDUCE, 8), true));
    EXPECT_EQ(HWMC_WAY_HWMC, way(net, of(HWMC_COLL_REDUCE, 8, 4, 4), true));
    EXPECT_EQ(HWMC_WAY_HWMC, way(net, of(HWMC_COLL_REDUCE, 65536), true));
    // What a trial alone can tell, unless the network is fast.
    EXPECT_EQ(HWMC_WAY_MPICH, way(net, of(HWMC_COLL_ALLTOALL, 1 << 20), false));
    hwmc_network fast = gbit();
    fast.mbit = fast.mbit_all = 10000;
    EXPECT_EQ(HWMC_WAY_DIRECT, way(fast, of(HWMC_COLL_ALLTOALL, 1 << 20), false));
    EXPECT_EQ(HWMC_WAY_MPICH, way(fast, of(HWMC_COLL_ALLTOALL, 1024), false)); // MPICH's are that
}

TEST(CollModel, NothingKnown)
{
    const hwmc_network none = {};
    const hwmc_coll_case c = of(HWMC_COLL_BARRIER, 0);

    EXPECT_EQ(UINT64_MAX, ours(none, c));
    EXPECT_EQ(UINT64_MAX, mpich(none, c));
    EXPECT_TRUE(hwmc_coll_is_ours(&none, &c));
}

TEST(CollModel, GrowsWithTheMessageInEachAlgorithm)
{
    sim::Rng rng(1);

    for (int i = 0; i < 20000; i++) {
        hwmc_network net = gbit();
        hwmc_coll_case c =
            of((hwmc_coll) rng.below(HWMC_COLL_LIMIT), rng.next() >> rng.between(20, 63),
               (uint32_t) rng.between(2, 100000), (uint32_t) rng.between(1, 100));

        net.latency_ns = rng.below(1 << 24);
        net.loaded_ns = rng.below(1 << 25);
        net.message_ns = (uint32_t) rng.below(1 << 20);
        net.mbit = (uint32_t) rng.between(1, 800000);
        net.mbit_all = net.mbit * (uint32_t) rng.between(1, 4);
        net.burst_bytes = rng.below(1 << 20);
        c.commutative = rng.below(2) == 0;

        const uint64_t here = ours(net, c), theirs = mpich(net, c);

        EXPECT_LT(here, UINT64_MAX / 2);
        EXPECT_LT(theirs, UINT64_MAX / 2);
        // Of these two another model selects the way, by other terms.
        const bool by_other = c.coll == HWMC_COLL_ALLGATHER || c.coll == HWMC_COLL_SCAN;
        const uint64_t slack = net.burst_bytes * 8000 / net.mbit + (by_other ? here / 2 : 0);

        c.bytes *= 2;
        EXPECT_LE(here, ours(net, c) + slack) << i;
    }
}

// What is asked for is taken where it can be.
TEST(ReduceWay, OfAKind)
{
    const hwmc_network net = gbit();
    hwmc_reduce_way way = way_of(net, 8, true, 1 << 20, 65536, HWMC_REDUCE_CHAIN);

    EXPECT_EQ(1u, way.trees);
    EXPECT_EQ(1u, way.fanout);
    EXPECT_LT(way.part, 1u << 20);
    way = way_of(net, 8, true, 8, 65536, HWMC_REDUCE_CHAIN);
    EXPECT_EQ(1u, way.fanout);
    way = way_of(net, 8, true, 1 << 20, 65536, HWMC_REDUCE_RANGES);
    EXPECT_EQ(1u, way.trees);
    EXPECT_LE(2u, way.fanout);
    EXPECT_EQ(2u, way_of(net, 8, true, 1 << 20, 65536, HWMC_REDUCE_TREES).trees);
    EXPECT_EQ(1u, way_of(net, 8, false, 1 << 20, 65536, HWMC_REDUCE_TREES).trees);
    EXPECT_EQ(1u, way_of(net, 8, true, 8, 65536, HWMC_REDUCE_TREES).trees);
}

// Where hosts share processors and all wait for the outcome, no parent has many children.
TEST(CollModel, ACrowdThatWaitsMakesTreesNarrower)
{
    hwmc_network net = crowded();

    net.message_ns = 5000;
    EXPECT_EQ(7u, way_of(net, 8, true, 8, 65536, HWMC_REDUCE_ANY, false).fanout);
    EXPECT_GT(7u, way_of(net, 8, true, 8, 65536, HWMC_REDUCE_ANY, true).fanout);
    net.loaded_ns = net.latency_ns;
    EXPECT_EQ(7u, way_of(net, 8, true, 8, 65536, HWMC_REDUCE_ANY, true).fanout);
}

// Ranks of a host that wait for their turn do so with each message that MPICH's send each other.
TEST(CollModel, MessagesInsideAHostCostACrowd)
{
    const hwmc_network free = gbit(), busy = crowded();

    for (hwmc_coll coll : {HWMC_COLL_ALLREDUCE, HWMC_COLL_REDUCE}) {
        const uint64_t turns = coll == HWMC_COLL_REDUCE ? 2 : 4;
        const hwmc_coll_case alone = of(coll, 8, 4, 1), four = of(coll, 8, 4, 4);

        EXPECT_EQ(mpich(free, alone), mpich(free, four));
        EXPECT_EQ(mpich(busy, alone) + turns * 50 * US, mpich(busy, four));
    }
}
