// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Trials: when they begin, which calls go which way, who wins, and what they cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

extern "C" {
#include "core/model/trial.h"
}

namespace {

constexpr uint64_t NO = HWMC_TRIAL_NO_WAY;
constexpr uint32_t FIRST = 1 + HWMC_TRIAL_FEW; // calls of a block in the first round
constexpr uint32_t BLOCK = HWMC_TRIAL_WARM + HWMC_TRIAL_CALLS; // ... in later ones
using Costs = std::array<uint64_t, HWMC_TRIAL_WAYS>;
using Time = std::function<uint64_t(uint32_t rank, uint32_t way, uint32_t call)>;

// Ranks that make the same calls. What one is told, all are.
struct Job {
    std::vector<hwmc_trial> ranks;
    uint32_t calls = 0, agreements = 0, ended = 0;
    uint64_t taken = 0; // by the slowest, in all calls
    Time ahead;         // of others after a block that ended with this call; SETTLED

    Job(uint32_t n, const Costs &predicted, uint32_t used, uint64_t agreement = 100,
        hwmc_trial_kind kind = HWMC_TRIAL_OF_CALLS)
        : ranks(n)
    {
        for (hwmc_trial &t : ranks)
            hwmc_trial_init(&t, predicted.data(), used, agreement, kind);
    }

    // One call; returns the way that it went.
    uint32_t call(const Time &time)
    {
        const uint32_t way = hwmc_trial_begin(&ranks[0]);
        uint64_t most = 0, sum = 0;
        uint32_t due = 0;

        for (uint32_t r = 0; r < ranks.size(); r++) {
            EXPECT_EQ(way, r == 0 ? way : hwmc_trial_begin(&ranks[r]));
            const uint64_t ns = time(r, way, calls);
            due += hwmc_trial_end(&ranks[r], ns);
            most = std::max(most, ns);
            if (due > r && ahead)
                hwmc_trial_settled(&ranks[r], ahead(r, way, calls));
            sum = std::max(sum, ranks[r].sum);
        }
        calls++;
        taken += most;
        EXPECT_TRUE(due == 0 || due == ranks.size());
        if (due > 0)
            agree(sum);
        return way;
    }

    void agree(uint64_t sum)
    {
        uint32_t over = 0;

        agreements++;
        for (hwmc_trial &t : ranks)
            over += hwmc_trial_agreed(&t, sum);
        EXPECT_TRUE(over == 0 || over == ranks.size());
        ended += over > 0;
    }

    uint32_t used() const
    {
        return ranks[0].used;
    }

    // Until a trial is over, or so many calls were made.
    void finish(const Time &time, uint32_t most = 10000)
    {
        const uint32_t before = ended;

        while (ended == before && most-- > 0)
            call(time);
    }
};

Time always(const Costs &ns)
{
    return [ns](uint32_t, uint32_t way, uint32_t) { return ns[way]; };
}

} // namespace

TEST(Trial, BeginsWhenItIsPaidFor)
{
    // Two blocks by the other way take so much longer, and there are four agreements.
    const uint64_t price = (FIRST + BLOCK) * 200 + 4 * 100;
    Job j(2, {1000, 1200, NO}, 0);
    uint32_t first = 0;

    while (!j.ranks[0].trying) {
        EXPECT_EQ(0u, j.call(always({1000, 1200, NO})));
        first++;
    }
    // The call that begins it is the first of it.
    EXPECT_EQ(HWMC_TRIAL_FIRST + 1, first);
    EXPECT_LE(price, HWMC_TRIAL_FIRST * 1000);

    Job dear(2, {100, 700, NO}, 0);
    for (first = 0; !dear.ranks[0].trying; first++)
        dear.call(always({100, 700, NO}));
    EXPECT_EQ(((FIRST + BLOCK) * 600 + 4 * 100) / 100 + 1, first);
}

TEST(Trial, GoesInBlocksAndTheFasterIsUsed)
{
    Job j(3, {1000, 1000, NO}, 0);
    std::vector<uint32_t> went;
    const Time time = always({1000, 500, NO});

    while (j.ended == 0)
        went.push_back(j.call(time));
    went.erase(went.begin(), went.begin() + HWMC_TRIAL_FIRST);
    ASSERT_EQ(2 * FIRST + 2 * BLOCK, went.size());
    for (uint32_t i = 0; i < went.size(); i++)
        EXPECT_EQ(i < 2 * FIRST ? i / FIRST : (i - 2 * FIRST) / BLOCK, went[i]) << i;
    EXPECT_EQ(4u, j.agreements);
    EXPECT_EQ(1u, j.used());
    EXPECT_EQ(1u, j.call(time));
    EXPECT_EQ(500u, j.ranks[0].cost[1]);
}

