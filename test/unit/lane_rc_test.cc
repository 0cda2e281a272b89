// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
#include "lane_rc.h"

#include <algorithm>
#include <poll.h>

TEST_F(LaneRc, DeliversHeadAndBodyWithTheirLengths)
{
    open(2);
    EXPECT_EQ(HWMC_ERR_PEER, send(0, 1, "too early"));
    ASSERT_TRUE(connect(0, 1));
    ASSERT_EQ(HWMC_OK, send(0, 1, "head", "body"));
    ASSERT_EQ(HWMC_OK, send(0, 1, "only"));
    ASSERT_EQ(HWMC_OK, send(0, 1, "", ""));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 3; }));
    EXPECT_EQ(std::make_pair(std::string("head"), std::string("body")), ends[1]->came[0]);
    EXPECT_EQ(std::make_pair(std::string("only"), std::string()), ends[1]->came[1]);
    EXPECT_EQ(std::make_pair(std::string(), std::string()), ends[1]->came[2]);
    EXPECT_TRUE(flush());
    EXPECT_EQ(1u, counts(0).connects);
    EXPECT_EQ(1u, counts(1).connects);
}

TEST_F(LaneRc, KeepsOrderWhateverTheLengths)
{
    const size_t lengths[] = {0,    65536, 1,    9000,  300, 65535, 8,
                              8172, 8173,  8168, 20000, 0,   64,    1u << 20};
    const int rounds = 5;

    open(2);
    ASSERT_TRUE(connect(1, 0)) << "the passive end asks";
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < std::size(lengths); i++)
            ASSERT_EQ(HWMC_OK, send(1, 0, std::to_string(r * 100 + i),
                                    std::string(lengths[i], static_cast<char>('a' + i))));
    ASSERT_TRUE(poll_until([&] { return ends[0]->came.size() == rounds * std::size(lengths); }));
    for (int r = 0, at = 0; r < rounds; r++) {
        for (size_t i = 0; i < std::size(lengths); i++, at++) {
            ASSERT_EQ(std::to_string(r * 100 + i), ends[0]->came[at].first);
            ASSERT_TRUE(std::string(lengths[i], static_cast<char>('a' + i)) ==
                        ends[0]->came[at].second);
        }
    }
    EXPECT_TRUE(flush());
    EXPECT_GT(counts(0).credits, 0u) << "nothing went back that could carry them";
}

TEST_F(LaneRc, SendsFromTheCallersMemoryAndSaysWhenItIsThrough)
{
    const size_t lengths[] = {1, 300, 65536, 1u << 20, 4096, 32768, 40000, 0};
    std::vector<std::string> bodies;

    open(3);
    for (size_t i = 0; i < std::size(lengths); i++) {
        bodies.push_back(std::string(lengths[i], static_cast<char>('a' + i)));
        for (size_t k = 0; k < lengths[i]; k += 1000)
            bodies[i][k] = static_cast<char>(k / 1000);
    }
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(0, 2));
    for (size_t i = 0; i < bodies.size(); i++)
        for (uint32_t to = 1; to < 3; to++) /* the same piece of memory twice */
            ASSERT_EQ(HWMC_OK, send_from(0, to, "head", bodies[i], 100 * to + i));
    ASSERT_TRUE(poll_until([&] {
        return ends[0]->sent.size() == 2 * bodies.size() && ends[1]->came.size() == bodies.size() &&
               ends[2]->came.size() == bodies.size();
    }));
    for (size_t i = 0; i < bodies.size(); i++) {
        for (uint32_t to = 1; to < 3; to++) {
            EXPECT_EQ(1, std::count(ends[0]->sent.begin(), ends[0]->sent.end(), 100 * to + i));
            EXPECT_EQ("head", ends[to]->came[i].first);
            EXPECT_TRUE(bodies[i] == ends[to]->came[i].second) << i;
        }
    }
    EXPECT_EQ(HWMC_ERR_INVAL, send_from(0, 3, "head", "x", 7));
    EXPECT_EQ(0, std::count(ends[0]->sent.begin(), ends[0]->sent.end(), 7u));
    EXPECT_TRUE(flush());
}

