// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// channel: window and delayed synchronization, by hand, with the exact sends.
#include <string>

#include <gtest/gtest.h>

#include "core.h"

namespace {

struct Chan {
    hwmc_counts counts = {};
    hwmc_channel c;

    Chan(uint32_t size, uint32_t rank, uint32_t n = 4, uint32_t period = 2, uint32_t fanout = 2,
         bool no_cast = false)
    {
        const hwmc_policy first = {.rails = (uint8_t) !no_cast, .push = false, .period = period};

        hwmc_channel_init(&c, size, rank, n, fanout, &first, &counts);
    }
    void consume(int n, bool repaired = false)
    {
        for (; n > 0; n--) {
            ASSERT_TRUE(hwmc_channel_open(&c, c.consumed));
            hwmc_channel_consume(&c, repaired, false);
            hwmc_channel_check(&c);
        }
    }
    hwmc_verdict take(hwmc_msg_type type, uint32_t from, uint64_t count, bool multicast = false,
                      uint8_t flags = 0, uint32_t lost = 0)
    {
        hwmc_msg msg = {};

        msg.type = type;
        msg.peer = from;
        msg.bid = count;
        msg.multicast = multicast;
        msg.flags = flags;
        if (type == HWMC_MSG_SYNC_UP)
            msg.up.repaired = lost;
        else if (type == HWMC_MSG_SYNC_DOWN)
            msg.down.repaired = lost;
        hwmc_verdict verdict = hwmc_channel_on_recv(&c, &msg);
        hwmc_channel_check(&c);
        return verdict;
    }
    hwmc_verdict up(uint32_t from, uint64_t count, uint32_t lost = 0)
    {
        return take(HWMC_MSG_SYNC_UP, from, count, false, 0, lost);
    }
    hwmc_verdict ask(uint32_t from, uint64_t floor)
    {
        return take(HWMC_MSG_SYNC_ASK, from, floor);
    }
    hwmc_verdict heard(uint64_t floor, uint32_t lost = 0)
    {
        return take(HWMC_MSG_SYNC_DOWN, 0, floor, true, 0, lost);
    }
    hwmc_verdict down(uint32_t from, uint64_t floor, bool last = false)
    {
        return take(HWMC_MSG_SYNC_DOWN, from, floor, false, last ? HWMC_FLAG_LAST : 0);
    }
    void stall(uint64_t at)
    {
        hwmc_channel_stall(&c, at);
        hwmc_channel_check(&c);
    }
    void timer(uint64_t now)
    {
        hwmc_channel_on_timer(&c, now);
        hwmc_channel_check(&c);
    }
    void close()
    {
        hwmc_channel_close(&c);
        hwmc_channel_check(&c);
    }
    bool closed() const
    {
        return hwmc_channel_closed(&c);
    }
    bool open(uint64_t bid) const
    {
        return hwmc_channel_open(&c, bid);
    }
    std::string sends()
    {
        std::string text;
        hwmc_msg tx;

        while (hwmc_channel_next_send(&c, 1, &tx)) {
            std::string n = std::to_string(tx.bid);
            std::string to = tx.multicast ? "all" : std::to_string(tx.peer);

            hwmc_channel_check(&c);
            text += text.empty() ? "" : ", ";
            if (tx.type == HWMC_MSG_SYNC_UP)
                text += "up " + n;
            else if (tx.type == HWMC_MSG_SYNC_ASK)
                text += "floor? " + n;
            else
                text += (tx.flags & HWMC_FLAG_LAST ? "last " : "down ") + n;
            text += " to " + to;
        }
        return text;
    }
};

} // namespace

// The worked example of core/flow/channel.h: p = 3, k = 2, N = 4, period 2.
TEST(Channel, ExampleOfTheHeader)
{
    Chan r0(3, 0), r1(3, 1), r2(3, 2);

    r0.consume(4);
    EXPECT_FALSE(r0.open(4));
    EXPECT_EQ("", r0.sends());
    r1.consume(2);
    r2.consume(2);
    EXPECT_EQ("up 2 to 0", r1.sends());
    EXPECT_EQ("up 2 to 0", r2.sends());
    EXPECT_EQ(HWMC_TAKEN, r0.up(1, 2));
    EXPECT_EQ("", r0.sends());
    EXPECT_EQ(HWMC_TAKEN, r0.up(2, 2));
    EXPECT_EQ("down 2 to all", r0.sends());
    EXPECT_TRUE(r0.open(5));
    EXPECT_FALSE(r0.open(6));
    EXPECT_EQ(HWMC_TAKEN, r1.heard(2));
    EXPECT_TRUE(r1.open(5));
    EXPECT_EQ(1u, r0.counts.syncs);
    EXPECT_EQ(1u, r1.counts.syncs);
}