// What has more than twice the time of the fastest has no second block.
TEST(Trial, WhoIsFarBehindIsLeftOut)
{
    Job j(2, {1000, 1000, 1000}, 0);

    j.finish(always({1000, 2100, 950}));
    EXPECT_EQ(3u + 2u + 2u, j.agreements);
    EXPECT_EQ(0u, j.used()) << "faster by less than a sixteenth";
    EXPECT_EQ(2100u, j.ranks[0].cost[1]);

    Job alone(2, {1000, 1000, NO}, 0);
    alone.finish(always({3000, 1000, NO}));
    EXPECT_EQ(2u, alone.agreements);
    EXPECT_EQ(1u, alone.used());

    Job apart(2, {1000, 1000, NO}, 0);
    apart.finish(always({1000, 1251, NO}));
    EXPECT_EQ(4u, apart.agreements) << "not near enough for a third round";
}

// A system that has served another way is slow in the first calls: they select, but do not decide.
TEST(Trial, SlowFirstCallsDoNotDecide)
{
    uint32_t last = HWMC_TRIAL_WAYS, run = 0;
    Job j(1, {1000, 1000, NO}, 0);

    j.finish([&](uint32_t, uint32_t way, uint32_t) -> uint64_t {
        run = way == last ? run + 1 : 0;
        last = way;
        return way == 0 ? 1000 : run < HWMC_TRIAL_WARM ? 1900 : 700;
    });
    EXPECT_EQ(1u, j.used());
    EXPECT_EQ(700u, j.ranks[0].cost[1]);
}

// The first call of a block does not count, nor does the longest of the others.
TEST(Trial, OneSlowCallDoesNotDecide)
{
    Job j(2, {1000, 1000, NO}, 0);

    j.finish([](uint32_t, uint32_t way, uint32_t call) -> uint64_t {
        const uint32_t at = call - HWMC_TRIAL_FIRST;
        const bool first = call < HWMC_TRIAL_FIRST || (at < 2 * FIRST && at % FIRST == 0);
        const bool kept_off = at == 2 * FIRST - 1 || at == 2 * FIRST + 2 * BLOCK - 1;

        return first || kept_off ? 90000 : way == 1 ? 900 : 1000;
    });
    EXPECT_EQ(6u, j.agreements);
    EXPECT_EQ(1u, j.used());
    EXPECT_EQ(900u, j.ranks[0].cost[1]);
}

// Of long calls one is a block in the first round: what is much slower than it was predicted is
// called once.
TEST(Trial, LongCallsAreTriedOnce)
{
    const Time time = always({100000, 500000, NO});
    Job j(2, {100000, 100000, NO}, 0, 100000 / HWMC_TRIAL_LONG);
    uint32_t slow = 0;

    while (j.ended == 0)
        slow += j.call(time);
    EXPECT_EQ(1u, slow);
    EXPECT_EQ(2u, j.agreements);
    EXPECT_EQ(0u, j.used());
    EXPECT_EQ(500000u, j.ranks[0].cost[1]);

    Job better(2, {100000, 100000, NO}, 0, 100000 / HWMC_TRIAL_LONG);
    better.finish(always({100000, 60000, NO}));
    EXPECT_EQ(4u, better.agreements);
    EXPECT_EQ(1u, better.used());

    // One that is slow at first may be 1.6 times as slow; the one in use was not.
    Job slower(2, {100000, 100000, NO}, 0, 100000 / HWMC_TRIAL_LONG);
    slower.finish(always({100000, 170000, NO}));
    EXPECT_EQ(2u, slower.agreements);
    Job slow_at_first(2, {100000, 100000, NO}, 0, 100000 / HWMC_TRIAL_LONG);
    slow_at_first.finish(always({100000, 150000, NO}));
    EXPECT_EQ(4u, slow_at_first.agreements);
}

// Ranks that return at once do not see what a call takes: of way 1 one takes 1000, and the first
// rank has all of that before it when the others are through with a block.
TEST(Trial, WhatRanksAreAheadCounts)
{
    const Costs predicted = {300, 290, NO};
    const Time time = [](uint32_t rank, uint32_t way, uint32_t) -> uint64_t {
        return rank > 0 || way == 1 ? 10 : 300;
    };
    Job seen(3, predicted, 0);
    Job settled(3, predicted, 0, 100, HWMC_TRIAL_SETTLED);
    uint32_t tried = 0, other = 0;

    seen.finish(time);
    EXPECT_EQ(1u, seen.used());
    settled.ahead = [&](uint32_t rank, uint32_t way, uint32_t) -> uint64_t {
        const uint32_t calls = settled.agreements < 2 ? FIRST : BLOCK;

        return 130 + (rank == 0 && way == 0 ? 0 : calls * (way == 0 ? 290 : 990));
    };
    while (settled.ended == 0) {
        other += settled.call(time) == 1;
        tried += settled.ranks[0].trying;
    }
    EXPECT_EQ(0u, settled.used());
    EXPECT_EQ(1000u + 130 / FIRST,
              settled.ranks[0].cost[1]); // all calls of a block, and one barrier
    EXPECT_EQ(FIRST, other);             // more than twice the other's
    EXPECT_GT(tried, 0u);
}

