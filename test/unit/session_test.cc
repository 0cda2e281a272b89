// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include <gtest/gtest.h>

#include "session_net.h"

static constexpr uint64_t kUs = SessionNet::kUs, kMs = SessionNet::kMs, kS = 1000 * kMs;

TEST(Link, WithoutTroubleNothingIsSentTwiceAndAcknowledgementsAreFew)
{
    SessionNet net(2, 2);

    net.post(0, 0, 1000);
    net.post(0, 1, 1000);
    net.run_for(10 * kS);
    EXPECT_TRUE(net.clear());
    EXPECT_EQ(1000u, net.ends[1].taken[0]);
    EXPECT_EQ(1000u, net.ends[1].taken[1]);
    EXPECT_EQ(1000u, net.ends[0].sent_by[0]); // each stream by the lane that it prefers
    EXPECT_EQ(1000u, net.ends[0].sent_by[1]);
    EXPECT_EQ(0u, net.ends[0].counts.replays + net.ends[0].counts.probes);
    EXPECT_EQ(UINT64_MAX, hwmc_session_next_timer(&net.ends[0].session));
    EXPECT_EQ(UINT64_MAX, hwmc_session_next_timer(&net.ends[1].session));
}

TEST(Link, KeepsToItsWindow)
{
    SessionNet net(1, 1);

    net.cut(0);
    net.post(0, 0, 1000);
    net.run_for(kS);
    EXPECT_EQ(HWMC_SESSION_WINDOW, net.ends[0].sent_by[0]);
    net.heal(0);
    net.run_for(10 * kS);
    EXPECT_EQ(1000u, net.ends[1].taken[0]);
    EXPECT_EQ(1000u, net.ends[0].sent_by[0]); // the lane was only silent
}

TEST(Link, ASilentLaneIsLeftOnceAnotherAnswers)
{
    SessionNet net(2, 1);

    net.cut(0);
    net.post(0, 0, 3);
    net.run_for(99 * kMs);
    EXPECT_EQ(0u, net.ends[1].taken[0]);
    net.run_for(2 * kMs);
    EXPECT_EQ(3u, net.ends[1].taken[0]);
    EXPECT_EQ(HWMC_SESSION_DEAD, net.state(0, 0));
    EXPECT_EQ(3u, net.ends[0].counts.replays);
    EXPECT_EQ(1u, net.ends[0].counts.moves);
    net.run_for(10 * kMs); // and its acknowledgement takes no other way
    EXPECT_TRUE(net.clear());
}

TEST(Link, ItComesBackAndIsUsedAgainWithoutARepeat)
{
    SessionNet net(2, 1);

    net.cut(0);
    net.post(0, 0, 3);
    net.run_for(5 * kS);
    net.heal(0);
    net.run_for(10 * kS);
    EXPECT_EQ(HWMC_SESSION_GOOD, net.state(0, 0));
    EXPECT_EQ(1u, net.ends[0].counts.returns);
    EXPECT_EQ(3u, net.ends[1].counts.repeats); // the ones that had waited in the lane
    net.post(0, 0, 100);
    net.run_for(kS);
    EXPECT_EQ(103u, net.ends[1].taken[0]);
    EXPECT_EQ(103u, net.ends[0].sent_by[0]);
    EXPECT_EQ(3u, net.ends[1].counts.repeats);
}

// It stops sending by the other lane, has the last of it acknowledged, and goes on.
TEST(Link, ABusyStreamReturnsWithoutAGap)
{
    SessionNet net(2, 1);

    net.cut(0);
    net.post(0, 0, 3);
    net.run_for(kS);
    net.post(0, 0, 100000);
    net.heal(0);
    net.run_for(20 * kS);
    EXPECT_EQ(100003u, net.ends[1].taken[0]);
    EXPECT_EQ(0u, net.ends[1].counts.gaps);
    EXPECT_EQ(1u, net.ends[0].counts.returns);
}

