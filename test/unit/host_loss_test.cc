// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// host_loss: what a rank of one leader group knows of a loss, the other leaders of its host pass on
// in theirs. Four hosts of two ranks; host h has processes 2 h and 2 h + 1. The first ones of all
// hosts are a leader group, the second ones another.
#include "engine_groups.h"
#include "one_host.h"

extern "C" {
#include "engine/group/failure.h"
#include "op/host_loss.h"
}

extern "C" int hwmc_host_of(uint32_t world_rank)
{
    return static_cast<int>(world_rank / 2);
}

namespace {

class HostLoss : public ::testing::Test {
  protected:
    // At host `at`.
    void open(uint32_t at)
    {
        const Groups firsts = net.group({0, 2, 4, 6}), seconds = net.group({1, 3, 5, 7});

        net.settle();
        first = firsts[at];
        second = seconds[at];
    }

    // The first rank of the host leaves; what the second one makes of it.
    void leave()
    {
        hwmc_host_loss_note(&host.ranks[0], first);
        hwmc_shm_group_fail(&host.ranks[0].group);
        hwmc_host_loss_pass(&host.ranks[1], second);
    }

    // It knows that member `rank` is lost, by whom.
    void expect_found(uint32_t rank, uint32_t finder)
    {
        ASSERT_EQ(HWMC_GROUP_BROKEN, second->state);
        EXPECT_EQ(rank, second->loss.rank);
        EXPECT_EQ(finder, second->loss.finder);
    }

    static void tell(hwmc_group *g, uint32_t rank, uint32_t finder)
    {
        hwmc_msg m = {};

        m.type = HWMC_MSG_LOST;
        m.bid = g->loss.key;
        m.peer = 0;
        m.lost.rank = rank;
        m.lost.finder = finder;
        m.lost.stage = HWMC_STAGE_TREES;
        hwmc_group_on_told(g, &m);
        ASSERT_EQ(HWMC_GROUP_BROKEN, g->state);
    }

    mem::Net net{8};
    OneHost host{2};
    hwmc_group *first = nullptr, *second = nullptr;
};

TEST_F(HostLoss, AnotherLeaderHasLostTheSameHost)
{
    open(3);
    hwmc_group_on_lost(first, 2);
    leave();
    expect_found(1, 3);
}

TEST_F(HostLoss, WhatOneWasToldTheOtherPassesOn)
{
    open(3);
    tell(first, 1, 2);
    leave();
    expect_found(1, 3);
}

// For the host that is lost itself, the finder's host is.
TEST_F(HostLoss, TheHostThatIsLostNamesWhoFoundThat)
{
    open(1);
    tell(first, 1, 2);
    leave();
    expect_found(2, 1);
}

TEST_F(HostLoss, WhoLeavesForAnotherReasonNamesNobody)
{
    open(3);
    tell(first, 2, 2); // who left said so: it can be reached
    leave();
    EXPECT_NE(HWMC_GROUP_BROKEN, second->state);
}
} // namespace
