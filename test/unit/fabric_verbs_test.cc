/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The verbs fabric over an RDMA port of this host, hardware or Soft-RoCE (test/lab/guest); where
 * there is none, over the emulated HCA (test/lab/ibemu); skipped where there is none of that.
 * Datagrams may get lost, so what is multicast once is multicast again until it comes.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <dirent.h>
#include <fstream>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <rdma/rdma_cma.h>

#include "fabric_verbs.h"

extern "C" {
#include "base/addr.h"
}

namespace {

int open_files()
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

bool emulated; /* the port is */

TEST(VerbsNone, WhereThereIsNoPortNothingIsOpenedAndNothingSaid)
{
    hwmc_rail rail = {};
    hwmc_verbs_params params = {};
    hwmc_fabric *f = nullptr;
    int before = open_files();

    strcpy(rail.name, "lo");
    rail.addr = hwmc_addr_ipv4(0x7f000001);
    rail.mtu = 65536;
    rail.up = true;
    params.window = 65536;
    testing::internal::CaptureStderr();
    EXPECT_EQ(HWMC_ERR_DEVICE, hwmc_fabric_verbs_open(&rail, &params, &f));
    EXPECT_EQ("", testing::internal::GetCapturedStderr());
    EXPECT_EQ(nullptr, f);
    EXPECT_LE(open_files(), before + 1); /* libraries may keep one */
}

TEST_F(Verbs, AnswersItsOwnProbe)
{
    EXPECT_EQ(HWMC_OK, hwmc_fabric_verbs_probe(a, UINT64_C(60000000000)));
    EXPECT_EQ(nullptr, ((hwmc_verbs *) a)->members.list);
}

// Whether a child process would have the memory at `at`: not where the kernel has noted "dc", do
// not copy.
static bool child_has(const void *at)
{
    std::ifstream smaps("/proc/self/smaps");
    std::string line;
    unsigned long low = 0, high = 0, from, to;

    while (std::getline(smaps, line)) {
        if (sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2)
            low = from, high = to;
        else if (line.rfind("VmFlags:", 0) == 0 && low <= (uintptr_t) at && (uintptr_t) at < high)
            return line.find(" dc") == std::string::npos;
    }
    ADD_FAILURE() << "no memory there";
    return true;
}

// What a device reads and writes is nobody's but this process's, whatever children it has.
TEST_F(Verbs, ChildrenHaveNoneOfTheMemoryOfTheDevice)
{
    const hwmc_verbs *v = (const hwmc_verbs *) a;
    pid_t child;
    int status = -1;

    EXPECT_FALSE(child_has(v->send.data));
    EXPECT_FALSE(child_has(v->send.data + v->send.num * v->send.slot_bytes - 1));
    EXPECT_FALSE(child_has(v->recv.data));
    EXPECT_FALSE(child_has(v->recv.data + v->recv.num * v->recv.slot_bytes - 1));
    EXPECT_TRUE(child_has(&status));
    child = fork();
    if (child == 0)
        _exit(0);
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(HWMC_OK, hwmc_fabric_verbs_probe(a, UINT64_C(60000000000)));
}

TEST_F(Verbs, AttributesAreThePorts)
{
    hwmc_fabric_attr attr = {};
    hwmc_verbs_port port;

    a->ops->query(a, &attr);
    ASSERT_EQ(HWMC_OK, hwmc_verbs_port_open(&rails[0], &port));
    EXPECT_EQ(hwmc_verbs_mtu_bytes(port.mtu), attr.max_datagram);
    EXPECT_EQ(params.window, attr.window);
    EXPECT_EQ(port.infiniband ? 64 : 18, attr.group_bits);
    hwmc_verbs_port_close(&port);
}

TEST_F(Verbs, CarriesHeadAndBodyAsOne)
{
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    auto end = Clock::now() + PATIENCE;
    Strings came;

    while (came.empty() && Clock::now() < end) {
        ASSERT_EQ(1, post(a, group, "head", "body"));
        wait(b, 100);
        came = poll(b);
    }
    ASSERT_FALSE(came.empty());
    EXPECT_EQ("headbody", came[0]);
}

TEST_F(Verbs, TheLongestDatagramIsWhole)
{
    hwmc_fabric_attr attr;
    std::string text;

    a->ops->query(a, &attr);
    for (size_t i = 0; i < attr.max_datagram; i++)
        text += (char) (i * 7);
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    EXPECT_TRUE(reaches(a, b, group, text));
}

TEST_F(Verbs, ReachesAnotherPortOfTheSubnet)
{
    hwmc_fabric *c = nullptr;

    for (auto &r : rails)
        if (r.index != rails[0].index && hwmc_rail_meets(&r, &rails[0]))
            c = open(r);
    if (!c)
        GTEST_SKIP() << "one port";
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(c, group));
    EXPECT_TRUE(reaches(a, c, group, "there"));
    EXPECT_TRUE(reaches(c, a, group, "and back"));
}

