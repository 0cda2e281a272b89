// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// exchange: members that disagree about which blocks there are.
#include "exchange_net.h"

namespace {

using exchange::Bytes;
using exchange::Net;

// Member 0 sends, or awaits, a long block of which member 1 knows nothing, while what that does is
// under way (`busy`), or is over, or while it does something else after it (`on`).
bool is_noticed(bool sends, bool busy, bool on, uint64_t seed)
{
    Net net(3, 8, seed);
    Bytes bytes(400);
    hwmc_block_in in = {};
    hwmc_block_out out = {};
    const auto begin = [&](uint32_t r) {
        for (auto *place : {&net.members[r].in_place, &net.members[r].out_place})
            *place = {{bytes.data(), 10, 40}};
        net.begin(r, 10, 1);
    };

    in.peer = out.peer = 1;
    in.bytes = out.bytes = 100;
    in.window = out.ready = 10;
    if (sends)
        net.members[0].out = {out};
    else
        net.members[0].in = {in};
    in.peer = 2;
    in.bytes = out.bytes = 5;
    in.window = out.ready = 1;
    net.members[1].in = {in};
    net.members[2].out = {out};
    begin(1);
    if (!busy) {
        begin(2);
        while (net.deliver())
            ;
        hwmc_exchange_take(&net.members[1].x, 0, 1);
        EXPECT_TRUE(hwmc_exchange_over(&net.members[1].x));
        net.members[1].in = {in};
        if (on)
            begin(1);
    }
    begin(0);
    hwmc_exchange_on_timer(&net.members[0].x, net.now += HWMC_EXCHANGE_ANNOUNCE_NS);
    net.pump(0);
    while (net.deliver())
        ;
    EXPECT_FALSE(net.members[0].x.astray || net.members[2].x.astray);
    return net.members[1].x.astray;
}

TEST(ExchangeAstray, ABlockThatTheOtherEndDoesNotHaveIsNoticed)
{
    for (bool sends : {true, false})
        for (uint32_t how = 0; how < 3; how++)
            EXPECT_TRUE(is_noticed(sends, how == 0, how == 2, 1)) << sends << how;
}

// An announcement that comes late, of a block that has come: whatever its port.
TEST(ExchangeAstray, ABlockThatHasComeIsKnown)
{
    for (uint8_t port : {0, 7, 8, 62, 63, 64, 100, 127, 128, 227, 255}) {
        Net net(2, 8, 1);
        Bytes from(100), to(100);
        hwmc_msg late = {};
        uint32_t i;

        net.lay_block(0, 1, port, from, to, 10);
        net.begin(0, 10, 1);
        net.begin(1, 10, 1);
        net.pump(1);
        while (net.deliver())
            ;
        hwmc_exchange_take(&net.members[1].x, 0, 10);
        ASSERT_TRUE(hwmc_exchange_over(&net.members[1].x));
        late.type = HWMC_MSG_BLOCK;
        late.flags = HWMC_FLAG_AT_ONCE;
        late.block.port = port;
        late.block.bytes = 100;
        EXPECT_EQ(HWMC_STALE, hwmc_exchange_on_block(&net.members[1].x, &late, false, &i));
        EXPECT_FALSE(net.members[1].x.astray) << int(port);
        late.block.port ^= 1;
        hwmc_exchange_on_block(&net.members[1].x, &late, false, &i);
        EXPECT_EQ((port % HWMC_EXCHANGE_PORTS) / 2 < 32, net.members[1].x.astray) << int(port);
    }
}

// Of one that is called off nobody waits for anything.
TEST(ExchangeAstray, ABlockThatIsCalledOffNeedNotBeKnown)
{
    for (bool sends : {true, false}) {
        Net net(3, 8, 1);
        Bytes bytes(400);
        hwmc_block_in in = {};
        hwmc_block_out out = {};

        in.peer = out.peer = 1;
        in.bytes = out.bytes = 100;
        in.window = 10;
        if (sends)
            net.members[0].out = {out};
        else
            net.members[0].in = {in};
        in.peer = 2;
        net.members[1].in = {in};
        hwmc_exchange_begin(&net.members[0].x, net.members[0].in.data(), !sends,
                            net.members[0].out.data(), sends, 10, 1, 0);
        hwmc_exchange_give_up(&net.members[0].x);
        net.begin(1, 10, 1);
        net.pump(0);
        while (net.deliver())
            ;
        EXPECT_TRUE(hwmc_exchange_over(&net.members[0].x));
        EXPECT_FALSE(net.members[1].x.astray);
    }
}

} // namespace
