/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#include <unistd.h>
#include <gtest/gtest.h>

#include <vector>

extern "C" {
#include "fabric/segments.h"
}

namespace {

/* The run that datagrams of these lengths begin with, 10 bytes of each being its head. */
int run(const std::vector<size_t> &lengths)
{
    std::vector<hwmc_out> out;

    for (size_t len : lengths)
        out.push_back({nullptr, len < 10 ? len : 10, nullptr, len < 10 ? 0 : len - 10});
    return hwmc_segments_run(out.data(), static_cast<int>(out.size()));
}

TEST(Segments, ARunIsOfOneLengthButTheLast)
{
    EXPECT_EQ(1, run({100}));
    EXPECT_EQ(3, run({100, 100, 100}));
    EXPECT_EQ(3, run({100, 100, 99, 99}));
    EXPECT_EQ(2, run({100, 99, 100}));
    EXPECT_EQ(1, run({99, 100, 100}));
    EXPECT_EQ(2, run({100, 100, 0}));
}

TEST(Segments, ARunEndsWhereTheKernelsMessageEnds)
{
    EXPECT_EQ(HWMC_BURST, run(std::vector<size_t>(100, 100)));
    EXPECT_EQ(45, run(std::vector<size_t>(60, 1452)));
    EXPECT_EQ(1, run({60000, 60000}));
    EXPECT_EQ(2, run({60000, 5507}));
    EXPECT_EQ(1, run({60000, 5508}));
}

TEST(Segments, WhoDoesNotTakeThemSaysSo)
{
    int pair[2];

    ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    EXPECT_FALSE(hwmc_segments_are_taken(pair[0]));
    close(pair[0]);
    close(pair[1]);
}

TEST(Segments, TheLengthOfWhatCameIsInItsControlMessage)
{
    union hwmc_segments_control control = {};
    msghdr msg = {};

    EXPECT_EQ(3000u, hwmc_segments_len(&msg, 3000));
    hwmc_segments_mark(&msg, &control, 1000); /* what is asked for when sending is not what came */
    EXPECT_EQ(3000u, hwmc_segments_len(&msg, 3000));
}

} // namespace