TEST_F(Verbs, ItsOwnAreDropped)
{
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    for (int i = 0; i < 10; i++)
        ASSERT_TRUE(reaches(a, b, group, "mine " + std::to_string(i)));
    ASSERT_TRUE(reaches(b, a, group, "yours"));
    for (auto end = Clock::now() + PATIENCE;
         hwmc_fabric_verbs_drops(a)->own == 0 && Clock::now() < end;) {
        EXPECT_EQ(Strings{}, poll(a));
        wait(a, 10);
    }
    EXPECT_GE(hwmc_fabric_verbs_drops(a)->own, 1u);
    EXPECT_EQ(0u, hwmc_fabric_verbs_drops(b)->foreign + hwmc_fabric_verbs_drops(b)->bad);
}

TEST_F(Verbs, AMemberHearsOnlyItsGroups)
{
    uint64_t other = group ^ 1;

    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(a, other));
    ASSERT_EQ(HWMC_OK, join(b, other));
    EXPECT_EQ(HWMC_ERR_GROUP, post(b, group, "not in"));
    for (int i = 0; i < 10; i++)
        ASSERT_EQ(1, post(a, group, "to group"));
    bool came = false;
    for (auto end = Clock::now() + PATIENCE; !came && Clock::now() < end;) {
        ASSERT_EQ(1, post(a, other, "to other"));
        wait(b, 100);
        for (auto &s : poll(b)) {
            ASSERT_EQ("to other", s);
            came = true;
        }
    }
    EXPECT_TRUE(came);
}

/* The queue pair may get what was under way when a group was left. */
TEST_F(Verbs, WhatIsForAnotherGroupIsDropped)
{
    auto *v = (hwmc_verbs *) b;
    auto end = Clock::now() + PATIENCE;

    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    v->members.list->gid.raw[15] ^= 1;
    while (hwmc_fabric_verbs_drops(b)->foreign == 0 && Clock::now() < end) {
        ASSERT_EQ(1, post(a, group, "late"));
        wait(b, 50);
        EXPECT_EQ(Strings{}, poll(b));
    }
    EXPECT_GE(hwmc_fabric_verbs_drops(b)->foreign, 1u);
    v->members.list->gid.raw[15] ^= 1;
    EXPECT_TRUE(reaches(a, b, group, "in time"));
}

TEST_F(Verbs, JoinsAreCounted)
{
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    ASSERT_EQ(HWMC_OK, b->ops->leave(b, group));
    EXPECT_TRUE(reaches(a, b, group, "still in"));
    ASSERT_EQ(HWMC_OK, b->ops->leave(b, group));
    EXPECT_EQ(HWMC_ERR_GROUP, b->ops->leave(b, group));
    EXPECT_EQ(HWMC_ERR_GROUP, post(b, group, "out"));
    poll(b);
    for (int i = 0; i < 10; i++)
        ASSERT_EQ(1, post(a, group, "to others"));
    ASSERT_EQ(HWMC_OK, join(b, group ^ 1));
    ASSERT_EQ(HWMC_OK, join(a, group ^ 1));
    EXPECT_TRUE(reaches(a, b, group ^ 1, "later")); /* before it nothing came */
    EXPECT_EQ(0u, hwmc_fabric_verbs_drops(b)->foreign);
}

TEST_F(Verbs, AJoinUnderWayIsGivenUp)
{
    for (int i = 0; i < 20; i++) {
        int err = a->ops->join(a, group + (uint64_t) i % 4);

        ASSERT_TRUE(err == HWMC_AGAIN || err == HWMC_OK);
        ASSERT_EQ(HWMC_OK, a->ops->leave(a, group + (uint64_t) i % 4));
    }
    EXPECT_EQ(nullptr, ((hwmc_verbs *) a)->members.list);
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    EXPECT_TRUE(reaches(a, b, group, "after all"));
}

TEST_F(Verbs, RefusesWhatIsNoGroup)
{
    if (((hwmc_verbs *) a)->port.infiniband)
        GTEST_SKIP() << "on InfiniBand any number is one";
    EXPECT_EQ(HWMC_ERR_GROUP, join(a, (uint64_t) params.port << 32)); /* the wildcard */
    EXPECT_EQ(HWMC_ERR_GROUP, join(a, group + (UINT64_C(1) << 32)));
    EXPECT_EQ(HWMC_ERR_GROUP, join(a, (uint64_t) params.port << 32 | 0x0a000001));
}

