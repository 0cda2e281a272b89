// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// core/base/prng.h, core/flow/rtt.h, tail.h and delay.h: what is decided by numbers alone.
#include <vector>

#include <gtest/gtest.h>

#include "core.h"

// All ranks must choose alike whatever they run on, so the values are pinned: splitmix64's first
// outputs for seed 0.
TEST(Prng, IsSplitmix64)
{
    EXPECT_EQ(UINT64_C(0xe220a8397b1dcdaf), hwmc_prng(0, 0));
    EXPECT_EQ(UINT64_C(0x6e789e6aa1b965f4), hwmc_prng(0, 1));
    EXPECT_EQ(UINT64_C(0x06c45d188009454f), hwmc_prng(0, 2));
}

// A first window of samples as long as `ns`.
hwmc_rtt after_first_window(uint64_t ns)
{
    hwmc_rtt r;

    hwmc_rtt_init(&r);
    for (uint32_t i = 0; i < HWMC_RTT_WINDOW; i++)
        hwmc_rtt_sample(&r, ns);
    return r;
}

TEST(Rtt, WaitsTheStartValueUntilItKnowsBetter)
{
    hwmc_rtt r;

    hwmc_rtt_init(&r);
    EXPECT_EQ(HWMC_RTT_START_NS, hwmc_rtt_wait(&r));
    hwmc_rtt_sample(&r, 1000);
    EXPECT_EQ(HWMC_RTT_START_NS, hwmc_rtt_wait(&r)); // a short trip does not shorten it
}

TEST(Rtt, AWindowOfLongTripsComesBeforeALongWait)
{
    hwmc_rtt r;

    hwmc_rtt_init(&r);
    for (uint32_t i = 0; i < HWMC_RTT_WINDOW; i++) {
        hwmc_rtt_sample(&r, 4000000);
        EXPECT_EQ(HWMC_RTT_START_NS, hwmc_rtt_wait(&r)) << i;
    }
    hwmc_rtt_sample(&r, 4000000);
    EXPECT_EQ(8000000u, hwmc_rtt_wait(&r));
}

TEST(Rtt, WaitsTwiceTheShortestTrip)
{
    hwmc_rtt r = after_first_window(4000000);

    hwmc_rtt_sample(&r, 2000000);
    EXPECT_EQ(4000000u, hwmc_rtt_wait(&r));
    hwmc_rtt_sample(&r, 30000000); // a host that was slow to answer
    EXPECT_EQ(4000000u, hwmc_rtt_wait(&r));
}

TEST(Rtt, ForgetsAShortTripAfterTwoWindows)
{
    hwmc_rtt r = after_first_window(5000000);

    hwmc_rtt_sample(&r, 2000000);
    for (uint32_t i = 1; i < 2 * HWMC_RTT_WINDOW; i++) {
        hwmc_rtt_sample(&r, 5000000);
        EXPECT_EQ(4000000u, hwmc_rtt_wait(&r)) << i;
    }
    hwmc_rtt_sample(&r, 5000000);
    EXPECT_EQ(10000000u, hwmc_rtt_wait(&r));
}

TEST(Rtt, ANeedlessWaitMakesTheNextLongerAndARealLossTakesItBack)
{
    hwmc_rtt r;

    hwmc_rtt_init(&r);
    for (int i = 0; i < 20; i++) {
        hwmc_rtt_needless(&r);
        EXPECT_EQ(HWMC_RTT_PATIENT_NS, hwmc_rtt_wait(&r));
    }
    hwmc_rtt_needed(&r);
    EXPECT_EQ(HWMC_RTT_START_NS, hwmc_rtt_wait(&r));
}

TEST(Rtt, PatienceAddsNothingToALongRoundTrip)
{
    hwmc_rtt r = after_first_window(4000000);

    hwmc_rtt_sample(&r, 4000000);
    hwmc_rtt_needless(&r);
    EXPECT_EQ(8000000u, hwmc_rtt_wait(&r));
}

TEST(Rtt, NeverWaitsLongerThanTheMaximum)
{
    hwmc_rtt r = after_first_window(UINT64_C(3600000000000));

    hwmc_rtt_sample(&r, UINT64_C(3600000000000));
    EXPECT_EQ(HWMC_RTT_MAX_NS, hwmc_rtt_wait(&r));
}

// Round trips of 50 us, and first fragments that come after these times in turn.
struct Tail {
    hwmc_rtt rtt;
    hwmc_tail tail = {};

    explicit Tail(std::vector<uint64_t> us, uint32_t times = 10 * HWMC_TAIL_KNOWN)
    {
        hwmc_rtt_init(&rtt);
        hwmc_rtt_sample(&rtt, 50000);
        for (uint32_t i = 0; i < times; i++)
            came(us[i % us.size()]);
    }
    void came(uint64_t us)
    {
        hwmc_tail_sample(&tail, 1000 * us);
    }
    uint64_t us() const
    {
        return hwmc_tail_wait(&tail, &rtt) / 1000;
    }
};

TEST(Tail, WaitsAsForAnyBroadcastUntilItKnowsBetter)
{
    EXPECT_EQ(HWMC_RTT_START_NS / 1000, Tail({80}, HWMC_TAIL_KNOWN - 1).us());
    EXPECT_GT(HWMC_RTT_START_NS / 1000, Tail({80}, HWMC_TAIL_KNOWN).us());
}

