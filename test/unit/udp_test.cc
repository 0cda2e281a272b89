/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The udp fabric: groups and sockets, batches, windows, other rails and other senders.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <dirent.h>
#include <fstream>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <set>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "udp_fixture.h"

namespace {

const uint32_t LO = 0x7f000001;

// Somebody who knows the port sends to a host alone, between datagrams that are multicast.
TEST_P(Udp, WhatWasSentToThisHostAloneIsDroppedAndCounted)
{
    hwmc_sockaddr to;
    int fd = socket(hwmc_addr_af(&rail.addr), SOCK_DGRAM, 0);
    socklen_t len;
    uint64_t dropped = 0;
    hwmc_udp_params counted = params;
    hwmc_fabric *c;
    uint64_t g;

    counted.port = free_port();
    counted.unicast = &dropped;
    ASSERT_EQ(HWMC_OK, hwmc_udp_open(&rail, &counted, &c));
    ASSERT_EQ(HWMC_OK, c->ops->draw(c, &g));
    ASSERT_EQ(HWMC_OK, c->ops->join(c, g));
    len = hwmc_addr_to_socket(&rail.addr, counted.port, 0, &to);
    for (int i = 0; i < 200; i++) {
        if (i % 3 > 0)
            ASSERT_EQ(5, sendto(fd, "alone", 5, 0, &to.any, len));
        else
            send(c, g, "all" + std::to_string(i));
    }
    Strings came = poll(c, 7), expected;
    for (int i = 0; i < 200; i += 3)
        expected.push_back("all" + std::to_string(i));
    EXPECT_EQ(expected, came);
    EXPECT_EQ(133u, dropped);
    close(fd);
    c->ops->close(c);
}

TEST_P(Udp, DrawsAdministrativelyScopedGroupsOfItsPort)
{
    std::set<uint64_t> drawn;

    for (int i = 0; i < 64; i++) {
        uint64_t g;
        ASSERT_EQ(HWMC_OK, a->ops->draw(a, &g));
        EXPECT_EQ(params.port, g >> 32);
        EXPECT_EQ(0xefc00000u, g & 0xfffc0000u);
        drawn.insert(g);
    }
    EXPECT_GT(drawn.size(), 60u);
}

TEST_P(Udp, CarriesHeadAndBodyAsOneToMembersOnly)
{
    uint64_t other = group ^ 1;

    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    send(a, group, "head", "body");
    send(a, group, "alone");
    send(a, other, "nobody");
    EXPECT_EQ((Strings{"headbody", "alone"}), poll(b));
}

TEST_P(Udp, ASocketHearsOnlyWhatItsFabricJoined)
{
    uint64_t other = group ^ 1;

    ASSERT_EQ(HWMC_OK, b->ops->join(b, other));
    send(a, group, "to group");
    send(a, other, "to other");
    EXPECT_EQ(Strings{"to group"}, poll(a));
    EXPECT_EQ(Strings{"to other"}, poll(b));
}

TEST_P(Udp, JoinsAreCounted)
{
    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    ASSERT_EQ(HWMC_OK, b->ops->leave(b, group));
    send(a, group, "still in");
    EXPECT_EQ(Strings{"still in"}, poll(b));
    ASSERT_EQ(HWMC_OK, b->ops->leave(b, group));
    send(a, group, "out");
    EXPECT_EQ(Strings{}, poll(b));
    EXPECT_EQ(HWMC_ERR_GROUP, b->ops->leave(b, group));
}

// Told anew, and in the group as before.
TEST_P(Udp, WhatIsToldAgainStaysJoined)
{
    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    for (int i = 0; i < 3; i++)
        b->ops->refresh(b, group);
    b->ops->refresh(b, 1); // no group of this fabric
    send(a, group, "still in");
    EXPECT_EQ(Strings{"still in"}, poll(b));
    ASSERT_EQ(HWMC_OK, b->ops->leave(b, group));
    ASSERT_EQ(HWMC_OK, b->ops->leave(b, group));
    b->ops->refresh(b, group);
    send(a, group, "out");
    EXPECT_EQ(Strings{}, poll(b));
}

TEST_P(Udp, RefusesGroupsThatAreNotItsOwn)
{
    hwmc_out out = {"x", 1, nullptr, 0};

    EXPECT_EQ(HWMC_ERR_GROUP, b->ops->join(b, group + (UINT64_C(1) << 32)));
    EXPECT_EQ(HWMC_ERR_GROUP, b->ops->join(b, (group & ~UINT64_C(0xffffffff)) | LO));
    EXPECT_EQ(HWMC_ERR_GROUP, b->ops->post(b, LO, &out, 1));
}

/* The kernel allows a socket 20 groups; of IPv6 as many as its option memory has room for, at least
 * 40 bytes each. */
int many_groups(bool ipv6)
{
    std::ifstream file("/proc/sys/net/core/optmem_max");
    int bytes = 0;

    return ipv6 && file >> bytes ? bytes / 40 + 100 : 100;
}

TEST_P(Udp, TakesManyGroupsOnFurtherSockets)
{
    const int num = many_groups(is_ipv6());
    int fds[16];

    for (int i = 0; i < num; i++)
        ASSERT_EQ(HWMC_OK, b->ops->join(b, group ^ static_cast<uint64_t>(i + 1))) << i;
    EXPECT_GT(b->ops->fds(b, fds, 16), 1);
    Strings came;
    for (int i = 0; i < num; i++) {
        send(a, group ^ static_cast<uint64_t>(i + 1), std::to_string(i));
        if (i % 100 == 99)
            for (const std::string &one : poll(b, 7))
                came.push_back(one);
    }
    for (const std::string &one : poll(b, 7))
        came.push_back(one);
    EXPECT_EQ(static_cast<size_t>(num), std::set<std::string>(came.begin(), came.end()).size());
    EXPECT_EQ(static_cast<size_t>(num), came.size());
    for (int i = 0; i < num; i++)
        ASSERT_EQ(HWMC_OK, b->ops->leave(b, group ^ static_cast<uint64_t>(i + 1))) << i;
}

int descriptors()
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* Of this thread's network alone. */
bool allow_no_joins()
{
    if (unshare(CLONE_NEWNET) != 0)
        return false;
    std::ofstream file("/proc/sys/net/ipv4/igmp_max_memberships");
    file << 0 << std::endl;
    return file.good();
}

class UdpJoins : public Udp {};

TEST_P(UdpJoins, WhereNoSocketMayJoinNoneIsLeftOpen)
{
    bool possible = false;
    int err = HWMC_OK, before = 0, after = 0;

    std::thread([&] {
        hwmc_fabric *f = nullptr;

        possible = allow_no_joins() && hwmc_udp_open(&rail, &params, &f) == HWMC_OK;
        if (!possible)
            return;
        before = descriptors();
        err = f->ops->join(f, group);
        after = descriptors();
        f->ops->close(f);
    }).join();
    if (!possible)
        GTEST_SKIP() << "needs a network namespace";
    EXPECT_EQ(HWMC_ERR_LIMIT, err);
    EXPECT_EQ(before, after);
}

TEST_P(Udp, PostsBatchesOfAnySize)
{
    const int num = 150;
    std::vector<std::string> text;
    std::vector<hwmc_out> out;

    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    for (int i = 0; i < num; i++)
        text.push_back(std::to_string(i));
    for (int i = 0; i < num; i++)
        out.push_back({text[i].data(), text[i].size(), nullptr, 0});
    ASSERT_EQ(num, a->ops->post(a, group, out.data(), num));
    EXPECT_EQ(text, poll(b));
}

TEST_P(Udp, HoldsTheWindowThatItTells)
{
    hwmc_fabric_attr attr;

    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    b->ops->query(b, &attr);
    ASSERT_GT(attr.max_datagram, 1000u);
    ASSERT_GE(attr.window, attr.max_datagram);
    std::string body(attr.max_datagram, 'x');
    /* Twice: the second time the reader has lagged before. */
    for (int round = 0; round < 2; round++) {
        size_t num = attr.window / attr.max_datagram;
        for (size_t i = 0; i < num; i++)
            send(a, group, "", body);
        Strings came = poll(b);
        ASSERT_EQ(num, came.size());
        EXPECT_EQ(body, came.back());
    }
}

TEST_P(Udp, DropsWhatIsLongerThanADatagramCanBe)
{
    hwmc_fabric_attr attr;

    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    b->ops->query(b, &attr);
    send(a, group, "before");
    send(a, group, std::string(attr.max_datagram + 1, 'x'));
    send(a, group, "after");
    EXPECT_EQ((Strings{"before", "after"}), poll(b));
}

/* What one message carried is handed over as if it had come one by one, also a few at a time. */
TEST_P(Udp, HandsOverAFewAtATime)
{
    std::vector<std::string> text;
    std::vector<hwmc_out> out;
    Strings came;
    hwmc_in in[7];
    int got;

    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    for (int i = 0; i < 40; i++)
        text.push_back(std::string(i == 39 ? 300 : 1000, static_cast<char>('A' + i)));
    for (const std::string &t : text)
        out.push_back({t.data(), 64, t.data() + 64, t.size() - 64});
    ASSERT_EQ(40, a->ops->post(a, group, out.data(), 40));
    while ((got = b->ops->poll(b, in, 7)) > 0) {
        for (int i = 0; i < got; i++)
            came.emplace_back(static_cast<const char *>(in[i].data), in[i].len);
        EXPECT_EQ(came.size() < 40 ? 0 : UINT64_MAX, b->ops->deadline(b));
    }
    EXPECT_EQ(text, came);
}

/* A socket without checksums is one for which the kernel refuses messages of several datagrams. */
TEST_P(Udp, PostsOneByOneWhereTheKernelWantsThat)
{
    const int on = 1;
    std::string text(500, 'x');
    hwmc_out out[3] = {{text.data(), 500, nullptr, 0},
                       {text.data(), 500, nullptr, 0},
                       {text.data(), 400, nullptr, 0}};
    int fd;

    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    ASSERT_EQ(1, a->ops->fds(a, &fd, 1));
    ASSERT_EQ(0, setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof(on)));
    for (int round = 0; round < 2; round++) {
        ASSERT_EQ(3, a->ops->post(a, group, out, 3));
        EXPECT_EQ((Strings{text, text, text.substr(100)}), poll(b));
    }
}

