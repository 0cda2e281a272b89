// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Memory that has gone back to the program, or was freed: nothing looks at it any more. The address
// sanitizer does.
#include "engine_groups.h"

namespace {

mem::Net::Tweak long_ones()
{
    return [](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 8;
        cfg.seg_bytes = 1000;
    };
}

// Root 0 has given the fabric, which takes nothing, the first datagrams of a message in memory of
// its own.
std::vector<unsigned char> *block(mem::Net &net, Groups &g)
{
    auto *data = new std::vector<unsigned char>(pattern(900, 3));

    net.fabric(0).credits = 0;
    hwmc_group_pin(g[0], data->data(), data->size());
    EXPECT_EQ(data->data(), hwmc_group_next_bytes(g[0], 900));
    hwmc_group_post_root(g[0], 900, false, net.now);
    EXPECT_FALSE(hwmc_group_sent(g[0]));
    return data;
}

void let_go(mem::Net &net)
{
    net.fabric(0).credits = -1;
    net.settle(UINT64_C(1000000000));
}

// Rank 0 sends along the trees, in memory of its own, over lanes that keep everything.
std::vector<unsigned char> *stick(mem::Net &net, Groups &g)
{
    auto *data = new std::vector<unsigned char>(pattern(8000, 3));
    static std::vector<unsigned char> other(8000);

    for (auto &lane : net.lanes)
        lane->mismatch = lane->host == 0;
    for (uint32_t r = 1; r < g.size(); r++)
        hwmc_group_post_trees(g[r], 0, other.data(), 8000, net.now);
    hwmc_group_post_trees(g[0], 0, data->data(), 8000, net.now);
    net.settle();
    EXPECT_TRUE(hwmc_group_pins(g[0]));
    return data;
}

} // namespace

TEST(EngineMemory, OfABrokenGroupIsNotSentLater)
{
    mem::Net net(3);
    Groups g = net.group(first(3), long_ones());

    net.settle();
    auto *data = block(net, g);
    hwmc_group_on_failed(g[0], 2, 1);
    hwmc_group_unpin(g[0]);
    delete data;
    let_go(net);
    EXPECT_TRUE(hwmc_rails_idle(&net.engines[0]->wires.rails));
}

// A rail may send from memory that it has been lent after it has taken all datagrams.
TEST(EngineMemory, OfARootIsSentOnceRailsHaveReturnedIt)
{
    mem::Net net(3, 64 << 20, 140, 1 << 20, 2);
    Groups g = net.group(first(3), long_ones());
    mem::Bytes data = pattern(900, 3);

    net.settle();
    hwmc_group_pin(g[0], data.data(), data.size());
    hwmc_group_lend(g[0]);
    for (uint32_t rail = 0; rail < 2; rail++)
        EXPECT_EQ(1u, net.fabric(0, rail).lent.count(data.data()));
    EXPECT_EQ(2u, net.engines[0]->wires.engine_counts->lent);
    ASSERT_EQ(data.data(), hwmc_group_next_bytes(g[0], 900));
    net.fabric(0, 0).keeps = true;
    hwmc_group_post_root(g[0], 900, false, net.now);
    net.settle();
    EXPECT_TRUE(hwmc_rails_idle(&net.engines[0]->wires.rails));
    EXPECT_FALSE(hwmc_group_sent(g[0]));
    EXPECT_TRUE(net.fabric(0, 1).lent.empty());
    net.fabric(0, 0).keeps = false;
    EXPECT_TRUE(hwmc_group_sent(g[0]));
    hwmc_group_unpin(g[0]);
}

TEST(EngineMemory, OfABrokenGroupIsWantedBack)
{
    mem::Net net(3);
    Groups g = net.group(first(3), long_ones());
    mem::Bytes data = pattern(900, 3);

    net.settle();
    hwmc_group_pin(g[0], data.data(), data.size());
    hwmc_group_lend(g[0]);
    hwmc_group_on_failed(g[0], 2, 1);
    hwmc_group_unpin(g[0]);
    EXPECT_TRUE(net.fabric(0).lent.empty());
}

