// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Texts that others give become UTF-8: stats/utf8.h.

#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "stats/utf8.h"
}

namespace {

std::string copied(const std::string &text)
{
    std::vector<char> to(HWMC_UTF8_ROOM(text.size()));

    hwmc_utf8_copy(text.c_str(), to.data());
    return to.data();
}

const std::string R = HWMC_UTF8_REPLACEMENT;

TEST(Utf8, CharactersStay)
{
    for (const std::string text : {"", "MPI_COMM_WORLD", "\xc3\xa9", "\xe2\x82\xac",
                                   "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
        EXPECT_EQ(text, copied(text));
}

TEST(Utf8, ANameThatIsCutInsideACharacter)
{
    std::string name;

    for (int i = 0; i < 16; i++)
        name += "\xc3\xa9";
    EXPECT_EQ(name.substr(0, 30) + R, copied(name.substr(0, 31)));
}

TEST(Utf8, WhatIsNoCharacterIsReplaced)
{
    EXPECT_EQ("a" + R + "b", copied("a\xff"
                                    "b"));
    EXPECT_EQ(R + R, copied("\xc0\x80")); // longer than need be
    EXPECT_EQ(R + R + R, copied("\xe0\x80\x80"));
    EXPECT_EQ(R + R + R, copied("\xed\xa0\x80"));         // half of a pair
    EXPECT_EQ(R + R + R + R, copied("\xf4\x90\x80\x80")); // beyond all
    EXPECT_EQ(R + "x", copied("\x80x"));
    EXPECT_EQ(R + "(", copied("\xc3("));
    EXPECT_EQ(R + R, copied("\xf0\x9f"));
}

} // namespace
