// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Bytes as short text and back.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

extern "C" {
#include "wires/peer_info.h"
}

namespace {

using Bytes = std::vector<uint8_t>;

std::string written(const Bytes &b)
{
    std::string text(hwmc_peer_info_room(b.size()), '?');
    size_t len = hwmc_peer_info_write(b.data(), b.size(), text.data());

    EXPECT_LT(len, text.size());
    EXPECT_EQ('\0', text[len]);
    text.resize(len);
    return text;
}

bool reads(const std::string &text, Bytes *b)
{
    size_t len = 0;
    uint8_t *bytes = hwmc_peer_info_read(text.c_str(), &len);

    if (bytes)
        b->assign(bytes, bytes + len);
    hwmc_peer_info_free(bytes);
    return bytes != nullptr;
}

} // namespace

TEST(Record, IsReadAsItWasWritten)
{
    std::minstd_rand r(5);

    for (int i = 0; i < 200; i++) {
        Bytes b(r() % 1200), back;
        unsigned values = 1 + r() % 256; // few: much is repeated

        for (auto &c : b)
            c = (uint8_t) (r() % values);
        std::string text = written(b);
        EXPECT_EQ(std::string::npos,
                  text.find_first_not_of(
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"));
        ASSERT_TRUE(reads(text, &back)) << i;
        ASSERT_EQ(b, back) << i;
    }
}

TEST(Record, WhatComesAgainTakesLittle)
{
    std::minstd_rand r(6);
    Bytes one(215), all;

    for (auto &c : one)
        c = (uint8_t) r();
    for (int i = 0; i < 3; i++) { // three addresses of which some bytes differ
        one[7] = one[100] = one[150] = (uint8_t) r();
        all.insert(all.end(), one.begin(), one.end());
    }
    EXPECT_LT(written(all).size(), all.size() * 2 * 30 / 100);
    EXPECT_LT(written(Bytes(1000, 7)).size(), 60u);
}

TEST(Record, WhatIsNoneIsNotRead)
{
    std::minstd_rand r(7);
    Bytes b(300, 3), back;

    for (size_t i = 0; i < b.size(); i += 3)
        b[i] = (uint8_t) r();
    std::string text = written(b);
    for (size_t n = 0; n < text.size(); n++)
        EXPECT_FALSE(reads(text.substr(0, n), &back)) << n;
    EXPECT_FALSE(reads(text + "A", &back));
    EXPECT_FALSE(reads("", &back));
    EXPECT_FALSE(reads("____", &back));     // 16 MiB
    EXPECT_FALSE(reads("CAAAgAAB", &back)); // a copy of what has not come
    for (int i = 0; i < 20000; i++) {       // anything else is read, or is not, and does no harm
        std::string wrong = text;
        for (int k = 0; k < 3; k++)
            wrong[r() % wrong.size()] = (char) (32 + r() % 96);
        reads(wrong, &back);
    }
}
