// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// host_loss: what a rank of one leader group knows of a loss, the other leaders of its host pass on
// in theirs. Four hosts of two ranks; host h has processes 2 h and 2 h + 1. The first ones of all
// hosts are a leader group, the second ones another.
#include "engine_groups.h"

#include <sys/mman.h>

extern "C" {
#include "engine/group/failure.h"
#include "op/host_loss.h"
#include "shm/segment/params.h"
#include "shm/segment/segment.h"
}

extern "C" int hwmc_host_of(uint32_t world_rank)
{
    return static_cast<int>(world_rank / 2);
}

namespace {

class HostLoss : public ::testing::Test {
  protected:
    // Host `at` has a segment.
    void open(uint32_t at)
    {
        const hwmc_shm_layout layout = {2, 4, 2, 128};
        const hwmc_shm_params params = hwmc_shm_params_default(128);

        bytes_ = hwmc_shm_segment_bytes(&layout);
        memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_EQ(HWMC_OK, hwmc_shm_segment_over(&segment_, &layout, memory_));
        for (uint32_t r = 0; r < 2; r++)
            ASSERT_EQ(HWMC_OK, hwmc_shm_group_init(&host[r].group, &segment_, r, 0, &params));
        for (int again = 1; again > 0;) {
            again = 0;
            for (hwmc_shm_host &h : host)
                again += hwmc_shm_group_join(&h.group) == HWMC_AGAIN;
        }
        firsts = net.group({0, 2, 4, 6});
        seconds = net.group({1, 3, 5, 7});
        net.settle();
        first = firsts[at];
        second = seconds[at];
    }

    // The first rank of the host leaves; what the second one makes of it.
    const hwmc_notice &leave()
    {
        hwmc_host_loss_note(&host[0], first);
        hwmc_shm_group_fail(&host[0].group);
        hwmc_host_loss_pass(&host[1], second);
        return second->loss;
    }

    void TearDown() override
    {
        for (hwmc_shm_host &h : host)
            hwmc_shm_group_fini(&h.group);
        munmap(memory_, bytes_);
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
    hwmc_shm_host host[2] = {};
    Groups firsts, seconds;
    hwmc_group *first = nullptr, *second = nullptr;

  private:
    hwmc_shm_segment segment_ = {};
    void *memory_ = nullptr;
    size_t bytes_ = 0;
};

TEST_F(HostLoss, AnotherLeaderHasLostTheSameHost)
{
    open(3);
    hwmc_group_on_lost(first, 2);
    const hwmc_notice &loss = leave();
    ASSERT_EQ(HWMC_GROUP_BROKEN, second->state);
    EXPECT_EQ(1u, loss.rank);
    EXPECT_EQ(3u, loss.finder);
}

TEST_F(HostLoss, WhatOneWasToldTheOtherPassesOn)
{
    open(3);
    tell(first, 1, 2);
    const hwmc_notice &loss = leave();
    ASSERT_EQ(HWMC_GROUP_BROKEN, second->state);
    EXPECT_EQ(1u, loss.rank);
    EXPECT_EQ(3u, loss.finder);
}

// For the host that is lost itself, the finder's host is.
TEST_F(HostLoss, TheHostThatIsLostNamesWhoFoundThat)
{
    open(1);
    tell(first, 1, 2);
    const hwmc_notice &loss = leave();
    ASSERT_EQ(HWMC_GROUP_BROKEN, second->state);
    EXPECT_EQ(2u, loss.rank);
    EXPECT_EQ(1u, loss.finder);
}

TEST_F(HostLoss, WhoLeavesForAnotherReasonNamesNobody)
{
    open(3);
    tell(first, 2, 2); // who left said so: it can be reached
    leave();
    EXPECT_NE(HWMC_GROUP_BROKEN, second->state);
}
} // namespace
