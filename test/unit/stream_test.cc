// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// stream: all broadcasts of a communicator, on the simulated network where only one thing happens.
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/bcast/coming.h"
}
#include "sim_net.h"

using sim::Config;
using sim::MS;
using sim::Net;
using sim::US;

namespace {

// p ranks, n broadcasts of 4 fragments by rank `root`, a quiet network.
Config quiet(uint32_t p, uint32_t n, uint32_t root = 0)
{
    Config c;

    c.ranks = p;
    for (uint32_t i = 0; i < n; i++)
        c.script.push_back({root, 32});
    return c;
}

uint64_t requests(const Net &net)
{
    return net.sum(&hwmc_counts::nacks_sent);
}

// A stream of rank `rank` of three, without a network.
struct Alone {
    hwmc_counts counts = {};
    hwmc_stream s;
    std::vector<uint64_t> memory;
    std::vector<hwmc_msg> sent;

    explicit Alone(uint32_t rank, uint32_t channels = 4, uint32_t trees = 0)
    {
        hwmc_stream_cfg c = {};

        c.size = 3;
        c.rank = rank;
        c.channels = channels;
        c.policy.first.period = 1;
        c.fanout = 2;
        c.frag_bytes = 8;
        c.max_bytes = 32;
        c.policy.first.rails = 0xff;
        c.policy.stay = true;
        c.trees = trees;
        c.window = c.far_window = c.near.n = c.far.n = c.max_segments = 1;
        c.counts = &counts;
        memory.resize(hwmc_stream_footprint(&c) / 8);
        hwmc_stream_init(&s, &c, memory.data());
    }
    hwmc_verdict recv(const hwmc_msg &msg)
    {
        hwmc_verdict verdict = hwmc_stream_on_recv(&s, &msg, 1000);

        hwmc_stream_check(&s);
        return verdict;
    }
    hwmc_verdict data(uint64_t bid, uint32_t index, uint32_t frags, uint32_t root = 0)
    {
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_DATA;
        msg.multicast = true;
        msg.data.rails = 1;
        msg.peer = msg.data.root = root;
        msg.bid = bid;
        msg.data.index = index;
        msg.data.frags = frags;
        msg.data.bytes = 8 * frags;
        return recv(msg);
    }
    // The successor asks for the only fragment.
    hwmc_verdict request(uint64_t bid)
    {
        const uint64_t bits = 1;
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_NACK;
        msg.peer = (s.ring.rank + 1) % 3;
        msg.bid = bid;
        msg.nack.frags = 1;
        msg.nack.bits = &bits;
        return recv(msg);
    }
    size_t sends()
    {
        hwmc_msg tx;

        sent.clear();
        while (hwmc_stream_next_send(&s, {0xff, 0xff}, &tx, 1000)) {
            hwmc_stream_check(&s);
            sent.push_back(tx);
        }
        return sent.size();
    }
};

} // namespace

TEST(Stream, PullWithoutLossSendsNothingOverTheRing)
{
    for (uint32_t p = 1; p <= 6; p++) {
        Net net(quiet(p, 40));

        EXPECT_EQ("", net.run());
        EXPECT_EQ(0u, requests(net));
        EXPECT_EQ(0u, net.sum(&hwmc_counts::forwarded));
        EXPECT_EQ(160u * (p - 1), net.sum(&hwmc_counts::got_cast));
    }
}

TEST(Stream, PushSendsEachFragmentOnceOverEachEdgeButOne)
{
    for (uint32_t p = 2; p <= 6; p++) {
        Config c = quiet(p, 10, p - 1);
        c.push = true;
        c.loss = {500000};
        Net net(c);

        EXPECT_EQ("", net.run());
        EXPECT_EQ(40u * (p - 1), net.sum(&hwmc_counts::forwarded));
        EXPECT_EQ(0u, requests(net));
    }
}

TEST(Stream, WithoutMulticastTheRingDeliversEverything)
{
    for (bool push : {false, true}) {
        Config c = quiet(6, 10);
        c.push = push;
        c.loss = {1000000};
        Net net(c);

        EXPECT_EQ("", net.run());
        EXPECT_EQ(0u, net.sum(&hwmc_counts::got_cast));
        EXPECT_EQ(200u, net.sum(&hwmc_counts::forwarded));
    }
}

TEST(Stream, SynchronizationsAreOnePeriodApart)
{
    for (uint32_t period = 1; period <= 4; period++) {
        Config c = quiet(4, 24);
        c.period = period;
        Net net(c);

        EXPECT_EQ("", net.run());
        EXPECT_EQ(24 / period, net.counts(0).syncs);
    }
}

