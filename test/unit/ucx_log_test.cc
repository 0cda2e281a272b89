// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Memory that UCX is refused: how long a spell has lasted, and what of its words is shown.

#include <gtest/gtest.h>

extern "C" {
#include "lane/ucx_log.h"
}

namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kStart = 77 * kSecond;

// Refusals every `step` from `from` until `until`; what the last said.
uint64_t refuse(hwmc_ucx_log *r, uint64_t from, uint64_t until, uint64_t step)
{
    uint64_t lasted = 0;

    for (uint64_t now = from; now <= until; now += step)
        lasted = hwmc_ucx_log_add(r, now);
    return lasted;
}

TEST(Refusals, ALoopLastsFromItsFirst)
{
    hwmc_ucx_log r = {};

    EXPECT_EQ(kSecond, refuse(&r, kStart, kStart + kSecond, 10000));
    EXPECT_EQ(3 * kSecond, refuse(&r, kStart + kSecond + 10000, kStart + 3 * kSecond, 10000));
}

TEST(Refusals, FewAreNoLoopHoweverLongTheyTake)
{
    hwmc_ucx_log r = {};

    EXPECT_EQ(0u, refuse(&r, kStart, kStart + 498 * kSecond, kSecond / 2));
}

TEST(Refusals, APauseEndsTheSpell)
{
    hwmc_ucx_log r = {};

    refuse(&r, kStart, kStart + 4 * kSecond, 10000);
    EXPECT_EQ(0u, hwmc_ucx_log_add(&r, kStart + 5 * kSecond));
    EXPECT_EQ(kSecond, refuse(&r, kStart + 5 * kSecond + 10000, kStart + 6 * kSecond, 10000));
}

TEST(Refusals, AllIsShownWhileMemoryIsNotRefused)
{
    hwmc_ucx_log r = {};

    for (uint64_t i = 0; i < 10; i++)
        EXPECT_TRUE(hwmc_ucx_log_show(&r, "tcp_ep.c", 97, kStart + i));
    hwmc_ucx_log_add(&r, kStart + 10);
    EXPECT_TRUE(hwmc_ucx_log_show(&r, "tcp_ep.c", 97, kStart + 10));
    EXPECT_FALSE(hwmc_ucx_log_show(&r, "tcp_ep.c", 97, kStart + 11));
    for (uint64_t i = 0; i < 10; i++)
        EXPECT_TRUE(hwmc_ucx_log_show(&r, "tcp_ep.c", 97, kStart + 2 * kSecond + i))
            << "the spell is over";
}

// As UCX loops: each turn some places say their word.
TEST(Refusals, InASpellAPlaceSpeaksOnceASecond)
{
    static const char file[] = "mpool.c";
    hwmc_ucx_log r = {};
    unsigned shown[HWMC_UCX_LOG_PLACES] = {};
    const uint64_t turns = 300000;

    for (uint64_t turn = 0; turn < turns; turn++) { // 3 s
        uint64_t now = kStart + turn * 10000;

        hwmc_ucx_log_add(&r, now);
        for (unsigned line = 0; line < HWMC_UCX_LOG_PLACES; line++)
            shown[line] += hwmc_ucx_log_show(&r, file, line, now);
    }
    for (unsigned line = 0; line < HWMC_UCX_LOG_PLACES; line++)
        EXPECT_EQ(3u, shown[line]) << line;
}

TEST(Refusals, WhatIsSaidForTheFirstTimeInASpellIsShownWhateverElseIs)
{
    static const char file[] = "mpool.c";
    hwmc_ucx_log r = {};

    hwmc_ucx_log_add(&r, kStart);
    for (unsigned line = 0; line < 5 * HWMC_UCX_LOG_PLACES; line++)
        EXPECT_TRUE(hwmc_ucx_log_show(&r, file, line, kStart + line)) << line;
}

TEST(SharedMemory, IsWhatTheFilesOfThatTransportAreAbout)
{
    EXPECT_TRUE(hwmc_ucx_log_is_of_shared_memory("mm_posix.c"));
    EXPECT_TRUE(hwmc_ucx_log_is_of_shared_memory("../src/uct/sm/mm/base/mm_ep.c"));
    EXPECT_FALSE(hwmc_ucx_log_is_of_shared_memory("tcp_ep.c"));
    EXPECT_FALSE(hwmc_ucx_log_is_of_shared_memory("sm/mm_none/uct_mem.c"));
    EXPECT_FALSE(hwmc_ucx_log_is_of_shared_memory(""));
}

// As UCX 1.13 says it of hosts that have no address of one family.
TEST(NoWay, IsWhatSelectionOfTransportsSays)
{
    const char *said = "no active messages transport to <no debug data>: self/memory0 - no send "
                       "completion event, tcp/eth0 - Destination is unreachable";

    EXPECT_TRUE(hwmc_ucx_log_is_of_no_way("select.c", said));
    EXPECT_TRUE(hwmc_ucx_log_is_of_no_way("wireup/select.c", said));
    EXPECT_FALSE(hwmc_ucx_log_is_of_no_way("tcp_ep.c", said));
    EXPECT_FALSE(hwmc_ucx_log_is_of_no_way("select.c", "no remote registered memory access"));
}

} // namespace
