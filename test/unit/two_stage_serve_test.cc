// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// two_stage: one broadcast at one rank, by hand: whom it serves, and what it does not believe.
#include "two_stage_one.h"

TEST(TwoStage, PushForwardsEachFragmentOnceHoweverItCame)
{
    One r(4, 1, true);

    r.member(0);
    r.cast(0, 3, 2);
    EXPECT_EQ("send 2 to 2", r.sends());
    r.lane(0, 3, 0);
    EXPECT_EQ("send 0 to 2", r.sends());
    EXPECT_EQ(HWMC_DUP, r.cast(0, 3, 0));
    EXPECT_EQ(HWMC_DUP, r.lane(0, 3, 2));
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_NEVER, r.timer());
    r.cast(0, 3, 1);
    EXPECT_EQ("send 1 to 2", r.sends());
    EXPECT_TRUE(r.done());
}

TEST(TwoStage, PushRootCastsFirstThenForwards)
{
    One r(4, 2, true);

    r.root(20);
    EXPECT_EQ("cast 0, cast 1, send 0 to 3, send 1 to 3", r.sends());
}

TEST(TwoStage, PushForwardsBeforeTheProgramCalls)
{
    One r(4, 1, true);

    r.cast(0, 1, 0);
    EXPECT_EQ("send 0 to 2", r.sends());
    EXPECT_FALSE(r.done());
    r.member(0);
    EXPECT_TRUE(r.done());
}

TEST(TwoStage, LastRankBeforeTheRootDoesNotForward)
{
    One push(4, 3, true), pull(4, 3);

    push.member(0);
    push.cast(0, 1, 0);
    EXPECT_EQ("", push.sends());
    pull.member(0);
    pull.cast(0, 1, 0);
    EXPECT_EQ("", pull.sends());
}

TEST(TwoStage, LastRankForgetsWhatAnEarlyRootAskedFor)
{
    One before(4, 3), after(4, 3);

    EXPECT_EQ(HWMC_TAKEN, before.request(0, {}));
    EXPECT_EQ("ask all of 2", before.sends());
    before.member(0);
    before.cast(0, 2, 0);
    before.cast(0, 2, 1);
    EXPECT_TRUE(before.done());
    EXPECT_EQ("", before.sends());
    after.member(0);
    after.cast(0, 2, 0);
    EXPECT_EQ(HWMC_TAKEN, after.request(0, {}));
    EXPECT_EQ("", after.sends());
    EXPECT_NE(HWMC_NEVER, after.timer());
}

TEST(TwoStage, EarlyRequestIsPassedOnAndAnsweredAsDataComes)
{
    One r(4, 1);

    EXPECT_EQ(HWMC_TAKEN, r.request(3, {0, 2}));
    EXPECT_EQ("ask all of 0", r.sends());
    r.member(0);
    r.cast(0, 3, 0);
    EXPECT_EQ("send 0 to 2", r.sends()); // not at once: no round trip to be measured
    r.cast(0, 3, 1);
    EXPECT_EQ("", r.sends());
    r.lane(0, 3, 2);
    EXPECT_EQ("send 2 to 2", r.sends());
}

TEST(TwoStage, WantAllIsServedInFull)
{
    One r(4, 1);

    EXPECT_EQ(HWMC_TAKEN, r.request(0, {}));
    EXPECT_EQ("ask all of 0", r.sends());
    r.cast(0, 2, 1);
    r.cast(0, 2, 0);
    EXPECT_EQ("send 0 to 2, send 1 to 2", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.request(2, {0, 1}));
    EXPECT_EQ("", r.sends());
}

TEST(TwoStage, WhatIsHereIsServedAtOnceAlsoByAHoldingRoot)
{
    One r(4, 0);

    r.root(20, HWMC_NEVER);
    EXPECT_EQ("", r.sends());
    r.request(0, {});
    EXPECT_EQ("send 0 to 1!, send 1 to 1!", r.sends());
    EXPECT_FALSE(r.done());
}

