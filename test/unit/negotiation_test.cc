// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// agree: all ranks use multicast or none does, whoever starts when and whatever fails.
#include <algorithm>
#include <functional>
#include <numeric>

#include "negotiation_group.h"

using namespace negotiation;

namespace {

// A leader of three that has decided on OFFER and JOIN and is at PROBE.
struct Leader {
    hwmc_negotiation a;
    hwmc_parameters parameters = {};

    Leader()
    {
        parameters.rails = 1;
        parameters.frag_bytes = 1400;
        hwmc_negotiation_start(&a, 3, 0, 2, KEY, &parameters, false, 10 * MS);
        report(1, HWMC_NEGOTIATION_PROPOSE, 0);
        report(2, HWMC_NEGOTIATION_PROPOSE, 0);
        report(1, HWMC_NEGOTIATION_JOIN, 0);
        hwmc_negotiation_on_joined(&a, true, 1, 0);
        report(2, HWMC_NEGOTIATION_JOIN, 0);
        sends(0);
    }
    hwmc_verdict report(uint32_t from, uint32_t stage, uint64_t now)
    {
        hwmc_msg msg = {};
        hwmc_parameters with = {};

        msg.type = HWMC_MSG_REPORT;
        msg.peer = from;
        msg.parameters = &with;
        with.stage = stage;
        with.rails = 1;
        with.frag_bytes = 1400;
        hwmc_verdict verdict = hwmc_negotiation_on_recv(&a, &msg, now);
        hwmc_negotiation_check(&a);
        return verdict;
    }
    int sends(uint64_t now)
    {
        hwmc_msg tx;
        int n = 0;

        while (hwmc_negotiation_next_send(&a, &tx, now))
            n++;
        return n;
    }
};

} // namespace

TEST(Agree, AllOrdersOfStartingComeToYes)
{
    for (uint32_t k : {1, 2, 4})
        for (uint32_t p = 1; p <= 6; p++) {
            std::vector<uint32_t> order(p);

            std::iota(order.begin(), order.end(), 0);
            do {
                for (uint64_t apart : {100 * US, 7 * US}) {
                    Group g(p, k);
                    for (uint32_t i = 0; i < p; i++)
                        g.start[order[i]] = i * apart;
                    g.run();
                    g.expect(HWMC_REASON_NONE, 0);
                    ASSERT_FALSE(::testing::Test::HasFailure()) << "p " << p << " k " << k;
                }
            } while (std::next_permutation(order.begin(), order.end()));
        }
}

TEST(Agree, TermsAreTheLeadersOrTheMinimum)
{
    Group g(6, 2);

    g.offers[4].frag_bytes = 500;
    g.run();
    g.expect(HWMC_REASON_NONE, 0);
    EXPECT_EQ(500u, g.ranks[3].agreed.frag_bytes);
    EXPECT_EQ(8995u, g.ranks[3].agreed.window);
    EXPECT_EQ(0xe1u, g.ranks[5].agreed.group);
    EXPECT_EQ(42u, g.ranks[5].agreed.seed);
    EXPECT_EQ(5u, g.ranks[5].agreed.generation);
}

TEST(Agree, OneRankThatCannotMakesAllSayNoBeforeTheyJoin)
{
    for (uint32_t r = 0; r < 7; r++) {
        Group g(7, 2);

        g.offers[r].reason = HWMC_REASON_FABRIC;
        g.run();
        g.expect(HWMC_REASON_FABRIC, r);
        EXPECT_EQ(0, g.joined);
        EXPECT_EQ(0, g.probes);
    }
}

TEST(Agree, LowestRankWithAReasonIsNamed)
{
    Group g(7, 2);

    g.offers[6].reason = HWMC_REASON_FABRIC;
    g.offers[3].reason = HWMC_REASON_MEMORY;
    g.offers[4].reason = HWMC_REASON_SPAWNED;
    g.run();
    g.expect(HWMC_REASON_MEMORY, 3);
}

TEST(Agree, JoinThatFailsOnAnyRankMakesAllSayNo)
{
    for (uint32_t k : {1, 2, 4})
        for (uint32_t r = 0; r < 7; r++) {
            Group g(7, k);

            g.joins[r] = false;
            g.run();
            g.expect(HWMC_REASON_JOIN, r);
            EXPECT_EQ(7, g.joined);
            EXPECT_EQ(0, g.probes);
        }
}