TEST_P(Udp, ItsDescriptorTellsOfDatagrams)
{
    pollfd p = {-1, POLLIN, 0};

    ASSERT_EQ(HWMC_OK, b->ops->join(b, group));
    ASSERT_EQ(1, b->ops->fds(b, &p.fd, 1));
    EXPECT_EQ(0, ::poll(&p, 1, 0));
    send(a, group, "x");
    EXPECT_EQ(1, ::poll(&p, 1, 0));
    poll(b);
    EXPECT_EQ(0, ::poll(&p, 1, 0));
    EXPECT_EQ(UINT64_MAX, b->ops->deadline(b));
}

TEST_P(Udp, TestsCanFixTheGroup)
{
    hwmc_fabric *c = nullptr;
    uint64_t g = 0;

    params.groups = {0xefc00102, 0, 5};
    ASSERT_EQ(HWMC_OK, hwmc_udp_open(&rail, &params, &c));
    EXPECT_EQ(HWMC_OK, c->ops->draw(c, &g));
    EXPECT_EQ(static_cast<uint64_t>(params.port) << 32 | 0xefc00102, g);
    c->ops->close(c);
}

TEST_P(Udp, RefusesARailThatCannotBe)
{
    hwmc_fabric *c = nullptr;

    rail.up = false;
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_udp_open(&rail, &params, &c));
    rail.up = true;
    rail.mtu = 68;
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_udp_open(&rail, &params, &c));
    rail.mtu = 1500;
    rail.index = 0x7ffffff0;
    EXPECT_EQ(HWMC_ERR_DEVICE, hwmc_udp_open(&rail, &params, &c));
    EXPECT_EQ(nullptr, c);
}

