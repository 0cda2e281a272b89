/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What hwmc_info --doctor makes of what hosts say and saw.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "base/addr.h"
#include "tools/doctor.h"
}

namespace {

const uint64_t MIB = 1 << 20;

/* Hosts h0, h1, ... with one rank and healthy rails eth0, eth1, ... */
struct Case {
    int hosts, rails;
    std::vector<hwmc_doctor_self> self;
    std::vector<int> prober;
    std::vector<hwmc_doctor_ports> ports;
    std::unique_ptr<int[][HWMC_RAILS_MAX]> at;
    std::vector<hwmc_doctor_seen> seen;
    std::vector<hwmc_doctor_look> look;
    hwmc_doctor_report report;

    Case(int hosts, int rails)
        : hosts(hosts), rails(rails), self(hosts), prober(hosts), ports(hosts),
          at(new int[hosts][HWMC_RAILS_MAX]), seen(hosts * hosts * rails), look(hosts * rails)
    {
        for (int h = 0; h < hosts; h++) {
            self[h] = healthy_self("h" + std::to_string(h));
            prober[h] = h;
            ports[h] = {};
            ports[h].num = rails;
            for (int r = 0; r < rails; r++) {
                ports[h].at[r] = healthy_port(h, r);
                at[h][r] = r;
                look[h * rails + r] = {
                    1, 1, 0, static_cast<uint8_t>(h > 0 ? 50 : 0), HWMC_DOCTOR_DATAGRAMS, 0};
                for (int from = 0; from < hosts; from++)
                    saw(h, r, from) = {1472, HWMC_DOCTOR_DATAGRAMS, 4, HWMC_DOCTOR_TCP_CONNECTED,
                                       120};
            }
        }
    }

    static hwmc_doctor_self healthy_self(const std::string &name)
    {
        hwmc_doctor_self s = {};

        strcpy(s.version, "1.0");
        strcpy(s.host, name.c_str());
        s.cpus[0] = 3;
        s.online = 2;
        s.memlock = HWMC_DOCTOR_UNLIMITED;
        s.shm = s.shm_free = 512 * MIB;
        s.free_ports = 0xff;
        return s;
    }

    static hwmc_doctor_port healthy_port(int h, int r)
    {
        hwmc_doctor_port p = {};

        snprintf(p.rail.name, sizeof(p.rail.name), "eth%d", r);
        p.rail.addr = hwmc_addr_ipv4(0x0a4d0001u + static_cast<uint32_t>(r << 8 | h));
        p.rail.prefix = 24;
        p.rail.mtu = 1500;
        p.rail.up = true;
        p.tcp = 40001;
        p.udp = 40002;
        p.datagram = 1472;
        p.buffer = 4700000;
        p.window = p.wanted = 4 * MIB;
        p.flags = HWMC_DOCTOR_BURSTS | HWMC_DOCTOR_SEGMENTS;
        return p;
    }

    hwmc_doctor_seen &saw(int to, int rail, int from)
    {
        return seen[hwmc_doctor_seen_at(hosts, rails, to, rail, from)];
    }

    const hwmc_doctor_report &judge()
    {
        hwmc_doctor_case c = {};

        c.num = static_cast<int>(self.size());
        c.self = self.data();
        c.num_hosts = hosts;
        c.prober = prober.data();
        c.ports = ports.data();
        c.num_rails = rails;
        c.at = at.get();
        c.num_job_ports = 8;
        c.seen = seen.data();
        c.look = look.data();
        hwmc_doctor_judge(&c, &report);
        return report;
    }