TEST(Link, AProcessThatComputesCostsNoLaneItsLife)
{
    SessionNet net(2, 2);

    net.busy(1, true);
    net.post(0, 0, 200);
    net.post(0, 1, 200);
    net.run_for(60 * kS);
    EXPECT_EQ(HWMC_SESSION_SUSPECTED, net.state(0, 0));
    EXPECT_EQ(2u, net.ends[0].counts.probes); // one for each lane, and no more
    net.busy(1, false);
    net.run_for(kS);
    EXPECT_TRUE(net.clear());
    EXPECT_EQ(0u, net.ends[0].counts.deaths + net.ends[0].counts.replays);
}

// That a frame came before the lane died, and only its acknowledgement was lost, another lane
// tells.
TEST(Link, WhatCameBeforeDoesNotVouchForALane)
{
    SessionNet net(2, 1);

    net.post(0, 0);
    net.run_for(kMs);
    net.cut(0);
    net.post(0, 0);
    net.run_for(60 * kMs);
    EXPECT_EQ(1u, net.ends[0].session.streams[0].acked);
    EXPECT_EQ(HWMC_SESSION_SUSPECTED, net.state(0, 0));
    net.run_for(45 * kMs);
    EXPECT_EQ(HWMC_SESSION_DEAD, net.state(0, 0));
    EXPECT_EQ(2u, net.ends[1].taken[0]);
}

// Frames queue by a lane, and acknowledgements come by it.
TEST(Link, ALaneThatIsSlowIsNotGivenUp)
{
    SessionNet net(2, 1);

    for (int i = 0; i < 20; i++) {
        net.post(0, 0, 20);
        net.cut(0, i % 2 == 0, false); // 30 ms at a time nothing passes
        net.run_for(30 * kMs);
    }
    net.heal(0);
    net.run_for(kS);
    EXPECT_TRUE(net.clear());
    EXPECT_EQ(0u, net.ends[0].counts.deaths);
}

TEST(Link, ALaneThatIsDeadOneWayIsLeftByWhoCannotUseIt)
{
    SessionNet net(2, 1);

    net.cut(0, false, true); // 1 to 0 is cut
    net.post(0, 0, 5);
    net.run_for(kS);
    EXPECT_TRUE(net.clear());
    EXPECT_EQ(5u, net.ends[1].taken[0]);
    net.post(1, 0, 5);
    net.run_for(kS);
    EXPECT_TRUE(net.clear());
    EXPECT_EQ(5u, net.ends[0].taken[0]);
}

TEST(Link, ALaneThatSaysItIsLostIsLeftAtOnce)
{
    SessionNet net(2, 1, 3);

    net.post(0, 0, 70);
    net.run_for(5 * kUs);
    net.lose(0, kMs);
    net.run_for(15 * kMs);
    EXPECT_EQ(70u, net.ends[1].taken[0]);
    EXPECT_EQ(64u, net.ends[0].counts.replays);
    EXPECT_EQ(0u, net.ends[0].counts.probes);
    net.usable(0);
    net.run_for(10 * kMs);
    EXPECT_EQ(HWMC_SESSION_GOOD, net.state(0, 0));
    EXPECT_EQ(1u, net.ends[0].counts.returns);
}

TEST(Link, WithoutAnyLaneItWaits)
{
    SessionNet net(2, 1, 3, 0);

    net.post(0, 0, 4);
    net.run_for(kS);
    EXPECT_EQ(0u, net.ends[1].taken[0]);
    net.usable(1);
    net.run_for(10 * kMs);
    EXPECT_EQ(4u, net.ends[1].taken[0]);
}

