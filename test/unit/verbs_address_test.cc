/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Multicast GIDs of groups, and the headers before a payload.
 */
#include <gtest/gtest.h>

#include <set>
#include <string>

#include <rdma/rdma_cma.h>

extern "C" {
#include "base/random.h"
#include "fabric/verbs_address.h"
}

namespace {

std::string hex(const ibv_gid &gid)
{
    std::string s;
    char two[3];

    for (unsigned char c : gid.raw) {
        snprintf(two, sizeof(two), "%02x", c);
        s += two;
    }
    return s;
}

TEST(VerbsAddress, AMulticastGidIsTheJobsKeyAndTheGroup)
{
    ibv_gid gid;

    hwmc_verbs_mgid(0x1122334455667788, 0x99aabbccddeeff01, &gid);
    EXPECT_EQ("ff1211223344556699aabbccddeeff01", hex(gid));
}

TEST(VerbsAddress, SignaturesOfOthersAreAvoided)
{
    ibv_gid gid;

    hwmc_verbs_mgid(0x401b334455667788, 1, &gid);
    EXPECT_EQ("ff12bfe4334455660000000000000001", hex(gid));
    hwmc_verbs_mgid(0x601b334455667788, 1, &gid);
    EXPECT_EQ("ff129fe4334455660000000000000001", hex(gid));
    hwmc_verbs_mgid(0xa01b334455667788, 1, &gid);
    EXPECT_EQ("ff125fe4334455660000000000000001", hex(gid));
}

TEST(VerbsAddress, ReadsAGlobalRouteHeader)
{
    unsigned char grh[HWMC_VERBS_GRH] = {0x60};
    ibv_gid from, to;

    for (int i = 0; i < 32; i++)
        grh[8 + i] = (unsigned char) i;
    ASSERT_TRUE(hwmc_verbs_read_grh(grh, true, &from, &to));
    EXPECT_EQ("000102030405060708090a0b0c0d0e0f", hex(from));
    EXPECT_EQ("101112131415161718191a1b1c1d1e1f", hex(to));
    grh[0] = 0x45;
    EXPECT_FALSE(hwmc_verbs_read_grh(grh, true, &from, &to));
}

TEST(VerbsAddress, ReadsAnIpv4HeaderInItsPlace)
{
    unsigned char grh[HWMC_VERBS_GRH] = {};
    const unsigned char addrs[] = {10, 9, 1, 1, 239, 192, 3, 4};
    ibv_gid from, to;

    grh[20] = 0x45;
    memcpy(grh + 32, addrs, sizeof(addrs));
    ASSERT_TRUE(hwmc_verbs_read_grh(grh, false, &from, &to));
    EXPECT_EQ("00000000000000000000ffff0a090101", hex(from));
    EXPECT_EQ("00000000000000000000ffffefc00304", hex(to));
    grh[20] = 0x46; /* options */
    EXPECT_FALSE(hwmc_verbs_read_grh(grh, false, &from, &to));
    grh[20] = 0;
    EXPECT_FALSE(hwmc_verbs_read_grh(grh, false, &from, &to));
}

TEST(Draw, NumbersForIpv4AreOfTheJobsPortAndScope)
{
    std::set<uint64_t> drawn;
    uint64_t g;

    for (int i = 0; i < 64; i++) {
        ASSERT_EQ(HWMC_OK, hwmc_random_ipv4(50000, HWMC_RANDOM_GROUPS, &g));
        EXPECT_EQ(0xefc00000u, g & 0xfffc0000u);
        EXPECT_TRUE(hwmc_random_is_ipv4(g, 50000));
        EXPECT_FALSE(hwmc_random_is_ipv4(g, 50001));
        drawn.insert(g);
    }
    EXPECT_GT(drawn.size(), 60u);
    ASSERT_EQ(HWMC_OK, hwmc_random_ipv4(50000, {0xefc00001, 0, 5}, &g));
    EXPECT_EQ(UINT64_C(50000) << 32 | 0xefc00001, g);
    EXPECT_FALSE(hwmc_random_is_ipv4(UINT64_C(50000) << 32, 50000)); /* the wildcard is no group */
}

TEST(Draw, FromARangeThatIsNamed)
{
    hwmc_random_groups groups = {};
    uint64_t g;

    ASSERT_TRUE(hwmc_random_groups_read("239.10.20.77/24", &groups));
    for (int i = 0; i < 64; i++) {
        ASSERT_EQ(HWMC_OK, hwmc_random_ipv4(50000, groups, &g));
        EXPECT_EQ(0xef0a1400u, g & 0xffffff00u);
    }
    ASSERT_TRUE(hwmc_random_groups_read("239.192.0.0/14", &groups));
    EXPECT_EQ(0xefc00000u, groups.first);
    EXPECT_EQ(18u, groups.bits);
    ASSERT_TRUE(hwmc_random_groups_read("239.10.20.77/32", &groups));
    ASSERT_EQ(HWMC_OK, hwmc_random_ipv4(50000, groups, &g));
    EXPECT_EQ(0xef0a144du, g & 0xffffffffu);
}

TEST(Draw, FromNoOtherRange)
{
    hwmc_random_groups groups = {};

    for (const char *text : {"", "239.192.0.0", "239.192.0.0/", "239.192.0.0/33", "239.192.0.0/3",
                             "239.192.0/14", "239.192.0.256/14", "223.0.0.0/8", "240.0.0.0/8",
                             "224.0.0.0/24", "224.0.0.128/25", "239.192.0.0/14 ", "eth0"})
        EXPECT_FALSE(hwmc_random_groups_read(text, &groups)) << text;
}

TEST(Draw, BitsDiffer)
{
    std::set<uint64_t> drawn;
    uint64_t bits;

    for (int i = 0; i < 64; i++) {
        ASSERT_EQ(HWMC_OK, hwmc_random(&bits, sizeof(bits)));
        drawn.insert(bits);
    }
    EXPECT_EQ(64u, drawn.size());
}

} // namespace