    /* The one finding there is; its status is the program's. */
    const hwmc_doctor_finding &only(int check, int level)
    {
        static const hwmc_doctor_finding none = {};

        judge();
        EXPECT_EQ(report.num, 1);
        if (report.num < 1)
            return none;
        EXPECT_EQ(report.finding[0].check, check) << report.finding[0].what;
        EXPECT_EQ(report.finding[0].level, level) << report.finding[0].what;
        EXPECT_EQ(report.level[check], level);
        EXPECT_EQ(hwmc_doctor_status(&report), level);
        EXPECT_STRNE(report.finding[0].cost, "");
        EXPECT_STRNE(report.finding[0].mend, "");
        return report.finding[0];
    }
};

bool says(const char *text, const char *part)
{
    return strstr(text, part) != nullptr;
}

TEST(Doctor, HealthyHostsGiveNoFinding)
{
    for (int hosts = 1; hosts < 5; hosts++)
        for (int rails = 1; rails < 3; rails++) {
            Case c(hosts, rails);

            EXPECT_EQ(c.judge().num, 0) << c.report.finding[0].what;
            EXPECT_EQ(hwmc_doctor_status(&c.report), 0);
            for (auto &said : c.report.said)
                EXPECT_STRNE(said, "");
        }
}

TEST(Doctor, AHostAloneCannotTryWhatNeedsTwo)
{
    Case c(1, 1);

    c.judge();
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_REACH], HWMC_DOCTOR_UNKNOWN);
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_SNOOPING], HWMC_DOCTOR_UNKNOWN);
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_MULTICAST], HWMC_DOCTOR_OK);
    c.saw(0, 0, 0).heard = 0;
    EXPECT_TRUE(says(c.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN).what, "on h0 itself"));
}

TEST(Doctor, MulticastOneWay)
{
    Case c(4, 1);

    for (int h = 0; h < 4; h++)
        if (h != 1)
            c.saw(h, 0, 1).heard = c.saw(h, 0, 1).frames = 0;
    auto &f = c.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN);
    EXPECT_STREQ(f.what, "multicast does not pass from h1 to all");
    EXPECT_STREQ(f.hosts, "h1");
    EXPECT_EQ(f.rail, 0);
}

TEST(Doctor, MulticastBetweenTwoOfThree)
{
    Case c(3, 1);

    c.saw(2, 0, 1).heard = c.saw(2, 0, 1).frames = 0;
    auto &f = c.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN);
    EXPECT_STREQ(f.what, "multicast does not pass from h1 to h2");
    EXPECT_STREQ(f.hosts, "h2");
}

TEST(Doctor, FramesThatArriveAndAreDroppedAreAFirewallsOfTheHost)
{
    Case c(3, 1);

    for (int from = 0; from < 3; from++)
        c.saw(2, 0, from).heard = 0;
    auto &f = c.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN);
    EXPECT_STREQ(f.what, "multicast arrives, and the kernel drops it, from all to h2");
    EXPECT_TRUE(says(f.mend, "nft insert rule"));
    for (int from = 0; from < 3; from++)
        c.saw(2, 0, from).frames = 0;
    auto &g = c.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN);
    EXPECT_STREQ(g.what, "multicast does not pass from all to h2");
    EXPECT_TRUE(says(g.mend, "querier"));
}

TEST(Doctor, MulticastOnOneRailOfTwoSlows)
{
    Case c(2, 2);

    c.saw(1, 1, 0).heard = 0;
    EXPECT_EQ(c.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_SLOW).rail, 1);
    c.saw(1, 0, 0).heard = 0;
    c.judge();
    EXPECT_EQ(c.report.num, 2);
    EXPECT_EQ(hwmc_doctor_status(&c.report), 2);
}

TEST(Doctor, NoMulticastAtAll)
{
    Case c(3, 1);

    for (auto &s : c.seen)
        s.heard = s.frames = 0;
    for (auto &l : c.look)
        l.floods = 0;
    EXPECT_STREQ(c.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN).what,
                 "multicast does not pass between all hosts");
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_SNOOPING], HWMC_DOCTOR_UNKNOWN);
}

