// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Golden traces: canonical runs as text, to be read by people and compared here. A change of the
// protocol shows as a change of traces/*.txt; HWMC_SIM_ACCEPT=1 writes them anew.
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim_net.h"

namespace {

using sim::Config;

void compare(Config c, const std::string &name)
{
    c.trace = true;
    sim::Net net(c);
    std::string path = std::string(TRACES) + "/" + name + ".txt";
    std::stringstream golden;

    EXPECT_EQ("", net.run());
    if (getenv("HWMC_SIM_ACCEPT"))
        std::ofstream(path) << net.trace();
    golden << std::ifstream(path).rdbuf();
    EXPECT_EQ(golden.str(), net.trace());
}

// Fragment 1 of broadcast 0 is lost on its way to rank 2.
Config four(bool push)
{
    Config c;

    c.ranks = 4;
    c.push = push;
    c.script = {{0, 20}};
    c.lose = [](const hwmc_msg &msg, uint32_t to) {
        return msg.type == HWMC_MSG_DATA && msg.data.index == 1 && to == 2;
    };
    return c;
}

} // namespace

// The example of core/bcast/two_stage.h.
TEST(Trace, PullFourRanksOneLoss)
{
    compare(four(false), "pull_one_loss");
}

TEST(Trace, PushFourRanksOneLoss)
{
    compare(four(true), "push_one_loss");
}

// Window of 2, three ranks; the floors that rank 0 multicasts never arrive at rank 2, the root.
TEST(Trace, WindowUsedUpAndFloorLost)
{
    Config c;

    c.ranks = 3;
    c.channels = 2;
    c.period = 2;
    c.script = {{2, 8}, {2, 8}, {2, 8}, {2, 0}};
    c.lose = [](const hwmc_msg &msg, uint32_t to) {
        return msg.type == HWMC_MSG_SYNC_DOWN && to == 2;
    };
    compare(c, "window_floor_lost");
}

// The root waits for a random member; everything is lost, so the tail is asked for.
TEST(Trace, RandomMemberAndTail)
{
    Config c;

    c.ranks = 3;
    c.delay = HWMC_DELAY_RANDOM;
    c.script = {{1, 16}};
    c.lose = [](const hwmc_msg &msg, uint32_t to) { return msg.type == HWMC_MSG_DATA && to == 0; };
    compare(c, "random_member_tail");
}