// What others still need of a group that works goes on from the channel.
TEST(EngineMemory, TakenBackTooEarlyIsRepaired)
{
    mem::Net net(3);
    Groups g = net.group(first(3), long_ones());

    net.settle();
    auto *data = block(net, g);
    const mem::Bytes sent = *data;
    hwmc_group_unpin(g[0]);
    delete data;
    for (uint32_t r = 1; r < 3; r++)
        hwmc_group_post_member(g[r], 0, net.now);
    let_go(net);
    for (uint32_t r = 1; r < 3; r++) {
        ASSERT_TRUE(hwmc_group_done(g[r]));
        EXPECT_EQ(0, memcmp(hwmc_group_last_bytes(g[r]), sent.data(), sent.size()));
    }
}

TEST(EngineMemory, OfChannelsIsNotSentWhenTheirGroupIsGone)
{
    mem::Net net(3);
    Groups a = net.group(first(3), long_ones());

    net.settle();
    Groups b = net.group(first(3), [](hwmc_group_cfg &cfg) { cfg.context = 8, cfg.key = 98; });
    net.settle();
    net.fabric(0).credits = 0;
    memset(hwmc_group_next_bytes(a[0], 900), 1, 900);
    hwmc_group_post_root(a[0], 900, false, net.now);
    hwmc_group_on_failed(a[0], 2, 1);
    hwmc_group_close(a[0], net.now);
    hwmc_engine_progress(net.engines[0], net.now);
    let_go(net);
    broadcast(net, b, 0, pattern(500, 1));
}

TEST(EngineMemory, OfABrokenGroupLanesHaveUntilTheyAreCut)
{
    for (bool several : {false, true}) {
        mem::Net net(3);
        if (several)
            net.lanes_on({0, 0});
        Groups g = net.group(first(3), long_ones());

        net.settle();
        auto *data = stick(net, g);
        hwmc_group_on_failed(g[0], 2, 1);
        hwmc_group_withdraw(g[0], net.now);
        net.settle();
        EXPECT_TRUE(hwmc_group_pins(g[0])) << "the lanes have it still";
        hwmc_engine_cut(net.engines[0], g[0]);
        EXPECT_FALSE(hwmc_group_pins(g[0]));
        EXPECT_EQ(several ? 2u : 1u, net.engines[0]->wires.engine_counts->lanes_cut);
        delete data;
        for (auto &lane : net.lanes)
            lane->mismatch = false;
        net.settle();
        hwmc_group_close(g[0], net.now);
        net.settle();
        EXPECT_EQ(nullptr, net.engines[0]->groups.first);
    }
}

// A broken group's lanes that work give it back by themselves.
TEST(EngineMemory, LanesThatWorkAreNotCut)
{
    mem::Net net(3);
    Groups g = net.group(first(3), long_ones());

    net.settle();
    auto *data = stick(net, g);
    hwmc_group_on_failed(g[0], 2, 1);
    hwmc_group_withdraw(g[0], net.now);
    net.lane(0, 0).mismatch = false;
    net.settle();
    EXPECT_FALSE(hwmc_group_pins(g[0]));
    hwmc_engine_cut(net.engines[0], g[0]);
    EXPECT_EQ(0u, net.engines[0]->wires.engine_counts->lanes_cut);
    delete data;
}

// Along trees a rank of a group that works gives up: its children get to know, and nothing comes to
// its memory.
TEST(EngineMemory, WhoWithdrawsTakesAndSendsNothing)
{
    for (uint32_t who = 0; who < 4; who++) {
        mem::Net net(4);
        Groups g = net.group(first(4), long_ones());
        std::vector<std::vector<unsigned char> *> at;
        uint32_t theirs;

        net.settle();
        for (uint32_t r = 0; r < 4; r++) {
            at.push_back(new std::vector<unsigned char>(20000, (unsigned char) r));
            hwmc_group_post_trees(g[r], 0, at[r]->data(), 20000, net.now);
        }
        hwmc_group_withdraw(g[who], net.now);
        for (int i = 0; i < 10 && hwmc_group_pins(g[who]); i++)
            net.step();
        ASSERT_FALSE(hwmc_group_pins(g[who]));
        delete at[who];
        net.settle();
        for (uint32_t r = 0; r < 4; r++) {
            EXPECT_TRUE(hwmc_group_done(g[r])) << who << " " << r;
            hwmc_stream_check(&g[r]->stream);
            EXPECT_TRUE(r == who || who != 0 ||
                        (hwmc_stream_failed(&g[r]->stream, &theirs) && theirs == 0));
            if (r != who)
                delete at[r];
        }
    }
}