TEST_F(Verbs, ManyGroups)
{
    const uint64_t n = 40;

    for (uint64_t i = 0; i < n; i++) {
        ASSERT_EQ(HWMC_OK, join(a, group ^ i)) << i;
        ASSERT_EQ(HWMC_OK, join(b, group ^ i)) << i;
    }
    for (uint64_t i = 0; i < n; i++)
        ASSERT_TRUE(reaches(a, b, group ^ i, "group " + std::to_string(i))) << i;
}

/* More than the queues hold, so that slots are used again and receives are posted again. */
TEST_F(Verbs, ALongRowComesIntact)
{
    const int n = 5000;
    hwmc_fabric_attr attr;
    std::string body;
    std::set<int> came;
    int next = 0;

    a->ops->query(a, &attr);
    for (size_t i = 0; i < attr.max_datagram - 4; i++)
        body += (char) (i * 13);
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    for (auto end = Clock::now() + PATIENCE; next < n && Clock::now() < end;) {
        hwmc_out out[16];
        int index[16], k = 0;

        for (; k < 16 && next + k < n; k++) {
            index[k] = next + k;
            out[k] = {&index[k], 4, body.data(), body.size()};
        }
        k = a->ops->post(a, group, out, k);
        ASSERT_GE(k, 0);
        next += k;
        if (k == 0)
            wait(a, 100);
        for (auto &s : poll(b)) {
            int i;

            ASSERT_EQ(4 + body.size(), s.size());
            memcpy(&i, s.data(), 4);
            came.insert(i);
            ASSERT_EQ(0, memcmp(s.data() + 4, body.data(), body.size()));
        }
        poll(a);
    }
    EXPECT_EQ(n, next);
    EXPECT_GT(came.size(), (size_t) n / 2);
}

/* No queue holds so many. */
/* Its few slots are posted again before all of them are used. */
TEST_F(Verbs, ASmallWindowGoesOn)
{
    hwmc_fabric_attr attr;
    hwmc_fabric *c;

    a->ops->query(a, &attr);
    params.window = 3 * attr.max_datagram;
    c = open(rails[0]);
    c->ops->query(c, &attr);
    EXPECT_EQ(params.window, attr.window);
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(c, group));
    for (int i = 0; i < 20; i++)
        ASSERT_TRUE(reaches(a, c, group, std::to_string(i))) << i;
}

TEST_F(Verbs, AFullSenderSaysWhenItGoesOn)
{
    const int n = 1000;
    hwmc_fabric_attr attr;
    std::string text;
    auto end = Clock::now() + PATIENCE;
    int sent, calls = 1;

    a->ops->query(a, &attr);
    text.assign(attr.max_datagram, 'x');
    std::vector<hwmc_out> out(n, {text.data(), text.size(), nullptr, 0});
    ASSERT_EQ(HWMC_OK, join(a, group));
    sent = a->ops->post(a, group, out.data(), n);
    ASSERT_GT(sent, 0);
    ASSERT_LT(sent, n);
    for (; sent < n && Clock::now() < end; calls++) {
        ASSERT_TRUE(wait(a, 60000));
        poll(a);
        int k = a->ops->post(a, group, out.data() + sent, n - sent);
        ASSERT_GE(k, 0);
        sent += k;
    }
    EXPECT_EQ(n, sent);
    EXPECT_LT(calls, n);
    while (a->ops->queued(a) > 0 && Clock::now() < end)
        ;
    EXPECT_EQ(UINT64_MAX, a->ops->deadline(a));
}

/* Who posts is told, who polls gets nothing, and who waits is not kept awake. */
TEST_F(Verbs, AQueuePairInErrorIsTold)
{
    auto *v = (hwmc_verbs *) a;
    std::vector<hwmc_out> out(1000, {"x", 1, nullptr, 0});
    auto end = Clock::now() + PATIENCE;
    ibv_qp_attr error = {};
    int k = 0;

    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_LT(a->ops->post(a, group, out.data(), (int) out.size()), (int) out.size());
    error.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(0, ibv_modify_qp(v->port.id->qp, &error, IBV_QP_STATE));
    while (k >= 0 && Clock::now() < end)
        k = post(a, group, "y");
    EXPECT_EQ(HWMC_ERR_DEVICE, k);
    for (int i = 0; i < 100; i++)
        for (auto &s : poll(a))
            ADD_FAILURE() << s;
    EXPECT_EQ(UINT64_MAX, a->ops->deadline(a));
    EXPECT_EQ(HWMC_OK, a->ops->leave(a, group));
}

TEST_F(Verbs, WhatIsQueuedLeaves)
{
    ASSERT_EQ(HWMC_OK, join(a, group));
    for (int i = 0; i < 100; i++) {
        ASSERT_GE(post(a, group, std::string(100, 'x')), 0);
        auto end = Clock::now() + PATIENCE;
        while (a->ops->queued(a) > 0 && Clock::now() < end)
            ;
        ASSERT_EQ(0u, a->ops->queued(a));
    }
}

