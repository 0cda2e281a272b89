// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// stripe: rails of a simulated sender that drain at their rates get their shares and end together.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/path/stripe.h"
}

namespace {

constexpr uint64_t MS = 1000000;
constexpr uint64_t FRAG = 1440;

// A sender with rails that drain at `rate` bytes a second and hold `room` bytes.
struct Sender {
    hwmc_stripe stripe;
    hwmc_stripe_rail *rails = stripe.rail;
    std::vector<uint64_t> rate, given;
    std::vector<double> waits;
    uint64_t now = MS, room;

    Sender(std::vector<uint64_t> rates, uint32_t mbit, uint64_t room_ = 130000)
        : rate(rates), given(rates.size(), 0), waits(rates.size(), 0), room(room_)
    {
        for (size_t r = 0; r < rates.size(); r++)
            hwmc_stripe_init(&rails[r], mbit);
    }
    void pass(uint64_t ns)
    {
        now += ns;
        for (size_t r = 0; r < rate.size(); r++)
            waits[r] = std::max(0.0, waits[r] - (double) rate[r] * (double) ns / 1e9);
    }
    // Sends that many bytes, then lets the queues drain; ns until all is out.
    uint64_t send(uint64_t bytes)
    {
        uint64_t start = now;

        for (uint64_t left = bytes; left > 0;) {
            for (size_t r = 0; r < rate.size(); r++)
                hwmc_stripe_on_queue(&rails[r], (uint64_t) waits[r], now);
            while (left > 0) {
                const uint64_t more[HWMC_RAIL_BITS] = {FRAG, FRAG, FRAG};
                int best =
                    __builtin_ctz(hwmc_stripe_best(&stripe, (1u << rate.size()) - 1, more, now));

                if (waits[(size_t) best] + FRAG > (double) room)
                    break;
                waits[(size_t) best] += FRAG;
                given[(size_t) best] += FRAG;
                hwmc_stripe_on_post(&rails[best], (uint64_t) waits[(size_t) best], now);
                left -= std::min(left, FRAG);
            }
            pass(MS / 10);
        }
        while (*std::max_element(waits.begin(), waits.end()) > 0)
            pass(MS / 10);
        return now - start;
    }
};

} // namespace

TEST(Stripe, EqualRailsGetEqualShares)
{
    Sender s({12500000, 12500000}, 100);
    uint64_t ns = s.send(4 << 20);

    EXPECT_NEAR((double) s.given[0], (double) s.given[1], 2 * FRAG);
    EXPECT_LT((double) ns, 1.01 * (4 << 20) / 25e6 * 1e9);
}

// Speeds that are far from what is nominal, as behind a shaper.
TEST(Stripe, SharesFollowTheRatesThatAreSeen)
{
    for (uint64_t slow : {12500000 / 2, 12500000 / 4, 12500000 / 20}) {
        Sender s({12500000, slow}, 10000);
        double limit = (4 << 20) / (12500000.0 + (double) slow) * 1e9;

        s.send(4 << 20); // learns
        EXPECT_LT((double) s.send(4 << 20), 1.05 * limit) << slow;
    }
}

TEST(Stripe, ASlowRailIsNeverWorseThanDoingWithoutIt)
{
    for (uint64_t part : {1, 2, 4, 8, 16, 64}) {
        Sender s({12500000, 12500000 / part}, 10000);

        if (part > 8) // what is less than it says by that much takes a first broadcast to find out
            s.send(1 << 20);
        for (uint64_t bytes : {1 << 20, 1 << 20, 4 << 20})
            EXPECT_LT((double) s.send(bytes), 1.01 * (double) bytes / 12500000 * 1e9 + 12 * MS)
                << part << " " << bytes;
    }
}

TEST(Stripe, ARailThatSlowsDownGetsLess)
{
    Sender s({12500000, 12500000}, 100);

    s.send(4 << 20);
    s.rate[1] = 12500000 / 8;
    s.given = {0, 0};
    s.send(16 << 20);
    EXPECT_LT((double) s.given[1], 0.16 * (16 << 20));
    s.rate[1] = 12500000;
    s.send(4 << 20);
    s.given = {0, 0};
    s.send(4 << 20);
    EXPECT_GT((double) s.given[1], 0.45 * (4 << 20));
}

TEST(Stripe, ARailThatWasSlowIsFoundToBeFast)
{
    Sender s({12500000, 12500}, 100);

    s.send(1 << 20);
    s.send(1 << 20);
    EXPECT_LT(s.rails[1].rate, 125000u);
    s.rate[1] = 12500000;
    s.send(4 << 20);
    s.given = {0, 0};
    s.send(4 << 20);
    EXPECT_GT((double) s.given[1], 0.45 * (4 << 20));
}

// Nothing is sent: that says nothing of a rail.
TEST(Stripe, ARestChangesNothing)
{
    Sender s({12500000, 1250000}, 100);

    s.send(4 << 20);
    uint64_t rate = s.rails[1].rate;
    s.pass(10000 * MS);
    hwmc_stripe_on_queue(&s.rails[1], 0, s.now);
    EXPECT_EQ(rate, s.rails[1].rate);
}