TEST(TwoStage, RequestForWhatIsHereDoesNotAskOn)
{
    One r(4, 1);

    r.member(0);
    r.cast(0, 3, 0);
    r.request(3, {0});
    EXPECT_EQ("send 0 to 2!", r.sends());
    r.request(3, {0, 1});
    EXPECT_EQ("ask 1 of 0", r.sends());
}

TEST(TwoStage, FirstRepairAtOnceIsARoundTripSample)
{
    One r(4, 1), late(4, 1);

    r.member(0);
    r.cast(0, 3, 2);
    EXPECT_EQ("ask 0 1 of 0", r.sends());
    r.pass(40 * US);
    r.lane(0, 3, 0, HWMC_FLAG_AT_ONCE);
    EXPECT_EQ(40 * US, r.ring.rtt.least);
    r.pass(400 * US);
    r.lane(0, 3, 1, HWMC_FLAG_AT_ONCE);
    EXPECT_EQ(40 * US, r.ring.rtt.least);
    EXPECT_EQ(440 * US, r.counts.recovery_ns);
    late.member(0);
    late.cast(0, 2, 1);
    late.sends();
    late.pass(40 * US);
    late.lane(0, 2, 0);
    EXPECT_EQ(0u, late.ring.rtt.samples);
}

TEST(TwoStage, ContradictionsAreBad)
{
    One r(4, 1);
    hwmc_msg msg = r.frag(0, 3, 0);

    EXPECT_EQ(HWMC_PLACE, r.data(msg));
    for (int what = 0; what < 8; what++) {
        hwmc_msg bad = r.frag(0, 3, 1);

        switch (what) {
            case 0:
                bad.data.frags = 4, bad.data.bytes = 40;
                break;
            case 1:
                bad.data.bytes = 29;
                break;
            case 2:
                bad.data.root = bad.peer = 2;
                break;
            case 3:
                bad.data.index = 3;
                break;
            case 4:
                bad.flags = HWMC_FLAG_MORE;
                break;
            case 5:
                bad.multicast = false, bad.peer = 2;
                break;
            case 6:
                bad.peer = 3;
                break;
            default:
                bad.data.frags = 0;
                break;
        }
        EXPECT_EQ(HWMC_BAD, r.data(bad)) << what;
    }
    EXPECT_EQ(HWMC_BAD, r.request(4, {1}));
    EXPECT_EQ(HWMC_PLACE, r.cast(0, 3, 1));
}

TEST(TwoStage, CalledRootIsTheRoot)
{
    One r(4, 1);

    r.member(0);
    EXPECT_EQ(HWMC_BAD, r.cast(2, 1, 0));
    EXPECT_EQ(HWMC_BAD, r.cast(1, 1, 0));
    EXPECT_EQ(HWMC_PLACE, r.cast(0, 1, 0));
}

TEST(TwoStage, RootForgetsWhatCameForItsBroadcast)
{
    for (bool push : {false, true}) {
        One stored(4, 1, push), unexpected(4, 1, push);

        stored.cast(0, 2, 0);
        stored.cast(0, 2, 1);
        stored.sends();
        stored.root(10);
        EXPECT_EQ(push ? "cast 0, send 0 to 2" : "cast 0", stored.sends());
        unexpected.cast(0, 8, 7);
        unexpected.sends();
        unexpected.root(30);
        EXPECT_EQ(push ? "cast 0, cast 1, cast 2, send 0 to 2, send 1 to 2, send 2 to 2"
                       : "cast 0, cast 1, cast 2",
                  unexpected.sends());
        EXPECT_TRUE(unexpected.done());
    }
}

TEST(TwoStage, ResetForgetsEverything)
{
    One r(4, 1);

    r.member(0);
    r.cast(0, 2, 1);
    r.request(0, {});
    r.sends();
    r.lane(0, 2, 0);
    r.sends();
    hwmc_two_stage_reset(&r.m, 5, &r.ring);
    r.check();
    EXPECT_EQ(HWMC_NEVER, r.timer());
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_PLACE, r.cast(2, 3, 1));
}

