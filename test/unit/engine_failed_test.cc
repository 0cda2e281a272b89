// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What a group waits for, and a member of it that is gone.
#include "engine_groups.h"

namespace {

mem::Net::Tweak with_trees()
{
    return [](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 70;
    };
}

void expect_lost(const Groups &g, uint32_t lost, uint32_t finder, uint32_t but = UINT32_MAX)
{
    for (auto *x : g) {
        if (x->cfg.rank == but)
            continue;
        EXPECT_EQ(HWMC_GROUP_BROKEN, x->state) << x->cfg.rank;
        EXPECT_EQ(lost, x->loss.rank);
        EXPECT_EQ(finder, x->loss.finder);
    }
}

// Of p ranks.
std::vector<std::pair<uint32_t, uint32_t>> pairs_of(uint32_t p)
{
    std::vector<std::pair<uint32_t, uint32_t>> pairs;

    for (uint32_t a = 0; a < p; a++)
        for (uint32_t b = 0; b < p; b++)
            if (a != b)
                pairs.emplace_back(a, b);
    return pairs;
}

// LOST as rank 0 says it to host 1.
hwmc_msg told(uint32_t lost, uint32_t finder, uint32_t stage)
{
    hwmc_msg m = {};

    m.type = HWMC_MSG_LOST;
    m.bid = 99;
    m.lost.rank = lost;
    m.lost.finder = finder;
    m.lost.stage = stage;
    m.lost.rails = 2;
    return m;
}

} // namespace

TEST(EngineGone, AStageForAllThatIsWaitedFor)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());
    mem::Bytes room(500);

    EXPECT_EQ(hwmc_group_stage(g[1]), HWMC_STAGE_SETUP);
    net.settle();
    EXPECT_EQ(hwmc_group_stage(g[1]), HWMC_STAGE_SYNC);
    hwmc_group_post_member(g[1], 0, net.now);
    EXPECT_EQ(hwmc_group_stage(g[1]), HWMC_STAGE_CAST);
    hwmc_group_post_trees(g[2], 0, room.data(), 500, net.now);
    EXPECT_EQ(hwmc_group_stage(g[2]), HWMC_STAGE_TREES);
}

TEST(EngineGone, EndsTheWaitAndSaysWhoAndWhen)
{
    mem::Net net(3);
    Groups g = net.group({2, 0, 1}, with_trees());

    net.settle();
    hwmc_group_post_member(g[1], 0, net.now);
    hwmc_group_on_failed(g[1], 2, 5);
    EXPECT_EQ(g[1]->state, HWMC_GROUP_BROKEN);
    EXPECT_EQ(g[1]->loss.rank, 2u);
    EXPECT_EQ(g[1]->loss.rails, 5u);
    EXPECT_EQ(g[1]->loss.stage, HWMC_STAGE_CAST);
    EXPECT_EQ(g[0]->state, HWMC_GROUP_ON);
}

TEST(EngineGone, WhatItWaitsForEndsWithTheFirstLoss)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());

    net.settle();
    hwmc_group_post_member(g[1], 0, net.now);
    hwmc_group_on_lost(g[1], 2);
    EXPECT_EQ(g[1]->loss.stage, HWMC_STAGE_CAST);
    hwmc_group_on_failed(g[1], 0, 1);
    EXPECT_EQ(g[1]->loss.rank, 2u);
    EXPECT_EQ(g[1]->loss.rails, 0u);
}

TEST(EngineGone, EndsSetupAndNobodyWaitsToClose)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());

    hwmc_group_on_failed(g[0], 1, 1);
    EXPECT_EQ(g[0]->state, HWMC_GROUP_BROKEN);
    EXPECT_EQ(g[0]->loss.stage, HWMC_STAGE_SETUP);
    hwmc_group_close(g[0], net.now);
    hwmc_engine_progress(net.engines[0], net.now);
    EXPECT_EQ(net.engines[0]->groups.first, nullptr);
}

TEST(EngineGone, EveryMemberGetsToKnow)
{
    for (auto [finder, lost] : pairs_of(9)) {
        mem::Net net(9);
        Groups g = net.group(first(9), with_trees());

        net.settle();
        hwmc_group_on_failed(g[finder], lost, 2);
        net.settle();
        expect_lost(g, lost, finder);
        for (auto *x : g) {
            EXPECT_EQ(2u, x->loss.rails);
            EXPECT_EQ(HWMC_STAGE_SYNC, x->loss.stage);
        }
    }
}

// ... but the one that is gone, wherever it stands, as long as it is one.
TEST(EngineGone, NobodyNeedsWhoIsGoneToGetToKnow)
{
    for (auto [finder, lost] : pairs_of(9)) {
        mem::Net net(9);
        Groups g = net.group(first(9), with_trees());

        net.settle();
        for (uint32_t r = 0; r < 9; r++)
            net.lane(r, 0).dead.insert(lost);
        hwmc_group_on_failed(g[finder], lost, 2);
        net.settle();
        expect_lost(g, lost, finder, lost);
        EXPECT_EQ(HWMC_GROUP_ON, g[lost]->state);
    }
}

