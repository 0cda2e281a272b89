// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// core/failure/notice: who tells whom that a member cannot be reached.
#include <deque>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/failure/notice.h"
#include "core/place/kary.h"
}

namespace {

constexpr uint64_t kKey = 99;

// All members of a group, and the messages between them; who is deaf gets none.
struct Members {
    std::vector<hwmc_notice> all;
    std::deque<std::pair<uint32_t, hwmc_msg>> on_the_way; // to whom
    uint32_t deaf;
    uint64_t sent = 0;

    Members(uint32_t size, uint32_t fanout, uint32_t who) : all(size), deaf(who)
    {
        for (uint32_t i = 0; i < size; i++)
            hwmc_notice_init(&all[i], size, i, fanout, kKey);
    }
    void pump(uint32_t i)
    {
        hwmc_msg tx;

        while (hwmc_notice_next_send(&all[i], &tx)) {
            const uint32_t to = tx.peer;

            EXPECT_EQ(HWMC_MSG_LOST, tx.type);
            EXPECT_EQ(kKey, tx.bid);
            EXPECT_NE(i, to);
            EXPECT_FALSE(all[i].cut && to == all[i].rank) << "nothing goes to it";
            tx.peer = i;
            on_the_way.push_back({to, tx});
            sent++;
            hwmc_notice_check(&all[i]);
        }
        EXPECT_FALSE(hwmc_notice_next_send(&all[i], &tx)) << "each is told once";
    }
    void run()
    {
        while (!on_the_way.empty()) {
            auto [to, msg] = on_the_way.front();

            on_the_way.pop_front();
            if (to == deaf)
                continue;
            EXPECT_NE(HWMC_BAD, hwmc_notice_on_recv(&all[to], &msg, 7));
            hwmc_notice_check(&all[to]);
            pump(to);
        }
    }
};

} // namespace

TEST(Notice, AllThatAreThereGetToKnow)
{
    for (uint32_t size = 2; size <= 9; size++)
        for (uint32_t fanout = 1; fanout <= 4; fanout++)
            for (uint32_t finder = 0; finder < size; finder++)
                for (uint32_t lost = 0; lost < size; lost++) {
                    if (lost == finder)
                        continue;
                    Members m(size, fanout, lost);

                    hwmc_notice_on_found(&m.all[finder], lost, 5, true, HWMC_STAGE_SYNC, 3);
                    m.pump(finder);
                    m.run();
                    for (uint32_t i = 0; i < size; i++) {
                        if (i == lost)
                            continue;
                        EXPECT_EQ(HWMC_NOTICE_TOLD, m.all[i].phase);
                        EXPECT_EQ(lost, m.all[i].rank);
                        EXPECT_EQ(finder, m.all[i].finder);
                        EXPECT_EQ(5u, m.all[i].rails);
                        EXPECT_EQ(HWMC_STAGE_SYNC, m.all[i].stage);
                        EXPECT_EQ(i == finder ? 3u : 7u, m.all[i].at);
                    }
                    EXPECT_LE(m.sent, size * (3 + fanout));
                }
}

// One rail of its host is silent, which all others need; messages go to it by another one.
TEST(Notice, TheLostMemberGetsToKnowWhereMessagesGoToIt)
{
    for (uint32_t size = 2; size <= 9; size++)
        for (uint32_t lost = 0; lost < size; lost++) {
            Members m(size, 2, UINT32_MAX);

            for (uint32_t i = 0; i < size; i++)
                if (i != lost)
                    hwmc_notice_on_found(&m.all[i], lost, 2, false, HWMC_STAGE_BLOCKS, 3);
            for (uint32_t i = 0; i < size; i++)
                m.pump(i);
            m.run();
            EXPECT_EQ(HWMC_NOTICE_TOLD, m.all[lost].phase);
            EXPECT_EQ(lost, m.all[lost].rank);
        }
}

TEST(Notice, TheFirstLossStands)
{
    Members m(5, 2, UINT32_MAX);
    hwmc_msg msg = {};

    hwmc_notice_on_found(&m.all[1], 2, 0, true, HWMC_STAGE_CAST, 3);
    hwmc_notice_on_found(&m.all[1], 4, 1, true, HWMC_STAGE_TREES, 4);
    EXPECT_EQ(2u, m.all[1].rank);
    EXPECT_EQ(3u, m.all[1].at);
    msg.type = HWMC_MSG_LOST;
    msg.peer = 3;
    msg.lost = {4, 3, HWMC_STAGE_CAST, 0};
    EXPECT_EQ(HWMC_DUP, hwmc_notice_on_recv(&m.all[1], &msg, 5));
    EXPECT_EQ(2u, m.all[1].rank);
    EXPECT_EQ(HWMC_TAKEN, hwmc_notice_on_recv(&m.all[0], &msg, 5));
    EXPECT_EQ(4u, m.all[0].rank);
}

TEST(Notice, WhatNoMemberSendsIsBad)
{
    for (int wrong = 0; wrong < 5; wrong++) {
        Members m(5, 2, UINT32_MAX);
        hwmc_msg msg = {};

        msg.type = HWMC_MSG_LOST;
        msg.peer = wrong == 0 ? 5 : 1;
        msg.multicast = wrong == 1;
        msg.lost = {wrong == 2 ? 5u : 2u, wrong == 3 ? 5u : 1u,
                    wrong == 4 ? (uint32_t) HWMC_STAGE_LIMIT : (uint32_t) HWMC_STAGE_SYNC, 0};
        EXPECT_EQ(HWMC_BAD, hwmc_notice_on_recv(&m.all[0], &msg, 5)) << wrong;
        EXPECT_EQ(HWMC_NOTICE_QUIET, m.all[0].phase);
    }
}

// Who speaks later is told once more, but not one that cannot be reached from here.
TEST(Notice, IsRepeatedToWhoSpeaks)
{
    Members m(5, 2, UINT32_MAX);
    hwmc_msg tx;

    hwmc_notice_on_found(&m.all[1], 2, 0, true, HWMC_STAGE_CAST, 3);
    EXPECT_TRUE(hwmc_notice_repeat(&m.all[1], 4, &tx));
    EXPECT_EQ(4u, tx.peer);
    EXPECT_EQ(2u, tx.lost.rank);
    EXPECT_FALSE(hwmc_notice_repeat(&m.all[1], 2, &tx));
    EXPECT_FALSE(hwmc_notice_repeat(&m.all[1], 1, &tx));
}