TEST(Doctor, UdpBlockedIsNoMatterOfMulticast)
{
    Case c(3, 1);

    for (int from = 0; from < 2; from++)
        c.saw(2, 0, from).heard = c.saw(2, 0, from).unicast = 0;
    EXPECT_STREQ(c.only(HWMC_DOCTOR_UDP, HWMC_DOCTOR_BROKEN).what,
                 "TCP passes, and UDP does not from all to h2");
}

TEST(Doctor, UdpToAHostAloneIsNotNeeded)
{
    Case c(3, 1);

    for (auto &s : c.seen)
        s.unicast = 0;
    EXPECT_EQ(c.judge().num, 0);
}

TEST(Doctor, NothingPasses)
{
    Case c(2, 1);

    c.saw(1, 0, 0) = {};
    auto &f = c.only(HWMC_DOCTOR_REACH, HWMC_DOCTOR_BROKEN);
    EXPECT_STREQ(f.what, "nothing passes from h0 to h1");
    c.saw(1, 0, 0) = {1472, HWMC_DOCTOR_DATAGRAMS, 4, HWMC_DOCTOR_TCP_SILENT, 120};
    EXPECT_STREQ(c.only(HWMC_DOCTOR_REACH, HWMC_DOCTOR_BROKEN).what,
                 "TCP does not pass from h0 to h1");
}

TEST(Doctor, AFirewallThatRefusesIsOneToo)
{
    Case c(2, 1);

    c.saw(1, 0, 0).tcp = HWMC_DOCTOR_TCP_REFUSED;
    auto &f = c.only(HWMC_DOCTOR_REACH, HWMC_DOCTOR_BROKEN);
    EXPECT_STREQ(f.what, "TCP does not pass from h0 to h1");
    EXPECT_TRUE(says(f.mend, "nft list ruleset") && says(f.mend, "firewall-cmd") &&
                says(f.mend, "iptables"));
    c.saw(1, 0, 0).heard = c.saw(1, 0, 0).unicast = 0;
    c.judge();
    ASSERT_EQ(c.report.num, 2);
    EXPECT_STREQ(c.report.finding[1].what, "UDP does not pass from h0 to h1");
    c.saw(1, 0, 0) = {1472, HWMC_DOCTOR_DATAGRAMS, 4, HWMC_DOCTOR_TCP_REFUSED, 120};
    c.ports[0].at[0].tcp = 0; // no listener was there
    EXPECT_EQ(c.judge().num, 0);
}

TEST(Doctor, ARailThatDoesNotOpen)
{
    Case c(3, 2);

    c.look[1 * 2 + 1] = {};
    c.look[1 * 2 + 1].err = -1;
    for (int h = 0; h < 3; h++)
        c.saw(h, 1, 1).heard = c.saw(1, 1, h).heard = 0;
    auto &f = c.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_SLOW);
    EXPECT_TRUE(says(f.what, "the rail does not open: "));
    EXPECT_STREQ(f.hosts, "h1");
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_MULTICAST], HWMC_DOCTOR_OK);
    c.look[1 * 2] = c.look[1 * 2 + 1];
    c.judge();
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_RAILS], HWMC_DOCTOR_BROKEN);
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_REACH], HWMC_DOCTOR_OK);
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_MULTICAST], HWMC_DOCTOR_UNKNOWN);
    EXPECT_STREQ(c.report.said[HWMC_DOCTOR_MULTICAST],
                 "not tried between h0 and h1, between h1 and h2");
}

TEST(Doctor, WithoutAUdpPortNothingIsMulticast)
{
    Case c(2, 1);

    c.self[0].free_ports = 0x0f;
    c.self[1].free_ports = 0xf0;
    for (auto &s : c.seen)
        s.heard = s.longest = 0;
    for (auto &l : c.look)
        l = {};
    c.only(HWMC_DOCTOR_PORTS, HWMC_DOCTOR_BROKEN);
    for (auto check : {HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_LOSS, HWMC_DOCTOR_LENGTH})
        EXPECT_EQ(c.report.level[check], HWMC_DOCTOR_UNKNOWN);
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_UDP], HWMC_DOCTOR_OK);
}

