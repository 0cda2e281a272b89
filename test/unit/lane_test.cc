/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The ucx lane: several processes' lanes in one process, polled in turn, over TCP on loopback.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <poll.h>
#include <sys/mman.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "lane/ucx.h"
}

namespace {

const int POLLS_MAX = 2000000;

class Lane : public ::testing::Test {
  public:
    struct End {
        Lane *test;
        uint32_t rank;
        hwmc_lane *lane;
        std::vector<std::pair<std::string, std::string>> came;
        std::vector<uint32_t> lost;
        std::vector<uint32_t> asked;
        std::vector<uint64_t> sent;      /* tags */
        uint32_t answer_to = UINT32_MAX; /* what comes is sent back from within the callback */
        bool knows_nobody = false;       /* addresses are not to be had now */
    };

    static void recv(void *ctx, const void *head, size_t head_len, const void *body,
                     size_t body_len)
    {
        End *e = static_cast<End *>(ctx);

        e->came.emplace_back(std::string(static_cast<const char *>(head), head_len),
                             std::string(static_cast<const char *>(body), body_len));
        if (e->answer_to != UINT32_MAX)
            e->lane->ops->send(e->lane, e->answer_to, head, head_len, body, body_len);
    }

    static void lost(void *ctx, uint32_t peer)
    {
        static_cast<End *>(ctx)->lost.push_back(peer);
    }

    static int address_of(void *ctx, uint32_t peer, void *addr, size_t *len)
    {
        End *e = static_cast<End *>(ctx);
        const void *from;
        size_t n;

        if (e->knows_nobody)
            return HWMC_AGAIN;
        e->asked.push_back(peer);
        if (peer >= e->test->ends.size())
            return HWMC_ERR_PEER;
        hwmc_lane *l = e->test->ends[peer]->lane;
        l->ops->address(l, &from, &n);
        EXPECT_LE(n, *len);
        memcpy(addr, from, n);
        *len = n;
        return HWMC_OK;
    }

    static void sent(void *ctx, uint64_t tag)
    {
        static_cast<End *>(ctx)->sent.push_back(tag);
    }

  protected:
    static void SetUpTestSuite()
    {
        setenv("UCX_TLS", "tcp,self", 1);
        setenv("UCX_NET_DEVICES", "lo", 1);
    }

    static bool all_survive(void *, uint32_t)
    {
        return true;
    }

    void open(uint32_t n, uint32_t size, bool survive = false)
    {
        for (uint32_t i = 0; i < n; i++) {
            ends.push_back(std::make_unique<End>());
            End *e = ends.back().get();
            e->test = this;
            e->rank = i;
            hwmc_lane_ucx_params p = {
                {recv, lost, address_of, sent, e}, size, nullptr, false, nullptr,
                survive ? all_survive : nullptr};
            ASSERT_EQ(HWMC_OK, hwmc_lane_ucx_open(&p, &e->lane));
        }
    }

    void TearDown() override
    {
        for (auto &e : ends)
            if (e->lane)
                e->lane->ops->close(e->lane);
    }

    int send(uint32_t from, uint32_t to, const std::string &head, const std::string &body = "")
    {
        hwmc_lane *l = ends[from]->lane;

        return l->ops->send(l, to, head.data(), head.size(), body.data(), body.size());
    }

    void poll()
    {
        for (auto &e : ends)
            if (e->lane)
                e->lane->ops->poll(e->lane);
    }

    template <typename F> bool poll_until(F done)
    {
        for (int i = 0; i < POLLS_MAX && !done(); i++)
            poll();
        return done();
    }

    bool flush()
    {
        return poll_until([&] {
            bool all = true;
            for (auto &e : ends)
                all = (!e->lane || e->lane->ops->flush(e->lane) == HWMC_OK) && all;
            return all;
        });
    }

