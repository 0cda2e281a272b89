// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// two_stage: one broadcast at one rank, by hand, with the exact sends: what it gets and asks for.
#include "two_stage_one.h"

TEST(TwoStage, ExampleOfTheHeader)
{
    One r0(4, 0), r1(4, 1), r2(4, 2);

    r0.root(30);
    EXPECT_EQ("cast 0, cast 1, cast 2", r0.sends());
    EXPECT_TRUE(r0.done());
    r1.member(0);
    r2.member(0);
    for (uint32_t i : {0, 1, 2})
        EXPECT_EQ(HWMC_PLACE, r1.cast(0, 3, i));
    EXPECT_TRUE(r1.done());
    EXPECT_EQ("", r1.sends());
    r2.cast(0, 3, 0);
    EXPECT_EQ("", r2.sends());
    r2.cast(0, 3, 2);
    EXPECT_EQ("ask 1 of 1", r2.sends());
    EXPECT_EQ(HWMC_NEVER, r2.timer());
    EXPECT_EQ(HWMC_TAKEN, r1.request(3, {1}));
    EXPECT_EQ("send 1 to 2!", r1.sends());
    EXPECT_EQ(HWMC_PLACE, r2.lane(0, 3, 1, HWMC_FLAG_AT_ONCE));
    EXPECT_TRUE(r2.done());
    EXPECT_EQ("", r2.sends());
    EXPECT_EQ(1u, r2.counts.lost_gap);
    EXPECT_EQ(0u, r2.counts.lost_tail);
    EXPECT_EQ(1u, r2.counts.repaired);
}

TEST(TwoStage, ZeroBytesAreOneEmptyFragment)
{
    One root(2, 0), member(2, 1);
    hwmc_msg msg = member.frag(0, 1, 0);

    root.root(0);
    EXPECT_EQ("cast 0", root.sends());
    EXPECT_TRUE(root.done());
    msg.data.bytes = 0;
    member.member(0);
    EXPECT_EQ(HWMC_PLACE, member.data(msg));
    EXPECT_TRUE(member.done());
    EXPECT_EQ(0u, member.m.bytes);
}

TEST(TwoStage, FragmentsCoverTheMessage)
{
    EXPECT_EQ(1u, hwmc_frags_of(0, 10));
    EXPECT_EQ(1u, hwmc_frags_of(10, 10));
    EXPECT_EQ(2u, hwmc_frags_of(11, 10));
    EXPECT_EQ(0u, hwmc_frag_len(0, 10, 0));
    EXPECT_EQ(10u, hwmc_frag_len(11, 10, 0));
    EXPECT_EQ(1u, hwmc_frag_len(11, 10, 1));
}

TEST(TwoStage, TailIsAskedForWhenNothingMoreComesInTime)
{
    One r(4, 2);

    r.member(0);
    r.pass(TAIL / 2);
    r.cast(0, 3, 0);
    EXPECT_EQ(r.now + TAIL, r.timer());
    r.pass(TAIL - 1);
    EXPECT_EQ("", r.sends());
    r.pass(1);
    EXPECT_EQ("ask 1 2 of 1", r.sends());
    EXPECT_EQ(HWMC_NEVER, r.timer());
    EXPECT_EQ(1u, r.counts.lost_tail);
    EXPECT_EQ(0u, r.counts.lost_gap);
}

TEST(TwoStage, AllIsAskedForWhenNothingCame)
{
    One r(4, 2);

    r.member(0);
    r.pass(TAIL);
    EXPECT_EQ("ask all of 1", r.sends());
    r.lane(0, 3, 1);
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_NEVER, r.timer());
    r.lane(0, 3, 0);
    r.lane(0, 3, 2);
    EXPECT_TRUE(r.done());
    EXPECT_EQ(1u, r.counts.nacks_sent);
}