// Each sends control by a rail of its own, and the finder's is the one that is silent.
TEST(EngineGone, LostGoesByALaneOfEachRail)
{
    for (auto [finder, lost] : pairs_of(5)) {
        mem::Net net(5, 64 << 20, 40 + 100, 1 << 20, 2);
        Groups g;

        net.lanes_on({0, 1});
        g = net.group(first(5), with_trees());
        net.settle();
        net.lane(finder, 0).silent = net.lane(finder, 1).silent = true;
        for (auto *e : net.engines)
            hwmc_engine_alert(e, true);
        hwmc_group_on_failed(g[finder], lost, 1);
        net.settle();
        expect_lost(g, lost, finder, lost);
    }
}

TEST(EngineGone, EveryMemberGetsToKnowDuringSetup)
{
    mem::Net net(5);
    Groups g = net.group(first(5), with_trees());

    hwmc_group_on_failed(g[3], 1, 1);
    net.step();
    net.settle();
    expect_lost(g, 1, 3);
    EXPECT_EQ(HWMC_STAGE_SETUP, g[0]->loss.stage);
}

// Somebody that heard nothing, for it had not begun the group, hears it when it says something.
TEST(EngineGone, WhoSpeaksToABrokenGroupIsTold)
{
    mem::Net net(2);
    Groups g = net.group(first(2), with_trees());
    hwmc_msg m = {};

    net.settle();
    hwmc_group_on_failed(g[1], 0, 1);
    hwmc_group_pump(g[1], net.now);
    EXPECT_TRUE(net.lanes[0]->in.empty()) << "there is nobody to tell";
    g[1]->loss.cut = false; // as if another had told
    g[1]->loss.finder = 0;
    m.type = HWMC_MSG_SYNC_ASK;
    give(net, g[1], m, 0);
    ASSERT_EQ(1u, net.lanes[0]->in.size());
    net.settle();
    EXPECT_EQ(HWMC_GROUP_BROKEN, g[0]->state);
    EXPECT_TRUE(net.lanes[1]->in.empty()) << "LOST has no answer";
}

TEST(EngineGone, ClosingEndsToo)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());

    net.settle();
    hwmc_group_close(g[1], net.now);
    net.settle();
    ASSERT_NE(nullptr, net.engines[1]->groups.first);
    hwmc_group_on_failed(g[0], 2, 1);
    net.settle();
    EXPECT_EQ(nullptr, net.engines[1]->groups.first);
    EXPECT_EQ(HWMC_GROUP_BROKEN, g[2]->state) << "by way of the one that is closing";
}

// A member that is about to go finds its parent lost as it says that it goes.
TEST(EngineGone, WhoGoesAndFindsALossTellsIt)
{
    for (bool drains : {false, true}) {
        mem::Net net(3);
        Groups g = net.group(first(3), with_trees());

        net.settle();
        broadcast(net, g, 0, pattern(100, 1));
        net.lane(1, 0).dead.insert(0);
        if (drains)
            hwmc_engine_drain(net.engines[1], net.now);
        else
            hwmc_group_close(g[1], net.now);
        net.settle();
        EXPECT_EQ(nullptr, net.engines[1]->groups.first);
        for (uint32_t r : {0u, 2u}) {
            EXPECT_EQ(HWMC_GROUP_BROKEN, g[r]->state) << r;
            EXPECT_EQ(0u, g[r]->loss.rank);
            EXPECT_EQ(1u, g[r]->loss.finder);
        }
    }
}

TEST(EngineGone, WhatMakesNoSenseBreaksNothing)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());
    mem::Bytes datagram(HWMC_WIRE_HEAD);
    hwmc_wire_id by_key = g[1]->id;
    hwmc_msg m = told(2, 0, HWMC_STAGE_CAST);

    net.settle();
    by_key.generation = 0;
    hwmc_wire_encode(datagram.data(), &by_key, 0, &m, nullptr, 0);
    net.fabric(1).in.push_back(datagram);
    hwmc_engine_progress(net.engines[1], net.now);
    EXPECT_EQ(HWMC_GROUP_ON, g[1]->state) << "by multicast";
    for (const auto &bad : {told(3, 0, 0), told(2, 3, 0), told(2, 0, HWMC_STAGE_LIMIT)}) {
        mem::Bytes message(HWMC_WIRE_HEAD);

        hwmc_wire_encode(message.data(), &by_key, 0, &bad, nullptr, 0);
        net.lanes[1]->in.push_back(message);
    }
    hwmc_engine_progress(net.engines[1], net.now);
    EXPECT_EQ(HWMC_GROUP_ON, g[1]->state);
    EXPECT_EQ(4u, net.engines[1]->wires.counts->bad);
    hwmc_wire_encode(datagram.data(), &by_key, 0, &m, nullptr, 0);
    net.lanes[1]->in.push_back(datagram);
    hwmc_engine_progress(net.engines[1], net.now);
    EXPECT_EQ(HWMC_GROUP_BROKEN, g[1]->state) << "the same over a lane";
    EXPECT_EQ(2u, g[1]->loss.rank);
}
