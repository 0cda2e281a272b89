/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * in_network: a network with ports that take IPv6 multicast, which loopback does not: "v0" of
 * address fd77::1, "v2" of fd78::1, and "v3" at its other end, of fd78::2. The last two have an
 * address of a subnet of its own as well, which they got before the other one, or after it. It
 * takes root.
 */
#ifndef HWMC_UNIT_IN_NETWORK_H_INCLUDED
#define HWMC_UNIT_IN_NETWORK_H_INCLUDED

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

/* Makes it, and leaves this thread in its own. -1: it cannot be. */
inline int make_network()
{
    const int before = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int made = -1;

    if (before < 0 || unshare(CLONE_NEWNET) != 0)
        return -1;
    if (system("exec 2>/dev/null; ip link set lo up; "
               "ip link add v0 mtu 65535 type veth peer name v1 mtu 65535 && "
               "ip addr add fd77::1/64 dev v0 nodad && "
               "ip link set v0 up && ip link set v1 up && "
               "ip link add v2 mtu 65535 type veth peer name v3 mtu 65535 && "
               "ip addr add fd78::a1/128 dev v2 nodad && ip addr add fd78::1/64 dev v2 nodad && "
               "ip addr add fd78::2/64 dev v3 nodad && ip addr add fd78::a2/128 dev v3 nodad && "
               "ip link set v2 up && ip link set v3 up") == 0)
        made = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(0, setns(before, CLONE_NEWNET));
    close(before);
    return made;
}

/* This thread is in it while this lives. */
class InNetwork {
  public:
    explicit InNetwork(bool wanted)
    {
        static const int network = make_network();

        if (!wanted || network < 0)
            return;
        before_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        EXPECT_EQ(0, setns(network, CLONE_NEWNET));
    }
    ~InNetwork()
    {
        if (before_ < 0)
            return;
        EXPECT_EQ(0, setns(before_, CLONE_NEWNET));
        close(before_);
    }
    InNetwork(const InNetwork &) = delete;
    InNetwork &operator=(const InNetwork &) = delete;

    bool works() const
    {
        return before_ >= 0;
    }

  private:
    int before_ = -1;
};

#endif /* HWMC_UNIT_IN_NETWORK_H_INCLUDED */