TEST(TwoStage, PullAsksForGapOnceAndOnlyBelowHighestSeen)
{
    One r(4, 2);

    r.member(0);
    r.cast(0, 8, 2);
    EXPECT_EQ("ask 0 1 of 1", r.sends());
    r.cast(0, 8, 3);
    EXPECT_EQ("", r.sends());
    r.cast(0, 8, 6);
    EXPECT_EQ("ask 0 1 4 5 of 1", r.sends()); // 0 and 1 are named again, which costs nothing
    EXPECT_EQ(4u, r.counts.lost_gap);
    r.pass(TAIL);
    EXPECT_EQ("ask 0 1 4 5 7 of 1", r.sends());
    r.pass(TAIL);
    EXPECT_EQ("", r.sends());
}

TEST(TwoStage, GapUpToTheLastFragmentLeavesNoTimer)
{
    One r(4, 2);

    r.member(0);
    r.cast(0, 3, 0);
    EXPECT_NE(HWMC_NEVER, r.timer());
    r.cast(0, 3, 2);
    EXPECT_EQ(HWMC_NEVER, r.timer());
    r.pass(10 * TAIL);
    EXPECT_EQ(0u, r.counts.lost_tail);
    EXPECT_EQ("ask 1 of 1", r.sends());
    EXPECT_EQ(1u, r.counts.lost_gap);
}

TEST(TwoStage, RepairsOverTheLaneMakeNoGap)
{
    One r(4, 2);

    r.member(0);
    r.pass(TAIL);
    EXPECT_EQ("ask all of 1", r.sends());
    r.lane(0, 4, 3);
    r.lane(0, 4, 0);
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(0u, r.counts.lost_gap);
}

TEST(TwoStage, LaterBroadcastAsksForTheRestOnce)
{
    One r(4, 2);

    r.later();
    EXPECT_EQ("", r.sends()); // it may be one that is not multicast
    r.member(0);
    EXPECT_EQ("ask all of 1", r.sends());
    r.later();
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(1u, r.counts.lost_later);
    EXPECT_NE(HWMC_NEVER, r.timer()); // it may have been too early
}

// The root is late: the question is repeated after 1, 2, 4, ... 64, 64 ms.
TEST(TwoStage, WhoKnowsNothingRepeatsTheQuestion)
{
    One r(2, 1); // there is nobody else to be asked

    r.member(0);
    for (uint64_t wait = TAIL; wait <= 64 * TAIL; wait *= 2) {
        r.pass(wait - 1);
        EXPECT_EQ("", r.sends());
        r.pass(1);
        EXPECT_EQ("ask all of 0", r.sends());
    }
    r.pass(64 * TAIL);
    EXPECT_EQ("ask all of 0", r.sends());
    EXPECT_EQ(1u, r.counts.lost_tail);
}

// A few fragments are sent at once when they come, many only if they came by lane.
TEST(TwoStage, AnEarlyQuestionHoldsForAFewFragmentsOrForARepair)
{
    for (bool lane : {false, true})
        for (uint32_t frags : {4u, 5u}) {
            One r(4, 2);

            r.request(0, {});
            EXPECT_EQ("ask all of 1", r.sends());
            if (lane)
                r.lane(0, frags, 0);
            else
                r.cast(0, frags, 0);
            EXPECT_EQ(lane || frags == 4 ? "send 0 to 3" : "", r.sends());
            r.request(0, {}); // it is just coming
            EXPECT_EQ("", r.sends());
            r.now += TAIL;
            r.request(0, {}); // it is not
            EXPECT_EQ(lane || frags == 4 ? "" : "send 0 to 3", r.sends());
        }
}

TEST(TwoStage, PushTakesNoNoticeOfLaterBroadcastsOrTime)
{
    One r(4, 2, true);

    r.later();
    r.member(0);
    r.cast(0, 3, 2);
    r.pass(3 * TAIL / 2);
    EXPECT_EQ("send 2 to 3", r.sends());
}

