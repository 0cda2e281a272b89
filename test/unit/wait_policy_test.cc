// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The policy of waits on a model of a processor: alone, shared with others who yield, with one who
// computes.

#include <gtest/gtest.h>

#include <optional>

extern "C" {
#include "core/wait/wait_policy.h"
}

namespace {
constexpr uint64_t US = 1000, MS = 1000 * US;
constexpr uint64_t EMPTY_NS = 400;
constexpr hwmc_wait_limits USUAL = {.ns = MS, .yields = UINT32_MAX};

// A wait in which polls take 100 ns, and a yield as long as `yield_ns` says. It finds somebody if
// that is longer than EMPTY_NS, or as `finds` says.
class Wait {
  public:
    explicit Wait(bool alone, bool rationed = false, uint32_t sharers = 1)
    {
        hwmc_wait_policy_init(&policy, alone, rationed, sharers);
    }

    // One poll that finds nothing, and what comes after it.
    hwmc_wait_verdict step(const hwmc_wait_limits &limits = USUAL)
    {
        now += 100;
        const hwmc_wait_verdict v = hwmc_wait_next(&policy, &wait, &limits, now);

        if (v == HWMC_WAIT_YIELD) {
            yields++;
            yielding += yield_ns;
            yielded(now + yield_ns);
            now += yield_ns;
        } else if (v == HWMC_WAIT_SLEEP) {
            sleeps++;
            hwmc_wait_slept(&policy, &wait, now + 100 * US, now + 100 * US + late_ns);
            now += 100 * US + late_ns;
        }
        hwmc_wait_check(&policy);
        return v;
    }

    void yielded(uint64_t after)
    {
        hwmc_wait_yield y = {
            .before = now, .after = after, .found = hwmc_wait_yield::HWMC_WAIT_UNCOUNTED};

        if (hwmc_wait_counts(&policy)) {
            counted++;
            y.found = finds.value_or(after - now > EMPTY_NS) ? hwmc_wait_yield::HWMC_WAIT_SOMEBODY
                                                             : hwmc_wait_yield::HWMC_WAIT_NOBODY;
        }
        hwmc_wait_yielded(&policy, &wait, &y);
    }

    // Until it has lasted so long. How long it took till the first sleep; 0: it did not sleep.
    uint64_t last(uint64_t ns, const hwmc_wait_limits &limits = USUAL)
    {
        const uint64_t begin = now;
        uint64_t slept_at = 0;

        wait = {};
        sleeps = yields = yielding = 0;
        while (now - begin < ns)
            if (step(limits) == HWMC_WAIT_SLEEP && slept_at == 0)
                slept_at = wait.yielded - begin - 100 * US - late_ns;
        return slept_at;
    }

