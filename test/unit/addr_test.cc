/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#include <gtest/gtest.h>

#include <set>
#include <string>

extern "C" {
#include "base/addr.h"
#include "base/random.h"
}

namespace {

hwmc_addr addr(const std::string &text)
{
    hwmc_addr a = {};

    EXPECT_TRUE(hwmc_addr_read(text.c_str(), &a)) << text;
    return a;
}

std::string text(const hwmc_addr &a)
{
    char t[HWMC_ADDR_TEXT_MAX];

    hwmc_addr_write(&a, t);
    return t;
}

// "" where it cannot be read, else as it is written again.
std::string subnet(const char *from)
{
    hwmc_addr a;
    uint32_t prefix;
    char t[HWMC_ADDR_SUBNET_MAX];

    if (!hwmc_addr_read_subnet(from, &a, &prefix))
        return "";
    hwmc_addr_write_subnet(&a, prefix, t);
    return t;
}

TEST(Addr, IsReadAndWritten)
{
    for (const char *t : {"10.77.0.1", "0.0.0.0", "255.255.255.255", "::", "::1", "fd77:1::2",
                          "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:10.0.0.1"})
        EXPECT_EQ(t, text(addr(t)));
    EXPECT_EQ("fd77::1", text(addr("FD77:0:0:0::0001")));
    EXPECT_EQ("none", text({}));
    EXPECT_EQ(0x0a4d0001u, hwmc_addr_number(&(const hwmc_addr &) addr("10.77.0.1")));
    EXPECT_EQ("10.77.0.1", text(hwmc_addr_ipv4(0x0a4d0001u)));
}

TEST(Addr, WhatIsNoneIsRefused)
{
    hwmc_addr a = addr("10.0.0.1");

    for (const char *t : {"", "10.0.0", "10.0.0.256", "10.0.0.1 ", ":", "fd77", "fd77::1::2",
                          "fd77::1/64", "fe80::1%eth0", "1:2:3:4:5:6:7:8:9", "eth0"})
        EXPECT_FALSE(hwmc_addr_read(t, &a)) << t;
    EXPECT_EQ("10.0.0.1", text(a));
}

TEST(Addr, SubnetsLoseWhatIsBehindThePrefix)
{
    EXPECT_EQ("10.77.0.0/24", subnet("10.77.0.9/24"));
    EXPECT_EQ("10.77.0.8/29", subnet("10.77.0.15/29"));
    EXPECT_EQ("0.0.0.0/0", subnet("10.77.0.9/0"));
    EXPECT_EQ("10.77.0.9/32", subnet("10.77.0.9/32"));
    EXPECT_EQ("fd77:1::/64", subnet("fd77:1::abcd/64"));
    EXPECT_EQ("fd77:1:8000::/33", subnet("fd77:1:ffff::/33"));
    EXPECT_EQ("::/0", subnet("fd77::/0"));
    EXPECT_EQ("fd77::1/128", subnet("fd77::1/128"));
    for (const char *t : {"10.77.0.0", "10.77.0.0/", "10.77.0.0/33", "10.77.0.0/-1", "10.77.0.0/+8",
                          "10.77.0.0/24x", "fd77::/129", "fd77::", "/64", "x/64", "fd77::/6 4"})
        EXPECT_EQ("", subnet(t)) << t;
}

TEST(Addr, IsInASubnetOfItsFamilyAlone)
{
    auto in = [](const char *a, const char *net) {
        const hwmc_addr one = addr(a);
        hwmc_addr s;
        uint32_t prefix;

        EXPECT_TRUE(hwmc_addr_read_subnet(net, &s, &prefix));
        return hwmc_addr_in(&one, &s, prefix);
    };

    EXPECT_TRUE(in("10.77.0.1", "10.77.0.0/24"));
    EXPECT_FALSE(in("10.77.1.1", "10.77.0.0/24"));
    EXPECT_TRUE(in("10.77.1.1", "10.77.0.0/23"));
    EXPECT_TRUE(in("fd77::1", "fd77::/64"));
    EXPECT_FALSE(in("fd77:0:0:1::1", "fd77::/64"));
    EXPECT_TRUE(in("fd77:0:0:1::1", "fd77::/63"));
    EXPECT_TRUE(in("1.2.3.4", "0.0.0.0/0"));
    EXPECT_FALSE(in("1.2.3.4", "::/0"));
    EXPECT_FALSE(in("::1", "0.0.0.0/0"));
}

// They name lanes' addresses and sites: a prefix counts as well, and so does the family.
TEST(Addr, SubnetsHaveNumbersOfTheirOwn)
{
    std::set<uint64_t> ids;
    int num = 0;

    for (const char *a : {"10.77.0.1", "10.77.1.1", "0.0.0.0", "fd77::1", "fd77:0:1::1", "::"})
        for (const uint32_t prefix : {0u, 16u, 24u, 32u}) {
            const hwmc_addr one = addr(a);

            ids.insert(hwmc_addr_subnet_id(&one, prefix));
            num++;
        }
    EXPECT_EQ(0u, ids.count(0));
    // /0 of IPv4 is one subnet, /0 of IPv6 another; 10.77/16, fd77::/16, fd77::/24, fd77::/32 too
    EXPECT_EQ((size_t) num - 2 - 2 - 1 - 3, ids.size());
}

TEST(Addr, KnowsWhatHostsGiveThemselves)
{
    for (const char *t : {"169.254.0.1", "169.254.255.255", "fe80::1", "febf::1"}) {
        const hwmc_addr a = addr(t);
        EXPECT_TRUE(hwmc_addr_is_link_local(&a)) << t;
    }
    for (const char *t : {"169.255.0.1", "10.0.0.1", "fec0::1", "fd77::1", "::1", "ff02::1"}) {
        const hwmc_addr a = addr(t);
        EXPECT_FALSE(hwmc_addr_is_link_local(&a)) << t;
    }
}

TEST(Addr, GoesToSocketsAndBack)
{
    for (const char *t : {"10.77.0.1", "fd77::1", "fe80::1"}) {
        const hwmc_addr a = addr(t);
        hwmc_sockaddr s;

        EXPECT_EQ(a.family == HWMC_IPV6 ? sizeof(s.in6) : sizeof(s.in),
                  hwmc_addr_to_socket(&a, 4711, 5, &s));
        EXPECT_EQ(t, text(hwmc_addr_of_socket(&s.any)));
        EXPECT_EQ(4711, hwmc_addr_port_of_socket(&s));
        if (a.family == HWMC_IPV6) { // only of a link does the interface matter
            EXPECT_EQ(std::string(t) == "fe80::1" ? 5u : 0u, s.in6.sin6_scope_id);
        }
    }
    EXPECT_EQ((uint32_t) HWMC_NO_FAMILY, hwmc_addr_of_socket(nullptr).family);
}

TEST(AddrGroup, HasTheJobsKeyAndTheNumber)
{
    const uint64_t key = 0x0123456789abcdef;

    EXPECT_EQ("ff15:0:123:4567:89ab:cdef:aaa7:89ab", text(hwmc_addr_group(0xefc00000, key, 5)));
    EXPECT_EQ("ff12::e000:1", text(hwmc_addr_group(0xe0000001, 0, 2)));
}

TEST(AddrGroup, GroupsOfAJobDifferAndAreNobodysElse)
{
    const uint64_t keys[] = {0, 1, UINT64_MAX, 0x0123456789abcdef};

    for (const uint64_t key : keys) {
        std::set<std::string> groups, cards;

        for (uint32_t i = 0; i < 1000; i++) {
            const hwmc_addr a = hwmc_addr_group(0xefc00000u + i, key, 5);

            EXPECT_TRUE(hwmc_addr_is_multicast(&a));
            EXPECT_NE(0, a.bytes[12] & 0x80); // RFC 3307: dynamic
            groups.insert(text(a));
            cards.insert(std::string(a.bytes + 12, a.bytes + 16)); // of the Ethernet address
        }
        EXPECT_EQ(1000u, groups.size());
        EXPECT_EQ(1000u, cards.size());
    }
}

TEST(AddrGroup, RangesOfBothFamiliesAreRead)
{
    hwmc_random_groups g;

    ASSERT_TRUE(hwmc_random_groups_read("ff18::/16", &g));
    EXPECT_EQ(8u, g.scope);
    EXPECT_EQ(0xefc00000u, g.first);
    EXPECT_EQ(18u, g.bits);
    ASSERT_TRUE(hwmc_random_groups_read("239.10.20.0/24", &g));
    EXPECT_EQ(5u, g.scope);
    EXPECT_EQ(0xef0a1400u, g.first);
    ASSERT_TRUE(hwmc_random_groups_read("239.10.20.0/24+ff1e::/16", &g));
    EXPECT_EQ(14u, g.scope);
    EXPECT_EQ(8u, g.bits);
    for (const char *t : {"ff05::/16", "ff15::/15", "ff15::/32", "ff11::/16", "ff1f::/16",
                          "fd77::/16", "ff15::/16+", "+ff15::/16", "ff15::/16,239.10.20.0/24"})
        EXPECT_FALSE(hwmc_random_groups_read(t, &g)) << t;
}

} // namespace