TEST(TwoStage, NeedlessRequestMakesTheNextWaitLonger)
{
    One r(4, 1);

    r.member(0);
    r.pass(TAIL);
    EXPECT_EQ("ask all of 0", r.sends());
    r.cast(0, 1, 0);
    EXPECT_EQ(1u, r.counts.needless);
    EXPECT_EQ(2 * TAIL, hwmc_rtt_wait(&r.ring.rtt));
}

// Broadcasts come 80 us after the call, and a loss has shown the way to the predecessor.
TEST(TwoStage, AsksSoonerWhereBroadcastsComeSoon)
{
    for (uint32_t frags : {1u, 4u, 5u}) {
        One r(4, 1, false, 8);

        for (uint32_t i = 0; i < HWMC_TAIL_KNOWN; i++) {
            r.member(0);
            r.pass(80 * US);
            r.cast(0, 1, 0);
            EXPECT_EQ("", r.sends());
            hwmc_two_stage_reset(&r.m, 5, &r.ring);
        }
        hwmc_rtt_sample(&r.ring.rtt, 50 * US);
        r.member(0);
        if (frags > 1)
            r.cast(0, frags, 0); // that it is long is known now
        r.pass(TAIL / 3);
        EXPECT_EQ(frags == 1 ? "ask all of 0" : frags == 4 ? "ask 1 2 3 of 0" : "", r.sends());
    }
}

// What came by lane was asked for: it does not say how long to wait.
TEST(TwoStage, ARepairSaysNothingOfHowSoonBroadcastsCome)
{
    One r(4, 1);

    r.member(0);
    r.pass(TAIL);
    r.lane(0, 1, 0);
    EXPECT_EQ(0u, r.ring.tail.samples);
}

TEST(TwoStage, RandomMemberSaysReadyAndTheRootWaitsForIt)
{
    One root(4, 0), member(4, 2), unexpected(4, 0);

    root.root(10, HWMC_NEVER);
    EXPECT_EQ(HWMC_NEVER, root.timer());
    EXPECT_EQ("", root.sends());
    member.member(0, true);
    EXPECT_EQ("ready to 0", member.sends());
    EXPECT_EQ("", member.sends());
    EXPECT_EQ(HWMC_TAKEN, hwmc_two_stage_on_ready(&root.m));
    EXPECT_EQ("cast 0", root.sends());
    hwmc_two_stage_on_ready(&unexpected.m); // before the root is called
    unexpected.root(10, HWMC_NEVER);
    EXPECT_EQ("cast 0", unexpected.sends());
}

TEST(TwoStage, FixedDelayHoldsTheRoot)
{
    One r(4, 0);

    r.root(10, r.now + 50 * US);
    EXPECT_EQ(r.now + 50 * US, r.timer());
    EXPECT_EQ("", r.sends());
    r.pass(50 * US);
    EXPECT_EQ(HWMC_NEVER, r.timer());
    EXPECT_EQ("cast 0", r.sends());
    EXPECT_EQ(1u, r.counts.holds);
}

TEST(TwoStage, ManyFragmentsCrossWordBorders)
{
    One r(3, 1, false, 200), next(3, 2, false, 200);

    r.member(0);
    for (uint32_t i = 0; i < 200; i++)
        if (i != 63 && i != 64 && i != 130) {
            EXPECT_EQ(HWMC_PLACE, r.cast(0, 200, i));
        }
    EXPECT_EQ("ask 63 64 130 of 0", r.sends());
    EXPECT_EQ(3u, r.counts.lost_gap);
    r.request(200, {130, 199});
    EXPECT_EQ("tell 130 of 0, send 199 to 2", r.sends());
    r.lane(0, 200, 130);
    EXPECT_EQ("send 130 to 2", r.sends());
}