TEST(Channel, StallAsksTheParentInTimeAndOnce)
{
    Chan r(3, 1);

    r.consume(4);
    EXPECT_EQ("up 4 to 0", r.sends());
    r.stall(100);
    r.stall(90);
    EXPECT_EQ(100u, r.c.ask_at);
    r.timer(99);
    EXPECT_EQ("", r.sends());
    r.timer(100);
    EXPECT_EQ("floor? 0 to 0", r.sends());
    r.stall(200);
    EXPECT_EQ(HWMC_NEVER, r.c.ask_at);
    EXPECT_EQ(1u, r.counts.stalls);
    EXPECT_EQ(HWMC_TAKEN, r.down(0, 2));
    EXPECT_TRUE(r.open(5));
    EXPECT_EQ("", r.sends());
}

TEST(Channel, FloorThatMovesBeforeTheTimeSparesTheAsk)
{
    Chan r(3, 1);

    r.consume(4);
    r.sends();
    r.stall(100);
    EXPECT_EQ(HWMC_TAKEN, r.heard(2));
    EXPECT_EQ(HWMC_NEVER, r.c.ask_at);
    r.timer(100);
    EXPECT_EQ("", r.sends());
}

// The floor that rank 0 multicast was lost.
TEST(Channel, LostSyncDownIsAnsweredFromWhatTheParentKnows)
{
    Chan r0(3, 0);

    r0.consume(4);
    r0.up(1, 4);
    r0.up(2, 4);
    EXPECT_EQ("down 4 to all", r0.sends());
    EXPECT_EQ(HWMC_TAKEN, r0.ask(2, 0));
    EXPECT_EQ("down 4 to 2", r0.sends());
    EXPECT_EQ(HWMC_TAKEN, r0.ask(2, 4)); // nothing above 4 is known
    EXPECT_EQ("", r0.sends());
    r0.consume(2);
    r0.up(1, 6);
    r0.up(2, 6);
    EXPECT_EQ("down 6 to all, down 6 to 2", r0.sends());
}

TEST(Channel, ParentThatKnowsNoMoreAsksOn)
{
    Chan r(7, 1);

    r.consume(4);
    r.sends();
    EXPECT_EQ(HWMC_TAKEN, r.ask(3, 0));
    EXPECT_EQ("floor? 0 to 0", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.ask(4, 0));
    EXPECT_EQ("", r.sends()); // one ask is out
    EXPECT_EQ(HWMC_TAKEN, r.down(0, 2));
    EXPECT_EQ("down 2 to 3, down 2 to 4", r.sends());
}

// The child has heard of a higher floor elsewhere; an answer with that same floor is of no help.
TEST(Channel, ParentThatKnowsLessLearnsTheFloorFromTheChildThatAsks)
{
    Chan r(7, 1);

    r.consume(4);
    EXPECT_EQ(HWMC_TAKEN, r.ask(4, 0));
    EXPECT_EQ(HWMC_TAKEN, r.ask(3, 2));
    EXPECT_TRUE(r.open(5));
    EXPECT_EQ("floor? 2 to 0, down 2 to 4", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.down(0, 2));
    EXPECT_EQ("", r.sends());
    r.consume(2);
    EXPECT_EQ(HWMC_TAKEN, r.heard(4));
    EXPECT_EQ("down 4 to 3", r.sends());
    EXPECT_EQ(HWMC_BAD, r.ask(3, 7)); // more than this rank has consumed: no floor
}

TEST(Channel, MessageThatNamesABroadcastProvesAFloor)
{
    Chan r(3, 1);

    r.consume(4);
    EXPECT_TRUE(hwmc_channel_hear(&r.c, 3));
    EXPECT_FALSE(r.open(4));
    EXPECT_TRUE(hwmc_channel_hear(&r.c, 5));
    EXPECT_TRUE(r.open(5));
    EXPECT_FALSE(r.open(6));
    EXPECT_TRUE(hwmc_channel_hear(&r.c, 7));
    EXPECT_FALSE(hwmc_channel_hear(&r.c, 8)); // no honest sender can name it
    EXPECT_FALSE(r.open(8));
    hwmc_channel_check(&r.c);
}

