// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// core/base/bitmap.h: bits at word borders.
#include <gtest/gtest.h>

#include "core.h"

TEST(Bitmap, WordsCoverTheBits)
{
    EXPECT_EQ(0u, hwmc_bitmap_words(0));
    EXPECT_EQ(1u, hwmc_bitmap_words(1));
    EXPECT_EQ(1u, hwmc_bitmap_words(64));
    EXPECT_EQ(2u, hwmc_bitmap_words(65));
}

TEST(Bitmap, MaskHasTheBitsThatExist)
{
    EXPECT_EQ(0u, hwmc_bitmap_mask(0, 0));
    EXPECT_EQ(1u, hwmc_bitmap_mask(0, 1));
    EXPECT_EQ(UINT64_MAX, hwmc_bitmap_mask(0, 64));
    EXPECT_EQ(UINT64_MAX, hwmc_bitmap_mask(0, 65));
    EXPECT_EQ(1u, hwmc_bitmap_mask(1, 65));
    EXPECT_EQ(UINT64_MAX >> 1, hwmc_bitmap_mask(1, 127));
}

TEST(Bitmap, FillSetsJustTheBitsInUse)
{
    for (uint32_t bits = 0; bits <= 192; bits++) {
        uint64_t map[4] = {0, 0, 0, 0};

        hwmc_bitmap_fill(map, bits);
        EXPECT_EQ(bits, hwmc_bitmap_count(map, 192)) << bits;
        for (uint32_t i = 0; i < 192; i++)
            ASSERT_EQ(i < bits, hwmc_bitmap_test(map, i)) << bits << " " << i;
    }
}

TEST(Bitmap, SetTestCountAndClearAgree)
{
    uint64_t map[3] = {0, 0, 0};
    uint32_t n = 0;

    for (uint32_t i : {0u, 1u, 63u, 64u, 100u, 127u, 128u, 149u}) {
        EXPECT_FALSE(hwmc_bitmap_test(map, i));
        hwmc_bitmap_set(map, i);
        hwmc_bitmap_set(map, i);
        EXPECT_TRUE(hwmc_bitmap_test(map, i));
        EXPECT_EQ(++n, hwmc_bitmap_count(map, 150));
    }
    hwmc_bitmap_clear(map, 150);
    EXPECT_EQ(0u, hwmc_bitmap_count(map, 150));
}

TEST(Bitmap, FirstOfNamesTheLowestBit)
{
    EXPECT_EQ(HWMC_BITMAP_NONE, hwmc_bitmap_first_of(0, 5));
    EXPECT_EQ(0u, hwmc_bitmap_first_of(1, 0));
    EXPECT_EQ(64u + 3, hwmc_bitmap_first_of(0x18, 1));
    EXPECT_EQ(63u, hwmc_bitmap_first_of(UINT64_C(1) << 63, 0));
}

TEST(Bitmap, ClearFromFindsTheNextHoleOrTheEnd)
{
    for (uint32_t bits : {1u, 63u, 64u, 65u, 150u})
        for (uint32_t hole = 0; hole <= bits; hole++)
            for (uint32_t from = 0; from <= bits; from++) {
                uint64_t map[3] = {0, 0, 0};

                hwmc_bitmap_fill(map, bits);
                if (hole < bits)
                    map[hole / 64] &= ~(UINT64_C(1) << (hole % 64));
                ASSERT_EQ(from <= hole ? hole : bits, hwmc_bitmap_clear_from(map, bits, from))
                    << bits << " " << hole << " " << from;
            }
}
