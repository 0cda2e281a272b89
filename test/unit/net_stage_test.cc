// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// net_stage: messages over a group of mem::Net, one stage a member, stepped in turn with the
// network.
#include "failing_memory.h"
#include "net_stages.h"

// About the edges of fragments, of what is pinned and of pieces; in turn along trees, and in parts.
TEST(NetStage, MessagesOfAllLengthsByEachWay)
{
    for (uint32_t p : {2, 3, 8}) {
        mem::Net net(p);
        Groups g = net.group(first(p), small_pieces());
        uint32_t i = 0;

        net.settle();
        lose_some(net, 6);
        for (uint32_t n : {1, 99, 100, 101, 300, 301, 499, 500, 501, 999, 1000, 1001, 2600})
            for (int way = 0; way < 8; way++, i++) {
                Plan plan;

                plan.root = i % p;
                plan.along_trees = way & 1;
                plan.whole = (way & 2) == 0;
                plan.feed = way & 4 ? 170 : 0;
                bcast(net, g, plan, pattern(n, i));
            }
        EXPECT_EQ(0u, net.engines[p - 1]->wires.counts->bad);
        EXPECT_LT(0u, net.engines[p - 1]->wires.counts->multilane);
    }
}

// What a long message has brought is here before all of it is, by each way.
TEST(NetStage, WhatHasComeIsHereAtOnce)
{
    for (bool along_trees : {false, true}) {
        mem::Net net(2);
        Groups g = net.group(first(2), small_pieces());
        mem::Bytes data = pattern(400, 1);
        Plan plan;
        bool some = false;

        net.settle();
        plan.along_trees = along_trees;
        net.passes = [](uint32_t, uint32_t, const mem::Bytes &b) { return index_of(b) != 3; };
        Stages stages(net, g, plan, data);
        for (int i = 0; i < 200; i++) {
            stages.step();
            net.step();
            some = some || (stages[1].here > 0 && stages[1].here < data.size());
        }
        EXPECT_TRUE(some) << along_trees;
        stages.run();
        stages.expect_data();
    }
}

// A member's own length is another one: it and nobody else gets an error that says so, and the next
// message goes well.
TEST(NetStage, LengthsThatDisagreeAreAnErrorAndAllStayInStep)
{
    for (bool along_trees : {false, true})
        for (uint32_t odd_bytes : {1, 499, 500, 700, 1000, 1500, 2600}) {
            mem::Net net(3);
            Groups g = net.group(first(3), small_pieces());
            mem::Bytes data = pattern(1001, 1);
            Plan plan;

            net.settle();
            plan.odd = 2;
            plan.odd_bytes = odd_bytes;
            plan.along_trees = along_trees;
            Stages stages(net, g, plan, data);
            stages.run();
            EXPECT_EQ(HWMC_ERR_INVAL, stages[2].err) << along_trees << " " << odd_bytes;
            EXPECT_EQ(1001u, stages[2].theirs);
            EXPECT_EQ(odd_bytes, stages[2].ours);
            if (!along_trees) {
                EXPECT_EQ(HWMC_OK, stages[0].err);
                EXPECT_EQ(HWMC_OK, stages[1].err);
                bcast(net, g, Plan(), pattern(1200, 2));
            }
        }
}

// Rails stop working in mid-message: the rest goes along trees. A member that knows of no rest
// takes part in it.
TEST(NetStage, AMessageGoesOnAlongTrees)
{
    for (bool whole : {true, false})
        for (uint32_t odd : {UINT32_MAX, 2u}) {
            mem::Net net(3);
            Groups g = net.group(first(3), small_pieces(false));
            mem::Bytes data = pattern(60000, 1);
            Plan plan;
            int steps = 0;

            net.settle();
            plan.whole = whole;
            plan.odd = odd;
            plan.odd_bytes = 3000;
            Stages stages(net, g, plan, data);
            for (; stages[0].at < 2500; steps++) {
                stages.step();
                net.step();
                ASSERT_LT(steps, 20000);
            }
            net.passes = [](uint32_t, uint32_t, const mem::Bytes &) { return false; };
            stages.run();
            EXPECT_LT(0u, net.engines[1]->wires.counts->multilane);
            if (odd == UINT32_MAX)
                stages.expect_data();
            else
                EXPECT_EQ(HWMC_ERR_INVAL, stages[2].err);
        }
}

// A member is lost after so many steps: the others get an error, and nothing of their memory is in
// use.
TEST(NetStage, EndsWhereverAMemberIsLost)
{
    for (bool along_trees : {false, true})
        for (uint32_t lost : {0u, 2u})
            for (int after = 0; after < 60; after += along_trees ? 1 : 3) {
                mem::Net net(4);
                Groups g = net.group(first(4), small_pieces());
                Plan plan;

                net.settle();
                plan.along_trees = along_trees;
                Stages stages(net, g, plan, pattern(1700, 1));
                stages.go(after);
                for (uint32_t r = 0; r < 4; r++)
                    if (r != lost)
                        hwmc_engine_on_lost(net.engines[r], lost);
                hwmc_engine_on_lost(net.engines[lost], (lost + 1) % 4);
                stages.run();
                for (uint32_t r = 0; r < 4; r++)
                    EXPECT_TRUE(stages[r].err == HWMC_ERR_PEER || stages[r].err == HWMC_OK);
                if (after == 0) {
                    EXPECT_EQ(HWMC_ERR_PEER, stages[1].err);
                }
            }
}

