// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Questions to hosts, over this host's loopback interface.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <vector>

extern "C" {
#include "base/addr.h"
#include "probe/probe.h"
}

namespace {
constexpr uint32_t LOOPBACK = INADDR_LOOPBACK, ELSEWHERE = 0xc0000201; // 192.0.2.1: documentation

// A TCP port of this host: open while it listens.
class Port {
  public:
    explicit Port(bool listens) : fd_(socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in addr = {};
        socklen_t len = sizeof(addr);

        addr.sin_family = AF_INET;
        addr.sin_addr.s_addr = htonl(LOOPBACK);
        EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr *>(&addr), len), 0);
        EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr *>(&addr), &len), 0);
        number_ = ntohs(addr.sin_port);
        if (listens) {
            EXPECT_EQ(listen(fd_, 0), 0);
        }
    }
    ~Port()
    {
        for (const int fd : waiting_)
            close(fd);
        close(fd_);
    }

    // Until the kernel answers nobody there any more, as a host that is gone.
    void fill()
    {
        for (bool full = false; !full;) {
            const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            sockaddr_in addr = {};
            pollfd p = {fd, POLLOUT, 0};

            addr.sin_family = AF_INET;
            addr.sin_addr.s_addr = htonl(LOOPBACK);
            addr.sin_port = htons(number_);
            connect(fd, reinterpret_cast<sockaddr *>(&addr), sizeof(addr));
            waiting_.push_back(fd);
            full = poll(&p, 1, 0) == 0;
        }
    }

    uint16_t number_;

  private:
    int fd_;
    std::vector<int> waiting_;
};

class Knock : public testing::Test {
  protected:
    void open(uint16_t port)
    {
        hwmc_rail_probe_params params = {};

        params.hosts = 4;
        params.host = 3;
        params.port = port;
        params.have = 3;
        for (int i = 0; i < 2; i++) {
            snprintf(params.mine[i].name, sizeof(params.mine[i].name), "eth%d", i);
            params.mine[i].addr = hwmc_addr_ipv4(LOOPBACK);
        }
        params.addr = addr_;
        ASSERT_EQ(hwmc_rail_probe_open(&params, &k_), HWMC_OK);
    }
    void TearDown() override
    {
        hwmc_rail_probe_close(k_);
    }

    // An answer of this host's kernel is there before connect returns.
    uint32_t ask(uint32_t host, uint32_t rails)
    {
        asked_ = k_->ops->ask(k_, 0, host, rails);
        return k_->ops->answered(k_, 0);
    }

    const hwmc_addr here_ = hwmc_addr_ipv4(LOOPBACK), none_ = {};
    const hwmc_addr addr_[4][HWMC_RAILS_MAX] = {
        {here_, here_}, {none_, here_}, {hwmc_addr_ipv4(ELSEWHERE)}, {here_, here_}};
    hwmc_probe *k_ = nullptr;
    uint32_t asked_ = 0;
};

TEST_F(Knock, AClosedPortIsAnAnswer)
{
    const Port closed(false);

    open(closed.number_);
    EXPECT_EQ(k_->ops->proven(k_, 0), 0u);
    EXPECT_EQ(ask(0, 1), 1u);
    EXPECT_EQ(asked_, 1u);
    EXPECT_EQ(k_->ops->proven(k_, 0), 1u);
    EXPECT_EQ(ask(0, 3), 3u);
    EXPECT_EQ(k_->ops->proven(k_, 0), 3u);
    EXPECT_EQ(hwmc_rail_probe_heard(k_, 0), 3u);
}

// One host's answer says nothing of another.
TEST_F(Knock, WhoHasAnsweredIsKnownByHost)
{
    const Port closed(false);

    open(closed.number_);
    EXPECT_EQ(ask(0, 2), 2u);
    EXPECT_EQ(k_->ops->proven(k_, 1), 0u);
    EXPECT_EQ(hwmc_rail_probe_heard(k_, 1), 0u);
    EXPECT_EQ(ask(1, 2), 2u);
    EXPECT_EQ(k_->ops->proven(k_, 1), 2u);
    EXPECT_EQ(k_->ops->proven(k_, 4), 0u);
}

// Another process has had an answer; whether this one's own questions get out shows an answer to
// any of them.
TEST_F(Knock, WhatOthersHeardCountsOnceThisOneHasHeardAnybody)
{
    const Port closed(false);

    open(closed.number_);
    hwmc_rail_probe_learn(k_, 1, 3);
    hwmc_rail_probe_learn(k_, 4, 3);
    EXPECT_EQ(k_->ops->proven(k_, 1), 0u);
    EXPECT_EQ(hwmc_rail_probe_heard(k_, 1), 0u);
    EXPECT_EQ(ask(0, 2), 2u);
    EXPECT_EQ(k_->ops->proven(k_, 1), 2u);
    EXPECT_EQ(hwmc_rail_probe_heard(k_, 1), 0u);
}

