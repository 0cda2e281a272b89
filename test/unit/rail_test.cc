/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "../../src/mpid/ch4/netmod/hwmc/rail/rail.h"
}

namespace {

bcast_hw_rail port(const char *name, uint32_t addr, uint32_t prefix)
{
    bcast_hw_rail r = {};

    strcpy(r.name, name);
    r.addr = addr;
    r.prefix = prefix;
    r.up = true;
    r.loopback = strcmp(name, "lo") == 0;
    return r;
}

const std::vector<bcast_hw_rail> PORTS = {port("lo", 0x7f000001, 8), port("eth0", 0x0a4d0001, 24),
                                          port("eth1", 0x0a4d0101, 24),
                                          port("ib0", 0x0a4e0001, 16)};

using Names = std::vector<std::string>;

Names choose(const char *spec, int max = BCAST_HW_RAILS_MAX)
{
    bcast_hw_rail rails[BCAST_HW_RAILS_MAX];
    char wrong[BCAST_HW_RAIL_NAME_MAX];
    int n = hwmc_rail_select(PORTS.data(), static_cast<int>(PORTS.size()), spec, rails, max, wrong);
    Names names;

    if (n < 0)
        return {"wrong", wrong};
    for (int i = 0; i < n; i++)
        names.push_back(rails[i].name);
    return names;
}

TEST(Rail, TakesNamesInTheOrderGiven)
{
    EXPECT_EQ((Names{"eth1", "eth0"}), choose("eth1,eth0"));
    EXPECT_EQ((Names{"eth1", "eth0"}), choose(" eth1 , eth0,"));
    EXPECT_EQ((Names{"eth1"}), choose("eth1,eth0", 1));
    EXPECT_EQ((Names{"lo"}), choose("lo,lo"));
}

TEST(Rail, ASubnetNamesEveryPortInIt)
{
    EXPECT_EQ((Names{"eth0"}), choose("10.77.0.0/24"));
    EXPECT_EQ((Names{"eth0", "eth1"}), choose("10.77.0.0/16"));
    EXPECT_EQ((Names{"ib0", "eth0", "eth1"}), choose("ib0,10.76.0.0/15"));
    EXPECT_EQ((Names{"eth0"}), choose("10.77.0.1/32"));
    EXPECT_EQ(4u, choose("0.0.0.0/0").size());
}

TEST(Rail, TellsWhichPartIsWrong)
{
    EXPECT_EQ((Names{"wrong", "eth7"}), choose("eth0,eth7,eth1"));
    EXPECT_EQ((Names{"wrong", "10.99.0.0/24"}), choose("10.99.0.0/24"));
    EXPECT_EQ((Names{"wrong", "10.77.0.0/33"}), choose("10.77.0.0/33"));
    EXPECT_EQ((Names{"wrong", "10.77/16"}), choose("10.77/16"));
    EXPECT_EQ((Names{"wrong", std::string(BCAST_HW_RAIL_NAME_MAX - 1, 'x')}),
              choose(std::string(100, 'x').c_str()));
}

TEST(Rail, WithoutSpecThereIsADefault)
{
    Names names = choose("");

    ASSERT_EQ(1u, names.size());
    EXPECT_EQ(names, choose(" , "));
}

TEST(Rail, DiscoveryFindsWhatIsUp)
{
    bcast_hw_rail rails[HWMC_RAIL_PORTS_MAX];
    int n = hwmc_rail_discover(rails, HWMC_RAIL_PORTS_MAX);

    ASSERT_GE(n, 0);
    for (int i = 0; i < n; i++) {
        EXPECT_NE(0u, rails[i].index) << rails[i].name;
        EXPECT_NE(0u, rails[i].addr) << rails[i].name;
        EXPECT_NE(0u, rails[i].mtu) << rails[i].name;
        EXPECT_LE(rails[i].prefix, 32u) << rails[i].name;
        EXPECT_LT(i > 0 ? rails[i - 1].index : 0, rails[i].index);
    }
    EXPECT_LE(hwmc_rail_discover(rails, 1), 1);
}

TEST(Rail, DistanceOfNoNodeIsUnknown)
{
    EXPECT_EQ(-1, hwmc_rail_distance(-1));
    EXPECT_EQ(-1, hwmc_rail_distance(100000));
}

} // namespace