TEST(Agree, ProbesThatNeverReachARankMakeAllSayNo)
{
    for (uint32_t k : {1, 2, 4})
        for (uint32_t r = 1; r < 7; r++) {
            Group g(7, k);

            g.lose = [r](uint32_t to, int) { return to == r; };
            g.run();
            g.expect(HWMC_REASON_PROBE, r);
            EXPECT_EQ(5, g.probes); // at 0, 1, 3, 7, 15 ms
        }
}

TEST(Agree, ProbeThatIsLostIsRepeated)
{
    for (int lost = 1; lost <= 4; lost++) {
        Group g(7, 2);

        g.lose = [lost](uint32_t to, int nth) { return to == 5 && nth <= lost; };
        g.run();
        g.expect(HWMC_REASON_NONE, 0);
        EXPECT_EQ(lost + 1, g.probes);
    }
}

// Where long datagrams do not pass all use the longest that do, and nobody before all are ready for
// them.
TEST(Agree, DatagramsAreAsLongAsAllGetThem)
{
    for (uint32_t k : {1, 2, 4})
        for (uint32_t r = 1; r < 7; r++) {
            Group g(7, k);

            g.all_offer(0x3);
            g.passes = [r](uint32_t to, uint8_t rail) {
                return to == r && rail == 1 ? 1390u : to == 4 ? 1399u : UINT32_MAX;
            };
            g.run();
            g.expect(HWMC_REASON_NONE, 0);
            EXPECT_EQ(1350u, g.ranks[0].agreed.frag_bytes);
            EXPECT_EQ(0x3u, g.ranks[0].agreed.rails);
            EXPECT_EQ(7, g.fitted);
        }
}

TEST(Agree, WithoutMemoryForShorterDatagramsNobodyMulticasts)
{
    Group g(7, 2);

    g.by_lanes = true;
    g.passes = [](uint32_t to, uint8_t) { return to == 6 ? 1200u : UINT32_MAX; };
    g.fits[5] = false;
    g.run();
    g.expect(HWMC_REASON_NOMEM, 5);
    EXPECT_EQ(1180u, g.ranks[0].agreed.frag_bytes);
}

TEST(Agree, ProbesThatAreLostAreNoReasonForShorterDatagrams)
{
    for (int lost = 1; lost <= 4; lost++) {
        Group g(7, 2);

        g.lose = [lost](uint32_t to, int nth) { return to == 5 && nth <= lost; };
        g.run();
        EXPECT_EQ(1400u, g.ranks[0].agreed.frag_bytes);
        EXPECT_EQ(0, g.fitted);
    }
}

TEST(Agree, ProbeMayComeBeforeTheDecision)
{
    Group g(7, 2);

    g.cast = US;
    g.lane = 300 * US;
    g.run();
    g.expect(HWMC_REASON_NONE, 0);
    EXPECT_EQ(2, g.probes); // the deepest ranks report after more than a ms
}

TEST(Agree, RailsAreThoseThatAllHave)
{
    Group g(6, 2);

    for (uint32_t r = 0; r < 6; r++)
        g.offers[r].rails = r == 4 ? 0x6 : 0xe;
    g.run();
    g.expect(HWMC_REASON_NONE, 0);
    EXPECT_EQ(0x6u, g.ranks[5].agreed.rails);
    EXPECT_EQ(2, g.probes);
}

TEST(Agree, RanksWithoutARailInCommonSayNo)
{
    Group g(7, 2);

    for (uint32_t r = 0; r < 7; r++)
        g.offers[r].rails = r == 5 ? 0x1 : 0x2;
    g.run();
    g.expect(HWMC_REASON_RAILS, 2); // the parent of 5
    EXPECT_EQ(0, g.joined);
}

TEST(Agree, RailOnWhichOneRankCannotJoinIsLeft)
{
    Group g(7, 2);

    g.all_offer(0x3);
    g.join_rails[6] = 0x2;
    g.run();
    g.expect(HWMC_REASON_NONE, 0);
    EXPECT_EQ(0x2u, g.ranks[3].agreed.rails);
    EXPECT_EQ(1, g.probes);
}

TEST(Agree, RailOnWhichNoProbeComesIsLeftAfterTheDeadline)
{
    Group g(7, 2);

    g.all_offer(0x3);
    g.lose_rail = [](uint32_t to, uint8_t rail) { return to == 5 && rail == 0; };
    g.run();
    g.expect(HWMC_REASON_NONE, 0);
    EXPECT_EQ(0x2u, g.ranks[1].agreed.rails);
    EXPECT_GE(g.over_at, g.probe);
}