TEST(Doctor, WhatWasNotSentIsNotLost)
{
    Case c(2, 1);

    c.look[0].sent = 60;
    c.saw(1, 0, 0).heard = 60;
    EXPECT_EQ(c.judge().num, 0);
    c.saw(1, 0, 0).heard = 50;
    EXPECT_STREQ(c.only(HWMC_DOCTOR_LOSS, HWMC_DOCTOR_SLOW).what,
                 "multicast is lost from h0 to h1: up to 10 of 60 datagrams");
    c.look[0].sent = c.saw(1, 0, 0).heard = 0;
    EXPECT_STREQ(c.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_BROKEN).what,
                 "nothing can be multicast on the rail");
}

TEST(Doctor, IgmpLinesOfShortAndLongNames)
{
    const char *const narrow = "2\teth0      :     3      V2\n";
    const char *const wide = "12\tenp129s0f0np0:     3      V1\n";

    EXPECT_TRUE(hwmc_doctor_igmp_line(narrow, "eth0"));
    EXPECT_TRUE(hwmc_doctor_igmp_line(wide, "enp129s0f0np0"));
    EXPECT_FALSE(hwmc_doctor_igmp_line(wide, "enp129s0f0np"));
    EXPECT_FALSE(hwmc_doctor_igmp_line("2\teth0      :     3      V3\n", "eth0"));
    EXPECT_FALSE(hwmc_doctor_igmp_line("\t\t\t\tFB0000E0     1 0:00000000\t\t0\n", "eth0"));
}

TEST(Doctor, Losses)
{
    Case c(3, 1);

    c.saw(1, 0, 0).heard = HWMC_DOCTOR_DATAGRAMS - HWMC_DOCTOR_SPARE;
    EXPECT_EQ(c.judge().num, 0);
    c.saw(1, 0, 0).heard = 90;
    EXPECT_STREQ(c.only(HWMC_DOCTOR_LOSS, HWMC_DOCTOR_SLOW).what,
                 "multicast is lost from h0 to h1: up to 10 of 100 datagrams");
}

TEST(Doctor, LongDatagramsAreLost)
{
    Case c(2, 1);

    for (auto &p : c.ports) {
        p.at[0].rail.mtu = 9000;
        p.at[0].datagram = 8972;
    }
    auto &f = c.only(HWMC_DOCTOR_LENGTH, HWMC_DOCTOR_SLOW);
    EXPECT_STREQ(f.what, "long datagrams do not pass between all hosts: at most 1472 bytes, where "
                         "ports would take 8972");
    EXPECT_TRUE(says(f.mend, "mtu 1500"));
    for (auto &s : c.seen)
        s.longest = 16;
    EXPECT_FALSE(says(c.only(HWMC_DOCTOR_LENGTH, HWMC_DOCTOR_SLOW).mend, "mtu"));
}

TEST(Doctor, MtusDiffer)
{
    Case c(3, 1);

    c.ports[1].at[0].rail.mtu = 9000;
    c.ports[1].at[0].datagram = 8972;
    c.ports[2].at[0].rail.mtu = 9000;
    c.ports[2].at[0].datagram = 8972;
    c.saw(1, 0, 2).longest = c.saw(2, 0, 1).longest = 8972;
    auto &f = c.only(HWMC_DOCTOR_LENGTH, HWMC_DOCTOR_SLOW);
    EXPECT_STREQ(f.hosts, "h0");
    EXPECT_TRUE(says(f.what, "1500 bytes here, 9000"));
}

TEST(Doctor, SnoopingWithoutQuerier)
{
    Case c(3, 1);

    for (auto &l : c.look)
        l.floods = 0;
    EXPECT_TRUE(says(c.only(HWMC_DOCTOR_SNOOPING, HWMC_DOCTOR_SLOW).cost, "260 s"));
    c.look[1].queries = 1;
    EXPECT_EQ(c.judge().num, 0);
    EXPECT_STREQ(c.report.said[HWMC_DOCTOR_SNOOPING], "there is an IGMP querier");
}