// The slowest rank's time counts, whoever it is.
TEST(Trial, TheSlowestRankCounts)
{
    Job j(4, {1000, 1000, NO}, 0);

    j.finish([](uint32_t rank, uint32_t way, uint32_t) -> uint64_t {
        return way == 1 && rank == 3 ? 1700 : way == 1 ? 10 : 1000;
    });
    EXPECT_EQ(0u, j.used());
}

// Three ways, of which the used one is not the first.
TEST(Trial, AnyWayMayBeTheFirst)
{
    for (uint32_t used = 0; used < 3; used++)
        for (uint32_t best = 0; best < 3; best++) {
            Costs real = {1000, 1000, 1000};
            Job j(2, {800, 900, 1000}, used);

            real[best] = 600;
            j.finish(always(real));
            EXPECT_EQ(best, j.used()) << used;
        }
}

TEST(Trial, WhatIsPredictedFarSlowerIsNotTried)
{
    hwmc_trial t;
    const Costs far = {100, 801, NO}, near = {100, 800, NO}, ahead = {900, 100, NO};

    hwmc_trial_init(&t, far.data(), 0, 100, HWMC_TRIAL_OF_CALLS);
    EXPECT_FALSE(hwmc_trial_has_choice(&t));
    hwmc_trial_init(&t, near.data(), 0, 100, HWMC_TRIAL_OF_CALLS);
    EXPECT_TRUE(hwmc_trial_has_choice(&t));
    hwmc_trial_init(&t, ahead.data(), 0, 100, HWMC_TRIAL_OF_CALLS); // whatever is used stays a way
    EXPECT_TRUE(hwmc_trial_has_choice(&t));

    Job j(2, far, 0);
    for (uint32_t i = 0; i < 100000; i++)
        ASSERT_EQ(0u, j.call(always(far)));
    EXPECT_EQ(0u, j.agreements);
}

// A way that fails is not used, unless all do.
TEST(Trial, AFailureCountsAsEver)
{
    Job j(2, {1000, 1000, NO}, 0);

    j.finish([](uint32_t rank, uint32_t way, uint32_t call) -> uint64_t {
        return way == 0 && rank == 1 && call == HWMC_TRIAL_FIRST ? UINT64_MAX : 1000;
    });
    EXPECT_EQ(1u, j.used());

    Job all(2, {1000, 1000, NO}, 0);
    all.finish([](uint32_t, uint32_t, uint32_t) { return UINT64_MAX; });
    EXPECT_EQ(1u, all.ended);
    EXPECT_EQ(0u, all.used());
}

// What changes is found out, by trials that become rare.
TEST(Trial, IsRepeatedAndSeldom)
{
    Job j(2, {1000, 1000, NO}, 0);
    std::vector<uint32_t> at;

    while (j.calls < 200000) {
        const uint32_t before = j.ended;

        j.call(always(at.empty() ? Costs{1000, 1100, NO} : Costs{1000, 700, NO}));
        if (j.ended > before)
            at.push_back(j.calls);
    }
    ASSERT_GE(at.size(), 3u);
    EXPECT_LE(at.size(), 6u);
    EXPECT_EQ(1u, j.used());
    for (size_t i = 2; i < at.size(); i++)
        EXPECT_GT(at[i] - at[i - 1], 4 * (at[i - 1] - at[i - 2]));
}

// However long a program runs, whatever the ways take as long as they take what they are predicted:
// trials cost less than as much again.
TEST(Trial, CostsAtMostAsMuchAgain)
{
    std::mt19937 random(7);
    const uint32_t third = 2 * BLOCK / HWMC_TRIAL_NEAR; // what is not paid for, in calls

    for (int n = 0; n < 200; n++) {
        const Costs real = {1000 + random() % 5000, 1000 + random() % 5000, 1000 + random() % 5000};
        const uint32_t best =
            (uint32_t) (std::min_element(real.begin(), real.end()) - real.begin());
        Job j(2, real, best, 500);

        for (int i = 0; i < 3000; i++) {
            j.call(always(real));
            ASSERT_LE(j.taken + j.agreements * 500,
                      2 * (j.calls + BLOCK) * real[best] + 500 + third * real[best] + 3 * 500);
        }
        EXPECT_EQ(best, j.used());
    }
}