  public:
    std::vector<std::unique_ptr<End>> ends;
};

TEST_F(Lane, DeliversHeadAndBodyWithTheirLengths)
{
    open(2, 2);
    ASSERT_EQ(HWMC_OK, send(0, 1, "head", "body"));
    ASSERT_EQ(HWMC_OK, send(0, 1, "only"));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 2; }));
    EXPECT_EQ(std::make_pair(std::string("head"), std::string("body")), ends[1]->came[0]);
    EXPECT_EQ(std::make_pair(std::string("only"), std::string()), ends[1]->came[1]);
    EXPECT_EQ(std::vector<uint32_t>{1}, ends[0]->asked);
    EXPECT_TRUE(flush());
}

// Why a lane cannot be opened is told: here for want of descriptors, and then it can.
TEST_F(Lane, WantOfDescriptorsIsToldFromOtherReasons)
{
    hwmc_lane_ucx_params p = {
        {recv, lost, address_of, sent, nullptr}, 2, nullptr, false, nullptr, nullptr};
    hwmc_lane *lane = nullptr;
    rlimit before, few;
    int next = dup(0);

    ASSERT_GE(next, 0);
    close(next);
    ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
    few = before;
    few.rlim_cur = (rlim_t) next;
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
    EXPECT_EQ(HWMC_ERR_LIMIT, hwmc_lane_ucx_open(&p, &lane));
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
    EXPECT_EQ(nullptr, lane);
    open(2, 2);
    ASSERT_EQ(HWMC_OK, send(0, 1, "head"));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 1; }));
    EXPECT_TRUE(flush());
}

TEST_F(Lane, WhatIsSentWaitsForAnAddressThatIsNotToBeHadYet)
{
    const std::string pinned(100000, 'x');

    open(2, 2);
    hwmc_lane *l = ends[0]->lane;
    ends[0]->knows_nobody = true;
    ASSERT_EQ(HWMC_OK, send(0, 1, "0", "body"));
    ASSERT_EQ(HWMC_OK, l->ops->send_from(l, 1, "1", 1, pinned.data(), pinned.size(), 77));
    ASSERT_EQ(HWMC_OK, send(0, 1, "2"));
    EXPECT_EQ(HWMC_AGAIN, l->ops->ready(l, 1));
    for (int i = 0; i < 1000; i++)
        poll();
    EXPECT_TRUE(ends[1]->came.empty());
    EXPECT_TRUE(ends[0]->sent.empty());
    EXPECT_EQ(HWMC_AGAIN, l->ops->flush(l));
    ends[0]->knows_nobody = false;
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 3 && !ends[0]->sent.empty(); }));
    EXPECT_EQ("0", ends[1]->came[0].first);
    EXPECT_EQ("body", ends[1]->came[0].second);
    EXPECT_EQ("1", ends[1]->came[1].first);
    EXPECT_EQ(pinned, ends[1]->came[1].second);
    EXPECT_EQ("2", ends[1]->came[2].first);
    EXPECT_EQ(std::vector<uint64_t>{77}, ends[0]->sent);
    EXPECT_EQ(HWMC_OK, l->ops->ready(l, 1));
    EXPECT_TRUE(flush());
}

TEST_F(Lane, WhatWaitsForAnAddressThatThereIsNotIsLost)
{
    open(1, 3);
    hwmc_lane *l = ends[0]->lane;
    ends[0]->knows_nobody = true;
    ASSERT_EQ(HWMC_OK, send(0, 2, "0", "body"));
    ASSERT_EQ(HWMC_OK, l->ops->send_from(l, 2, "1", 1, "pinned", 4, 77));
    ends[0]->knows_nobody = false;
    ASSERT_TRUE(poll_until([&] { return !ends[0]->lost.empty(); }));
    EXPECT_EQ(std::vector<uint32_t>{2}, ends[0]->lost);
    EXPECT_EQ(std::vector<uint64_t>{77}, ends[0]->sent);
    ends[0]->knows_nobody = true; // what still waits when the lane is closed goes with it
    ASSERT_EQ(HWMC_OK, send(0, 1, "2", "body"));
}