TEST(Channel, HeardFloorAnswersAChildThatAsked)
{
    Chan r(7, 1);

    r.consume(4);
    r.sends();
    r.ask(3, 0);
    EXPECT_EQ("floor? 0 to 0", r.sends());
    EXPECT_TRUE(hwmc_channel_hear(&r.c, 5));
    EXPECT_EQ("down 2 to 3", r.sends());
}

TEST(Channel, CountsCombineByMinimum)
{
    Chan r(7, 1);

    r.consume(4);
    EXPECT_EQ("", r.sends());
    r.up(3, 4, 2);
    EXPECT_EQ("", r.sends());
    r.up(4, 2, 1);
    EXPECT_EQ("up 2 to 0", r.sends());
    r.up(4, 4);
    EXPECT_EQ("up 4 to 0", r.sends());
}

TEST(Channel, LossesAddUpOnTheWay)
{
    Chan r(7, 1), r0(2, 0);
    hwmc_msg tx;

    r.consume(2, true);
    r.up(3, 2, 3);
    r.up(4, 2, 1);
    ASSERT_EQ(1, hwmc_channel_next_send(&r.c, 1, &tx));
    EXPECT_EQ(6u, tx.up.repaired);
    r0.consume(2);
    r0.up(1, 2, 6);
    ASSERT_EQ(1, hwmc_channel_next_send(&r0.c, 1, &tx));
    EXPECT_EQ(6u, tx.up.repaired);
}

TEST(Channel, OneMessageAnEdgeAPeriod)
{
    Chan r(2, 1, 6, 3);

    for (int i = 1; i <= 6; i++) {
        r.consume(1);
        EXPECT_EQ(i % 3 ? "" : "up " + std::to_string(i) + " to 0", r.sends()) << i;
    }
}

// Whatever floor it stands at, a window of N has a multiple of the period in it.
TEST(Channel, WindowThatIsUsedUpAlwaysPassesAMultipleOfThePeriod)
{
    for (uint32_t n = 1; n <= 8; n++)
        for (uint32_t period = 1; period <= n; period++)
            for (uint32_t first = 0; first < n; first++) {
                Chan r(2, 1, n, period);

                r.consume((int) first);
                r.sends();
                EXPECT_TRUE(first == 0 || hwmc_channel_hear(&r.c, first + n - 1));
                r.consume((int) n);
                EXPECT_FALSE(r.open(first + n));
                EXPECT_NE("", r.sends()) << n << " " << period << " " << first;
            }
}

TEST(Channel, OneChannelIsOneBroadcastAtATime)
{
    Chan r0(2, 0, 1, 1), r1(2, 1, 1, 1);

    for (uint64_t b = 0; b < 5; b++) {
        r0.consume(1);
        EXPECT_FALSE(r0.open(b + 1));
        r1.consume(1);
        EXPECT_EQ("up " + std::to_string(b + 1) + " to 0", r1.sends());
        EXPECT_EQ(HWMC_TAKEN, r0.up(1, b + 1));
        EXPECT_EQ("down " + std::to_string(b + 1) + " to all", r0.sends());
        EXPECT_TRUE(r0.open(b + 1));
        EXPECT_EQ(HWMC_TAKEN, r1.heard(b + 1));
    }
}

TEST(Channel, AloneNothingIsSent)
{
    Chan r(1, 0, 2, 2);

    r.consume(9);
    EXPECT_EQ("", r.sends());
    r.close();
    EXPECT_TRUE(r.closed());
    EXPECT_EQ("", r.sends());
}

TEST(Channel, ClosingGoesUpAndComesDownByLane)
{
    Chan r0(3, 0), r1(3, 1), r2(3, 2);

    for (Chan *r : {&r0, &r1, &r2}) {
        r->consume(2);
        r->sends();
        r->consume(1);
        EXPECT_EQ("", r->sends());
        r->close();
    }
    EXPECT_EQ("up 3 to 0", r1.sends());
    EXPECT_EQ("up 3 to 0", r2.sends());
    r0.up(1, 3);
    EXPECT_FALSE(r0.closed());
    r0.up(2, 3);
    EXPECT_FALSE(r0.closed());
    EXPECT_EQ("down 3 to all, last 3 to 1, last 3 to 2", r0.sends());
    EXPECT_TRUE(r0.closed());
    EXPECT_EQ(HWMC_TAKEN, r1.heard(3));
    EXPECT_FALSE(r1.closed());
    EXPECT_EQ(HWMC_TAKEN, r1.down(0, 3, true));
    EXPECT_TRUE(r1.closed());
}

