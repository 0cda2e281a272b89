/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The udp fabric over a port whose MTU becomes smaller than a datagram, in a network that is made
 * for it, which takes root.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <net/if.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "in_network.h"

extern "C" {
#include "base/addr.h"
#include "fabric/udp.h"
}

namespace {

const int MTU = 9000, SMALLER = 1400;

void set_mtu(const char *port, int mtu)
{
    ifreq request = {};
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);

    strcpy(request.ifr_name, port);
    request.ifr_mtu = mtu;
    EXPECT_EQ(0, ioctl(fd, SIOCSIFMTU, &request)) << strerror(errno);
    close(fd);
}

/* The kernel then refuses messages of several datagrams, and cuts each one itself. */
TEST(UdpMtu, ThatBecomesSmallerLosesNothing)
{
    InNetwork network(true);
    const std::string text(MTU - 100, 'x');
    const hwmc_out out[4] = {{text.data(), 40, text.data() + 40, text.size() - 40},
                             {text.data(), 40, text.data() + 40, text.size() - 40},
                             {text.data(), 40, text.data() + 40, text.size() - 40},
                             {text.data(), 40, nullptr, 0}};
    hwmc_rail rail = {};
    hwmc_udp_params params = {};
    hwmc_fabric *f = nullptr;
    uint64_t group = 0;

    if (!network.works())
        GTEST_SKIP() << "needs a network namespace";
    set_mtu("v0", MTU);
    strcpy(rail.name, "v0");
    rail.index = if_nametoindex(rail.name);
    ASSERT_TRUE(hwmc_addr_read("fd77::1", &rail.addr));
    rail.prefix = 64;
    rail.mtu = MTU;
    rail.up = true;
    params.port = 40404; /* nobody else is in that network */
    params.key = 7;
    params.ttl = 1;
    params.groups = HWMC_RANDOM_GROUPS;
    params.loop = true;
    params.window = 1 << 20;
    ASSERT_EQ(HWMC_OK, hwmc_udp_open(&rail, &params, &f));
    ASSERT_EQ(HWMC_OK, f->ops->draw(f, &group));
    ASSERT_EQ(HWMC_OK, f->ops->join(f, group));
    for (int mtu : {MTU, SMALLER}) {
        hwmc_in in[8];
        size_t bytes = 0;
        int got, came = 0;

        set_mtu("v0", mtu);
        ASSERT_EQ(4, f->ops->post(f, group, out, 4)) << mtu;
        while ((got = f->ops->poll(f, in, 8)) > 0) {
            for (int i = 0; i < got; i++)
                bytes += in[i].len;
            came += got;
        }
        EXPECT_EQ(4, came) << mtu;
        EXPECT_EQ(3 * text.size() + 40, bytes) << mtu;
    }
    f->ops->close(f);
    set_mtu("v0", 65535);
}

} // namespace
