// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Set-up of groups: in vain, closed meanwhile, begun later.
#include "engine_groups.h"

// Where no probe came the next set-up does not wait for one: no time passes. Then it is tried
// again.
TEST(EngineSetup, ASetUpInVainIsNotRepeatedAtOnce)
{
    mem::Net net(4);
    bool passes = false;
    auto ends = [&](uint64_t wait, hwmc_group_state state) {
        Groups g = net.group(first(4));

        net.settle(wait);
        expect_all(g, state);
        EXPECT_EQ(state == HWMC_GROUP_ON ? 0 : (uint32_t) HWMC_REASON_PROBE, g[0]->reason);
        for (auto *x : g)
            hwmc_group_close(x, net.now);
        net.settle();
    };

    net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &) { return passes || to != 2; };
    ends(600000000, HWMC_GROUP_OFF);
    ends(0, HWMC_GROUP_OFF);
    ends(600000000, HWMC_GROUP_OFF);
    ends(0, HWMC_GROUP_OFF);
    ends(0, HWMC_GROUP_OFF);
    passes = true;
    ends(0, HWMC_GROUP_ON);
    passes = false;
    ends(600000000, HWMC_GROUP_OFF);
    ends(0, HWMC_GROUP_OFF);
    passes = true;
    ends(0, HWMC_GROUP_ON);
}

// One is through before others have begun; they do not wait for it in vain, and nothing is left.
TEST(EngineSetup, WhoClosesDuringSetUpStaysToItsEnd)
{
    for (uint32_t first_one = 0; first_one < 5; first_one++)
        for (int steps = 0; steps < 12; steps++) {
            mem::Net net(5);
            Groups g = net.group(first(5), [](hwmc_group_cfg &cfg) { cfg.fanout = 2; });

            for (int i = 0; i < steps; i++)
                net.step();
            hwmc_group_close(g[first_one], net.now);
            net.settle();
            for (uint32_t r = 0; r < 5; r++)
                if (r != first_one) {
                    ASSERT_NE(HWMC_GROUP_SETUP, g[r]->state) << first_one << " " << steps;
                    EXPECT_EQ(g[first_one == 0]->state, g[r]->state);
                }
            for (uint32_t r = 0; r < 5; r++)
                if (r != first_one)
                    hwmc_group_close(g[r], net.now);
            net.settle(600000000);
            for (auto *e : net.engines) {
                EXPECT_EQ(e->groups.first, nullptr);
                EXPECT_EQ(e->groups.memory_used, 0u);
            }
        }
}

TEST(EngineSetup, WhatBeginsLaterSendsNothingBeforeTheNextProgress)
{
    mem::Net net(3);
    Groups g = net.group(first(3), [](hwmc_group_cfg &cfg) { cfg.later = true; });

    for (auto *e : net.engines) {
        EXPECT_EQ(0u, e->wires.engine_counts->lane_messages_sent);
        EXPECT_EQ(0u, hwmc_engine_deadline(e));
    }
    net.settle();
    expect_all(g, HWMC_GROUP_ON);
}