TEST(Channel, LastThatComesBeforeCloseIsKept)
{
    Chan r(7, 1);

    r.consume(2);
    r.up(3, 2);
    r.up(4, 2);
    EXPECT_EQ("up 2 to 0", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.down(0, 2, true)); // rank 0 has closed already
    EXPECT_EQ("", r.sends());
    EXPECT_FALSE(r.closed());
    r.close();
    EXPECT_FALSE(r.closed());
    EXPECT_EQ("last 2 to 3, last 2 to 4", r.sends());
    EXPECT_TRUE(r.closed());
}

TEST(Channel, CloseWithoutAnyBroadcast)
{
    Chan r0(3, 0), r1(3, 1);

    r0.close();
    EXPECT_EQ("last 0 to 1, last 0 to 2", r0.sends());
    EXPECT_TRUE(r0.closed());
    EXPECT_EQ(HWMC_TAKEN, r1.down(0, 0, true));
    r1.close();
    EXPECT_TRUE(r1.closed());
}

// Without multicast a floor goes down the tree, each edge once.
TEST(Channel, WithoutMulticastTheFloorGoesDownByLanes)
{
    Chan root(7, 0, 4, 2, 2, true), inner(7, 1, 4, 2, 2, true);
    hwmc_msg tx, up = {}, down = {};

    root.consume(2);
    inner.consume(2);
    up.type = HWMC_MSG_SYNC_UP;
    up.bid = 2;
    for (uint32_t peer : {1, 2}) {
        up.peer = peer;
        EXPECT_EQ(HWMC_TAKEN, hwmc_channel_on_recv(&root.c, &up));
    }
    for (uint32_t peer : {1, 2}) {
        ASSERT_EQ(1, hwmc_channel_next_send(&root.c, 0xff, &tx));
        EXPECT_EQ(HWMC_MSG_SYNC_DOWN, tx.type);
        EXPECT_FALSE(tx.multicast);
        EXPECT_EQ(peer, tx.peer);
        EXPECT_EQ(2u, tx.bid);
    }
    EXPECT_EQ(0, hwmc_channel_next_send(&root.c, 0xff, &tx));
    down.type = HWMC_MSG_SYNC_DOWN;
    down.bid = 2;
    for (int times = 0; times < 2; times++) {
        EXPECT_EQ(HWMC_TAKEN, hwmc_channel_on_recv(&inner.c, &down));
        for (uint32_t peer : {3, 4}) {
            EXPECT_EQ(times == 0, hwmc_channel_next_send(&inner.c, 0xff, &tx));
            EXPECT_TRUE(times > 0 || (tx.type == HWMC_MSG_SYNC_DOWN && tx.peer == peer));
        }
    }
    hwmc_channel_check(&inner.c);
}

// Rank 0 with children 1 and 2: a floor is DIRECT if all three are ready for it.
TEST(Channel, AFloorIsDirectIfAllAreReadyForIt)
{
    for (uint32_t not_ready : {0u, 1u, 2u, 9u}) {
        Chan a(3, 0);
        hwmc_msg tx;

        hwmc_direct_begin(&a.c.direct, 0, a.c.n);
        a.c.direct.ready = not_ready == 0 ? 5 : 6;
        a.consume(2);
        for (uint32_t r : {1u, 2u})
            a.take(HWMC_MSG_SYNC_UP, r, 2, false, r == not_ready ? 0 : HWMC_FLAG_DIRECT);
        ASSERT_EQ(1, hwmc_channel_next_send(&a.c, 1, &tx));
        EXPECT_EQ(HWMC_MSG_SYNC_DOWN, tx.type);
        EXPECT_EQ(not_ready == 9, (tx.flags & HWMC_FLAG_DIRECT) != 0) << not_ready;
    }
}

