/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The udp fabric over loopback, and by IPv6 over a port of a network that is made for it, which
 * takes root. Each test has ports of its own, drawn by the kernel, so that several runs at once do
 * not meet. Skipped where loopback is down.
 */
#ifndef HWMC_TEST_UNIT_UDP_FIXTURE_H_INCLUDED
#define HWMC_TEST_UNIT_UDP_FIXTURE_H_INCLUDED

#include <gtest/gtest.h>

#include <cstring>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "in_network.h"

extern "C" {
#include "base/addr.h"
#include "fabric/udp.h"
}

/* A UDP port that nobody had a moment ago. */
inline uint16_t free_port()
{
    sockaddr_in a = {};
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    a.sin_family = AF_INET;
    bind(fd, reinterpret_cast<sockaddr *>(&a), sizeof(a));
    getsockname(fd, reinterpret_cast<sockaddr *>(&a), &len);
    close(fd);
    return ntohs(a.sin_port);
}

class Udp : public ::testing::TestWithParam<hwmc_family> {
  protected:
    void SetUp() override
    {
        if (is_ipv6() && !network_.works())
            GTEST_SKIP() << "needs a network namespace";
        strcpy(rail.name, is_ipv6() ? "v0" : "lo");
        rail.index = if_nametoindex(rail.name);
        ASSERT_TRUE(hwmc_addr_read(is_ipv6() ? "fd77::1" : "127.0.0.1", &rail.addr));
        rail.prefix = is_ipv6() ? 64 : 8;
        rail.mtu = 65535;
        rail.up = true;
        rail.loopback = !is_ipv6();
        params.port = free_port();
        params.key = 0x0123456789abcdef;
        params.ttl = 1;
        params.groups = HWMC_RANDOM_GROUPS;
        params.loop = true;
        params.window = 1 << 20;
        if (rail.index == 0 || hwmc_udp_open(&rail, &params, &a) != HWMC_OK)
            GTEST_SKIP() << "no loopback device";
        ASSERT_EQ(HWMC_OK, hwmc_udp_open(&rail, &params, &b));
        ASSERT_EQ(HWMC_OK, a->ops->draw(a, &group));
        if (a->ops->join(a, group) != HWMC_OK)
            GTEST_SKIP() << "loopback cannot multicast";
    }

    static bool is_ipv6()
    {
        return GetParam() == HWMC_IPV6;
    }

    void TearDown() override
    {
        if (a)
            a->ops->close(a);
        if (b)
            b->ops->close(b);
    }

    void send(hwmc_fabric *f, uint64_t to, const std::string &head, const std::string &body = "")
    {
        hwmc_out out = {head.data(), head.size(), body.data(), body.size()};

        ASSERT_EQ(1, f->ops->post(f, to, &out, 1));
    }

    /* Loopback delivers before a send returns, so what is not there now never comes. */
    std::vector<std::string> poll(hwmc_fabric *f, int n = 64)
    {
        std::vector<hwmc_in> in(static_cast<size_t>(n));
        std::vector<std::string> came;

        for (;;) {
            int got = f->ops->poll(f, in.data(), n);
            if (got == 0)
                return came;
            for (int i = 0; i < got; i++)
                came.emplace_back(static_cast<const char *>(in[i].data), in[i].len);
        }
    }

    InNetwork network_{is_ipv6()};
    hwmc_rail rail = {};
    hwmc_udp_params params = {};
    hwmc_fabric *a = nullptr, *b = nullptr;
    uint64_t group = 0;
};

using Strings = std::vector<std::string>;

inline std::string name_of(const testing::TestParamInfo<hwmc_family> &info)
{
    return info.param == HWMC_IPV6 ? "IPv6" : "IPv4";
}

#endif // HWMC_TEST_UNIT_UDP_FIXTURE_H_INCLUDED
