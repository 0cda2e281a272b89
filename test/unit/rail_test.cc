/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
#include "in_network.h"
#include "rail/match.h"
}

namespace {

hwmc_rail port(const char *name, uint32_t addr, uint32_t prefix)
{
    hwmc_rail r = {};

    strcpy(r.name, name);
    r.addr = hwmc_addr_ipv4(addr);
    r.prefix = prefix;
    r.up = true;
    r.loopback = strcmp(name, "lo") == 0;
    return r;
}

const std::vector<hwmc_rail> PORTS = {port("lo", 0x7f000001, 8), port("eth0", 0x0a4d0001, 24),
                                      port("eth1", 0x0a4d0101, 24), port("ib0", 0x0a4e0001, 16)};

using Names = std::vector<std::string>;

Names choose(const char *spec, int max = HWMC_RAILS_MAX)
{
    hwmc_rail rails[HWMC_RAILS_MAX];
    char wrong[HWMC_RAIL_NAME_MAX];
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
    EXPECT_EQ((Names{"wrong", std::string(HWMC_RAIL_NAME_MAX - 1, 'x')}),
              choose(std::string(100, 'x').c_str()));
}

TEST(Rail, WithoutSpecThereIsADefault)
{
    Names names = choose("");

    EXPECT_EQ(3u, names.size()); // the first is that of this machine's route
    for (const char *name : {"eth0", "eth1", "ib0"})
        EXPECT_EQ(1, std::count(names.begin(), names.end(), name)) << name;
    EXPECT_EQ(names, choose(" , "));
    EXPECT_EQ(1u, choose("", 1).size());
}

TEST(Rail, SpansTheNetworkThatNamesIt)
{
    auto prefixes = [](const char *spec) {
        auto rails = PORTS;
        std::vector<uint32_t> found;

        hwmc_rail_span(rails.data(), static_cast<int>(rails.size()), spec);
        for (const hwmc_rail &r : rails)
            found.push_back(r.prefix);
        return found;
    };

    EXPECT_EQ((std::vector<uint32_t>{8, 16, 16, 16}), prefixes("10.77.0.0/16"));
    EXPECT_EQ((std::vector<uint32_t>{8, 20, 20, 16}),
              prefixes("eth0, 10.77.1.0/20 , 10.78.0.0/17"));
    EXPECT_EQ((std::vector<uint32_t>{8, 24, 24, 16}), prefixes("eth0,eth1"));
    EXPECT_EQ((std::vector<uint32_t>{8, 24, 24, 16}), prefixes(""));
}

TEST(Rail, WithoutAnyNetworkLoopbackIsTheDefault)
{
    hwmc_rail rail;
    char wrong[HWMC_RAIL_NAME_MAX];

    ASSERT_EQ(1, hwmc_rail_select(PORTS.data(), 1, "", &rail, 1, wrong));
    EXPECT_STREQ("lo", rail.name);
    EXPECT_EQ(nullptr, hwmc_rail_left_out(PORTS.data(), 1, 0));
}

// DHCPv6 gives an address that is a subnet of its own, and a router's word one of the subnet that
// hosts share: in whatever order they came, the latter is the rail's.
TEST(Rail, AnAddressThatIsASubnetOfItsOwnServesLast)
{
    const InNetwork network(true);
    std::vector<hwmc_rail> rails(HWMC_RAIL_PORTS_MAX);
    int found = 0;

    if (!network.works())
        GTEST_SKIP() << "needs a network namespace";
    rails.resize((size_t) hwmc_rail_discover(rails.data(), HWMC_RAIL_PORTS_MAX));
    for (auto &r : rails) {
        const std::string name = r.name;
        hwmc_addr wanted;

        if (name != "v2" && name != "v3")
            continue;
        ASSERT_TRUE(hwmc_addr_read(name == "v2" ? "fd78::1" : "fd78::2", &wanted));
        found += hwmc_addr_equal(r.addr.family == HWMC_IPV6 ? &r.addr : &r.other, &wanted);
    }
    EXPECT_EQ(2, found);
}

TEST(Rail, DiscoveryFindsWhatIsUp)
{
    hwmc_rail rails[HWMC_RAIL_PORTS_MAX];
    int n = hwmc_rail_discover(rails, HWMC_RAIL_PORTS_MAX);

    ASSERT_GE(n, 0);
    for (int i = 0; i < n; i++) {
        EXPECT_NE(0u, rails[i].index) << rails[i].name;
        EXPECT_NE(0u, rails[i].addr.family) << rails[i].name;
        EXPECT_NE(0u, rails[i].mtu) << rails[i].name;
        EXPECT_LE(rails[i].prefix, hwmc_addr_bits(&rails[i].addr)) << rails[i].name;
        EXPECT_LT(i > 0 ? rails[i - 1].index : 0, rails[i].index);
    }
    EXPECT_LE(hwmc_rail_discover(rails, 1), 1);
}

// A package with one core, NUMA node `n`, and a network port.
std::string package(int n, const char *port)
{
    const std::string i = std::to_string(n), mask = n == 0 ? "0x1" : "0x2";
    const std::string sets = " os_index=\"" + i + "\" cpuset=\"" + mask + "\" complete_cpuset=\"" +
                             mask + "\" nodeset=\"" + mask + "\" complete_nodeset=\"" + mask + "\"";
    auto id = [&](int k) { return " gp_index=\"" + std::to_string(10 * n + k) + "\""; };

    return "<object type=\"Package\"" + sets + id(2) + "><object type=\"NUMANode\"" + sets + id(3) +
           " local_memory=\"1048576\"/><object type=\"PU\"" + sets + id(4) +
           "/><object type=\"Bridge\"" + id(5) +
           " bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"000" + i +
           ":[00-00]\"><object type=\"PCIDev\"" + id(6) + " pci_busid=\"000" + i +
           ":00:01.0\" pci_type=\"0200 [1af4:1000] 00\"><object type=\"OSDev\"" + id(7) +
           " name=\"" + port + "\" osdev_type=\"2\"/></object></object></object>";
}

// A host of two NUMA nodes: eth8 hangs off node 0, eth9 off node 1.
std::string two_nodes()
{
    return R"(<?xml version="1.0"?>
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3"
          nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
)" + package(0, "eth8") +
           package(1, "eth9") + R"(
  </object>
  <distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
    <indexes length="4">0 1 </indexes>
    <u64values length="12">10 21 21 10 </u64values>
  </distances2>
</topology>
)";
}