// The same by IPv6 has other names, addresses and lengths.
TEST(Doctor, RailsOfIPv6)
{
    Case c(3, 1);

    for (auto &p : c.ports)
        p.at[0].rail.addr.family = HWMC_IPV6;
    EXPECT_EQ(c.judge().num, 0);
    for (auto &l : c.look)
        l.floods = 0;
    auto &f = c.only(HWMC_DOCTOR_SNOOPING, HWMC_DOCTOR_SLOW);
    EXPECT_TRUE(says(f.what, "snoops MLD,"));
    EXPECT_TRUE(says(f.cost, "RFC 3810"));
    EXPECT_TRUE(says(f.mend, "an MLD querier"));
    c.look[1].queries = 1;
    EXPECT_EQ(c.judge().num, 0);
    EXPECT_STREQ(c.report.said[HWMC_DOCTOR_SNOOPING], "there is a querier of MLD");
    for (auto &s : c.seen)
        s.longest = 1232;
    EXPECT_TRUE(says(c.only(HWMC_DOCTOR_LENGTH, HWMC_DOCTOR_SLOW).mend, "mtu 1280 "));
    Case dropped(2, 1);
    for (auto &p : dropped.ports)
        p.at[0].rail.addr.family = HWMC_IPV6;
    dropped.saw(1, 0, 0).heard = 0;
    EXPECT_TRUE(
        says(dropped.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN).mend, "ip6 daddr ff15::/16"));
    dropped.saw(1, 0, 0).frames = 0;
    auto &filtered = dropped.only(HWMC_DOCTOR_MULTICAST, HWMC_DOCTOR_BROKEN);
    EXPECT_TRUE(says(filtered.mend, "MLD"));
    EXPECT_FALSE(says(filtered.mend, "IGMP"));
}

TEST(Doctor, AnAddressThatAnotherHostHas)
{
    char port[HWMC_RAIL_NAME_MAX] = "";
    Case c(2, 1);

    EXPECT_TRUE(
        hwmc_doctor_inet6_line("fd770000000000000000000000000001 02 40 00 c8     eth0\n", port));
    EXPECT_STREQ(port, "eth0");
    for (const char *line : {"fd770000000000000000000000000001 02 40 00 c0     eth0\n",
                             "fd770000000000000000000000000001 02 40 00 80     eth0\n", "", "x\n"})
        EXPECT_FALSE(hwmc_doctor_inet6_line(line, port)) << line;
    strcpy(c.ports[1].twice, "eth1");
    auto &f = c.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_SLOW);
    EXPECT_STREQ(f.hosts, "h1");
    EXPECT_TRUE(says(f.what, "an IPv6 address of eth1 is another host's too"));
}

TEST(Doctor, SnoopingIsNotGuessedWhereNobodyCouldLook)
{
    Case c(3, 1);

    for (auto &l : c.look)
        l.floods = l.taps = 0;
    EXPECT_EQ(c.judge().num, 0);
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_SNOOPING], HWMC_DOCTOR_UNKNOWN);
    c.ports[1].at[0].flags |= HWMC_DOCTOR_SNOOPS;
    strcpy(c.ports[1].at[0].bridge, "br7");
    EXPECT_STREQ(c.only(HWMC_DOCTOR_SNOOPING, HWMC_DOCTOR_SLOW).mend,
                 "ip link set br7 type bridge mcast_querier 1");
    c.ports[1].at[0].flags |= HWMC_DOCTOR_ASKS;
    EXPECT_EQ(c.judge().num, 0);
}