// A rank that is asked for what it has lost itself tells the root, each fragment once.
TEST(TwoStageAgain, WhatNeighboursLackTheRootIsTold)
{
    One r(5, 2);

    r.member(0);
    for (uint32_t i : {0, 1, 3, 5})
        r.cast(0, 8, i);
    EXPECT_EQ("ask 2 4 of 1", r.sends());
    r.request(8, {2});
    EXPECT_EQ("tell 2 of 0", r.sends());
    r.request(8, {2, 6}); // 6 is not known to be lost here
    EXPECT_EQ("ask 2 4 6 of 1", r.sends());
    r.request(8, {2, 4, 6});
    EXPECT_EQ("tell 2 4 of 0", r.sends());
    r.cast(0, 8, 7);
    EXPECT_EQ("tell 2 4 6 of 0", r.sends());
    EXPECT_EQ(3u, r.counts.root_nacks_sent);
    r.cast(0, 8, 2); // once more: it goes on to the successor, who may lack it still
    EXPECT_EQ("send 2 to 3", r.sends());
}

// Knowing nothing, it tells so when it has waited in vain and is asked.
TEST(TwoStageAgain, WhoKnowsNothingTellsThatOnce)
{
    One r(5, 2);

    r.member(0);
    r.request(0, {});
    EXPECT_EQ("ask all of 1", r.sends()); // its own wait is not over
    r.pass(TAIL);
    EXPECT_EQ("ask all of 1, tell all of 0", r.sends());
    r.pass(2 * TAIL);
    EXPECT_EQ("ask all of 1", r.sends());
}

TEST(TwoStageAgain, ARootMulticastsWhatIsLackedOnceMore)
{
    One r(5, 0);

    EXPECT_EQ(HWMC_BAD, r.again(8, {2})); // of nothing that is known
    EXPECT_EQ(HWMC_TAKEN, r.again(0, {}));
    r.root(80);
    EXPECT_EQ("cast 0, cast 1, cast 2, cast 3, cast 4, cast 5, cast 6, cast 7, cast 7", r.sends());
    ASSERT_TRUE(r.done());
    EXPECT_EQ(HWMC_TAKEN, r.again(8, {2, 6}));
    EXPECT_TRUE(hwmc_two_stage_casts(&r.m));
    EXPECT_EQ("cast 2, cast 6", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.again(8, {2, 6, 3}));
    EXPECT_EQ("cast 3", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.again(0, {})); // of a long broadcast: too early, or late
    EXPECT_EQ("", r.sends());
    EXPECT_EQ(HWMC_BAD, r.again(7, {1}));
    EXPECT_EQ(3u, r.counts.cast_again);
}

TEST(TwoStageAgain, AShortBroadcastGoesOnceMoreAsAWhole)
{
    One r(5, 0);

    r.root(20);
    EXPECT_EQ("cast 0, cast 1", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.again(0, {}));
    EXPECT_EQ("cast 0, cast 1", r.sends());
    EXPECT_EQ(HWMC_TAKEN, r.again(0, {}));
    EXPECT_EQ("", r.sends());
}

// Also where the root was asked, and asked in turn, before its program called.
TEST(TwoStageAgain, ARootThatWasAskedEarlyMulticastsOnceMoreToo)
{
    for (bool all : {false, true}) {
        One r(5, 0);

        EXPECT_EQ(HWMC_TAKEN, r.request(0, {}));
        EXPECT_EQ("ask all of 4", r.sends());
        r.root(20);
        EXPECT_EQ("cast 0, cast 1, send 0 to 1, send 1 to 1", r.sends());
        EXPECT_EQ(HWMC_TAKEN, all ? r.again(0, {}) : r.again(2, {1}));
        EXPECT_EQ(all ? "cast 0, cast 1" : "cast 1", r.sends());
    }
}

// While stage 1 is under way what has not been sent is not repeated.
TEST(TwoStageAgain, NothingIsRepeatedBeforeItWasSent)
{
    One r(5, 0);

    r.root(80, r.now + 50 * US);
    EXPECT_EQ(HWMC_TAKEN, r.again(8, {2}));
    r.pass(50 * US);
    EXPECT_EQ("cast 0, cast 1, cast 2, cast 3, cast 4, cast 5, cast 6, cast 7, cast 7", r.sends());
}