// Beside the program's calls all of it is paid for, and there is only one.
TEST(Trial, BesideCallsThereIsOne)
{
    const Costs ns = {1000, 900, NO};
    const uint64_t price = (FIRST + BLOCK) * (1000 + 900 + 2 * 100) + 4 * 100;
    Job j(2, ns, 0, 100, HWMC_TRIAL_BESIDE);
    uint32_t before = 0;

    for (; !j.ranks[0].trying; before++)
        j.call(always(ns));
    EXPECT_EQ((price + 999) / 1000 + 1, before);
    while (j.calls < 100000)
        j.call(always({1000, 500, NO}));
    EXPECT_EQ(1u, j.ended);
    EXPECT_EQ(1u, j.used());
}

// If more than half of the program's calls follow each other at once on all ranks, so do those
// beside them, and what ranks wait for each other after these counts.
TEST(Trial, BesideCallsInARowTheyGoInARow)
{
    const Costs ns = {1000, 900, NO}, real = {500, 300, NO}, behind = {0, 600, NO};

    for (const bool in_row : {true, false}) {
        Job j(2, ns, 0, 100, HWMC_TRIAL_BESIDE);
        uint64_t late = 0;

        for (hwmc_trial &t : j.ranks)
            EXPECT_TRUE(hwmc_trial_watches(&t));
        for (uint32_t i = 0; i < 9; i++)
            for (uint32_t r = 0; r < 2; r++)
                hwmc_trial_follows(&j.ranks[r], r == 1 && i < (in_row ? 4 : 5) ? 1000 : 999);
        for (hwmc_trial &t : j.ranks) {
            late = std::max<uint64_t>(late, t.late);
            t.taken = t.price;
            t.calls = HWMC_TRIAL_FIRST;
            hwmc_trial_begin(&t);
            EXPECT_FALSE(hwmc_trial_watches(&t));
        }
        for (hwmc_trial &t : j.ranks) {
            hwmc_trial_late_agreed(&t, late);
            EXPECT_EQ(in_row, hwmc_trial_settles(&t));
        }
        if (in_row)
            j.ahead = [&](uint32_t, uint32_t way, uint32_t) { return 8 * behind[way]; };
        j.finish(always(real));
        EXPECT_EQ(in_row ? 0u : 1u, j.used());
        EXPECT_FALSE(hwmc_trial_watches(&j.ranks[0])) << "there is one";
    }
}

// One that has just begun, after so many calls that followed each other at once.
hwmc_trial begun_beside(int follows)
{
    hwmc_trial t;

    hwmc_trial_init(&t, Costs{1000, 900, NO}.data(), 0, 100, HWMC_TRIAL_BESIDE);
    for (int i = 0; i < follows; i++)
        hwmc_trial_follows(&t, 1);
    t.taken = t.price;
    t.calls = HWMC_TRIAL_FIRST;
    hwmc_trial_begin(&t);
    return t;
}

// Who has not seen two calls follow each other, or could not agree, takes them as single ones.
TEST(Trial, BesideFewCallsTheyAreSingleOnes)
{
    for (const uint64_t late : {UINT64_C(0), UINT64_MAX}) {
        hwmc_trial t = begun_beside(late > 0);

        hwmc_trial_late_agreed(&t, late);
        EXPECT_FALSE(t.in_row);
    }
}

// An error came between: what was found out when it began holds, whatever is agreed now.
TEST(Trial, BesideATrialThatGoesOnKeepsToItsRow)
{
    hwmc_trial t = begun_beside(9);

    hwmc_trial_late_agreed(&t, 0);
    ASSERT_TRUE(t.in_row);
    EXPECT_FALSE(hwmc_trial_end(&t, UINT64_MAX));
    hwmc_trial_late_agreed(&t, 9);
    EXPECT_TRUE(t.in_row);
}

// Figures of any size, told at random, never leave ranks apart nor end a loop without an end.
TEST(Trial, AnyFigures)
{
    std::mt19937_64 random(11);
    const auto figure = [&] {
        return random() % 8 == 0 ? UINT64_MAX - 1 : random() >> random() % 64;
    };

    for (int n = 0; n < 300; n++) {
        Costs predicted = {figure(), random() % 3 ? figure() : NO, random() % 3 ? figure() : NO};
        Job j(3, predicted, 0, figure());

        for (int i = 0; i < 500; i++)
            j.call([&](uint32_t, uint32_t, uint32_t) { return figure(); });
        for (const hwmc_trial &t : j.ranks) {
            hwmc_trial_check(&t);
            EXPECT_EQ(j.used(), t.used);
        }
    }
}