// An acknowledgement that was lost is told again ahead of the answer to a probe; a frame that was
// lost is sent again by the same lane, as the answer says that it did not come.
TEST(Link, AnAnswerTellsWhatWasLost)
{
    SessionNet net(1, 1);

    net.post(0, 0, 2);
    net.ends[0].out[0].clear();
    net.run_for(kS);
    EXPECT_EQ(2u, net.ends[1].taken[0]);
    EXPECT_EQ(2u, net.ends[0].counts.replays);
    net.post(0, 0, 2); // ... also where some of it came
    net.ends[0].out[0].pop_back();
    net.run_for(5 * kMs + 30 * kUs); // the acknowledgement is under way
    EXPECT_EQ(1u, net.ends[1].out[0].size());
    net.ends[1].out[0].clear();
    net.run_for(50 * kMs);
    EXPECT_EQ(4u, net.ends[1].taken[0]);
    EXPECT_EQ(3u, net.ends[0].counts.replays);
    net.run_for(kS);
    net.post(0, 0, 1);
    net.run_for(5 * kMs + 30 * kUs);
    EXPECT_EQ(1u, net.ends[1].out[0].size());
    net.ends[1].out[0].clear();
    net.run_for(kS);
    EXPECT_TRUE(net.clear());
    EXPECT_EQ(3u, net.ends[0].counts.replays);
}

// Nothing is sent, so nobody would notice that the lane is dead.
TEST(Link, ADoubtFindsAnIdleLaneDead)
{
    SessionNet net(2, 1);

    net.run_for(kS);
    net.cut(0);
    EXPECT_EQ(0u, hwmc_session_take_suspect(&net.ends[0].session));
    net.suspect(0, 0);
    EXPECT_EQ(HWMC_SESSION_SUSPECTED, net.state(0, 0));
    net.run_for(26 * kMs); // the other lane's answer, and half of the grace
    EXPECT_EQ(HWMC_SESSION_SUSPECTED, net.state(0, 0));
    EXPECT_EQ(1u, hwmc_session_take_suspect(&net.ends[0].session));
    EXPECT_EQ(0u, hwmc_session_take_suspect(&net.ends[0].session));
    net.run_for(25 * kMs);
    EXPECT_EQ(HWMC_SESSION_DEAD, net.state(0, 0));
    EXPECT_EQ(0u, hwmc_session_take_suspect(&net.ends[0].session));
    net.post(0, 0);
    net.run_for(kMs); // by the other at once
    EXPECT_EQ(1u, net.ends[1].taken[0]);
    EXPECT_EQ(0u, net.ends[0].counts.replays);
}

TEST(Link, ADoubtCostsALivingLaneNothing)
{
    SessionNet net(2, 1);

    net.suspect(0, 0);
    net.suspect(0, 0);
    net.run_for(kS);
    EXPECT_EQ(HWMC_SESSION_GOOD, net.state(0, 0));
    EXPECT_EQ(2u, net.ends[0].counts.probes); // one a lane
    EXPECT_EQ(0u, net.ends[0].counts.deaths + net.ends[0].counts.moves);
    net.busy(1, true); // nor that of a process that computes
    net.suspect(0, 0);
    net.run_for(10 * kS);
    EXPECT_EQ(HWMC_SESSION_SUSPECTED, net.state(0, 0));
    net.busy(1, false);
    net.run_for(kS);
    EXPECT_EQ(HWMC_SESSION_GOOD, net.state(0, 0));
}

// Who has nothing to send by a dead lane learns of it from the one that has.
TEST(Link, BothEndsFindALaneDeadAtTheSameTime)
{
    SessionNet net(2, 1);

    net.run_for(kS);
    net.cut(0);
    net.post(0, 0);
    net.run_for(101 * kMs); // suspected, asked; the other lane's answer, and the grace
    EXPECT_EQ(HWMC_SESSION_DEAD, net.state(0, 0));
    EXPECT_EQ(HWMC_SESSION_DEAD, net.state(1, 0));
    net.post(1, 0);
    net.run_for(kMs);
    EXPECT_EQ(1u, net.ends[0].taken[0]);
    EXPECT_EQ(0u, net.ends[1].counts.replays);
}

