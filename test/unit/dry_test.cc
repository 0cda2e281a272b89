// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// dry: which sources of messages a poll looks at.
#include <gtest/gtest.h>

extern "C" {
#include "../../src/mpi/coll/bcast_hw/core/wait/dry.h"
}

namespace {

// Polls that find something at one source only.
void found(hwmc_dry &here, hwmc_dry &there, unsigned polls)
{
    for (unsigned i = 0; i < polls; i++) {
        hwmc_dry_polled(&here, true, true);
        hwmc_dry_polled(&there, false, true);
    }
}

unsigned looks(hwmc_dry &d, unsigned polls, unsigned most = HWMC_DRY_TURNS)
{
    unsigned n = 0;

    for (unsigned i = 0; i < polls; i++)
        n += hwmc_dry_is_due(&d, most);
    return n;
}

TEST(Dry, EachPollLooksAtASourceThatMayBringSomething)
{
    hwmc_dry a = {}, b = {};

    EXPECT_EQ(100u, looks(a, 100));
    found(a, b, HWMC_DRY_AFTER - 1);
    EXPECT_EQ(100u, looks(b, 100));
    // Polls that find nothing anywhere say nothing.
    for (int i = 0; i < 1000; i++)
        hwmc_dry_polled(&b, false, false);
    EXPECT_EQ(100u, looks(b, 100));
}

TEST(Dry, OneInSomePollsLooksAtADryOne)
{
    hwmc_dry a = {}, b = {};

    found(a, b, HWMC_DRY_AFTER);
    EXPECT_FALSE(hwmc_dry_is_wet(&b));
    EXPECT_EQ(100u / HWMC_DRY_TURNS, looks(b, 100));
    EXPECT_EQ(100u, looks(a, 100));
    found(a, b, 1000); // counts do not wrap
    EXPECT_EQ(100u / HWMC_DRY_TURNS, looks(b, 100));
}

// Where nothing is waited for: 4, 8, 16, 16, ... polls to a look, until something comes.
TEST(Dry, LessAndLessOftenWhileNothingComes)
{
    hwmc_dry a = {}, b = {};

    found(a, b, HWMC_DRY_AFTER);
    EXPECT_EQ(3u, looks(b, 4 + 8 + 16, HWMC_DRY_RARE));
    EXPECT_EQ(10u, looks(b, 10 * HWMC_DRY_RARE, HWMC_DRY_RARE));
    hwmc_dry_polled(&b, true, true);
    EXPECT_EQ(100u, looks(b, 100, HWMC_DRY_RARE));
    found(a, b, HWMC_DRY_AFTER);
    EXPECT_EQ(1u, looks(b, 4, HWMC_DRY_RARE));
    EXPECT_EQ(0u, looks(b, 7, HWMC_DRY_RARE));
    EXPECT_EQ(1u, looks(b, 1, HWMC_DRY_RARE));
}

TEST(Dry, WhatBringsSomethingIsLookedAtAgain)
{
    hwmc_dry a = {}, b = {};

    found(a, b, 2 * HWMC_DRY_AFTER);
    hwmc_dry_polled(&b, true, true);
    EXPECT_EQ(100u, looks(b, 100));
    found(a, b, HWMC_DRY_AFTER - 1);
    EXPECT_EQ(100u, looks(b, 100));
}

} // namespace