// Fragments 0 2 on rail 0, 1 3 on rail 1.
static hwmc_msg on_rail(One &r, uint32_t index, uint32_t rail)
{
    hwmc_msg msg = r.frag(0, 4, index);

    msg.data.rails = 3;
    msg.rail = (uint8_t) rail;
    return msg;
}

TEST(TwoStage, RailThatIsBehindIsNoGap)
{
    One r(3, 2);

    r.member(0);
    EXPECT_EQ(HWMC_PLACE, r.data(on_rail(r, 0, 0)));
    EXPECT_EQ(HWMC_PLACE, r.data(on_rail(r, 2, 0)));
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_PLACE, r.data(on_rail(r, 1, 1)));
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_PLACE, r.data(on_rail(r, 3, 1)));
    EXPECT_TRUE(r.done());
    EXPECT_EQ(0u, r.counts.nacks_sent);
}

TEST(TwoStage, GapIsWhatAllRailsHavePassed)
{
    One r(3, 2);

    r.member(0);
    r.data(on_rail(r, 2, 0)); // 0 is lost, but rail 1 might have brought it
    EXPECT_EQ("", r.sends());
    r.data(on_rail(r, 3, 1));
    EXPECT_EQ("ask 0 1 of 1", r.sends());
    EXPECT_EQ(2u, r.counts.lost_gap);
}

TEST(TwoStage, LaterBroadcastOnOneRailSaysNothingOfTheOther)
{
    One r(3, 2);

    r.member(0);
    r.data(on_rail(r, 0, 0));
    r.data(on_rail(r, 1, 1));
    r.later(1, 0);
    EXPECT_EQ("", r.sends());
    r.later(1, 1);
    EXPECT_EQ("ask 2 3 of 1", r.sends());
}

TEST(TwoStage, TailIsNotOverWhileARailThatIsBehindBrings)
{
    One r(3, 2);

    r.member(0);
    r.ring.rails = 3;
    for (int i = 0; i < 5; i++) { // of the broadcast before
        r.ring.seen[1] = 4ull << 16 | (uint64_t) (i + 1);
        r.ring.heard[1] = r.now;
        r.pass(TAIL / 2);
        EXPECT_EQ("", r.sends());
    }
    r.pass(TAIL / 2);
    EXPECT_EQ("ask all of 1", r.sends());
    EXPECT_EQ(1u, r.counts.lost_tail);
}

// A rail that has brought something later brings nothing more of this broadcast.
TEST(TwoStage, TailDoesNotWaitForARailThatIsBeyond)
{
    One r(3, 2);

    r.member(0);
    r.data(on_rail(r, 0, 0));
    r.later(1, 0);
    r.pass(TAIL / 2);
    r.later(2, 0);
    r.pass(TAIL / 2);
    EXPECT_EQ("ask 1 2 3 of 1", r.sends());
}

// What comes in bursts is waited for twice as long as between two of them, if it is long.
TEST(TwoStage, TheTailOfALongBroadcastIsWaitedForByItsGaps)
{
    for (uint32_t frags : {4u, 8u}) {
        One r(3, 2);

        r.member(0);
        EXPECT_EQ(HWMC_PLACE, r.cast(0, frags, 0));
        EXPECT_EQ(r.now + TAIL, r.timer()); // the first has no gap before it
        r.now += 3 * TAIL / 4;
        EXPECT_EQ(HWMC_PLACE, r.cast(0, frags, 1));
        EXPECT_EQ(r.now + (frags == 8 ? 3 * TAIL / 2 : TAIL), r.timer());
    }
}

TEST(TwoStage, TheFirstFragmentEverSaysNothingOfGaps)
{
    One r(3, 2);

    hwmc_two_stage_init(&r.m, 0, r.words.data(), &r.ring);
    r.member(0);
    hwmc_msg msg = r.frag(0, 8, 0);
    msg.bid = 0;
    EXPECT_EQ(HWMC_PLACE, r.data(msg));
    EXPECT_EQ(0u, r.ring.gap);
}