    hwmc_wait_policy policy;
    hwmc_wait wait = {};
    uint64_t now = 1;
    uint64_t yield_ns = EMPTY_NS, late_ns = 60 * US;
    uint64_t sleeps = 0, yields = 0, yielding = 0, counted = 0;
    std::optional<bool> finds;
};

TEST(WaitPolicy, AloneAShortWaitOnlyPolls)
{
    Wait w(true);

    w.last(5 * US);
    EXPECT_EQ(w.yields, 0u);
    EXPECT_EQ(w.sleeps, 0u);
}

TEST(WaitPolicy, AloneYieldsTakeTheirShareAtMost)
{
    Wait w(true);

    w.last(MS);
    w.last(MS);
    EXPECT_GT(w.yields, 0u) << "nothing finds out that others came";
    EXPECT_LE(w.yielding, MS / HWMC_WAIT_SHARE);
}

TEST(WaitPolicy, AloneAWaitIsMadeLongerByItsShareAtMost)
{
    for (uint64_t late : {5 * US, 60 * US, 400 * US}) {
        Wait w(true);

        w.late_ns = late;
        w.last(200 * MS); // learns how late
        const uint64_t slept_at = w.last(200 * MS);

        EXPECT_GT(w.sleeps, 0u) << "it never sleeps";
        EXPECT_GE(slept_at, late * HWMC_WAIT_SHARE * 9 / 10) << late;
    }
}

// Where yields find nobody, a turn that is lost in the middle of a wait tells of others: it sleeps.
TEST(WaitPolicy, ALostTurnEndsBeingAlone)
{
    Wait w(true);
    unsigned slept = 0, waits = 0;

    w.step();
    hwmc_wait_lost_turn(&w.policy);
    EXPECT_FALSE(hwmc_wait_is_alone(&w.policy));
    for (; waits < 1000 && !hwmc_wait_is_alone(&w.policy); waits++) {
        w.wait = {};
        slept += w.step() == HWMC_WAIT_SLEEP;
    }
    EXPECT_GT(slept, 10u);
    EXPECT_LT(slept, waits) << "no yields afterwards";
    EXPECT_LT(waits, 1000u) << "yields find nobody any more";
}

TEST(WaitPolicy, AYieldThatFindsSomebodyEndsBeingAlone)
{
    Wait w(true);

    w.yield_ns = 10 * US;
    while (w.yields == 0)
        w.step();
    for (uint32_t i = 1; i < HWMC_WAIT_MET; i++) {
        EXPECT_TRUE(hwmc_wait_is_alone(&w.policy)) << i;
        EXPECT_EQ(w.step(), HWMC_WAIT_YIELD) << "at once";
    }
    EXPECT_FALSE(hwmc_wait_is_alone(&w.policy));
    EXPECT_EQ(w.step(), HWMC_WAIT_YIELD);
    EXPECT_EQ(w.step(), HWMC_WAIT_YIELD) << "between any two polls";
}

// The kernel does some work of its own now and then, and is gone.
TEST(WaitPolicy, OneYieldThatFindsSomebodyIsChance)
{
    Wait w(true);

    for (int i = 0; i < 100; i++) {
        w.last(50 * US);
        w.yield_ns = 30 * US;
        for (w.yields = 0; w.yields == 0;)
            w.step();
        w.yield_ns = EMPTY_NS;
        EXPECT_EQ(w.step(), HWMC_WAIT_YIELD) << "it makes sure";
        EXPECT_EQ(w.step(), HWMC_WAIT_POLL);
        ASSERT_TRUE(hwmc_wait_is_alone(&w.policy));
    }
}

TEST(WaitPolicy, AYieldThatTookATurnEndsBeingAlone)
{
    Wait w(true);

    w.yield_ns = 3 * MS;
    while (w.yields == 0)
        w.step();
    EXPECT_FALSE(hwmc_wait_is_alone(&w.policy));
    EXPECT_EQ(w.step(), HWMC_WAIT_SLEEP);
}

TEST(WaitPolicy, YieldsThatFindNobodyForLongMakeItAloneAgain)
{
    Wait w(false);

    while (!hwmc_wait_is_alone(&w.policy))
        ASSERT_EQ(w.step(), HWMC_WAIT_YIELD);
    EXPECT_EQ(w.counted, HWMC_WAIT_REGAINED);
    w.yield_ns = 10 * US;
    w.last(200 * US);
    EXPECT_FALSE(hwmc_wait_is_alone(&w.policy));
    w.yield_ns = EMPTY_NS;
    w.wait = {};
    for (w.counted = 0; !hwmc_wait_is_alone(&w.policy);)
        w.step();
    EXPECT_EQ(w.counted, HWMC_WAIT_REGAINED) << "those before do not count";
}

// To ask the kernel takes as long as a yield.
TEST(WaitPolicy, SharedFewYieldsAreCounted)
{
    Wait w(false);

    w.finds = true;
    for (int i = 0; i < 4000; i++)
        w.step({.ns = UINT64_MAX, .yields = UINT32_MAX});
    EXPECT_GT(w.counted, 0u) << "nothing finds out that others left";
    EXPECT_LE(16 * w.counted, w.yields);
}

// Two ranks that wait for others yield to each other at once. Such a yield may take less time than
// one that finds nobody takes elsewhere: the kernel's count tells, not its time.
TEST(WaitPolicy, WhoYieldsAtOnceIsSomebody)
{
    Wait shared(false), alone(true);

    shared.finds = alone.finds = true;
    for (int i = 0; i < 4000; i++) {
        shared.step({.ns = UINT64_MAX, .yields = UINT32_MAX});
        ASSERT_FALSE(hwmc_wait_is_alone(&shared.policy)) << i;
    }
    while (alone.yields < HWMC_WAIT_MET)
        alone.step();
    EXPECT_FALSE(hwmc_wait_is_alone(&alone.policy));
}

// A slow machine, or one with many mitigations; or a processor that a hypervisor took away.
TEST(WaitPolicy, ALongYieldThatFindsNobodyIsNobody)
{
    Wait w(true);

    w.finds = false;
    w.yield_ns = 3 * MS;
    for (int i = 0; i < 200; i++)
        w.last(50 * US);
    EXPECT_GT(w.counted, 0u);
    EXPECT_TRUE(hwmc_wait_is_alone(&w.policy));
    EXPECT_EQ(0u, w.policy.computes);
}

TEST(WaitPolicy, WhatIsCheapIsMeasured)
{
    Wait w(false);

    w.finds = false;
    w.yield_ns = 1400;
    while (!hwmc_wait_is_alone(&w.policy))
        w.step({.ns = UINT64_MAX, .yields = UINT32_MAX});
    for (int i = 0; i < 20; i++)
        w.last(MS);
    EXPECT_GT(w.yields, 0u);
    EXPECT_LE(w.yielding, MS / HWMC_WAIT_SHARE);
}

TEST(WaitPolicy, SharedAWaitSleepsAtItsLimits)
{
    Wait w(false);

    w.yield_ns = 10 * US;
    const uint64_t slept_at = w.last(5 * MS);

    EXPECT_GE(slept_at, USUAL.ns);
    EXPECT_LE(slept_at, USUAL.ns + 20 * US);
    w.last(5 * MS, {.ns = UINT64_MAX, .yields = 8});
    EXPECT_EQ(w.yields, 8u);
}

TEST(WaitPolicy, WhoSharesWithOneWhoComputesSleepsAtOnce)
{
    Wait w(false);

    w.yield_ns = 3 * MS;
    EXPECT_EQ(w.step(), HWMC_WAIT_YIELD);
    w.wait = {};
    for (int i = 0; i < 64; i++)
        EXPECT_EQ(w.step(), HWMC_WAIT_SLEEP) << i;
    w.wait = {};
    EXPECT_EQ(w.step(), HWMC_WAIT_YIELD) << "sees whether he still does";
}

// 32 ranks for each processor that each sleep and wake others: a yield returns after two
// milliseconds, and nobody computes.
TEST(WaitPolicy, ManyWhoShareAreNotOneWhoComputes)
{
    Wait few(false), many(false, false, 32);
    const hwmc_wait_limits limits = {.ns = UINT64_MAX, .yields = UINT32_MAX};

    few.yield_ns = many.yield_ns = 2 * MS;
    few.step(limits);
    EXPECT_EQ(HWMC_WAIT_SLEEP, few.step(limits));
    for (int i = 0; i < 200; i++)
        ASSERT_EQ(HWMC_WAIT_YIELD, many.step(limits));
    many.yield_ns = 20 * MS;
    many.step(limits);
    EXPECT_EQ(HWMC_WAIT_SLEEP, many.step(limits));
}

TEST(WaitPolicy, WhoCannotSleepSeesThatNobodyComputesAnyMore)
{
    Wait w(false);

    w.yield_ns = 3 * MS;
    w.step();
    w.wait = {};
    for (int i = 0; i < 64; i++) {
        ASSERT_EQ(hwmc_wait_next(&w.policy, &w.wait, &USUAL, w.now), HWMC_WAIT_SLEEP) << i;
        w.yielded(w.now + 2 * US); // there was something to do already
    }
    EXPECT_EQ(hwmc_wait_next(&w.policy, &w.wait, &USUAL, w.now), HWMC_WAIT_YIELD);
}

TEST(WaitPolicy, WhoTestsNeverSleeps)
{
    Wait w(false);

    EXPECT_EQ(hwmc_wait_tested(&w.policy), HWMC_WAIT_YIELD);
    w.policy.polite = true;
    EXPECT_EQ(hwmc_wait_tested(&w.policy), HWMC_WAIT_YIELD);
    Wait alone(true);
    EXPECT_EQ(hwmc_wait_tested(&alone.policy), HWMC_WAIT_POLL);
}

TEST(WaitPolicy, WhoTestsKeepsTheProcessorWhereSomebodyComputes)
{
    Wait w(false);
    int polls = 0;

    w.yield_ns = 3 * MS;
    w.step();
    while (hwmc_wait_tested(&w.policy) == HWMC_WAIT_POLL)
        polls++;
    EXPECT_EQ(polls, 64) << "then it sees whether he still does";
}

TEST(WaitPolicy, RationedProcessorsAreNotUsedUp)
{
    Wait w(false, true);

    w.yield_ns = 10 * US;
    const uint64_t slept_at = w.last(5 * MS);

    EXPECT_GT(slept_at, 0u);
    EXPECT_LE(slept_at, 100 * US);
}

TEST(WaitPolicy, ThePoliteAreNeverAlone)
{
    Wait w(true);

    w.policy.polite = true;
    EXPECT_EQ(w.step({.ns = 0, .yields = UINT32_MAX}), HWMC_WAIT_SLEEP);
}
} // namespace