TEST_F(Lane, KeepsOrderWhateverTheLengths)
{
    const size_t lengths[] = {0, 65536, 1, 9000, 300, 65535, 8, 4096, 20000, 0, 64};
    const int rounds = 40;
    std::string last;

    open(2, 2);
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < std::size(lengths); i++)
            ASSERT_EQ(HWMC_OK, send(0, 1, std::to_string(r * 100 + i),
                                    std::string(lengths[i], static_cast<char>('a' + i))));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == rounds * std::size(lengths); }));
    for (int r = 0, at = 0; r < rounds; r++) {
        for (size_t i = 0; i < std::size(lengths); i++, at++) {
            ASSERT_EQ(std::to_string(r * 100 + i), ends[1]->came[at].first);
            ASSERT_EQ(std::string(lengths[i], static_cast<char>('a' + i)),
                      ends[1]->came[at].second);
        }
    }
    EXPECT_TRUE(flush());
}

TEST_F(Lane, SendsFromTheCallersMemoryAndSaysWhenItIsThrough)
{
    const size_t lengths[] = {1, 300, 65536, 1 << 20, 4096};
    std::vector<std::string> bodies;

    open(2, 2);
    for (size_t i = 0; i < std::size(lengths); i++)
        bodies.push_back(std::string(lengths[i], static_cast<char>('a' + i)));
    hwmc_lane *l = ends[0]->lane;
    for (size_t i = 0; i < bodies.size(); i++)
        ASSERT_EQ(HWMC_OK,
                  l->ops->send_from(l, 1, "head", 4, bodies[i].data(), bodies[i].size(), 100 + i));
    ASSERT_TRUE(poll_until([&] {
        return ends[0]->sent.size() == bodies.size() && ends[1]->came.size() == bodies.size();
    }));
    for (size_t i = 0; i < bodies.size(); i++) {
        EXPECT_EQ(1, std::count(ends[0]->sent.begin(), ends[0]->sent.end(), 100 + i));
        EXPECT_EQ("head", ends[1]->came[i].first);
        EXPECT_EQ(bodies[i], ends[1]->came[i].second);
    }
    EXPECT_EQ(HWMC_ERR_INVAL, l->ops->send_from(l, 2, "head", 4, "x", 1, 7));
    EXPECT_EQ(0, std::count(ends[0]->sent.begin(), ends[0]->sent.end(), 7u));
    EXPECT_TRUE(flush());
}

// A peer that never looks: what it was sent stays here, until the lane is cut.
TEST_F(Lane, CutGivesBackAtOnce)
{
    const size_t len = 1 << 20, num = 64;
    char *body;

    for (bool survive : {false, true}) {
        open(2, 2, survive);
        hwmc_lane *l = ends[0]->lane;
        ASSERT_EQ(HWMC_OK, send(0, 1, "first"));
        ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 1; }));
        body =
            (char *) mmap(nullptr, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(MAP_FAILED, (void *) body);
        for (uint64_t i = 0; i < num; i++)
            ASSERT_EQ(HWMC_OK, l->ops->send_from(l, 1, "head", 4, body, len, i));
        for (int i = 0; i < 1000; i++)
            l->ops->poll(l);
        ASSERT_GT(num, ends[0]->sent.size());
        l->ops->cut(l);
        ASSERT_EQ(num, ends[0]->sent.size());
        munmap(body, len);
        EXPECT_EQ((std::vector<uint32_t>{0, 1}), ends[0]->lost);
        for (int i = 0; i < 1000; i++)
            poll();
        EXPECT_EQ(num, ends[0]->sent.size());
        EXPECT_EQ(HWMC_ERR_PEER, send(0, 1, "more"));
        EXPECT_EQ(HWMC_ERR_PEER, l->ops->ready(l, 1));
        EXPECT_EQ(HWMC_OK, l->ops->arm(l));
        EXPECT_EQ(HWMC_OK, l->ops->flush(l));
        pollfd p = {l->ops->fd(l), POLLIN, 0};
        EXPECT_EQ(0, ::poll(&p, 1, 0));
        l->ops->cut(l);
        TearDown();
        ends.clear();
    }
}

