// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// agree: from which broadcast on the outcome of set-up holds, and who leaves meanwhile.
#include <random>

#include "negotiation_group.h"

using namespace negotiation;

// Broadcasts while set-up runs: whoever is ahead of whom, each goes the same way at all ranks.
TEST(Agree, EachBroadcastGoesTheSameWayAtAllRanks)
{
    int used = 0, unused = 0, waited = 0, fitted = 0;

    for (uint32_t seed = 0; seed < 1000; seed++) {
        std::minstd_rand random(seed + 1);
        uint32_t p = 2 + random() % 8, broadcasts = random() % 12;
        uint64_t usual = random() % 2 ? 40 * US : 4 * US;
        Group g(p, 1 + random() % 4);

        g.by_lanes = random() % 2;
        if (random() % 4 == 0)
            g.lose = [&](uint32_t to, int nth) { return to == p - 1 && nth % 2 == 1; };
        if (random() % 4 == 0)
            g.joins[random() % p] = false;
        g.probe = 2 * MS;
        if (random() % 4 == 0)
            g.passes = [&](uint32_t to, uint8_t) { return to == p - 1 ? 1200u : UINT32_MAX; };
        if (random() % 8 == 0)
            g.fits[random() % p] = false;
        g.programs.resize(p);
        for (uint32_t r = 0; r < p; r++) {
            g.start[r] = random() % (random() % 3 ? 100 * US : 5 * MS);
            for (uint32_t i = 0; i < broadcasts; i++)
                g.programs[r].pauses.push_back(random() % (random() % 5 ? usual : 2 * MS));
        }
        g.run();
        g.expect_alike();
        for (bool took : g.programs[0].took)
            (took ? used : unused)++;
        for (const Group::Program &program : g.programs)
            waited += program.waited;
        fitted += g.fitted > 0 && g.programs[0].took.size() > 0 && g.programs[0].took.back();
        ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
    }
    EXPECT_GT(used, 0);
    EXPECT_GT(unused, 0);
    EXPECT_GT(waited, 0);
    EXPECT_GT(fitted, 0);
}

// Who has a pause of a second after MPI_Init finds that all is ready.
TEST(Agree, WhoHasEnteredNoneUsesTheGroupFromTheFirstOn)
{
    Group g(7, 2);

    g.programs.resize(7);
    for (auto &program : g.programs)
        program.pauses.assign(2, 1000 * MS);
    g.run();
    g.expect(HWMC_REASON_NONE, 0);
    g.expect_alike();
    EXPECT_EQ(0u, g.ranks[0].agreed.from);
    EXPECT_EQ(std::vector<bool>(2, true), g.programs[3].took);
}

// A second apart: the second one after what those were in that reported.
TEST(Agree, WhoHasEnteredSomeUsesItTwoLater)
{
    Group g(7, 2);

    g.programs.resize(7);
    for (auto &program : g.programs) {
        program.pauses.assign(5, 1000 * MS);
        program.pauses[0] = 0; // set-up begins with it
    }
    g.run();
    g.expect_alike();
    EXPECT_EQ(3u, g.ranks[0].agreed.from);
    EXPECT_EQ((std::vector<bool>{false, false, false, true, true}), g.programs[6].took);
}

// The others broadcast on: nobody waits for the one that is through for longer than it takes to say
// so.
TEST(Agree, ARankThatNeverBroadcastsAgainKeepsNobodyWaiting)
{
    for (uint32_t quick = 0; quick < 7; quick++)
        for (uint64_t slow : {10 * US, 90 * US, 150 * US, 400 * US, 2 * MS}) {
            Group g(7, 2);

            g.programs.resize(7);
            for (uint32_t r = 0; r < 7; r++)
                g.programs[r].pauses.assign(3, r == quick ? 0 : slow);
            g.run();
            g.expect_alike();
            EXPECT_EQ(std::vector<bool>(3, false), g.programs[quick].took);
        }
}

// All are through at once: nobody waits for probes that do not come.
TEST(Agree, WhoLeavesEndsSetUp)
{
    Group g(7, 2);

    g.by_lanes = true;
    g.programs.resize(7);
    g.lose = [](uint32_t, int) { return true; };
    g.run();
    g.expect_alike();
    EXPECT_EQ(HWMC_REASON_CLOSED, (int) g.ranks[0].agreed.reason);
    EXPECT_EQ(HWMC_NEGOTIATION_NO, g.ranks[6].phase);
    EXPECT_LT(g.over_at, MS);
}

// It has reported, and goes no further than it said.
TEST(Agree, ARankStopsWhereItPromised)
{
    hwmc_negotiation a;
    hwmc_parameters parameters = {};
    hwmc_msg msg = {}, tx;

    parameters.rails = 1;
    parameters.frag_bytes = 1400;
    hwmc_negotiation_start(&a, 2, 1, 4, KEY, &parameters, false, 10 * MS);
    msg.type = HWMC_MSG_DECIDE;
    msg.parameters = &parameters;
    EXPECT_EQ(HWMC_NEGOTIATION_PASS, hwmc_negotiation_enter(&a, 0));
    for (uint32_t stage : {HWMC_NEGOTIATION_PROPOSE, HWMC_NEGOTIATION_JOIN}) {
        parameters.stage = stage;
        ASSERT_EQ(HWMC_TAKEN, hwmc_negotiation_on_recv(&a, &msg, 0));
        if (hwmc_negotiation_wants_join(&a))
            hwmc_negotiation_on_joined(&a, true, 1, 0);
    }
    EXPECT_EQ(HWMC_NEGOTIATION_PASS, hwmc_negotiation_enter(&a, 1)); // no probe yet: no report
    hwmc_negotiation_on_timer(&a, 10 * MS);
    while (hwmc_negotiation_next_send(&a, &tx, 10 * MS))
        ;
    EXPECT_EQ(HWMC_MSG_REPORT, tx.type);
    EXPECT_EQ(4u, tx.parameters->from);
    EXPECT_EQ(HWMC_NEGOTIATION_PASS, hwmc_negotiation_enter(&a, 2));
    EXPECT_EQ(HWMC_NEGOTIATION_PASS, hwmc_negotiation_enter(&a, 3));
    EXPECT_EQ(HWMC_NEGOTIATION_AWAIT, hwmc_negotiation_enter(&a, 4));
    hwmc_negotiation_check(&a);

    parameters.stage = HWMC_NEGOTIATION_PROBE;
    parameters.reason = HWMC_REASON_PROBE;
    parameters.rails = 0;
    parameters.from = 3; // less than it said
    EXPECT_EQ(HWMC_BAD, hwmc_negotiation_on_recv(&a, &msg, 11 * MS));
    parameters.from = 6;
    EXPECT_EQ(HWMC_TAKEN, hwmc_negotiation_on_recv(&a, &msg, 11 * MS));
    hwmc_negotiation_check(&a);
}