TEST(Stream, RootRunsAheadOfASleepingMemberByTheWindowOnly)
{
    Config c = quiet(3, 20);
    uint64_t ahead = 0;

    c.stalls = {{0, 50 * MS, 0x2}};
    c.hook = [&ahead](Net &net, uint32_t rank) {
        if (rank == 0 && net.now() < sim::S + 50 * MS)
            ahead = net.stream(0).posted;
    };
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(4u, ahead);
}

TEST(Stream, ALateMemberGetsWhatItMissed)
{
    Config c = quiet(4, 8);

    c.stalls = {{0, 30 * MS, 0x4}};
    c.rx_slots = 1;
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_GT(net.counts(2).got_repair, 0u);
}

TEST(Stream, ALateRootDelaysButHarmsNobody)
{
    Config c = quiet(4, 3, 2);

    c.think = {0, 0, 20 * MS, 0};
    Net net(c);
    EXPECT_EQ("", net.run());
    for (uint32_t r = 0; r < 4; r++)
        EXPECT_LE(net.counts(r).nacks_sent, 15u); // at 1, 3, 7, 15 ms, for each
}

TEST(Stream, RandomMemberHoldsEveryRoot)
{
    Config c = quiet(5, 20);

    c.delay = HWMC_DELAY_RANDOM;
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_EQ(20u, net.counts(0).holds);
}

TEST(Stream, FixedDelayIsKept)
{
    Config c = quiet(2, 5);

    c.delay = HWMC_DELAY_FIXED;
    c.delay_ns = MS;
    Net net(c);
    EXPECT_EQ("", net.run());
    EXPECT_GE(net.now(), sim::S + 5 * MS);
    EXPECT_EQ(5u, net.counts(0).holds);
}

TEST(Stream, AdaptiveDelayAnswersLoss)
{
    Config lossy = quiet(4, 40), calm = quiet(4, 40);

    lossy.delay = calm.delay = HWMC_DELAY_ADAPTIVE;
    lossy.loss = {1000000};
    Net bad(lossy), good(calm);
    EXPECT_EQ("", bad.run());
    EXPECT_EQ("", good.run());
    EXPECT_GT(bad.counts(0).holds, 0u);
    EXPECT_EQ(0u, good.counts(0).holds);
}

TEST(Stream, MessageInPiecesSaysSo)
{
    Config c = quiet(3, 0);

    c.script = {{1, 32, true}, {1, 32, true}, {1, 5, false}, {0, 0, false}};
    Net net(c);
    EXPECT_EQ("", net.run());
}

// Of one that begun to come the rest is asked for at once; of one of which nothing came, when it is
// called: it might not be multicast.
TEST(Stream, ALaterBroadcastShowsThatEarlierOnesAreMissing)
{
    Alone r(2);

    EXPECT_EQ(HWMC_PLACE, r.data(1, 0, 2));
    EXPECT_EQ(HWMC_PLACE, r.data(2, 0, 1));
    ASSERT_EQ(1u, r.sends());
    EXPECT_EQ(HWMC_MSG_NACK, r.sent[0].type);
    EXPECT_EQ(1u, r.sent[0].bid);
    EXPECT_EQ(2u, r.sent[0].nack.frags);
    EXPECT_EQ(1u, r.sent[0].peer);
    r.sent.clear();
    hwmc_stream_post_member(&r.s, 0, 1000);
    ASSERT_EQ(1u, r.sends());
    EXPECT_EQ(HWMC_MSG_NACK, r.sent[0].type);
    EXPECT_EQ(0u, r.sent[0].bid);
    EXPECT_EQ(0u, r.sent[0].nack.frags);
    EXPECT_EQ(2u, r.counts.lost_later);
}

static std::vector<uint64_t> coming(const Alone &r, uint32_t most = 64)
{
    const hwmc_coming c = hwmc_coming_on(&r.s, 0, most);

    return {c.bid, c.index, c.num};
}

using Coming = std::vector<uint64_t>;

// Of three channels of four fragments each.
TEST(Stream, WhatComesNextFollowsWhatCameLast)
{
    Alone r(2, 3);

    r.data(0, 0, 4);
    EXPECT_EQ(0u, coming(r)[2]); // nobody has called it
    hwmc_stream_post_member(&r.s, 0, 1000);
    EXPECT_EQ((Coming{0, 1, 3 + 4 + 4}), coming(r));
    EXPECT_EQ((Coming{0, 1, 5}), coming(r, 5));
    r.data(0, 2, 4); // 1 is lost, and comes another way
    EXPECT_EQ((Coming{0, 3, 1 + 4 + 4}), coming(r));
    r.data(0, 3, 4);
    EXPECT_EQ((Coming{1, 0, 4 + 4}), coming(r));
    r.data(1, 1, 4); // ends with a broadcast that is shorter than a piece
    r.data(2, 0, 2);
    EXPECT_EQ((Coming{2, 1, 1}), coming(r));
    EXPECT_EQ(0u, hwmc_coming_on(&r.s, 1, 64).num); // it comes on another rail
}