TEST(Doctor, Rails)
{
    Case c(3, 2);

    c.at[2][1] = -1;
    EXPECT_STREQ(c.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_SLOW).hosts, "h2");
    Case one(2, 1);
    one.at[1][0] = -1; // h1 is in another subnet
    EXPECT_TRUE(says(one.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_SLOW).cost, "trees"));
    for (auto check : {HWMC_DOCTOR_REACH, HWMC_DOCTOR_UDP, HWMC_DOCTOR_MULTICAST}) {
        EXPECT_EQ(one.report.level[check], HWMC_DOCTOR_UNKNOWN);
        EXPECT_STREQ(one.report.said[check], "not tried between h0 and h1");
    }
    one.ports[1].at[0].rail.loopback = true; // that is all it has
    one.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_BROKEN);
    Case alike(3, 2);
    alike.ports[1].at[1].rail.addr = alike.ports[0].at[1].rail.addr;
    EXPECT_STREQ(alike.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_SLOW).hosts, "h1");
    Case wrong(1, 0);
    strcpy(wrong.ports[0].wrong, "eth9");
    EXPECT_TRUE(says(wrong.only(HWMC_DOCTOR_RAILS, HWMC_DOCTOR_BROKEN).what, "eth9"));
}

TEST(Doctor, RanksShareProcessors)
{
    Case c(2, 1);

    for (int i = 0; i < 3; i++)
        c.self.push_back(c.self[1]);
    auto &f = c.only(HWMC_DOCTOR_PROCESSORS, HWMC_DOCTOR_SLOW);
    EXPECT_STREQ(f.hosts, "h1");
    EXPECT_STREQ(f.what, "4 ranks may run on 2 of 2 processors");
    EXPECT_STREQ(f.mend, "mpiexec -ppn 2");
    for (auto &s : c.self)
        s.online = 8;
    EXPECT_TRUE(says(c.only(HWMC_DOCTOR_PROCESSORS, HWMC_DOCTOR_SLOW).mend, "4 processors"));
    for (size_t i = 0; i < c.self.size(); i++)
        c.self[i].cpus[0] = 1u << i;
    EXPECT_EQ(c.judge().num, 0);
    c.self[1].quota = 1500;
    EXPECT_STREQ(c.only(HWMC_DOCTOR_PROCESSORS, HWMC_DOCTOR_SLOW).what,
                 "4 ranks have the time of 1.500 processors");
}

TEST(Doctor, Clock)
{
    Case c(2, 1);

    c.judge();
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_CLOCK], HWMC_DOCTOR_UNKNOWN);
    for (auto &s : c.self)
        strcpy(s.governor, "powersave");
    for (auto &s : c.self)
        strcpy(s.driver, "intel_pstate");
    EXPECT_EQ(c.judge().num, 0);
    EXPECT_EQ(c.report.level[HWMC_DOCTOR_CLOCK], HWMC_DOCTOR_OK);
    strcpy(c.self[1].driver, "acpi-cpufreq");
    EXPECT_STREQ(c.only(HWMC_DOCTOR_CLOCK, HWMC_DOCTOR_SLOW).hosts, "h1");
    strcpy(c.self[1].governor, "performance");
    c.self[0].mhz = 1200;
    c.self[0].mhz_max = 3600;
    auto &f = c.only(HWMC_DOCTOR_CLOCK, HWMC_DOCTOR_SLOW);
    EXPECT_TRUE(says(f.what, "1200 of 3600 MHz"));
    EXPECT_STREQ(f.mend, "cpupower frequency-set -u 3600MHz");
}

TEST(Doctor, LockedMemoryIsForRdma)
{
    Case c(2, 1);

    c.self[1].memlock = 64 << 10;
    EXPECT_EQ(c.judge().num, 0);
    c.ports[1].at[0].flags |= HWMC_DOCTOR_RDMA;
    EXPECT_TRUE(says(c.only(HWMC_DOCTOR_MEMLOCK, HWMC_DOCTOR_BROKEN).what, "64 KiB"));
    c.self[1].locks = true;
    EXPECT_EQ(c.judge().num, 0);
}