TEST_F(Knock, AnOpenPortIsAnAnswer)
{
    const Port open_port(true);

    open(open_port.number_);
    EXPECT_EQ(ask(0, 1), 1u);
}

TEST_F(Knock, SilenceIsNone)
{
    Port silent(true);

    silent.fill();
    open(silent.number_);
    EXPECT_EQ(ask(0, 3), 0u);
    EXPECT_EQ(asked_, 3u);
    EXPECT_EQ(k_->ops->proven(k_, 0), 0u);
}

TEST_F(Knock, OnlySharedRailsAreAsked)
{
    const Port closed(false);

    open(closed.number_);
    EXPECT_EQ(k_->ops->shared(k_, 0), 3u);
    EXPECT_EQ(k_->ops->shared(k_, 1), 2u);
    EXPECT_EQ(k_->ops->shared(k_, 3), 0u); // this host
    EXPECT_EQ(k_->ops->shared(k_, 4), 0u);
    EXPECT_EQ(ask(1, 3), 2u);
    EXPECT_EQ(asked_, 2u);
    EXPECT_EQ(ask(3, 3), 0u);
    EXPECT_EQ(asked_, 0u);
}

// From the loopback interface nothing can be sent elsewhere: that says nothing of the peer.
TEST_F(Knock, WhatThisHostRefusesIsNoQuestion)
{
    const Port closed(false);

    open(closed.number_);
    EXPECT_EQ(k_->ops->shared(k_, 2), 1u);
    EXPECT_EQ(ask(2, 1), 0u);
    EXPECT_EQ(asked_, 0u);
}

TEST_F(Knock, DescribesRailsAndAddresses)
{
    char text[64], cut[8];

    open(HWMC_RAIL_PROBE_PORT);
    k_->ops->describe(k_, 0, 3, text, sizeof(text));
    EXPECT_STREQ(text, "eth0 (127.0.0.1), eth1 (127.0.0.1)");
    k_->ops->describe(k_, 1, 3, text, sizeof(text));
    EXPECT_STREQ(text, "eth1 (127.0.0.1)");
    k_->ops->describe(k_, 3, 2, text, sizeof(text)); // this host: others say that it is gone
    EXPECT_STREQ(text, "eth1 (127.0.0.1)");
    k_->ops->describe(k_, 0, 3, cut, sizeof(cut));
    EXPECT_STREQ(cut, "eth0 (1");
}

// The same by IPv6, where this host has it.
TEST_F(Knock, AClosedPortAnswersByIPv6Too)
{
    hwmc_rail_probe_params params = {};
    hwmc_addr addr[2][HWMC_RAILS_MAX] = {};
    hwmc_sockaddr at;
    char text[64];
    const int fd = socket(AF_INET6, SOCK_STREAM, 0);

    ASSERT_TRUE(hwmc_addr_read("::1", &addr[0][0]));
    socklen_t len = hwmc_addr_to_socket(&addr[0][0], 0, 0, &at);
    if (fd < 0 || bind(fd, &at.any, len) != 0)
        GTEST_SKIP() << "no IPv6 here";
    ASSERT_EQ(0, getsockname(fd, &at.any, &len));
    params.hosts = 2;
    params.host = 1;
    params.port = hwmc_addr_port_of_socket(&at);
    params.have = 1;
    strcpy(params.mine[0].name, "eth0");
    params.mine[0].addr = addr[1][0] = addr[0][0];
    params.addr = addr;
    ASSERT_EQ(hwmc_rail_probe_open(&params, &k_), HWMC_OK);
    EXPECT_EQ(ask(0, 1), 1u);
    EXPECT_EQ(k_->ops->proven(k_, 0), 1u);
    k_->ops->describe(k_, 0, 1, text, sizeof(text));
    EXPECT_STREQ(text, "eth0 (::1)");
    close(fd);
}

// What was asked before at a place has no part in what is asked there now.
TEST_F(Knock, APlaceBeginsAnew)
{
    const Port closed(false);

    open(closed.number_);
    EXPECT_EQ(ask(0, 3), 3u);
    EXPECT_EQ(ask(0, 1), 1u);
    k_->ops->end(k_, 0);
    EXPECT_EQ(k_->ops->answered(k_, 0), 0u);
}
} // namespace
