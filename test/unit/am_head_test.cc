// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// am_head: frames that do not fit their message.
#include <gtest/gtest.h>

#include <random>
#include <vector>

extern "C" {
#include "am/am_head.h"
}

namespace {

constexpr size_t kReach = 48;

am_head head(uint64_t data_sz, uint64_t offset = 0, uint16_t hdr_sz = 16)
{
    return {data_sz, offset, 7, hdr_sz, 3, AM_DATA};
}

} // namespace

TEST(AmHead, FramesOfOneMessageFit)
{
    const am_head first = head(1000), second = head(1000, 600);

    EXPECT_TRUE(hwmc_am_head_is_sound(&first, 616, kReach));
    EXPECT_TRUE(hwmc_am_head_is_of(&first, 616, &first, 0, false));
    EXPECT_TRUE(hwmc_am_head_is_sound(&second, 400, kReach));
    EXPECT_TRUE(hwmc_am_head_is_of(&second, 400, &first, 600, true));
    EXPECT_TRUE(hwmc_am_head_is_of(&first, 616, &second, 400, false)) << "the other way round";
}

TEST(AmHead, WhatLeadsBeyondTheMessageIsNotSound)
{
    am_head h = head(1000, 600);

    EXPECT_FALSE(hwmc_am_head_is_sound(&h, 401, kReach));
    h.offset = 1001;
    EXPECT_FALSE(hwmc_am_head_is_sound(&h, 0, kReach));
    h = head(UINT64_MAX, UINT64_MAX - 100);
    EXPECT_FALSE(hwmc_am_head_is_sound(&h, 100, kReach))
        << "with the memory for that it would be little";
    h = head(1000);
    EXPECT_FALSE(hwmc_am_head_is_sound(&h, 15, kReach));
    h.kind = AM_CMA;
    EXPECT_TRUE(hwmc_am_head_is_sound(&h, 16 + kReach, kReach));
    EXPECT_FALSE(hwmc_am_head_is_sound(&h, 15 + kReach, kReach));
    h.offset = 1;
    EXPECT_FALSE(hwmc_am_head_is_sound(&h, kReach, kReach));
    h = head(1000);
    h.kind = AM_GOT;
    EXPECT_FALSE(hwmc_am_head_is_sound(&h, 16, kReach));
}

TEST(AmHead, ADifferentSizeThanTheFirstFramesIsNotOfTheMessage)
{
    const am_head first = head(10);
    am_head h = head(1000, 900);

    EXPECT_TRUE(hwmc_am_head_is_sound(&h, 100, kReach)) << "by itself";
    EXPECT_FALSE(hwmc_am_head_is_of(&h, 100, &first, 0, true));
    h = head(10, 0, 5000);
    EXPECT_FALSE(hwmc_am_head_is_of(&h, 5000, &first, 0, false));
    h = head(10);
    h.handler = 4;
    EXPECT_FALSE(hwmc_am_head_is_of(&h, 26, &first, 0, false));
    h = head(10);
    h.kind = AM_CMA;
    EXPECT_FALSE(hwmc_am_head_is_of(&h, 16 + kReach, &first, 0, false));
    EXPECT_FALSE(hwmc_am_head_is_of(&first, 16 + 10, &first, 0, true)) << "a second header";
    h = head(10, 5);
    EXPECT_FALSE(hwmc_am_head_is_of(&h, 5, &first, 6, true)) << "more than is missing";
}

// Whatever frames come: none that is taken writes outside of the memory that the first one asked
// for.
TEST(AmHead, NothingThatIsTakenIsOutside)
{
    std::minstd_rand r(11);

    for (int n = 0; n < 20000; n++) {
        auto any = [&](uint64_t small) {
            return r() % 20 ? r() % small : ((uint64_t) r() << 33) | r();
        };
        am_head first = {}, h;
        std::vector<unsigned char> header, data;
        uint64_t got = 0;
        bool begun = false, started = false;

        for (int i = 0; i < 6; i++) {
            size_t len = r() % 60, in;

            h = {any(60),
                 any(60),
                 1,
                 (uint16_t) (r() % 3 * 8),
                 (uint8_t) (r() % 2),
                 (uint8_t) (r() % 8 ? AM_DATA : AM_CMA)};
            if (begun && r() % 2) {
                h.data_sz = first.data_sz;
                h.hdr_sz = first.hdr_sz;
            }
            if (!hwmc_am_head_is_sound(&h, len, kReach) ||
                (begun && !hwmc_am_head_is_of(&h, len, &first, got, started)))
                continue;
            if (!begun) {
                ASSERT_LE(h.data_sz, UINT64_C(1) << 62);
                if (h.kind == AM_CMA || h.data_sz > 100000)
                    break;
                first = h;
                begun = true;
                header.resize(h.hdr_sz);
                data.resize(h.data_sz);
            }
            in = hwmc_am_head_header_in(&h);
            ASSERT_LE(in, header.size());
            ASSERT_LE(h.offset + (len - in), data.size());
            started = started || h.offset == 0;
            got += len - in;
            ASSERT_LE(got, data.size());
        }
    }
}