TEST(Agree, DifferentRailsThatFailForDifferentRanksLeaveNone)
{
    Group g(7, 2);

    g.all_offer(0x3);
    g.lose_rail = [](uint32_t to, uint8_t rail) { return to == (rail == 0 ? 5 : 6); };
    g.run();
    g.expect(HWMC_REASON_RAILS, 2);
}

// Where lanes will do, whatever fails of multicast leads there, all ranks being ready before one is
// through.
TEST(Agree, LanesServeWhereMulticastFails)
{
    for (uint32_t k : {1, 2, 4})
        for (uint32_t r = 0; r < 7; r++)
            for (int how = 0; how < 4; how++) {
                static const uint32_t reasons[] = {HWMC_REASON_FABRIC, HWMC_REASON_MEMORY,
                                                   HWMC_REASON_JOIN, HWMC_REASON_PROBE};
                Group g(7, k);

                if (how == 3 && r == 0)
                    continue; // the leader hears its own probe
                g.by_lanes = true;
                if (how < 2)
                    g.offers[r].reason = reasons[how];
                if (how == 2)
                    g.joins[r] = false;
                if (how == 3)
                    g.lose = [r](uint32_t to, int) { return to == r; };
                g.run();
                g.expect(reasons[how], r);
                EXPECT_EQ(7, g.joined);
                EXPECT_EQ(how == 3 ? 5 : 0, g.probes);
                EXPECT_EQ(0u, g.ranks[3].agreed.rails);
            }
}

TEST(Agree, WithoutMemoryOrFromAnotherWorldLanesDoNotServe)
{
    Group g(7, 2), h(7, 2);

    g.by_lanes = h.by_lanes = true;
    g.joins[1] = false;
    g.able[5] = false;
    g.run();
    g.expect(HWMC_REASON_NOMEM, 5);
    h.offers[2].reason = HWMC_REASON_FABRIC;
    h.offers[6].reason = HWMC_REASON_LANE;
    h.run();
    h.expect(HWMC_REASON_LANE, 6);
}

TEST(Agree, LateStarterIsWaitedFor)
{
    for (uint32_t r = 0; r < 7; r++) {
        Group g(7, 2);

        g.start[r] = 200 * MS;
        g.run();
        g.expect(HWMC_REASON_NONE, 0);
        EXPECT_LT(g.over_at, 201 * MS);
    }
}

TEST(Agree, NothingIsDecidedWhileARankHasNotStarted)
{
    for (uint32_t r = 0; r < 7; r++) {
        Group g(7, 2);

        g.start[r] = HWMC_NEVER;
        g.run(); // until nobody has a timer or a message
        for (uint32_t i = 0; i < 7; i++)
            EXPECT_FALSE(g.started[i] && hwmc_negotiation_over(&g.ranks[i]));
        EXPECT_EQ(0, g.joined);
    }
}

// Others may begin to wait for probes later than the leader: it has no deadline of its own.
TEST(Agree, ProbesGoAtDoublingGapsUntilTheLeaderDecides)
{
    Leader l;

    EXPECT_EQ(HWMC_NEGOTIATION_PROBE, l.a.phase);
    EXPECT_EQ(1 * MS, hwmc_negotiation_next_timer(&l.a));
    for (uint64_t at : {1 * MS, 3 * MS, 7 * MS, 15 * MS, 31 * MS}) {
        EXPECT_EQ(at, hwmc_negotiation_next_timer(&l.a));
        hwmc_negotiation_on_timer(&l.a, at - 1);
        EXPECT_EQ(0, l.sends(at - 1));
        hwmc_negotiation_on_timer(&l.a, at);
        EXPECT_EQ(5, l.sends(at)); // for 1400 bytes, 1350, 1300, 1180, 476
    }
    EXPECT_EQ(HWMC_TAKEN, l.report(1, HWMC_NEGOTIATION_PROBE, 40 * MS));
    EXPECT_EQ(63 * MS, hwmc_negotiation_next_timer(&l.a));
    EXPECT_EQ(HWMC_TAKEN, l.report(2, HWMC_NEGOTIATION_PROBE, 41 * MS));
    EXPECT_EQ(HWMC_NEGOTIATION_YES, l.a.phase);
    EXPECT_EQ(HWMC_NEVER, hwmc_negotiation_next_timer(&l.a));
}

// A rank hears of the decision to probe when the leader's probes of its first 20 ms are long gone.
TEST(Agree, WhoBeginsToWaitForProbesLateGetsOne)
{
    Group g(7, 2);

    g.lane = 30 * MS;
    g.lose = [&g](uint32_t to, int) {
        return to == 5 && g.ranks[5].phase != HWMC_NEGOTIATION_PROBE;
    };
    g.run();
    g.expect(HWMC_REASON_NONE, 0);
}

