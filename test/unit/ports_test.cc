// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// UDP ports that a job may use: where they are drawn from, and whether they are free.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {
#include "base/addr.h"
#include "base/random.h"
#include "fabric/udp.h"
}

namespace {

std::set<unsigned> draw(uint32_t low, uint32_t high)
{
    std::set<unsigned> all;

    for (int i = 0; i < 200; i++) {
        hwmc_random_port_list p = {};

        EXPECT_EQ(HWMC_OK, hwmc_random_ports({low, high}, &p));
        EXPECT_EQ(HWMC_RANDOM_PORTS_MAX, p.num);
        EXPECT_EQ((size_t) HWMC_RANDOM_PORTS_MAX,
                  std::set<uint16_t>(p.port, p.port + p.num).size());
        all.insert(p.port, p.port + p.num);
    }
    return all;
}

} // namespace

TEST(Ports, AreDrawnOutsideOfThoseThatTheKernelGivesAway)
{
    struct {
        uint32_t low, high, from;
    } cases[] = {{32768, 60999, 49152}, {1024, 64000, 49152}, {32768, 65535, 1024},
                 {1024, 65000, 1024},   {1024, 65527, 1024},  {60000, 65535, 49152},
                 {49152, 49152, 49152}, {49153, 65535, 1024}};

    for (auto &c : cases)
        for (unsigned port : draw(c.low, c.high)) {
            EXPECT_TRUE(port < c.low || port > c.high) << port << " " << c.low << " " << c.high;
            EXPECT_GE(port, c.from);
            EXPECT_LE(port, 65535u);
        }
    // All that are left are drawn sooner or later, to the first and the last.
    EXPECT_EQ((std::set<unsigned>{65528, 65529, 65530, 65531, 65532, 65533, 65534, 65535}),
              draw(1024, 65527));
    EXPECT_EQ((std::set<unsigned>{1024, 1025, 1026, 1027, 65532, 65533, 65534, 65535}),
              draw(1028, 65531));
}

TEST(Ports, AreDynamicOnesWhereTheKernelMayGiveAwayAll)
{
    for (unsigned port : draw(1024, 65535))
        EXPECT_GE(port, 49152u);
}

TEST(Ports, RangeOfThisHostIsOne)
{
    hwmc_random_range r = hwmc_random_ephemeral();

    EXPECT_GE(r.low, 1u);
    EXPECT_LE(r.low, r.high);
    EXPECT_LE(r.high, 65535u);
}

class PortsOf : public testing::TestWithParam<hwmc_family> {};

TEST_P(PortsOf, WhatSomebodyHasForItselfIsNotFree)
{
    const hwmc_family other = GetParam() == HWMC_IPV4 ? HWMC_IPV6 : HWMC_IPV4;
    const hwmc_addr any = {static_cast<uint32_t>(GetParam()), {}};
    const int on = 1;
    hwmc_sockaddr a;
    socklen_t len = hwmc_addr_to_socket(&any, 0, 0, &a);
    int fd = socket(a.any.sa_family, SOCK_DGRAM, 0);

    if (fd < 0)
        GTEST_SKIP() << "no such family here";
    if (GetParam() == HWMC_IPV6) {
        ASSERT_EQ(0, setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)));
    }
    ASSERT_EQ(0, bind(fd, &a.any, len));
    ASSERT_EQ(0, getsockname(fd, &a.any, &len));
    const uint16_t port = hwmc_addr_port_of_socket(&a);
    EXPECT_FALSE(hwmc_udp_may_bind(GetParam(), port));
    if (hwmc_udp_may_bind(other, 0)) {
        EXPECT_TRUE(hwmc_udp_may_bind(other, port)); // each has its own
    }
    ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on))); // as fabrics do
    EXPECT_TRUE(hwmc_udp_may_bind(GetParam(), port));
    close(fd);
}
INSTANTIATE_TEST_SUITE_P(Family, PortsOf, testing::Values(HWMC_IPV4, HWMC_IPV6));

TEST(Ports, TravelAsText)
{
    hwmc_random_port_list p = {}, q = {};
    char text[HWMC_RANDOM_PORTS_TEXT_MAX];

    ASSERT_EQ(HWMC_OK, hwmc_random_ports({32768, 60999}, &p));
    hwmc_random_ports_write(&p, text);
    EXPECT_EQ(strlen(text), HWMC_RANDOM_PORTS_TEXT_MAX - 1u);
    ASSERT_TRUE(hwmc_random_ports_read(text, &q));
    EXPECT_EQ(0, memcmp(&p, &q, sizeof(p)));
    EXPECT_TRUE(hwmc_random_ports_parse("50000,50001", &q));
    EXPECT_EQ(2, q.num);
    EXPECT_EQ(50001, q.port[1]);
    for (const char *wrong : {"", ",", "5x", "0", "65536", "1,", "1,2,3,4,5,6,7,8,9"})
        EXPECT_FALSE(hwmc_random_ports_parse(wrong, &q)) << wrong;
}
