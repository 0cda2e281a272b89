// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Rails that stop working in mid-run, through engines and groups: left, and taken up again.
#include "engine_groups.h"

namespace {

mem::Net::Tweak leaves()
{
    return [](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 70;
        cfg.policy.stay = false;
        cfg.policy.pause_ns = MS;
        cfg.policy.pause_max_ns = 100 * MS;
    };
}

// One broadcast, by the way that all ranks take it to go.
void either(mem::Net &net, Groups &g, uint32_t root, const mem::Bytes &data)
{
    for (hwmc_group *x : g)
        for (int tries = 0; !hwmc_group_open(x); tries++) {
            ASSERT_LT(tries, 100);
            hwmc_group_stall(x, net.now);
            net.settle(100 * MS);
        }
    for (hwmc_group *x : g)
        ASSERT_EQ(hwmc_group_casts_next(g[0]), hwmc_group_casts_next(x));
    if (hwmc_group_casts_next(g[0]))
        broadcast(net, g, root, data);
    else
        along_trees(net, g, root, data);
}

// What engines show, in the order in which they do.
std::vector<std::pair<hwmc_group *, bool>> shown;

void show(hwmc_group *g, bool first)
{
    shown.emplace_back(g, first);
}

uint32_t times_shown(hwmc_group *g)
{
    uint32_t times = 0;

    for (const auto &[group, first] : shown)
        if (group == g) {
            EXPECT_EQ(times++ == 0, first);
        }
    return times;
}

void some(mem::Net &net, Groups &g, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        either(net, g, i % g.size(), pattern(i * 331 % 1000 + 1, i));
}

} // namespace

// Nothing comes at anybody, or at one.
TEST(EngineLeave, MulticastIsLeftAndTakenUpAgain)
{
    for (uint32_t deaf : {1u, 3u, 99u})
        for (uint32_t p : {2, 5, 8}) {
            mem::Net net(p);
            Groups g = net.group(first(p), leaves());

            if (deaf < 99 && deaf >= p)
                continue;
            net.settle();
            some(net, g, 10);
            net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &) {
                return deaf < 99 && to != deaf;
            };
            some(net, g, 60);
            EXPECT_FALSE(hwmc_group_casts_next(g[0]));
            for (uint32_t r = 0; r < p; r++) {
                EXPECT_EQ(1u, net.engines[r]->wires.counts->rails_disabled);
                EXPECT_GT(net.engines[r]->wires.counts->without_cast, 20u);
            }
            net.passes = nullptr;
            some(net, g, 200);
            EXPECT_TRUE(hwmc_group_casts_next(g[0]));
            for (uint32_t r = 0; r < p; r++) {
                EXPECT_EQ(1u, net.engines[r]->wires.counts->rails_returned);
                EXPECT_EQ(0u, net.engines[r]->wires.counts->bad);
                hwmc_group_close(g[r], net.now);
            }
            net.settle(10000 * MS);
            for (uint32_t r = 0; r < p; r++)
                EXPECT_EQ(nullptr, net.engines[r]->groups.first) << p << " " << r;
        }
}

// Probes pass as soon as a rail is left, so it is taken up again while channels still have what it
// did not bring before. That says nothing of it now.
TEST(EngineLeave, WhatARailLostBeforeItWasLeftDoesNotCountAnew)
{
    for (uint32_t period : {1u, 2u, 8u}) {
        mem::Net net(4);
        Groups g = net.group(first(4), [period](hwmc_group_cfg &cfg) {
            leaves()(cfg);
            cfg.channels = 16;
            cfg.policy.first.period = period;
        });
        const auto &counts = net.engines[0]->wires.counts;
        uint32_t n = 0;

        net.settle();
        some(net, g, 20);
        net.passes = [](uint32_t, uint32_t, const mem::Bytes &bytes) {
            return bytes[3] == HWMC_MSG_PROBE;
        };
        for (; counts->rails_returned == 0 && n < 200; n++) {
            if (!hwmc_group_casts_next(g[0]))
                net.passes = nullptr;
            some(net, g, 1);
        }
        ASSERT_EQ(1u, counts->rails_returned) << period;
        EXPECT_EQ(1u, counts->rails_disabled);
        some(net, g, 200);
        EXPECT_TRUE(hwmc_group_casts_next(g[0]));
        EXPECT_EQ(1u, counts->rails_disabled) << period;
        for (uint32_t r = 0; r < 4; r++) {
            EXPECT_EQ(0u, net.engines[r]->wires.counts->bad);
            hwmc_group_close(g[r], net.now);
        }
        net.settle(10000 * MS);
    }
}

// A switch that has forgotten who is in the group is told, and multicast works again.
TEST(EngineLeave, ASwitchThatForgotIsTold)
{
    for (uint32_t who : {1u, 4u, 99u}) {
        mem::Net net(5);
        Groups g = net.group(first(5), leaves());

        net.settle();
        some(net, g, 10);
        EXPECT_EQ(0u, net.engines[1]->wires.counts->rejoins);
        for (auto &fabric : net.fabrics)
            fabric->forgotten = who == 99 || fabric->host == who;
        some(net, g, 200);
        EXPECT_TRUE(hwmc_group_casts_next(g[0]));
        for (uint32_t r = 0; r < 5; r++) {
            EXPECT_EQ(1u, net.engines[r]->wires.counts->rails_disabled) << r;
            EXPECT_EQ(1u, net.engines[r]->wires.counts->disabled_silent) << r;
            EXPECT_EQ(1u, net.engines[r]->wires.counts->rails_returned) << r;
            EXPECT_GE(net.engines[r]->wires.counts->rejoins, 1u) << r;
            EXPECT_EQ(0u, net.engines[r]->wires.counts->bad);
            hwmc_group_close(g[r], net.now);
        }
        net.settle(10000 * MS);
        for (uint32_t r = 0; r < 5; r++)
            EXPECT_EQ(nullptr, net.engines[r]->groups.first) << r;
    }
}

