// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// multilane at one rank: grants and what may be sent for them. Whole broadcasts are in sim_test.cc
// and the storms.
#include <gtest/gtest.h>
#include <vector>

#include "core.h"

namespace {

// Rank `rank` of 3 in t = 2 trees: tree 0 is 0 -> 1 -> 2, tree 1 is 0 -> 2 -> 1.
struct One {
    hwmc_counts counts = {};
    hwmc_multilane m;
    std::vector<uint64_t> words;

    explicit One(uint32_t rank, uint32_t window = 4, uint32_t segments = 40,
                 hwmc_multilane_unexpected unexpected = {})
        : words(hwmc_multilane_words(64))
    {
        hwmc_multilane_cfg cfg = {};

        cfg.size = 3;
        cfg.rank = rank;
        cfg.t = 2;
        cfg.window = cfg.far_window = window;
        hwmc_wrr_init(&cfg.near, 1, nullptr);
        cfg.far = cfg.near;
        cfg.max_segments = 64;
        cfg.counts = &counts;
        hwmc_multilane_init(&m, &cfg, words.data());
        hwmc_multilane_post(&m, 0, 0, segments * 10, 10, &unexpected);
    }
    hwmc_msg message(hwmc_msg_type type, uint32_t peer, uint32_t tree, uint32_t index) const
    {
        hwmc_msg msg = {};

        msg.type = type;
        msg.peer = peer;
        if (type == HWMC_MSG_GRANT) {
            msg.grant.tree = (uint8_t) tree;
            msg.grant.limit = index;
            msg.grant.bytes = m.bytes;
        } else {
            msg.segment.tree = (uint8_t) tree;
            msg.segment.index = index;
            msg.segment.bytes = m.bytes;
        }
        return msg;
    }
    hwmc_verdict segment(uint32_t peer, uint32_t tree, uint32_t index)
    {
        hwmc_msg msg = message(HWMC_MSG_SEGMENT, peer, tree, index);
        hwmc_verdict verdict = hwmc_multilane_on_segment(&m, &msg, 1);

        hwmc_multilane_check(&m);
        return verdict;
    }
    hwmc_verdict grant(uint32_t peer, uint32_t tree, uint32_t limit)
    {
        hwmc_msg msg = message(HWMC_MSG_GRANT, peer, tree, limit);
        hwmc_verdict verdict = hwmc_multilane_on_grant(&m, &msg);

        hwmc_multilane_check(&m);
        return verdict;
    }
    std::vector<hwmc_msg> sends()
    {
        std::vector<hwmc_msg> all;
        hwmc_msg tx;

        while (hwmc_multilane_next_send(&m, &tx)) {
            all.push_back(tx);
            hwmc_multilane_check(&m);
        }
        return all;
    }
};

} // namespace

TEST(Multilane, AGrantIsAWindowAndRenewedAtHalfOfIt)
{
    One r(1);
    std::vector<hwmc_msg> sent = r.sends();

    ASSERT_EQ(2u, sent.size()); // to 0 in tree 0, to 2 in tree 1
    EXPECT_EQ(HWMC_MSG_GRANT, sent[0].type);
    EXPECT_EQ(4u, sent[0].grant.limit);
    EXPECT_EQ(4u, sent[1].grant.limit);
    EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, 0));
    EXPECT_TRUE(r.sends().empty());
    EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, 1));
    sent = r.sends();
    ASSERT_EQ(1u, sent.size());
    EXPECT_EQ(HWMC_MSG_GRANT, sent[0].type);
    EXPECT_EQ(0u, sent[0].peer);
    EXPECT_EQ(6u, sent[0].grant.limit);
}

TEST(Multilane, ARootSendsWhatItHas)
{
    One r(0, 4, 5);

    hwmc_multilane_here(&r.m, 25); // segments 0 and 1
    EXPECT_EQ(HWMC_TAKEN, r.grant(1, 0, 3));
    EXPECT_EQ(HWMC_TAKEN, r.grant(2, 1, 2));
    EXPECT_EQ(2u, r.sends().size());
    hwmc_multilane_here(&r.m, 39);
    std::vector<hwmc_msg> sent = r.sends();
    ASSERT_EQ(1u, sent.size());
    EXPECT_EQ(0u, sent[0].segment.tree);
    EXPECT_EQ(1u, sent[0].segment.index);
    EXPECT_EQ(30u, hwmc_multilane_prefix(&r.m));
    hwmc_multilane_here(&r.m, 50);
    EXPECT_EQ(2u, r.sends().size());
    for (uint32_t child : {0, 0, 0, 1, 1})
        hwmc_multilane_on_sent(&r.m, child);
    EXPECT_TRUE(hwmc_multilane_done(&r.m));
}

TEST(Multilane, WhatIsNotGrantedIsBad)
{
    One r(1);

    r.sends();
    EXPECT_EQ(HWMC_BAD, r.segment(0, 0, 4));
    EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, 3));
    EXPECT_EQ(HWMC_DUP, r.segment(0, 0, 3));
    EXPECT_EQ(HWMC_BAD, r.segment(2, 0, 0)); // not the parent there
}

