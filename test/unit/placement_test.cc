// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// placement: where bytes lie while the program pins its memory, and after it has taken it back.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "engine/group/placement.h"
#include "port/err.h"
}

namespace {

constexpr uint32_t N = 4, PIECE = 10;

class Homes : public testing::Test {
  protected:
    void SetUp() override
    {
        ASSERT_EQ(HWMC_OK, hwmc_placement_open(&h, N, PIECE));
    }
    void TearDown() override
    {
        hwmc_placement_close(&h);
    }
    bool in_channel(uint64_t bid, uint32_t bytes = PIECE)
    {
        return hwmc_placement_of(&h, bid, bytes) == h.channels + bid % N * PIECE;
    }

    hwmc_placement h;
    unsigned char user[25]; // two pieces and a half
};

} // namespace

TEST_F(Homes, AreTheChannelsByDefault)
{
    for (uint64_t bid = 0; bid < 10; bid++)
        EXPECT_TRUE(in_channel(bid));
}

TEST_F(Homes, OfALentMessageAreInIt)
{
    hwmc_placement_pin(&h, user, sizeof(user), 7);
    EXPECT_TRUE(in_channel(6));
    EXPECT_EQ(user, hwmc_placement_of(&h, 7, 10));
    EXPECT_EQ(user + 10, hwmc_placement_of(&h, 8, 10));
    EXPECT_EQ(user + 20, hwmc_placement_of(&h, 9, 5));
    EXPECT_TRUE(in_channel(10, 1)); // of the next message
}

TEST_F(Homes, TellWhetherBytesAreInTheProgramsMemory)
{
    hwmc_placement_pin(&h, user, sizeof(user), 7);
    EXPECT_FALSE(hwmc_placement_is_user(&h, 7)); // nothing has come yet
    hwmc_placement_of(&h, 6, PIECE);
    hwmc_placement_of(&h, 7, 10);
    EXPECT_FALSE(hwmc_placement_is_user(&h, 6));
    EXPECT_TRUE(hwmc_placement_is_user(&h, 7));
    hwmc_placement_unpin(&h, 7);
    EXPECT_FALSE(hwmc_placement_is_user(&h, 7));
}

// The sender's message is longer than the memory that is pinned here.
TEST_F(Homes, WhatDoesNotFitInsideIsInTheChannel)
{
    hwmc_placement_pin(&h, user, sizeof(user), 7);
    EXPECT_TRUE(in_channel(9, 6));
    EXPECT_TRUE(in_channel(UINT64_MAX, 1));
}

TEST_F(Homes, WhatHasBegunInTheChannelStaysThere)
{
    EXPECT_TRUE(in_channel(8));
    hwmc_placement_pin(&h, user, sizeof(user), 7);
    EXPECT_EQ(user, hwmc_placement_of(&h, 7, 10));
    EXPECT_TRUE(in_channel(8));
    hwmc_placement_unpin(&h, 0);
    EXPECT_TRUE(in_channel(8));
}

TEST_F(Homes, WhatIsNotOverIsKeptWhenTheProgramTakesItsMemoryBack)
{
    hwmc_placement_pin(&h, user, sizeof(user), 7);
    for (uint64_t bid = 7; bid < 10; bid++)
        hwmc_placement_of(&h, bid, bid == 9 ? 5 : 10);
    memcpy(user, "abcdefghijklmnopqrstuvwxy", sizeof(user));
    memset(h.channels, '-', N * PIECE);
    hwmc_placement_unpin(&h, 8);
    memset(user, '?', sizeof(user));

    EXPECT_TRUE(in_channel(7) && in_channel(8) && in_channel(9, 5));
    auto kept = [&](uint64_t bid, uint32_t bytes) {
        return std::string((char *) hwmc_placement_of(&h, bid, bytes), bytes);
    };
    EXPECT_EQ("----------", kept(7, 10)); // all members had it
    EXPECT_EQ("klmnopqrst", kept(8, 10));
    EXPECT_EQ("uvwxy", kept(9, 5));
    hwmc_placement_unpin(&h, 8); // nothing is pinned: nothing happens
    EXPECT_EQ("klmnopqrst", kept(8, 10));
}

// More broadcasts than channels: only the last ones have a home in the memory that is pinned.
TEST_F(Homes, AMessageMayHaveMorePiecesThanThereAreChannels)
{
    std::vector<unsigned char> large(100);

    hwmc_placement_pin(&h, large.data(), large.size(), 3);
    for (uint64_t bid = 3; bid < 13; bid++)
        EXPECT_EQ(large.data() + (bid - 3) * 10, hwmc_placement_of(&h, bid, 10));
    for (size_t i = 0; i < large.size(); i++)
        large[i] = (unsigned char) i;
    hwmc_placement_unpin(&h, 10);
    for (uint64_t bid = 10; bid < 13; bid++)
        EXPECT_EQ(0, memcmp(hwmc_placement_of(&h, bid, 10), &large[(bid - 3) * 10], 10));
}