TEST_F(LaneRc, AnswersFromWithinTheCallback)
{
    open(2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    ends[1]->on_recv = [&](const std::string &head, const std::string &body) {
        EXPECT_EQ(HWMC_OK, send(1, 0, head, body));
    };
    for (int i = 0; i < 300; i++)
        ASSERT_EQ(HWMC_OK, send(0, 1, std::to_string(i), std::string(i * 40, 'x')));
    ASSERT_TRUE(poll_until([&] { return ends[0]->came.size() == 300; }));
    for (int i = 0; i < 300; i++)
        ASSERT_EQ(std::to_string(i), ends[0]->came[i].first);
    EXPECT_TRUE(flush());
}

// Both send more than credits, send buffers and receive buffers hold, and neither polls meanwhile.
TEST_F(LaneRc, CreditsRunOutBothWays)
{
    const int n = 1000;

    open(2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    for (int i = 0; i < n; i++) {
        ASSERT_EQ(HWMC_OK, send(0, 1, std::to_string(i), std::string(i % 3 * 9000, 'a')));
        ASSERT_EQ(HWMC_OK, send(1, 0, std::to_string(i), std::string(i % 5 * 7000, 'b')));
    }
    EXPECT_EQ(HWMC_AGAIN, ends[0]->lane->ops->flush(ends[0]->lane));
    ASSERT_TRUE(poll_until([&] { return ends[0]->came.size() == n && ends[1]->came.size() == n; }));
    for (int i = 0; i < n; i++) {
        ASSERT_EQ(std::to_string(i), ends[1]->came[i].first);
        ASSERT_EQ(std::to_string(i), ends[0]->came[i].first);
        ASSERT_EQ(i % 3 * 9000u, ends[1]->came[i].second.size());
    }
    EXPECT_TRUE(flush());
    EXPECT_EQ(0u, counts(0).losts + counts(1).losts + counts(0).bad + counts(1).bad);
}

TEST_F(LaneRc, EveryoneToEveryone)
{
    const uint32_t n = 5;

    open(n);
    for (uint32_t from = 0; from < n; from++)
        EXPECT_EQ(HWMC_ERR_PEER, ready(from, from));
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            if (from != to)
                ready(from, to);
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            if (from != to) {
                ASSERT_TRUE(connect(from, to));
                ASSERT_EQ(HWMC_OK, send(from, to, std::to_string(from), "x"));
            }
    for (uint32_t i = 0; i < n; i++)
        ASSERT_TRUE(poll_until([&] { return ends[i]->came.size() == n - 1; })) << i;
    EXPECT_TRUE(flush());
    for (uint32_t i = 0; i < n; i++)
        EXPECT_EQ(n - 1, counts(i).connects) << "one connection to each";
}

TEST_F(LaneRc, RefusesMorePeersThanAllowed)
{
    open(4, false, PATIENT, 2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(0, 2));
    EXPECT_EQ(HWMC_ERR_PEER, ready(0, 3));
    EXPECT_EQ(1u, counts(0).refused);
    EXPECT_EQ(HWMC_AGAIN, ready(3, 0)) << "which does not know yet";
    EXPECT_TRUE(poll_until([&] { return ready(3, 0) == HWMC_ERR_PEER; }));
    ASSERT_TRUE(connect(1, 2)) << "others still have room";
    EXPECT_TRUE(poll_until([&] { return counts(1).connects == 2 && counts(2).connects == 2; }));
    EXPECT_EQ(HWMC_OK, send(0, 2, "still"));
    EXPECT_TRUE(poll_until([&] { return ends[2]->came.size() == 1; }));
    EXPECT_TRUE(ends[0]->lost.empty());
}

// Each asks while what the other asked is under way.
TEST_F(LaneRc, BothConnectAtTheSameTime)
{
    open(2);
    EXPECT_EQ(HWMC_AGAIN, ready(0, 1));
    EXPECT_EQ(HWMC_AGAIN, ready(1, 0));
    ASSERT_EQ(2u, told.size());
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    EXPECT_EQ(1u, counts(0).connects);
    EXPECT_EQ(1u, counts(1).connects);
    EXPECT_TRUE(ends[0]->lost.empty() && ends[1]->lost.empty());
}

TEST_F(LaneRc, ItsDescriptorTellsOfMessages)
{
    open(2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_EQ(HWMC_OK, send(0, 1, "first"));
    ASSERT_TRUE(poll_until([&] { return ends[1]->came.size() == 1; }));
    ASSERT_TRUE(flush());
    hwmc_lane *l = ends[1]->lane;
    while (l->ops->arm(l) == HWMC_AGAIN)
        l->ops->poll(l);
    pollfd p = {l->ops->fd(l), POLLIN, 0};
    EXPECT_EQ(0, ::poll(&p, 1, 0));
    ASSERT_EQ(HWMC_OK, send(0, 1, "second"));
    EXPECT_EQ(1, ::poll(&p, 1, SECONDS_MAX * 1000));
    EXPECT_TRUE(poll_until([&] { return ends[1]->came.size() == 2; }));
}

TEST_F(LaneRc, ArmKeepsWhatCameBefore)
{
    open(2);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(flush());
    hwmc_lane *l = ends[1]->lane;
    ASSERT_EQ(HWMC_OK, send(0, 1, "first"));
    while (ends[0]->lane->ops->flush(ends[0]->lane) == HWMC_AGAIN)
        ends[0]->lane->ops->poll(ends[0]->lane);
    EXPECT_EQ(HWMC_AGAIN, l->ops->arm(l));
    EXPECT_EQ(HWMC_AGAIN, l->ops->arm(l));
    EXPECT_TRUE(poll_until([&] { return ends[1]->came.size() == 1; }));
}