TEST(Multilane, AGapDoesNotRenew)
{
    One r(1);

    r.sends();
    for (uint32_t i : {1, 2, 3})
        EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, i));
    EXPECT_TRUE(r.sends().empty());
    EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, 0));
    ASSERT_EQ(1u, r.sends().size());
    EXPECT_EQ(8u, r.m.told[0]);
}

TEST(Multilane, AParentSendsAsFarAsIsGranted)
{
    One r(0);

    EXPECT_TRUE(r.sends().empty());
    EXPECT_EQ(HWMC_TAKEN, r.grant(1, 0, 3));
    EXPECT_EQ(3u, r.sends().size());
    EXPECT_EQ(HWMC_TAKEN, r.grant(1, 0, 2)); // an old one
    EXPECT_TRUE(r.sends().empty());
    EXPECT_EQ(HWMC_TAKEN, r.grant(1, 0, 5));
    std::vector<hwmc_msg> sent = r.sends();
    ASSERT_EQ(2u, sent.size());
    EXPECT_EQ(3u, sent[0].segment.index);
    EXPECT_EQ(4u, sent[1].segment.index);
    EXPECT_EQ(HWMC_TAKEN, r.grant(1, 0, 21)); // there are 20
    EXPECT_EQ(15u, r.sends().size());
    EXPECT_EQ(HWMC_BAD, r.grant(2, 0, 5)); // no child of 0 there
}

// A grant that came before this rank posted is the first window of whoever sent it.
TEST(Multilane, AnEarlyGrantIsAWindow)
{
    hwmc_multilane_unexpected unexpected = {};

    unexpected.granted[0] = 1;
    One r(0, 4, 40, unexpected);

    EXPECT_EQ(4u, r.sends().size());
}

TEST(Multilane, AShortMessageIsGrantedWhole)
{
    One r(1, 4, 3);
    std::vector<hwmc_msg> sent = r.sends();

    ASSERT_EQ(2u, sent.size());
    EXPECT_EQ(2u, sent[0].grant.limit);
    EXPECT_EQ(1u, sent[1].grant.limit);
    EXPECT_EQ(HWMC_PLACE, r.segment(2, 1, 0));
    EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, 0));
    EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, 1));
    EXPECT_TRUE(r.sends().empty()); // 2 has not granted
    EXPECT_FALSE(hwmc_multilane_done(&r.m));
    EXPECT_EQ(HWMC_TAKEN, r.grant(2, 0, 2));
    EXPECT_EQ(2u, r.sends().size());
    hwmc_multilane_on_sent(&r.m, 0);
    hwmc_multilane_on_sent(&r.m, 0);
    EXPECT_TRUE(hwmc_multilane_done(&r.m));
}

// Of another length than others take the message for: it stops, and says so up and down.
TEST(Multilane, ARankWithAnotherLengthFails)
{
    One r(1);
    hwmc_msg msg;
    std::vector<hwmc_msg> sent;

    r.sends();
    EXPECT_EQ(HWMC_PLACE, r.segment(0, 0, 0));
    EXPECT_EQ(HWMC_TAKEN, r.grant(2, 0, 4));
    ASSERT_EQ(1u, r.sends().size());
    msg = r.message(HWMC_MSG_SEGMENT, 0, 0, 1);
    msg.segment.bytes = 300;
    EXPECT_EQ(HWMC_TAKEN, hwmc_multilane_on_segment(&r.m, &msg, 1));
    sent = r.sends();
    ASSERT_EQ(3u, sent.size());
    EXPECT_EQ(HWMC_MSG_GRANT, sent[0].type);
    EXPECT_EQ(0u, sent[0].peer);
    EXPECT_EQ(2u, sent[1].peer);
    EXPECT_EQ(HWMC_MSG_SEGMENT, sent[2].type);
    EXPECT_EQ(2u, sent[2].peer);
    for (const hwmc_msg &tx : sent)
        EXPECT_EQ(HWMC_FLAG_VOID, tx.flags);
    EXPECT_FALSE(hwmc_multilane_done(&r.m)); // a lane has bytes of it
    EXPECT_EQ(HWMC_DUP, r.segment(0, 0, 1));
    hwmc_multilane_on_sent(&r.m, 0);
    EXPECT_TRUE(hwmc_multilane_done(&r.m));
    EXPECT_EQ(300u, r.m.theirs);
}

TEST(Multilane, NobodyWaitsForAChildThatRefuses)
{
    One r(0);
    hwmc_msg msg = r.message(HWMC_MSG_GRANT, 1, 0, 4);

    EXPECT_EQ(HWMC_TAKEN, r.grant(1, 0, 4));
    EXPECT_EQ(4u, r.sends().size());
    msg.flags = HWMC_FLAG_VOID;
    EXPECT_EQ(HWMC_TAKEN, hwmc_multilane_on_grant(&r.m, &msg));
    EXPECT_EQ(HWMC_TAKEN, r.grant(2, 1, 20));
    EXPECT_EQ(20u, r.sends().size());
    for (int i = 0; i < 20; i++)
        hwmc_multilane_on_sent(&r.m, 1);
    EXPECT_FALSE(hwmc_multilane_done(&r.m));
    for (int i = 0; i < 4; i++)
        hwmc_multilane_on_sent(&r.m, 0);
    EXPECT_TRUE(hwmc_multilane_done(&r.m));
    EXPECT_FALSE(r.m.failed);
}
