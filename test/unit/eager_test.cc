// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// From which length on messages inside a host go by rendezvous: on hosts with other costs.

#include <gtest/gtest.h>

extern "C" {
#include "wires/eager.h"
}

namespace {

// A host whose costs are lines: so many ns, and so many for 1024 bytes.
struct Host {
    uint64_t read, read_kib, copy, copy_kib;
    bool may_read = true;
    size_t longest = 0; // that was tried
};

uint64_t read_of(void *ctx, size_t n)
{
    auto *h = static_cast<Host *>(ctx);

    h->longest = n;
    return h->may_read ? h->read + h->read_kib * n / 1024 : UINT64_MAX;
}

uint64_t copy_of(void *ctx, size_t n)
{
    auto *h = static_cast<Host *>(ctx);

    return h->copy + h->copy_kib * n / 1024;
}

size_t end_of(Host h)
{
    const hwmc_eager_costs costs = {.rendezvous = read_of, .eager = copy_of, .ctx = &h};
    const size_t end = hwmc_eager_end(&costs);

    EXPECT_LT(h.longest, HWMC_EAGER_MAX);
    return end;
}

TEST(Eager, WhereTheKernelIsSlowUpToTheLimit)
{
    EXPECT_EQ(end_of({.read = 1000, .read_kib = 60, .copy = 20, .copy_kib = 16}), HWMC_EAGER_MAX);
}

TEST(Eager, WhereTheKernelIsFastRendezvousBeginsAsUcxHasIt)
{
    EXPECT_EQ(end_of({.read = 100, .read_kib = 20, .copy = 20, .copy_kib = 60}), 0u);
}

TEST(Eager, InBetweenWhereTheyMeet)
{
    // 2000 + 40 k = 80 k at 50 KiB: 32 KiB are sent eagerly, 64 are not.
    EXPECT_EQ(end_of({.read = 2000, .read_kib = 40, .copy = 0, .copy_kib = 80}), 65536u);
}

TEST(Eager, WhereNobodyMayReadAllThatIsAllowedIsEager)
{
    Host h = {.read = 0, .read_kib = 0, .copy = 1, .copy_kib = 1000};

    h.may_read = false;
    EXPECT_EQ(end_of(h), HWMC_EAGER_MAX);
}

TEST(Eager, NoMoreThanWhatAPortCarriesInSomeRoundTrips)
{
    const size_t most = HWMC_EAGER_MAX;

    EXPECT_EQ(hwmc_eager_end_on_wire(most, 0), most);
    EXPECT_EQ(hwmc_eager_end_on_wire(most, 10000), most);
    EXPECT_EQ(hwmc_eager_end_on_wire(most, 5000), most / 2); // 81,250 bytes: segments of 64 KiB
    EXPECT_EQ(hwmc_eager_end_on_wire(most, 1000), 16384u);
    EXPECT_EQ(hwmc_eager_end_on_wire(most, 500), 0u); // as UCX has it
    EXPECT_EQ(hwmc_eager_end_on_wire(16384, 100000), 16384u);
    EXPECT_EQ(hwmc_eager_end_on_wire(0, 100000), 0u);
}

TEST(Eager, HereItIsAPowerOfTwoWithinTheLimits)
{
    for (const size_t end : {hwmc_eager_end_in_host(), hwmc_eager_end_by_tcp()}) {
        EXPECT_EQ(end & (end - 1), 0u);
        EXPECT_LE(end, HWMC_EAGER_MAX);
        EXPECT_TRUE(end == 0 || end >= 2 * HWMC_EAGER_MIN) << end;
    }
}
} // namespace