namespace {

Groups fast_ones(mem::Net &net, uint32_t number)
{
    return net.group(first(2), [=](hwmc_group_cfg &cfg) {
        cfg.context = number;
        cfg.key = 1000 + number;
        cfg.piece_bytes = 262144;
    });
}

constexpr size_t kMib = 1 << 20;

} // namespace

// Long pieces are for half of the memory; then there are short ones, as many as fit.
TEST(EngineMemory, LongPiecesLeaveRoomForOthers)
{
    mem::Net net(2, 3 * kMib, 8000, 4 * kMib);
    std::vector<Groups> all;

    for (uint32_t i = 0; i < 10; i++) {
        all.push_back(fast_ones(net, i));
        net.settle(UINT64_C(10000000000));
    }
    for (uint32_t i = 0; i < 9; i++) {
        expect_all(all[i], HWMC_GROUP_ON);
        for (auto *g : all[i]) {
            EXPECT_LE(g->piece_bytes, i == 0 ? 262144u : 65536u) << i;
            EXPECT_GT(g->piece_bytes, i == 0 ? 200000u : 50000u) << i;
        }
        broadcast(net, all[i], i % 2, pattern(all[i][0]->piece_bytes, i));
    }
    expect_all(all[9], HWMC_GROUP_OFF);
    EXPECT_EQ(3 * kMib, net.engines[0]->groups.memory_used);
}

// One member has memory for short pieces only: all agree on these.
TEST(EngineMemory, AllHaveThePiecesOfTheOneWithLeast)
{
    for (uint32_t poor = 0; poor < 2; poor++) {
        mem::Net net(2, 64 * kMib, 8000, 4 * kMib);

        net.engines[poor]->wires.cfg.memory = kMib;
        Groups g = fast_ones(net, 1);
        net.settle(UINT64_C(10000000000));
        expect_all(g, HWMC_GROUP_ON);
        EXPECT_LE(g[poor]->piece_bytes, 65536u);
        EXPECT_EQ(g[0]->piece_bytes, g[1]->piece_bytes);
        for (uint32_t i = 0; i < 8; i++)
            broadcast(net, g, i % 2, pattern(g[0]->piece_bytes, i));
    }
}

// A small receive buffer has fewer channels rather than pieces of a few fragments, as long as
// four are left. Broadcasts one after the other find a channel in time.
TEST(EngineMemory, SmallBuffersHaveFewerChannels)
{
    const struct {
        size_t frags;
        uint32_t channels;
    } cases[] = {{16 * 44, 16}, {16 * 11, 16}, {138, 8}, {60, 4}, {8, 4}};

    for (const auto &c : cases) {
        mem::Net net(2, 64 * kMib, 1472, c.frags * 1472);
        Groups g = net.group(first(2), [](hwmc_group_cfg &cfg) {
            cfg.channels = 16;
            cfg.policy.first.period = 8;
            cfg.piece_bytes = 65536;
        });

        net.settle(UINT64_C(10000000000));
        expect_all(g, HWMC_GROUP_ON);
        for (auto *x : g) {
            EXPECT_EQ(c.channels, x->stream.channel.n) << c.frags;
            EXPECT_LE(x->piece_bytes * x->stream.channel.n, c.frags * 1472) << c.frags;
        }
        for (uint32_t i = 0; i < 40; i++)
            broadcast(net, g, i % 2, pattern(g[0]->piece_bytes, i));
    }
}