// Less and less often, and at once on a rail that was left now.
TEST(EngineLeave, TheNetworkIsToldLessAndLessOften)
{
    hwmc_rejoin r = {};

    EXPECT_EQ(0, hwmc_rejoin_due(&r, 0, 10, 40, 5));
    EXPECT_EQ(HWMC_NEVER, hwmc_rejoin_next_timer(&r));
    EXPECT_EQ(1, hwmc_rejoin_due(&r, 1, 10, 40, 100));
    for (uint64_t at : {105, 115, 135, 165, 195, 225}) {
        EXPECT_EQ(at, hwmc_rejoin_next_timer(&r));
        EXPECT_EQ(0, hwmc_rejoin_due(&r, 1, 10, 40, at - 1));
        EXPECT_EQ(1, hwmc_rejoin_due(&r, 1, 10, 40, at));
    }
    EXPECT_EQ(5, hwmc_rejoin_due(&r, 5, 10, 40, 260));
    EXPECT_EQ(265u, hwmc_rejoin_next_timer(&r));
    EXPECT_EQ(0, hwmc_rejoin_due(&r, 0, 10, 40, 265));
    EXPECT_EQ(HWMC_NEVER, hwmc_rejoin_next_timer(&r));
}

// A member that announces itself is out of the group for a moment. That moment is not the one in
// which the leader's probes come.
TEST(EngineLeave, WhoAnnouncesItselfMissesNoTrain)
{
    for (uint32_t p : {2u, 5u}) {
        mem::Net net(p);
        Groups g = net.group(first(p), leaves());

        net.settle();
        some(net, g, 10);
        net.passes = [](uint32_t, uint32_t, const mem::Bytes &) { return false; };
        some(net, g, 60);
        ASSERT_FALSE(hwmc_group_casts_next(g[0]));
        net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &) {
            for (const auto &fabric : net.fabrics)
                if (fabric->host == to && net.now - fabric->refreshed < MS / 8)
                    return false;
            return true;
        };
        some(net, g, 200);
        EXPECT_TRUE(hwmc_group_casts_next(g[0])) << p;
        EXPECT_EQ(1u, net.engines[0]->wires.counts->rails_returned) << p;
        for (uint32_t r = 0; r < p; r++) {
            EXPECT_GE(net.engines[r]->wires.counts->rejoins, 2u);
            hwmc_group_close(g[r], net.now);
        }
        net.settle(10000 * MS);
    }
}

// Of two rails one is dead: the other one goes on.
TEST(EngineLeave, OneRailOfTwo)
{
    for (uint32_t dead : {0, 1}) {
        mem::Net net(4, 64 << 20, 40 + 100, 1 << 20, 2);
        Groups g = net.group(first(4), leaves());

        net.settle();
        some(net, g, 10);
        net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) {
            return net.posting_rail != dead;
        };
        some(net, g, 100);
        EXPECT_EQ(3u & ~(1u << dead), hwmc_stream_next_rails(&g[2]->stream));
        EXPECT_EQ(0u, net.engines[2]->wires.counts->without_cast);
        net.passes = nullptr;
        some(net, g, 200);
        EXPECT_EQ(3u, hwmc_stream_next_rails(&g[2]->stream));
        EXPECT_EQ(0u, net.engines[2]->wires.counts->bad);
    }
}

// Since which broadcast each rail is as it is, why, and for whom: alike on all ranks. Each epoch is
// shown once.
TEST(EngineLeave, EachRankKnowsSinceWhenAndWhy)
{
    constexpr uint32_t p = 5, deaf = 3;
    mem::Net net(p);
    uint64_t from;

    shown.clear();
    for (auto &e : net.engines)
        e->wires.cfg.show = show;
    Groups g = net.group(first(p), leaves());

    net.settle();
    for (hwmc_group *x : g)
        EXPECT_EQ(1u, times_shown(x));
    some(net, g, 10);
    net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &) { return to != deaf; };
    some(net, g, 60);
    from = g[0]->stream.epoch.stand[0].since;
    EXPECT_GT(from, 10u);
    for (hwmc_group *x : g) {
        EXPECT_EQ(from, x->stream.epoch.stand[0].since);
        EXPECT_EQ(HWMC_RAIL_REASON_SILENT, x->stream.epoch.stand[0].reason);
        EXPECT_EQ(deaf, x->stream.epoch.stand[0].culprit);
        EXPECT_EQ(0u, x->stream.epoch.now.rails);
        EXPECT_EQ(1u + x->stream.epoch.number, times_shown(x));
    }
    net.passes = nullptr;
    some(net, g, 200);
    EXPECT_GT(g[0]->stream.epoch.stand[0].since, from);
    for (hwmc_group *x : g) {
        const uint32_t times = times_shown(x);

        EXPECT_EQ(g[0]->stream.epoch.stand[0].since, x->stream.epoch.stand[0].since);
        EXPECT_EQ(HWMC_RAIL_REASON_BACK, x->stream.epoch.stand[0].reason);
        EXPECT_EQ(1u + x->stream.epoch.number, times);
        hwmc_group_on_failed(x, (x->cfg.rank + 1) % p, 1);
        EXPECT_EQ(times + 1, times_shown(x)) << "a member is lost";
        hwmc_group_close(x, net.now);
    }
    net.settle(10000 * MS);
}
