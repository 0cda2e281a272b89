// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The test of a device, on the emulated one.
#include "lane_rc.h"

extern "C" {
#include "apm/selftest.h"
}

namespace {

class Selftest : public LaneRc {
  protected:
    void SetUp() override
    {
        LaneRc::SetUp();
        list = no_hca.empty() ? ibv_get_device_list(nullptr) : nullptr;
        // Opened while all is well, as that of a process that asks later.
        context = list ? ibv_open_device(list[0]) : nullptr;
    }

    void TearDown() override
    {
        if (context)
            ibv_close_device(context);
        if (list)
            ibv_free_device_list(list);
    }

    ibv_device **list = nullptr;
    ibv_context *context = nullptr;
};

// The device hears of it after the link has changed.
void wait_for(ibv_context *context, ibv_port_state state)
{
    ibv_port_attr attr = {};

    for (int i = 0; i < 10000 && attr.state != state; i++) {
        ASSERT_EQ(0, ibv_query_port(context, 1, &attr));
        usleep(1000);
    }
    ASSERT_EQ(state, attr.state);
}

TEST_F(Selftest, ADeviceThatMigrates)
{
    ASSERT_NE(nullptr, list[0]);
    for (uint8_t port = 1; port <= 2; port++)
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(HWMC_APM_SELFTEST_HARDWARE, hwmc_apm_selftest(list[0], port));
}

TEST_F(Selftest, APortThatIsDown)
{
    set_port(0, false);
    wait_for(context, IBV_PORT_DOWN);
    EXPECT_EQ(HWMC_APM_SELFTEST_PORT_DOWN, hwmc_apm_selftest(list[0], 1));
    set_port(0, true);
    wait_for(context, IBV_PORT_ACTIVE);
    EXPECT_EQ(HWMC_APM_SELFTEST_PORT_DOWN, hwmc_apm_selftest(list[0], 3));
}

TEST_F(Selftest, APathThatLeadsNowhere)
{
    set_path(0, false);
    EXPECT_EQ(HWMC_APM_SELFTEST_NO_LOOPBACK, hwmc_apm_selftest(list[0], 1));
    set_path(0, true);
}

} // namespace