/* Whoever waits is woken: a lost announcement would leave b asleep. */
TEST_F(Verbs, AWaitingReceiverIsWoken)
{
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    ASSERT_TRUE(reaches(a, b, group, "warm"));
    for (int i = 0; i < 300; i++) {
        std::string text = std::to_string(i);
        bool came = false;
        auto end = Clock::now() + PATIENCE;
        pollfd p[8];
        int fds[8], num;

        if (i % 3 == 0) { /* before it prepares to wait */
            ASSERT_EQ(1, post(a, group, text));
        }
        num = b->ops->fds(b, fds, 8);
        if (i % 3 == 1) { /* after */
            ASSERT_EQ(1, post(a, group, text));
        }
        uint64_t at = b->ops->deadline(b);
        if (i % 3 == 2) {
            ASSERT_EQ(1, post(a, group, text));
        }
        for (int k = 0; k < num; k++)
            p[k] = {fds[k], POLLIN, 0};
        if (at != 0) {
            ASSERT_GT(::poll(p, (nfds_t) num, 60000), 0) << i;
        }
        while (!came && Clock::now() < end)
            for (auto &s : poll(b))
                came = came || s == text;
        ASSERT_TRUE(came) << i;
    }
}

/* The answer to a join comes while its caller prepares to wait. */
TEST_F(Verbs, WhoWaitsForAJoinIsWoken)
{
    for (uint64_t i = 0; i < 100; i++) {
        auto end = Clock::now() + PATIENCE;
        int err = a->ops->join(a, group ^ i);

        while (err == HWMC_AGAIN && Clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(i % 3));
            ASSERT_TRUE(wait(a, 60000)) << i;
            poll(a);
            err = a->ops->join(a, group ^ i);
        }
        ASSERT_EQ(HWMC_OK, err) << i;
        ASSERT_EQ(HWMC_OK, a->ops->leave(a, group ^ i));
    }
}

/* As after an event of the subnet manager. */
TEST_F(Verbs, MembersThatAreRenewedStayIn)
{
    auto *v = (hwmc_verbs *) b;

    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    for (int i = 0; i < 10; i++) {
        hwmc_verbs_members_renew(&v->members, 1);
        if (i % 2)
            hwmc_verbs_members_renew(&v->members, 1); /* while the first is under way */
        EXPECT_GE(post(b, group, "meanwhile"), 0);
        EXPECT_TRUE(reaches(a, b, group, "renewed " + std::to_string(i)));
        EXPECT_TRUE(reaches(b, a, group, "sends " + std::to_string(i)));
    }
    EXPECT_EQ(HWMC_OK, b->ops->leave(b, group));
}

TEST_F(Verbs, MembersAreRenewedWhenThePortIsBack)
{
    auto *v = (hwmc_verbs *) b;
    const hwmc_verbs_target *before;
    auto end = Clock::now() + PATIENCE;

    if (!emulated)
        GTEST_SKIP() << "the test has no hand on the port";
    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    before = v->members.list->to;
    set_port(0, false);
    set_port(0, true);
    while (v->members.list->to == before && Clock::now() < end) {
        wait(b, 10);
        poll(b);
    }
    EXPECT_NE(before, v->members.list->to);
    EXPECT_TRUE(reaches(a, b, group, "there again"));
    EXPECT_TRUE(reaches(b, a, group, "here again"));
}

TEST_F(Verbs, ANewcomerJoinsWhileMembersAreRenewed)
{
    auto *v = (hwmc_verbs *) b;

    ASSERT_EQ(HWMC_OK, join(a, group));
    ASSERT_EQ(HWMC_OK, join(b, group));
    hwmc_verbs_members_renew(&v->members, 1);
    EXPECT_EQ(HWMC_OK, b->ops->join(b, group));
    EXPECT_EQ(HWMC_OK, b->ops->leave(b, group));
    EXPECT_TRUE(reaches(a, b, group, "still in"));
}

TEST_F(Verbs, ClosingLeavesNothing)
{
    int before = open_files();

    for (int i = 0; i < 10; i++) {
        hwmc_fabric *f = open(rails[0]);

        if (i % 3 == 1)
            f->ops->join(f, group); /* under way */
        if (i % 3 == 2) {
            ASSERT_EQ(HWMC_OK, join(f, group));
            for (int k = 0; k < 20; k++)
                post(f, group, "on its way");
        }
        close(f);
    }
    EXPECT_EQ(before, open_files());
}

} // namespace

int main(int argc, char **argv)
{
    emulated = access("/sys/class/infiniband", F_OK) != 0;
    if (emulated)
        emulate_hca(argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