// libpciaccess, which hwloc loads and unloads, leaves memory to the next who loads it: kept loaded,
// that is no leak.
class RailPlace : public testing::Test {
  protected:
    void SetUp() override
    {
        dlopen("libpciaccess.so.0", RTLD_NOW | RTLD_NODELETE);
    }
};

TEST_F(RailPlace, IsTheTopologys)
{
    const std::string file = OUT "/two_nodes.xml";
    hwmc_rail rails[3] = {};
    cpu_set_t before, first;

    std::ofstream(file) << two_nodes();
    strcpy(rails[0].name, "eth9");
    strcpy(rails[1].name, "lo");
    strcpy(rails[2].name, "eth8");
    ASSERT_EQ(0, sched_getaffinity(0, sizeof before, &before));
    if (!CPU_ISSET(0, &before))
        GTEST_SKIP() << "may not run on core 0";
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    ASSERT_EQ(0, sched_setaffinity(0, sizeof first, &first));
    setenv("HWLOC_XMLFILE", file.c_str(), 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    EXPECT_EQ(2, hwmc_rail_locate(rails, 3));
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_THISSYSTEM");
    sched_setaffinity(0, sizeof before, &before);

    EXPECT_EQ(1, rails[0].numa);
    EXPECT_EQ(21, rails[0].distance);
    EXPECT_EQ(-1, rails[1].numa);
    EXPECT_EQ(-1, rails[1].distance);
    EXPECT_EQ(0, rails[2].numa);
    EXPECT_EQ(10, rails[2].distance);
}

TEST_F(RailPlace, OfLoopbackIsUnknown)
{
    hwmc_rail lo = {};

    strcpy(lo.name, "lo");
    EXPECT_EQ(0, hwmc_rail_locate(&lo, 1));
    EXPECT_EQ(-1, lo.numa);
    EXPECT_EQ(-1, lo.distance);
}

hwmc_rail port(uint32_t addr, uint32_t prefix)
{
    hwmc_rail r = {};

    r.addr = hwmc_addr_ipv4(addr);
    r.prefix = prefix;
    r.up = true;
    return r;
}

// A port with an IPv6 address, and with both: "fd77::7/64".
hwmc_rail port6(const char *subnet)
{
    const std::string text = subnet;
    const size_t slash = text.find('/');
    hwmc_rail r = {};

    EXPECT_TRUE(hwmc_addr_read(text.substr(0, slash).c_str(), &r.addr)) << subnet;
    r.prefix = static_cast<uint32_t>(std::stoul(text.substr(slash + 1)));
    r.up = true;
    return r;
}

hwmc_rail port46(const char *name, uint32_t addr, const char *other)
{
    const hwmc_rail six = port6(other);
    hwmc_rail r = port(addr, 24);

    strcpy(r.name, name);
    r.other = six.addr;
    r.other_prefix = six.prefix;
    return r;
}

std::vector<int> match(const char *text, const std::vector<hwmc_rail> &mine)
{
    int at[HWMC_RAILS_MAX], n = hwmc_match_read(text, mine.data(), (int) mine.size(), at);

    return n < 0 ? std::vector<int>{n} : std::vector<int>(at, at + n);
}

TEST(RailMatch, WritesSubnetsInOrder)
{
    hwmc_rail rails[] = {port(0x0a4d0103, 24), port(0x0a4d0003, 24), port(0xc0a81234, 20)};
    char text[HWMC_MATCH_TEXT_MAX];

    hwmc_match_write(rails, 3, text);
    EXPECT_STREQ("10.77.1.0/24,10.77.0.0/24,192.168.16.0/20", text);
    hwmc_match_write(rails, 0, text);
    EXPECT_STREQ("", text);
}

TEST(RailMatch, TheLongestTextFits)
{
    std::vector<hwmc_rail> rails(HWMC_RAILS_MAX,
                                 port6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"));
    char text[HWMC_MATCH_TEXT_MAX + 1];

    text[HWMC_MATCH_TEXT_MAX] = 'x';
    hwmc_match_write(rails.data(), HWMC_RAILS_MAX, text);
    EXPECT_EQ('x', text[HWMC_MATCH_TEXT_MAX]);
    EXPECT_EQ((size_t) HWMC_RAILS_MAX, match(text, rails).size());
    EXPECT_EQ(7, match(text, rails)[7]);
}

TEST(RailMatch, FindsThePortInEachSubnet)
{
    std::vector<hwmc_rail> mine = {port(0x0a4d0007, 24), port(0x0a4d0107, 24)};

    EXPECT_EQ((std::vector<int>{1, 0}), match("10.77.1.0/24,10.77.0.0/24", mine));
    EXPECT_EQ((std::vector<int>{-1, 0}), match("10.78.0.0/24,10.77.0.0/24", mine));
    EXPECT_EQ((std::vector<int>{-1}), match("10.77.0.0/23", mine)); // another subnet
    EXPECT_EQ((std::vector<int>{}), match("", mine));
}

TEST(RailMatch, PortsInOneSubnetAreTakenInOrder)
{
    std::vector<hwmc_rail> mine = {port(0x0a4d0007, 24), port(0x0a4d0008, 24)};

    EXPECT_EQ((std::vector<int>{0, 1, -1}), match("10.77.0.0/24,10.77.0.0/24,10.77.0.0/24", mine));
}

std::vector<int> elsewhere(std::vector<int> at, const std::vector<hwmc_rail> &mine)
{
    const std::vector<int> before = at;

    const bool any =
        hwmc_match_elsewhere(mine.data(), (int) mine.size(), at.data(), (int) at.size());

    EXPECT_EQ(any, at != before);
    return at;
}

TEST(RailMatch, OtherSubnetsHaveTheRailsAmongThemselves)
{
    std::vector<hwmc_rail> two = {port(0x0a4d1007, 24), port(0x0a4d1107, 24)};

    EXPECT_EQ((std::vector<int>{0, 1}), elsewhere({-1, -1}, two));
    EXPECT_EQ((std::vector<int>{0}), elsewhere({-1}, two));
    EXPECT_EQ((std::vector<int>{0, 1, -1}), elsewhere({-1, -1, -1}, two));
    EXPECT_EQ((std::vector<int>{1, 0}), elsewhere({1, -1}, two)); // one rail is not routed
    EXPECT_EQ((std::vector<int>{1, 0}), elsewhere({1, 0}, two));
    EXPECT_EQ((std::vector<int>{}), elsewhere({}, two));
}

TEST(RailMatch, ASecondPortInASubnetIsNoOtherRail)
{
    std::vector<hwmc_rail> mine = {port(0x0a4d0007, 24), port(0x0a4d0008, 24),
                                   port(0x0a4d1007, 24)};

    EXPECT_EQ((std::vector<int>{0, 2, -1}), elsewhere({0, -1, -1}, mine));
}

TEST(RailMatch, RefusesWhatIsNone)
{
    std::vector<hwmc_rail> mine = {port(0x0a4d0007, 24)};

    for (const char *text :
         {"10.77.0.0", "10.77.0/24", "10.77.0.256/24", "10.77.0.0/33", "x", "fd77::/129",
          "fd77:/64", "10.77.0.0/24;10.77.0.0/24", "10.77.0.0/24 ", "fd77::%eth0/64", "fd77::/ 64",
          "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"})
        EXPECT_EQ(std::vector<int>{HWMC_ERR_INVAL}, match(text, mine)) << text;
}

TEST(Rail, DefaultLeavesOutWhatCarriesNothing)
{
    std::vector<hwmc_rail> ports(6, port(0x0a000001, 8));

    ports[0].loopback = true;
    ports[1].mbit = 100000;
    ports[2].mbit = 25000;
    ports[3].mbit = 24999;
    ports[4].up = false;
    ports[5].bridge = true;
    auto why = [&](int i) { return hwmc_rail_left_out(ports.data(), (int) ports.size(), i); };
    EXPECT_STREQ("loopback", why(0));
    EXPECT_EQ(nullptr, why(1));
    EXPECT_EQ(nullptr, why(2));
    EXPECT_STREQ("slower than a quarter of the fastest", why(3));
    EXPECT_STREQ("the port is down", why(4));
    EXPECT_STREQ("a bridge inside this host", why(5));
    EXPECT_EQ(100000u, hwmc_rail_fastest(ports.data(), (int) ports.size()));
    EXPECT_EQ(0u, hwmc_rail_fastest(ports.data(), 1)); // loopback
    ports[3].mbit = 0;                                 // does not tell
    EXPECT_EQ(nullptr, why(3));
}

// A port to the host's own management has such an address; two hosts with a cable between them may
// have no others.
TEST(Rail, LinkLocalAddressesAreForWantOfOthers)
{
    std::vector<hwmc_rail> ports = {port(0xa9fe0001, 16), port(0x0a000001, 8),
                                    port(0xa9ff0001, 16)};
    auto why = [&](int num, int i) { return hwmc_rail_left_out(ports.data(), num, i); };

    EXPECT_STREQ("a link-local address, where another port has one of its own", why(3, 0));
    EXPECT_EQ(nullptr, why(3, 1));
    EXPECT_EQ(nullptr, why(3, 2)); // 169.255.0.1
    EXPECT_EQ(nullptr, why(1, 0));
    ports[1].up = false;
    EXPECT_EQ(nullptr, why(2, 0));
}

// Every port has an IPv6 address of the link, also a fast one that nobody has given another.
TEST(Rail, APortWithoutAnAddressOfItsOwnMakesNoOtherSlow)
{
    std::vector<hwmc_rail> ports = {port(0x0a000001, 8), port6("fe80::1/64")};
    auto why = [&](int num, int i) { return hwmc_rail_left_out(ports.data(), num, i); };

    ports[0].mbit = 10000;
    ports[1].mbit = 100000;
    EXPECT_EQ(nullptr, why(2, 0));
    EXPECT_STREQ("a link-local address, where another port has one of its own", why(2, 1));
    ports[0].up = false;
    EXPECT_EQ(nullptr, why(2, 1));
}

TEST(RailMatch, SubnetsOfBothFamilies)
{
    std::vector<hwmc_rail> mine = {port6("fd77:1::7/64"), port(0x0a4d0007, 24),
                                   port6("fd77:2::7/64")};
    char text[HWMC_MATCH_TEXT_MAX];

    hwmc_match_write(mine.data(), 3, text);
    EXPECT_STREQ("fd77:1::/64,10.77.0.0/24,fd77:2::/64", text);
    EXPECT_EQ((std::vector<int>{2, 1, 0}), match("fd77:2::/64,10.77.0.0/24,fd77:1:0::/64", mine));
    EXPECT_EQ((std::vector<int>{-1}), match("fd77:1::/48", mine)); // another subnet
    EXPECT_EQ((std::vector<int>{-1}), match("fd77:3::/64", mine));
    EXPECT_EQ((std::vector<int>{0, 1, -1}), elsewhere({-1, 1, -1}, {mine[0], mine[1]}));
}

// The link's subnet is one for all ports: their order tells them apart.
TEST(RailMatch, PortsOfLinksAreTakenInOrder)
{
    std::vector<hwmc_rail> mine = {port6("fe80::7/64"), port6("fe80::8/64")};

    EXPECT_EQ((std::vector<int>{0, 1, -1}), match("fe80::/64,fe80::/64,fe80::/64", mine));
}

TEST(Rail, APortWithBothGoesByTheFamilyThatIsAskedFor)
{
    hwmc_rail r = port46("eth0", 0x0a4d0007, "fd77::7/64");

    hwmc_rail_turn(&r, HWMC_IPV4);
    EXPECT_EQ((uint32_t) HWMC_IPV4, r.addr.family);
    hwmc_rail_turn(&r, HWMC_IPV6);
    EXPECT_EQ((uint32_t) HWMC_IPV6, r.addr.family);
    EXPECT_EQ(64u, r.prefix);
    EXPECT_EQ((uint32_t) HWMC_IPV4, r.other.family);
    hwmc_rail_turn(&r, HWMC_IPV6);
    EXPECT_EQ((uint32_t) HWMC_IPV6, r.addr.family);
    r = port(0x0a4d0007, 24);
    hwmc_rail_turn(&r, HWMC_IPV6); // it has none
    EXPECT_EQ((uint32_t) HWMC_IPV4, r.addr.family);
}

TEST(Rail, ASubnetSaysByWhichAddressAPortGoes)
{
    const std::vector<hwmc_rail> ports = {port46("eth0", 0x0a4d0007, "fd77::7/64"),
                                          port46("eth1", 0x0a4d0107, "fd77:1::7/64")};
    hwmc_rail rails[2];
    char wrong[HWMC_RAIL_NAME_MAX];

    ASSERT_EQ(2, hwmc_rail_select(ports.data(), 2, "fd77:1::/64,10.77.0.0/24", rails, 2, wrong));
    EXPECT_STREQ("eth1", rails[0].name);
    EXPECT_EQ((uint32_t) HWMC_IPV6, rails[0].addr.family);
    EXPECT_EQ((uint32_t) HWMC_NO_FAMILY, rails[0].other.family); // no other is to be chosen
    EXPECT_EQ((uint32_t) HWMC_IPV4, rails[1].addr.family);
    ASSERT_EQ(1, hwmc_rail_select(ports.data(), 2, "eth1", rails, 2, wrong));
    EXPECT_EQ((uint32_t) HWMC_IPV6, rails[0].other.family);
    EXPECT_EQ(HWMC_ERR_INVAL,
              hwmc_rail_select(ports.data(), 2, "fd77:2:3:4:5:6:7:8/128", rails, 2, wrong));
    EXPECT_STREQ("fd77:2:3:4:5:6:7:8/128", wrong);
}

} // namespace
