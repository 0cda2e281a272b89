// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What a group waits for, and a member of it that is gone.
#include "engine_groups.h"

namespace {

mem::Net::Tweak with_trees()
{
    return [](bcast_hw_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 70;
    };
}

} // namespace

TEST(EngineGone, AStageForAllThatIsWaitedFor)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());
    mem::Bytes room(500);

    EXPECT_EQ(bcast_hw_group_stage(g[1]), BCAST_HW_STAGE_SETUP);
    net.settle();
    EXPECT_EQ(bcast_hw_group_stage(g[1]), BCAST_HW_STAGE_SYNC);
    bcast_hw_group_post_member(g[1], 0, net.now);
    EXPECT_EQ(bcast_hw_group_stage(g[1]), BCAST_HW_STAGE_CAST);
    bcast_hw_group_post_trees(g[2], 0, room.data(), 500, net.now);
    EXPECT_EQ(bcast_hw_group_stage(g[2]), BCAST_HW_STAGE_TREES);
}

TEST(EngineGone, EndsTheWaitAndSaysWhoAndWhen)
{
    mem::Net net(3);
    Groups g = net.group({2, 0, 1}, with_trees());

    net.settle();
    bcast_hw_group_post_member(g[1], 0, net.now);
    bcast_hw_group_on_gone(g[1], 2, 5);
    EXPECT_EQ(g[1]->state, BCAST_HW_GROUP_BROKEN);
    EXPECT_EQ(g[1]->reason_rank, 2u);
    EXPECT_EQ(g[1]->gone_rails, 5u);
    EXPECT_EQ(g[1]->lost_stage, BCAST_HW_STAGE_CAST);
    EXPECT_EQ(g[0]->state, BCAST_HW_GROUP_ON);
}

TEST(EngineGone, WhatItWaitsForEndsWithTheFirstLoss)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());

    net.settle();
    bcast_hw_group_post_member(g[1], 0, net.now);
    bcast_hw_group_on_lost(g[1], 2);
    EXPECT_EQ(g[1]->lost_stage, BCAST_HW_STAGE_CAST);
    bcast_hw_group_on_gone(g[1], 0, 1);
    EXPECT_EQ(g[1]->reason_rank, 2u);
    EXPECT_EQ(g[1]->gone_rails, 0u);
}

TEST(EngineGone, EndsSetupAndNobodyWaitsToClose)
{
    mem::Net net(3);
    Groups g = net.group(first(3), with_trees());

    bcast_hw_group_on_gone(g[0], 1, 1);
    EXPECT_EQ(g[0]->state, BCAST_HW_GROUP_BROKEN);
    EXPECT_EQ(g[0]->lost_stage, BCAST_HW_STAGE_SETUP);
    bcast_hw_group_close(g[0], net.now);
    bcast_hw_engine_progress(net.engines[0], net.now);
    EXPECT_EQ(net.engines[0]->groups, nullptr);
}
