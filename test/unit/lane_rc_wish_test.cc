// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Paths that a program wants: migration by request, at both ends.
#include "lane_rc.h"

namespace {

class LaneRcWish : public LaneRc {
  protected:
    void start()
    {
        open(2, true);
        ASSERT_TRUE(connect(0, 1));
        ASSERT_TRUE(connect(1, 0));
    }

    void prefer(uint8_t path)
    {
        ASSERT_EQ(HWMC_OK, hwmc_lane_rc_prefer(ends[0]->lane, 1, path));
        ASSERT_EQ(HWMC_OK, hwmc_lane_rc_prefer(ends[1]->lane, 0, path));
    }

    // Messages both ways until both ends are on that port of the device.
    bool on_port(uint8_t number)
    {
        return poll_until([&] {
            uint8_t a, b;

            talk();
            path(0, 1, &a);
            path(1, 0, &b);
            return a == number && b == number;
        });
    }

    void talk()
    {
        send(0, 1, std::to_string(sent[0]++));
        send(1, 0, std::to_string(sent[1]++));
    }

    // Everything that was sent came, in order and once.
    void expect_all()
    {
        ASSERT_TRUE(flush());
        ASSERT_TRUE(poll_until(
            [&] { return ends[0]->came.size() == sent[1] && ends[1]->came.size() == sent[0]; }));
        for (auto &e : ends)
            for (size_t i = 0; i < e->came.size(); i++)
                ASSERT_EQ(std::to_string(i), e->came[i].first);
        EXPECT_TRUE(ends[0]->lost.empty() && ends[1]->lost.empty());
    }

    // Messages both ways, and nothing migrates.
    void expect_stays()
    {
        for (int i = 0; i < 50; i++) {
            talk();
            poll();
        }
        expect_all();
        EXPECT_EQ(0u, migrations() + unmet());
    }

    uint64_t migrations()
    {
        uint64_t n = 0;

        for (uint32_t i = 0; i < 2; i++)
            n += counts(i).moved + counts(i).migrated;
        return n;
    }

    uint64_t unmet()
    {
        return counts(0).unmet + counts(1).unmet;
    }

    void TearDown() override
    {
        LaneRc::TearDown();
        if (no_hca.empty()) {
            set_port(0, true);
            set_port(1, true);
        }
    }

    size_t sent[2] = {};
};

TEST_F(LaneRcWish, GoesToAPathAndBackByRequest)
{
    start();
    prefer(HWMC_LANE_RC_SECOND);
    ASSERT_TRUE(on_port(2));
    prefer(HWMC_LANE_RC_FIRST);
    ASSERT_TRUE(on_port(1));
    prefer(2); // by the number of the port
    ASSERT_TRUE(on_port(2));
    expect_all();
    EXPECT_TRUE(poll_until([&] { return migrations() == 6; })) << "each once at both ends";
    EXPECT_LE(3u, counts(0).moved + counts(1).moved);
    EXPECT_EQ(0u, unmet());
}

TEST_F(LaneRcWish, StaysWhereItIsWanted)
{
    start();
    prefer(HWMC_LANE_RC_FIRST);
    expect_stays();
}

TEST_F(LaneRcWish, WaitsForAConnection)
{
    open(2, true);
    prefer(HWMC_LANE_RC_SECOND);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    ASSERT_TRUE(on_port(2));
    expect_all();
}

// It is enough if one end asks.
TEST_F(LaneRcWish, OneEndAsks)
{
    start();
    ASSERT_EQ(HWMC_OK, hwmc_lane_rc_prefer(ends[1]->lane, 0, HWMC_LANE_RC_SECOND));
    ASSERT_TRUE(on_port(2));
    expect_all();
    EXPECT_TRUE(poll_until([&] { return counts(1).moved == 1 && counts(0).migrated == 1; }));
}

TEST_F(LaneRcWish, TheLastWishCounts)
{
    start();
    prefer(HWMC_LANE_RC_SECOND);
    prefer(HWMC_LANE_RC_FIRST);
    prefer(HWMC_LANE_RC_SECOND);
    prefer(HWMC_LANE_RC_ANY);
    expect_stays();
}

TEST_F(LaneRcWish, ThereIsNoSuchPath)
{
    start();
    prefer(7);
    EXPECT_TRUE(poll_until([&] { return unmet() == 2; }));
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_lane_rc_prefer(ends[0]->lane, 0, 1));
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_lane_rc_prefer(ends[0]->lane, 2, 1));
    talk();
    expect_all();
}

TEST_F(LaneRcWish, ThePathIsDown)
{
    uint8_t port = 0;

    if (no_hca.empty())
        set_port(1, false);
    start();
    prefer(HWMC_LANE_RC_SECOND);
    EXPECT_TRUE(poll_until([&] { return unmet() == 2; }));
    path(0, 1, &port);
    EXPECT_EQ(1, port);
    talk();
    expect_all();
}

// What was wanted of a connection that is lost is not wanted of the next one: it may be why.
TEST_F(LaneRcWish, AFaultHasTheLastWord)
{
    uint8_t port = 0;

    start();
    set_port(1, false);
    prefer(HWMC_LANE_RC_SECOND);
    set_port(0, false);
    ASSERT_TRUE(poll_until([&] { return !ends[0]->lost.empty() && !ends[1]->lost.empty(); }));
    EXPECT_EQ(2u, unmet());
    set_port(0, true);
    set_port(1, true);
    ASSERT_TRUE(connect(0, 1));
    ASSERT_TRUE(connect(1, 0));
    ASSERT_TRUE(armed(0, 1));
    path(0, 1, &port);
    EXPECT_EQ(1, port);
    EXPECT_EQ(0u, migrations());
}

// Without hardware that migrates there is nothing to ask for.
TEST_F(LaneRcWish, NothingMigrates)
{
    open(2, false);
    EXPECT_EQ(HWMC_ERR_DEVICE, hwmc_lane_rc_prefer(ends[0]->lane, 1, HWMC_LANE_RC_SECOND));
}

TEST_F(LaneRcWish, WhichPortsAreOfItsDevice)
{
    open(2, true);
    EXPECT_EQ(1, hwmc_lane_rc_port(ends[0]->lane, ends[1]->lane));
}

} // namespace