TEST_F(Lane, SendsToItself)
{
    open(1, 1);
    ASSERT_EQ(HWMC_OK, send(0, 0, "self", std::string(60000, 'x')));
    ASSERT_TRUE(poll_until([&] { return ends[0]->came.size() == 1; }));
    EXPECT_EQ(60000u, ends[0]->came[0].second.size());
    EXPECT_TRUE(flush());
}

TEST_F(Lane, AnswersFromWithinTheCallback)
{
    open(2, 2);
    ends[1]->answer_to = 0;
    for (int i = 0; i < 100; i++)
        ASSERT_EQ(HWMC_OK, send(0, 1, std::to_string(i), "x"));
    ASSERT_TRUE(poll_until([&] { return ends[0]->came.size() == 100; }));
    EXPECT_EQ("99", ends[0]->came[99].first);
    EXPECT_TRUE(flush());
}

TEST_F(Lane, EveryoneToEveryone)
{
    const uint32_t n = 5;

    open(n, n);
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            ASSERT_EQ(HWMC_OK, send(from, to, std::to_string(from), "x"));
    for (uint32_t i = 0; i < n; i++)
        ASSERT_TRUE(poll_until([&] { return ends[i]->came.size() == n; })) << i;
    EXPECT_TRUE(flush());
}

TEST_F(Lane, APeerWithoutAddressIsLost)
{
    open(1, 3);
    EXPECT_EQ(HWMC_ERR_PEER, send(0, 2, "x"));
    EXPECT_TRUE(ends[0]->lost.empty());
    poll();
    EXPECT_EQ(std::vector<uint32_t>{2}, ends[0]->lost);
    EXPECT_EQ(HWMC_ERR_PEER, send(0, 2, "x"));
    poll();
    EXPECT_EQ(1u, ends[0]->lost.size());
    EXPECT_EQ(HWMC_ERR_INVAL, send(0, 3, "x"));
}

// Both ends connect at the same time. UCX may then report an endpoint as failed that is not needed:
// the peer is lost and can be had again, and what is sent after that comes.
TEST_F(Lane, SurvivorsThatConnectAtOnceCanBeHad)
{
    const uint32_t n = 6;

    open(n, n, true);
    for (int round = 0; round < 3; round++) {
        for (uint32_t from = 0; from < n; from++)
            for (uint32_t to = 0; to < n; to++)
                if (from != to)
                    send(from, to, std::to_string(from), std::string(20000, 'x'));
        for (int i = 0; i < 2000; i++)
            poll();
    }
    for (auto &e : ends) {
        e->came.clear();
        for (uint32_t to = 0; to < n; to++)
            ASSERT_TRUE(poll_until([&] { return e->lane->ops->ready(e->lane, to) == HWMC_OK; }));
    }
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            if (from != to) {
                ASSERT_EQ(HWMC_OK, send(from, to, std::to_string(from), "x"));
            }
    for (uint32_t i = 0; i < n; i++)
        ASSERT_TRUE(poll_until([&] { return ends[i]->came.size() >= n - 1; })) << i;
}

TEST_F(Lane, ItsDescriptorTellsOfMessages)
{
    open(2, 2);
    ASSERT_EQ(HWMC_OK, send(0, 1, "first"));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 1; }));
    ASSERT_TRUE(flush());
    hwmc_lane *l = ends[1]->lane;
    while (l->ops->arm(l) == HWMC_AGAIN)
        l->ops->poll(l);
    pollfd p = {l->ops->fd(l), POLLIN, 0};
    ASSERT_EQ(HWMC_OK, send(0, 1, "second"));
    ends[0]->lane->ops->poll(ends[0]->lane);
    EXPECT_EQ(1, ::poll(&p, 1, 1000));
    EXPECT_TRUE(poll_until([&] { return ends[1]->came.size() == 2; }));
}

} // namespace