TEST(Stream, NothingIsOverwrittenByWhatComesNext)
{
    Alone r(2, 3);
    hwmc_msg repair = {};

    r.s.ring.push = r.s.slots[0].push = true;
    hwmc_stream_post_member(&r.s, 0, 1000);
    r.data(0, 0, 4);
    repair.type = HWMC_MSG_DATA;
    repair.peer = 1;
    repair.data.index = 2;
    repair.data.frags = 4;
    repair.data.bytes = 32;
    ASSERT_EQ(HWMC_PLACE, r.recv(repair)); // by the ring, before the network brings it
    EXPECT_EQ((Coming{0, 1, 1}), coming(r));
}

TEST(Stream, ARootExpectsNothing)
{
    Alone r(0, 3);

    hwmc_stream_post_root(&r.s, 32, true, 1, 1000);
    EXPECT_EQ(0u, coming(r)[2]);
}

TEST(Stream, WhatIsOverIsStaleAndWhatCannotBeIsBad)
{
    Alone r(2, 1);

    EXPECT_EQ(HWMC_BAD, r.data(1, 0, 1)); // broadcast 0 is not consumed here
    EXPECT_EQ(HWMC_PLACE, r.data(0, 0, 1));
    EXPECT_EQ(HWMC_DUP, r.data(0, 0, 1));
    hwmc_stream_post_member(&r.s, 0, 1000);
    EXPECT_TRUE(hwmc_stream_done(&r.s));
    EXPECT_EQ(8u, hwmc_stream_bytes(&r.s));
    hwmc_stream_consume(&r.s, 1000);
    EXPECT_FALSE(hwmc_stream_open(&r.s));
    EXPECT_EQ(HWMC_DUP, r.data(0, 0, 1));
    EXPECT_EQ(HWMC_PLACE, r.data(1, 0, 1)); // proves that all have consumed broadcast 0
    EXPECT_TRUE(hwmc_stream_open(&r.s));
    EXPECT_EQ(HWMC_STALE, r.data(0, 0, 1));
    EXPECT_EQ(1u, r.counts.stale);
    EXPECT_EQ(1u, r.counts.bad);
    EXPECT_EQ(2u, r.counts.dup);
}

TEST(Stream, NobodyElseBroadcastsForThisRank)
{
    Alone r(2);

    EXPECT_EQ(HWMC_BAD, r.data(0, 0, 1, 2));
    EXPECT_EQ(0u, r.sends());
    hwmc_stream_post_root(&r.s, 8, false, 1, 1000);
    EXPECT_EQ(1u, r.sends());
    EXPECT_EQ(HWMC_DUP, r.data(0, 0, 1, 2)); // our own, come back
}

// What a neighbour says of one that goes along trees is false, before it is called, meanwhile, and
// after.
TEST(Stream, NothingOfABroadcastAlongTreesComesOverTheRing)
{
    Alone r(2, 1, 1);
    hwmc_msg voided = {};

    EXPECT_EQ(HWMC_TAKEN, r.request(0)); // not called yet: who knows?
    hwmc_stream_post_trees(&r.s, 0, 8, 8);
    r.sends();
    EXPECT_EQ(HWMC_BAD, r.request(0));
    EXPECT_EQ(HWMC_BAD, r.data(0, 0, 1));
    EXPECT_EQ(0u, r.sends());
    EXPECT_FALSE(hwmc_stream_done(&r.s));
    voided.type = HWMC_MSG_SEGMENT; // the way to an end without bytes
    voided.flags = HWMC_FLAG_VOID;
    voided.peer = 1; // above this rank in the tree
    EXPECT_EQ(HWMC_TAKEN, r.recv(voided));
    r.sends();
    ASSERT_TRUE(hwmc_stream_done(&r.s));
    hwmc_stream_consume(&r.s, 1000);
    EXPECT_EQ(HWMC_BAD, r.request(0));
    EXPECT_EQ(HWMC_BAD, r.data(0, 0, 1));

    EXPECT_EQ(HWMC_PLACE, r.data(1, 0, 1)); // its channel serves the next
    hwmc_stream_post_member(&r.s, 0, 1000);
    EXPECT_TRUE(hwmc_stream_done(&r.s));
}