// A rail sends from a root's memory, and the broadcast fails: it is over when the rail has returned
// the memory, or when it has had its time.
TEST(NetStage, AfterAnErrorRailsReturnTheMemoryOfARoot)
{
    for (bool returns : {false, true}) {
        mem::Net net(3);
        Groups g = net.group(first(3), small_pieces());
        Plan plan;

        net.settle();
        net.fabric(0).keeps = true;
        Stages stages(net, g, plan, pattern(1700, 1));
        stages.go(2);
        ASSERT_EQ(1u, net.fabric(0).lent.size());
        for (uint32_t r = 0; r < 3; r++)
            hwmc_engine_on_lost(net.engines[r], (r + 1) % 3);
        stages.run_until([&] {
            stages.step();
            return stages[0].retreat.state == HWMC_RETREAT_WITHDRAWN;
        });
        EXPECT_EQ(HWMC_NET_RETREAT, stages[0].state);
        net.now += MS;
        stages.step();
        EXPECT_EQ(HWMC_NET_RETREAT, stages[0].state);
        net.fabric(0).keeps = !returns;
        net.now += returns ? 0 : 10 * MS;
        stages.step();
        EXPECT_EQ(HWMC_NET_OVER, stages[0].state);
        net.fabric(0).keeps = false;
        stages.run();
    }
}

// Whoever waits gives up, in any state; it is over when nothing of the memory is in use.
TEST(NetStage, CanBeGivenUpInAnyState)
{
    for (bool along_trees : {false, true})
        for (int after = 0; after < 60; after += along_trees ? 1 : 3) {
            mem::Net net(3);
            Groups g = net.group(first(3), small_pieces());
            Plan plan;

            net.settle();
            plan.along_trees = along_trees;
            plan.whole = after % 2;
            Stages stages(net, g, plan, pattern(1700, 1));
            stages.go(after);
            for (uint32_t r = 0; r < 3; r++) {
                const bool over = stages[r].state == HWMC_NET_OVER;

                hwmc_net_stage_fail(&stages[r], HWMC_ERR_PEER, net.now);
                EXPECT_EQ(over, stages[r].err == HWMC_OK);
            }
            stages.run();
        }
}

// One member gives up, whatever the broadcast is at: the others end too, now or in the next one,
// and all can close the group.
TEST(NetStage, NobodyWaitsForAMemberThatGivesUp)
{
    for (bool along_trees : {false, true})
        for (uint32_t leaves = 0; leaves < 3; leaves++)
            for (int after = 0; after < 30; after += along_trees ? 1 : 3) {
                mem::Net net(3);
                Groups g = net.group(first(3), small_pieces());
                Plan plan;

                net.settle();
                plan.along_trees = along_trees;
                Stages stages(net, g, plan, pattern(1700, 1));
                stages.go(after);
                if (stages[leaves].state == HWMC_NET_OVER)
                    continue;
                hwmc_net_stage_fail(&stages[leaves], HWMC_ERR_INVAL, net.now);
                stages.run();
                EXPECT_EQ(HWMC_ERR_INVAL, stages[leaves].err);
                Stages next(net, g, plan, pattern(1700, 2));
                next.run();
                for (uint32_t r = 0; r < 3; r++) {
                    EXPECT_EQ(HWMC_ERR_PEER, next[r].err) << along_trees << after << r;
                    EXPECT_EQ(leaves, g[r]->loss.rank);
                    hwmc_group_close(g[r], net.now);
                }
            }
}

TEST(NetStage, WithoutMemoryForAMessageInPiecesItFails)
{
    mem::Net net(2);
    Groups g = net.group(first(2), small_pieces());
    Plan plan;

    net.settle();
    plan.along_trees = true;
    plan.whole = false;
    failing_memory::Range none(0, 1);
    Stages stages(net, g, plan, pattern(1700, 1));
    EXPECT_EQ(HWMC_ERR_NOMEM, stages[0].err);
    EXPECT_EQ(HWMC_NET_OVER, stages[0].state);
}

// Unpacking fails at one member: that is its error, and the broadcast is consumed.
TEST(NetStage, AnErrorOfUnpackingIsThatMembers)
{
    for (bool along_trees : {false, true}) {
        mem::Net net(3);
        Groups g = net.group(first(3), small_pieces());
        Plan plan;

        net.settle();
        plan.along_trees = along_trees;
        plan.whole = false;
        Stages stages(net, g, plan, pattern(400, 1));
        stages.message(2).fails = true;
        stages.run();
        EXPECT_EQ(HWMC_OK, stages[0].err);
        EXPECT_EQ(HWMC_OK, stages[1].err);
        EXPECT_EQ(HWMC_ERR_INVAL, stages[2].err);
        bcast(net, g, Plan(), pattern(400, 2));
    }
}