using UdpRails = Udp;

// A group has one address on all rails, and the kernel gives what comes by one of them to sockets
// that joined it on another.
TEST_P(UdpRails, WhatAnotherRailBringsIsNotHeard)
{
    hwmc_rail other = rail;
    hwmc_fabric *c = nullptr;

    strcpy(other.name, "v2");
    other.index = if_nametoindex("v2");
    ASSERT_TRUE(hwmc_addr_read("fd78::1", &other.addr));
    ASSERT_EQ(HWMC_OK, hwmc_udp_open(&other, &params, &c));
    ASSERT_EQ(HWMC_OK, c->ops->join(c, group));
    send(b, group, "by v0");
    EXPECT_EQ(Strings{"by v0"}, poll(a));
    EXPECT_EQ(Strings{}, poll(c));
    send(c, group, "by v2");
    EXPECT_EQ(Strings{}, poll(a));
    EXPECT_EQ(Strings{"by v2"}, poll(c));
    c->ops->close(c);
}

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
TEST_P(UdpRails, AnMtuThatBecomesSmallerLosesNothing)
{
    const std::string text(8900, 'x');
    const hwmc_out whole = {text.data(), 40, text.data() + 40, text.size() - 40};
    const hwmc_out out[4] = {whole, whole, whole, {text.data(), 40, nullptr, 0}};

    for (int mtu : {9000, 1400}) {
        set_mtu(rail.name, mtu);
        ASSERT_EQ(4, a->ops->post(a, group, out, 4)) << mtu;
        EXPECT_EQ((Strings{text, text, text, text.substr(0, 40)}), poll(a)) << mtu;
    }
    set_mtu(rail.name, rail.mtu);
}