TEST(Doctor, HostsLimits)
{
    Case shm(2, 1);
    shm.self[0].shm_free = 1 * MIB;
    EXPECT_STREQ(shm.only(HWMC_DOCTOR_SHM, HWMC_DOCTOR_BROKEN).hosts, "h0");
    EXPECT_TRUE(says(shm.report.finding[0].mend, "UCX_TLS=tcp,self"));
    Case ports(2, 1);
    ports.self[0].free_ports = 0x0f;
    EXPECT_EQ(ports.judge().num, 0);
    ports.self[1].free_ports = 0xf0;
    EXPECT_STREQ(ports.only(HWMC_DOCTOR_PORTS, HWMC_DOCTOR_BROKEN).hosts, "h0, h1");
    Case buffers(2, 2);
    buffers.ports[1].at[0].window = buffers.ports[1].at[1].window = 100 << 10;
    auto &f = buffers.only(HWMC_DOCTOR_BUFFERS, HWMC_DOCTOR_SLOW);
    EXPECT_STREQ(f.hosts, "h1");
    EXPECT_TRUE(says(f.mend, "sysctl -w net.core.rmem_max=4700000"));
    Case offloads(2, 1);
    offloads.ports[1].at[0].flags = HWMC_DOCTOR_BURSTS | HWMC_DOCTOR_NO_SEGMENTS;
    EXPECT_STREQ(offloads.only(HWMC_DOCTOR_OFFLOADS, HWMC_DOCTOR_SLOW).mend,
                 "ethtool -K eth0 tx-udp-segmentation on");
    offloads.ports[1].at[0].flags = 0;
    auto &segment = offloads.only(HWMC_DOCTOR_OFFLOADS, HWMC_DOCTOR_SLOW);
    EXPECT_TRUE(says(segment.what, "UDP_SEGMENT"));
    EXPECT_STREQ(segment.mend, "ethtool -K eth0 tx on; Linux 4.18 or later");
    offloads.ports[1].at[0].rail.mbit = 1000;
    EXPECT_EQ(offloads.judge().num, 0);
}

TEST(Doctor, ALauncherThatStartsJobsOfOne)
{
    Case c(1, 1);

    strcpy(c.self[0].others, "SLURM_STEP_NUM_TASKS=4: start it with srun --mpi=pmi2");
    auto &f = c.only(HWMC_DOCTOR_START, HWMC_DOCTOR_BROKEN);
    EXPECT_TRUE(says(f.what, "(SLURM_STEP_NUM_TASKS=4)"));
    EXPECT_STREQ(f.mend, "start it with srun --mpi=pmi2");
    EXPECT_TRUE(says(f.cost, "MPI_Init is an error"));
}

TEST(Doctor, ManyFindingsAndManyHostsFit)
{
    Case c(40, 8);

    for (auto &s : c.self)
        memset(s.host, 'x', sizeof(s.host) - 1);
    for (int h = 0; h < 40; h++)
        snprintf(c.self[h].host, 8, "%d", h), c.self[h].shm_free = 0;
    for (size_t i = 0; i < c.seen.size(); i++)
        c.seen[i].heard = i % 3 == 0 ? 0 : 50;
    c.judge();
    EXPECT_LE(c.report.num, HWMC_DOCTOR_FINDINGS_MAX);
    for (int i = 0; i < c.report.num; i++) {
        auto &f = c.report.finding[i];

        EXPECT_LT(strlen(f.hosts), sizeof(f.hosts));
        EXPECT_LT(strlen(f.what), sizeof(f.what) - 1) << "cut: " << f.what;
        EXPECT_LT(strlen(f.mend), sizeof(f.mend) - 1) << "cut: " << f.mend;
    }
    char list[16] = "";
    for (int i = 0; i < 9; i++)
        hwmc_doctor_list(list, sizeof(list), "ab");
    EXPECT_STREQ(list, "ab, ab, ab, ...");
}

} // namespace