// A network that has never lost anything: nobody asked, so no round trip is known.
TEST(Tail, WaitsAsForAnyBroadcastUntilARepairHasShownTheWay)
{
    Tail t({80});

    hwmc_rtt_init(&t.rtt);
    EXPECT_EQ(HWMC_RTT_START_NS / 1000, t.us());
}

TEST(Tail, WaitsFourTimesWhatSevenOfEightTake)
{
    EXPECT_NEAR(320, Tail({80}).us(), 40);
    EXPECT_NEAR(400, Tail({20, 40, 60, 80, 90, 95, 100, 600}, 1000).us(), 60);
    EXPECT_NEAR(100, Tail({10}).us(), 1); // two round trips
}

TEST(Tail, IsNeverShorterThanASleepLastsTooLong)
{
    Tail at_once({0});

    hwmc_rtt_sample(&at_once.rtt, 0);
    EXPECT_EQ(HWMC_TAIL_LEAST_NS / 1000, at_once.us());
}

TEST(Tail, IsNeverLongerThanForAnyBroadcast)
{
    Tail late({30000});

    EXPECT_EQ(HWMC_RTT_START_NS / 1000, late.us());
    hwmc_rtt_needless(&late.rtt);
    EXPECT_EQ(HWMC_RTT_PATIENT_NS / 1000, late.us());
}

TEST(Tail, OneThatIsVeryLateIsOnlyLate)
{
    Tail t({80});
    const uint64_t before = t.us();

    t.came(5000000);
    EXPECT_GT(before * 9 / 8, t.us());
    for (int i = 0; i < 8; i++)
        t.came(80);
    EXPECT_NEAR(before, t.us(), 40);
}

// The network, or the program, has become slower, or faster again.
TEST(Tail, FollowsWhatChanges)
{
    Tail t({40});

    for (int i = 0; i < 16; i++)
        t.came(100);
    EXPECT_NEAR(400, t.us(), 60);
    for (int i = 0; i < 80; i++)
        t.came(40);
    EXPECT_NEAR(160, t.us(), 30);
}

TEST(Delay, OneMemberIsChosenAndNeverTheRoot)
{
    hwmc_delay d = {HWMC_DELAY_RANDOM, 42, 0};

    for (uint32_t p = 2; p <= 9; p++)
        for (uint64_t bid = 0; bid < 50; bid++) {
            uint32_t root = (uint32_t) bid % p;
            uint32_t chosen = 0;

            for (uint32_t r = 0; r < p; r++)
                chosen += hwmc_delay_is_chosen(&d, bid, root, r, p);
            EXPECT_EQ(1u, chosen);
            EXPECT_FALSE(hwmc_delay_is_chosen(&d, bid, root, root, p));
        }
}

TEST(Delay, TheChoiceReachesEveryMember)
{
    hwmc_delay d = {HWMC_DELAY_RANDOM, 7, 0};
    std::vector<int> times(8, 0);

    for (uint64_t bid = 0; bid < 7000; bid++)
        times[hwmc_delay_chosen(&d, bid, 3, 8)]++;
    for (uint32_t r = 0; r < 8; r++)
        EXPECT_TRUE(r == 3 ? times[r] == 0 : times[r] > 850 && times[r] < 1150) << r;
}

TEST(Delay, NobodyIsChosenAloneOrUnlessRandom)
{
    hwmc_delay d = {HWMC_DELAY_RANDOM, 7, 0};

    EXPECT_FALSE(hwmc_delay_is_chosen(&d, 0, 0, 0, 1));
    EXPECT_EQ(5u, hwmc_delay_until(&d, 1, 5));
    EXPECT_EQ(HWMC_NEVER, hwmc_delay_until(&d, 2, 5));
    d.kind = HWMC_DELAY_FIXED;
    d.ns = 10;
    EXPECT_FALSE(hwmc_delay_is_chosen(&d, 0, 0, 1, 2));
    EXPECT_EQ(15u, hwmc_delay_until(&d, 2, 5));
}

TEST(Delay, AdaptsUpAboveAHalfAndDownBelowAQuarter)
{
    hwmc_delay d = {HWMC_DELAY_ADAPTIVE, 0, 0};

    hwmc_delay_learn(&d, 50, 100);
    EXPECT_EQ(0u, d.ns);
    hwmc_delay_learn(&d, 51, 100);
    EXPECT_EQ(HWMC_DELAY_START_NS, d.ns);
    hwmc_delay_learn(&d, 100, 100);
    EXPECT_EQ(2 * HWMC_DELAY_START_NS, d.ns);
    hwmc_delay_learn(&d, 25, 100);
    EXPECT_EQ(2 * HWMC_DELAY_START_NS, d.ns);
    hwmc_delay_learn(&d, 24, 100);
    EXPECT_EQ(HWMC_DELAY_START_NS, d.ns);
    hwmc_delay_learn(&d, 0, 100);
    EXPECT_EQ(0u, d.ns);
    for (int i = 0; i < 30; i++)
        hwmc_delay_learn(&d, 100, 100);
    EXPECT_EQ(HWMC_DELAY_MAX_NS, d.ns);
}

TEST(Delay, OnlyTheAdaptiveLearns)
{
    for (hwmc_delay_kind kind : {HWMC_DELAY_NONE, HWMC_DELAY_FIXED, HWMC_DELAY_RANDOM}) {
        hwmc_delay d = {kind, 0, 123};

        hwmc_delay_learn(&d, 100, 100);
        EXPECT_EQ(123u, d.ns);
    }
}