TEST(Agree, AReportDoesNotBeginTheProbesAnew)
{
    Leader l;

    for (uint64_t at : {1 * MS, 3 * MS, 7 * MS, 15 * MS})
        l.sends(at);
    EXPECT_EQ(HWMC_TAKEN, l.report(1, HWMC_NEGOTIATION_PROBE, 16 * MS));
    EXPECT_EQ(31 * MS, hwmc_negotiation_next_timer(&l.a));
    EXPECT_EQ(0, l.sends(16 * MS));
    EXPECT_EQ(HWMC_TAKEN, l.report(2, HWMC_NEGOTIATION_PROBE, 17 * MS));
    EXPECT_EQ(HWMC_NEGOTIATION_YES, l.a.phase);
}

TEST(Agree, ReportsOfOtherStagesOrRanksChangeNothing)
{
    Leader l;

    EXPECT_EQ(HWMC_STALE, l.report(1, HWMC_NEGOTIATION_JOIN, 0));
    EXPECT_EQ(HWMC_BAD, l.report(1, HWMC_NEGOTIATION_YES, 0));
    EXPECT_EQ(HWMC_BAD, l.report(0, HWMC_NEGOTIATION_PROBE, 0));
    EXPECT_EQ(HWMC_BAD, l.report(3, HWMC_NEGOTIATION_PROBE, 0));
    EXPECT_EQ(HWMC_TAKEN, l.report(1, HWMC_NEGOTIATION_PROBE, 0));
    EXPECT_EQ(HWMC_DUP, l.report(1, HWMC_NEGOTIATION_PROBE, 0));
    EXPECT_EQ(HWMC_NEGOTIATION_PROBE, l.a.phase);
}

// What rank 1 of two reported bounds what it can be told.
TEST(Agree, DecisionsThatGoBeyondTheReportAreBad)
{
    const hwmc_parameters mine = {0, HWMC_REASON_NONE, 1, 3, 1400, 9000, 0, 0, 0, 0};
    hwmc_parameters good = mine;
    hwmc_negotiation a;
    hwmc_msg msg = {};

    good.stage = HWMC_NEGOTIATION_PROPOSE;
    good.generation = 5;
    hwmc_negotiation_start(&a, 2, 1, 2, KEY, &mine, true, 10 * MS);
    auto decide = [&](const std::function<void(hwmc_parameters &)> &change) {
        hwmc_parameters parameters = good;

        change(parameters);
        msg.type = HWMC_MSG_DECIDE;
        msg.parameters = &parameters;
        return hwmc_negotiation_on_recv(&a, &msg, 0);
    };
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.frag_bytes = 0; }));
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.frag_bytes = 1401; }));
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.window = 9001; }));
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.rails = 4; }));
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.rails = 0; }));
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.reason = HWMC_REASON_JOIN; }));
    EXPECT_EQ(HWMC_TAKEN, decide([](auto &t) { t.rails = 1, t.frag_bytes = 500; }));
    hwmc_negotiation_on_joined(&a, true, 1, 0);
    good = a.agreed;
    good.stage = HWMC_NEGOTIATION_JOIN;
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.frag_bytes = 400; }));
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.group = 1; }));
    EXPECT_EQ(HWMC_BAD, decide([](auto &t) { t.generation = 6; }));
    EXPECT_EQ(HWMC_TAKEN, decide([](auto &) {}));
    EXPECT_EQ(HWMC_NEGOTIATION_PROBE, a.phase);
}

TEST(Agree, ReportsOfFragmentsOfNoBytesAreBad)
{
    hwmc_parameters parameters = {HWMC_NEGOTIATION_PROPOSE, 0, 1, 1, 0, 9000, 0, 0, 0, 0};
    hwmc_negotiation a;
    hwmc_msg msg = {};

    hwmc_negotiation_start(&a, 2, 0, 2, KEY, &parameters, true, 10 * MS);
    msg.type = HWMC_MSG_REPORT;
    msg.peer = 1;
    msg.parameters = &parameters;
    EXPECT_EQ(HWMC_BAD, hwmc_negotiation_on_recv(&a, &msg, 0));
    parameters.rails = 0; // it cannot multicast
    EXPECT_EQ(HWMC_TAKEN, hwmc_negotiation_on_recv(&a, &msg, 0));
}