TEST(Link, ADoubtGoesThereButNotBackAgain)
{
    SessionNet net(3, 1);

    net.suspect(0, 1);
    net.run_for(kS);
    for (const SessionNet::End &e : net.ends) {
        EXPECT_EQ(3u, e.counts.probes); // one a lane
        EXPECT_EQ(0u, e.counts.deaths);
    }
    net.suspect(1, 1);
    net.suspect(0, 1); // of one's own, both
    net.run_for(kS);
    for (const SessionNet::End &e : net.ends)
        EXPECT_EQ(6u, e.counts.probes);
}

TEST(Link, LanesThatThereAreNoneOfAreNotDoubted)
{
    SessionNet net(2, 1);

    hwmc_session_on_probe(&net.ends[0].session, 0, 1, ~3u, net.now);
    EXPECT_EQ(HWMC_SESSION_GOOD, net.state(0, 0));
    EXPECT_EQ(HWMC_SESSION_GOOD, net.state(0, 1));
    hwmc_session_on_probe(&net.ends[0].session, 0, 2, ~1u, net.now);
    EXPECT_EQ(HWMC_SESSION_GOOD, net.state(0, 0));
    EXPECT_EQ(HWMC_SESSION_SUSPECTED, net.state(0, 1));
}

TEST(Link, ANumberThatWasNeverSentIsBad)
{
    SessionNet net(1, 1);

    net.post(0, 0, 2);
    EXPECT_EQ(HWMC_BAD, hwmc_session_on_ack(&net.ends[0].session, 0, 0, 3, false, net.now));
    EXPECT_EQ(HWMC_TAKEN, hwmc_session_on_ack(&net.ends[0].session, 0, 0, 2, false, net.now));
    EXPECT_EQ(HWMC_STALE, hwmc_session_on_ack(&net.ends[0].session, 0, 0, 1, false, net.now));
    EXPECT_EQ(HWMC_STALE, hwmc_session_on_frame(&net.ends[1].session, 0, 0, 1, net.now));
    hwmc_session_check(&net.ends[1].session);
}

// Lanes are cut, lost and healed at random, processes are busy at random; lane 0 is spared last, so
// that in the end all must have come.
static void storm(uint64_t seed)
{
    sim::Rng rng(seed);
    uint8_t lanes = (uint8_t) rng.between(1, 4), streams = (uint8_t) rng.between(1, 3);
    uint16_t tells = (uint16_t) rng.below(16);
    SessionNet net(lanes, streams, tells);

    net.latency = rng.between(1, 2000) * kUs;
    for (int i = 0; i < 60; i++) {
        uint32_t lane = (uint32_t) rng.below(lanes);

        switch (rng.below(9)) {
            case 0:
                net.cut(lane, rng.below(2), rng.below(2));
                break;
            case 1:
                net.heal(lane);
                break;
            case 2:
                net.lose(lane, rng.below(100) * kMs);
                break;
            case 3:
                net.usable(lane);
                break;
            case 4:
                net.busy((int) rng.below(2), rng.below(2));
                break;
            case 5:
                net.suspect((int) rng.below(2), lane);
                break;
            default:
                net.post((int) rng.below(2), (uint32_t) rng.below(streams),
                         (uint32_t) rng.between(1, 150));
        }
        net.run_for(rng.below(4) ? rng.below(30 * kMs) : rng.below(kS));
        if (testing::Test::HasFatalFailure())
            return;
    }
    for (uint32_t lane = 0; lane < lanes; lane++)
        net.heal(lane);
    net.usable(0);
    net.busy(0, false);
    net.busy(1, false);
    net.run_for(200 * kS);
    EXPECT_TRUE(net.clear()) << "seed " << seed;
    for (int end = 0; end < 2; end++)
        EXPECT_EQ(net.ends[end].posted, net.ends[1 - end].taken) << "seed " << seed;
}

TEST(Link, Storms)
{
    const char *seeds = getenv("HWMC_SIM_SEEDS");
    uint64_t n = seeds ? strtoull(seeds, nullptr, 10) : 2000;

    for (uint64_t seed = 1; seed <= n && !HasFailure(); seed++)
        storm(seed);
}