// Rank 1 of 7, with children 3 and 4, says so of its subtree, each time anew; its parent's answer
// goes on to a child that asks.
TEST(Channel, ASubtreeIsReadyIfAllOfItAre)
{
    Chan a(7, 1);
    hwmc_msg tx;

    hwmc_direct_begin(&a.c.direct, 0, a.c.n);
    a.c.direct.ready = HWMC_NEVER;
    a.consume(4);
    a.take(HWMC_MSG_SYNC_UP, 3, 2, false, HWMC_FLAG_DIRECT);
    a.take(HWMC_MSG_SYNC_UP, 4, 2, false, HWMC_FLAG_DIRECT);
    ASSERT_EQ(1, hwmc_channel_next_send(&a.c, 1, &tx));
    EXPECT_EQ(2u, tx.bid);
    EXPECT_EQ(HWMC_FLAG_DIRECT, tx.flags);
    a.take(HWMC_MSG_SYNC_UP, 3, 4, false, 0);
    a.take(HWMC_MSG_SYNC_UP, 4, 4, false, HWMC_FLAG_DIRECT);
    ASSERT_EQ(1, hwmc_channel_next_send(&a.c, 1, &tx));
    EXPECT_EQ(4u, tx.bid);
    EXPECT_EQ(0u, tx.flags);

    a.take(HWMC_MSG_SYNC_DOWN, 0, 2, true, HWMC_FLAG_DIRECT);
    a.ask(3, 0);
    ASSERT_EQ(1, hwmc_channel_next_send(&a.c, 1, &tx));
    EXPECT_EQ(HWMC_MSG_SYNC_DOWN, tx.type);
    EXPECT_EQ(HWMC_FLAG_DIRECT, tx.flags);
    a.take(HWMC_MSG_SYNC_DOWN, 0, 4, true, 0);
    a.ask(3, 2);
    ASSERT_EQ(1, hwmc_channel_next_send(&a.c, 1, &tx));
    EXPECT_EQ(0u, tx.flags);
}

// What a root does with that: N = 4, its message begins with 10.
TEST(Channel, ARootSendsDirectlyWithoutAGap)
{
    hwmc_direct d;

    hwmc_direct_init(&d);
    EXPECT_FALSE(hwmc_direct_takes(&d, 14, 4)) << "no message is under way";
    hwmc_direct_begin(&d, 10, 4);
    hwmc_direct_on_floor(&d, 10, true);
    EXPECT_FALSE(hwmc_direct_takes(&d, 13, 4)) << "somebody may not be in the message";
    hwmc_direct_on_floor(&d, 12, true);
    EXPECT_TRUE(hwmc_direct_takes(&d, 14, 4));
    EXPECT_TRUE(hwmc_direct_takes(&d, 15, 4));
    hwmc_direct_on_floor(&d, 14, false);
    EXPECT_FALSE(hwmc_direct_takes(&d, 16, 4));
    hwmc_direct_on_floor(&d, 16, true);
    EXPECT_FALSE(hwmc_direct_takes(&d, 17, 4)) << "16 went the other way";

    hwmc_direct_begin(&d, 16, 4); // a floor of before says nothing of this message
    EXPECT_FALSE(hwmc_direct_takes(&d, 20, 4));
}

TEST(Channel, OldFloorsAreStaleAndImpossibleOnesBad)
{
    Chan r(7, 1);

    r.consume(4);
    EXPECT_EQ(HWMC_TAKEN, r.heard(2));
    EXPECT_EQ(HWMC_STALE, r.heard(0));
    EXPECT_EQ(HWMC_BAD, r.heard(5));                             // above our own count
    EXPECT_EQ(HWMC_BAD, r.take(HWMC_MSG_SYNC_DOWN, 2, 4, true)); // not rank 0
    EXPECT_EQ(HWMC_BAD, r.down(3, 4));                           // not the parent
    EXPECT_EQ(HWMC_BAD, r.up(5, 2));                             // not a child
    EXPECT_EQ(HWMC_BAD, r.take(HWMC_MSG_SYNC_UP, 3, 2, true));   // multicast
    EXPECT_EQ(HWMC_BAD, r.up(3, 11));                            // beyond any window
    EXPECT_EQ(HWMC_TAKEN, r.up(3, 4));
    EXPECT_EQ(HWMC_BAD, r.up(3, 2)); // going back
    Chan r0(7, 0);
    r0.consume(4);
    EXPECT_EQ(HWMC_BAD, r0.heard(2));
}