INSTANTIATE_TEST_SUITE_P(Family, Udp, testing::Values(HWMC_IPV4, HWMC_IPV6), name_of);
INSTANTIATE_TEST_SUITE_P(Family, UdpRails, testing::Values(HWMC_IPV6), name_of);
INSTANTIATE_TEST_SUITE_P(Family, UdpJoins, testing::Values(HWMC_IPV4), name_of);

/* Headers of IPv6 are longer, and a datagram that does not fit in a frame would be cut in two. */
TEST(UdpRail, ADatagramIsWhatHeadersLeaveOfTheMtu)
{
    for (const hwmc_family family : {HWMC_IPV4, HWMC_IPV6}) {
        hwmc_rail rail = {};
        hwmc_udp_params params = {};
        hwmc_fabric_attr attr;
        hwmc_fabric *f;

        strcpy(rail.name, "lo");
        rail.index = if_nametoindex("lo");
        ASSERT_TRUE(hwmc_addr_read(family == HWMC_IPV6 ? "::1" : "127.0.0.1", &rail.addr));
        rail.mtu = 1500;
        rail.up = true;
        params.port = free_port();
        params.ttl = 1;
        params.groups = HWMC_RANDOM_GROUPS;
        params.window = 1 << 20;
        if (hwmc_udp_open(&rail, &params, &f) != HWMC_OK)
            GTEST_SKIP() << "no loopback device of both families";
        f->ops->query(f, &attr);
        EXPECT_EQ(family == HWMC_IPV6 ? 1452u : 1472u, attr.max_datagram);
        f->ops->close(f);
    }
}

} // namespace
