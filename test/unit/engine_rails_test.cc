// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Engines with several rails: what goes on which, and what becomes of one that fails.
#include "engine_groups.h"

// From here on cast[r] counts the fragments multicast on rail r.
static void count_casts(mem::Net &net, std::vector<int> &cast)
{
    net.on_post = [&cast](const mem::Fabric &f, const mem::Bytes &bytes) {
        cast[f.rail] += index_of(bytes) != UINT32_MAX;
    };
}

TEST(EngineRails, LongBroadcastIsSpreadAndAShortOneIsNot)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);
    Groups g = net.group(first(3));
    std::vector<int> cast(2, 0);

    net.settle();
    count_casts(net, cast);
    EXPECT_EQ(0x3u, g[0]->negotiation.agreed.rails);
    broadcast(net, g, 0, pattern(1000, 1));
    EXPECT_EQ(5 + 1, cast[0]); // and the last once more on each
    EXPECT_EQ(5 + 1, cast[1]);
    broadcast(net, g, 0, pattern(300, 2));
    EXPECT_EQ(6 + 3, cast[0]);
    EXPECT_EQ(6, cast[1]);
    EXPECT_EQ(0u, net.engines[1]->wires.counts->nacks_sent);
}

TEST(EngineRails, ARailWithLittleWaitingGetsMore)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);
    Groups g = net.group(first(3));
    std::vector<int> cast(2, 0);

    net.settle();
    net.fabric(0, 0).queued = 600;
    net.now += 1000;
    count_casts(net, cast);
    broadcast(net, g, 0, pattern(1000, 1));
    EXPECT_EQ(12, cast[0] + cast[1]);
    EXPECT_LT(cast[0], 5);
}

// A rail that has nothing left each time gets as many at a time as go in one piece, and few once it
// has most of them still.
TEST(EngineRails, ARailThatIsFasterThanItsHostGetsLongBursts)
{
    mem::Net net(2, 64 << 20, 40 + 10, 1 << 20);
    Groups g = net.group(first(2), [](hwmc_group_cfg &cfg) { cfg.piece_bytes = 1280; });
    mem::Fabric &rail = net.fabric(0);

    net.settle();
    broadcast(net, g, 0, pattern(1000, 1)); // 100 datagrams
    EXPECT_EQ(32, rail.longest);
    broadcast(net, g, 0, pattern(1000, 2));
    broadcast(net, g, 0, pattern(1000, 3));
    EXPECT_EQ((int) HWMC_BURST, rail.longest);
    rail.queued = 64 * 50;
    broadcast(net, g, 0, pattern(1000, 4));
    rail.longest = 0;
    broadcast(net, g, 0, pattern(1000, 5));
    EXPECT_EQ(16, rail.longest);
}

// ... but no more than the rail carries in HWMC_RAILS_BURST_US, which a shaper lets through.
TEST(EngineRails, BurstsAreAsLongAsARailIsFast)
{
    const struct {
        uint32_t mbit;
        int longest;
    } cases[] = {{0, (int) HWMC_BURST}, {1, 16}, {50, 25}, {1000, (int) HWMC_BURST}};

    for (auto &c : cases) {
        mem::Net net(2, 64 << 20, 40 + 10, 1 << 20);
        Groups g = net.group(first(2), [](hwmc_group_cfg &cfg) { cfg.piece_bytes = 1280; });
        const uint32_t mbit[HWMC_RAIL_BITS] = {c.mbit};

        net.settle();
        for (uint32_t i = 0; i < 2; i++)
            broadcast(net, g, 0, pattern(1000, 1));
        hwmc_engine_rates(net.engines[0], mbit);
        net.fabric(0).longest = 0;
        for (uint32_t i = 0; i < 3; i++)
            broadcast(net, g, 0, pattern(1000, 2 + i));
        EXPECT_EQ(c.longest, net.fabric(0).longest) << c.mbit;
    }
}

// What was measured is of lanes, whose rails need not be the first ones.
TEST(EngineRails, RatesAreOfTheRailsThatTheLanesAreOn)
{
    const uint32_t mbit[HWMC_RAIL_BITS] = {1, 1000};
    mem::Net net(2, 64 << 20, 40 + 10, 1 << 20, 3);

    net.lanes_on({2, 1});
    hwmc_engine_rates(net.engines[0], mbit);
    EXPECT_EQ(1u, net.engines[0]->wires.cfg.lane_mbit[0]);
    EXPECT_EQ((int) HWMC_BURST, net.engines[0]->wires.rails.one[0].most) << "not measured";
    EXPECT_EQ((int) HWMC_BURST, net.engines[0]->wires.rails.one[1].most);
    EXPECT_EQ(16, net.engines[0]->wires.rails.one[2].most);
}

TEST(EngineRails, ARailThatBlocksIsWaitedForOnlyWhileItIsTheBest)
{
    mem::Net net(3, 64 << 20, 40 + 10, 1 << 20, 2);
    Groups g = net.group(first(3), [](hwmc_group_cfg &cfg) { cfg.piece_bytes = 1280; });

    net.settle();
    net.fabric(0, 1).credits = 5;
    std::vector<unsigned char> data = pattern(1000, 1); // 100 fragments
    memcpy(hwmc_group_next_bytes(g[0], (uint32_t) data.size()), data.data(), data.size());
    for (uint32_t r = 0; r < 3; r++)
        if (r != 0)
            hwmc_group_post_member(g[r], 0, net.now);
    hwmc_group_post_root(g[0], (uint32_t) data.size(), false, net.now);
    net.settle();
    EXPECT_FALSE(hwmc_group_open(g[0])); // rail 1 has datagrams that nobody takes
    net.fabric(0, 1).credits = -1;
    net.settle(1000000);
    for (uint32_t r = 0; r < 3; r++) {
        ASSERT_TRUE(hwmc_group_done(g[r])) << r;
        EXPECT_EQ(0, memcmp(hwmc_group_last_bytes(g[r]), data.data(), data.size()));
        hwmc_group_consume(g[r], net.now);
    }
}

TEST(EngineRails, ARailThatFailsLosesWhatItHadAndIsLeftOutForAWhile)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);
    Groups g = net.group(first(3));
    std::vector<int> cast(2, 0);

    net.settle();
    net.fabric(0, 0).fails = true;
    broadcast(net, g, 0, pattern(1000, 1)); // repaired
    EXPECT_GT(net.engines[1]->wires.counts->repaired, 0u);
    count_casts(net, cast);
    broadcast(net, g, 0, pattern(1000, 2));
    EXPECT_EQ(0, cast[0]);
    EXPECT_EQ(10 + 1, cast[1]);
    net.fabric(0, 0).fails = false;
    net.now += HWMC_STRIPE_DOWN_NS;
    broadcast(net, g, 0, pattern(1000, 3));
    EXPECT_EQ(5 + 1, cast[0]);
}

// A rail that takes nothing for a second is as one that fails, until it takes something again.
// Nobody but the engine says when to look.
TEST(EngineRails, ARailThatTakesNothingHoldsUpNobodyForLong)
{
    for (uint32_t rails : {1u, 2u}) {
        mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, rails);
        Groups g = net.group(first(3));
        mem::Fabric &stuck = net.fabric(0, rails - 1);
        std::vector<int> cast(2, 0);
        uint64_t begun;

        net.settle();
        stuck.credits = 0;
        stuck.tells = false;
        memset(hwmc_group_next_bytes(g[0], 1000), 1, 1000);
        for (uint32_t r : {1u, 2u})
            hwmc_group_post_member(g[r], 0, net.now);
        hwmc_group_post_root(g[0], 1000, false, net.now);
        begun = net.now;
        net.settle(HWMC_RAILS_STUCK_NS - 1);
        EXPECT_FALSE(hwmc_rails_idle(&net.engines[0]->wires.rails));
        net.settle(HWMC_RAILS_STUCK_NS);
        EXPECT_TRUE(hwmc_rails_idle(&net.engines[0]->wires.rails));
        for (uint32_t r = 0; r < 3; r++) {
            ASSERT_TRUE(hwmc_group_done(g[r])) << r;
            hwmc_group_consume(g[r], net.now);
        }
        for (uint32_t i = 0; i < 4; i++)
            broadcast(net, g, 0, pattern(1000, i)); // nobody waits a second again
        EXPECT_GT(2 * HWMC_RAILS_STUCK_NS, net.now - begun);
        stuck.credits = -1;
        net.now += HWMC_STRIPE_DOWN_NS;
        count_casts(net, cast);
        broadcast(net, g, 0, pattern(1000, 5));
        EXPECT_LE(5 + 1, cast[rails - 1]);
    }
}

TEST(EngineRails, HostsWithDifferentRailsUseWhatTheyShare)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 3);
    Groups g;

    net.lose_rail(1, 0);
    net.lose_rail(2, 2);
    g = net.group(first(3));
    net.settle();
    for (auto *of : g) {
        EXPECT_EQ(HWMC_GROUP_ON, of->state);
        EXPECT_EQ(0x2u, of->negotiation.agreed.rails);
    }
    broadcast(net, g, 1, pattern(1000, 1));
    EXPECT_EQ(0u, net.engines[0]->wires.counts->nacks_sent);
}

TEST(EngineRails, ARailOnWhichMulticastDoesNotPassIsLeft)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);
    Groups g;

    net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &) {
        return !(to == 2 && net.posting_rail == 0);
    };
    g = net.group(first(3));
    net.settle(300000000);
    for (auto *of : g) {
        EXPECT_EQ(HWMC_GROUP_ON, of->state);
        EXPECT_EQ(0x2u, of->negotiation.agreed.rails);
        EXPECT_EQ(0x2u, of->joined_rails);
    }
    for (uint32_t h = 0; h < 3; h++)
        EXPECT_EQ(0u, net.fabric(h, 0).joined.size());
    broadcast(net, g, 1, pattern(1000, 1));
    EXPECT_EQ(0u, net.engines[2]->wires.counts->nacks_sent);
}

// Two groups, each on a rail of its own, and one that wishes a rail that is not there.
TEST(EngineRails, AGroupKeepsToTheRailsItIsToUse)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);
    std::vector<int> cast(2, 0);
    Groups g[3];

    for (uint32_t i = 0; i < 3; i++)
        g[i] = net.group(first(3), [i](hwmc_group_cfg &cfg) {
            cfg.rails = 1u << i;
            cfg.trees = 0;
            cfg.key = 100 + i;
        });
    net.settle(300000000);
    count_casts(net, cast);
    for (uint32_t r = 0; r < 3; r++) {
        EXPECT_EQ(0x1u, g[0][r]->negotiation.agreed.rails);
        EXPECT_EQ(0x2u, g[1][r]->negotiation.agreed.rails);
        EXPECT_EQ(HWMC_GROUP_OFF, g[2][r]->state);
        EXPECT_EQ((uint32_t) HWMC_REASON_FABRIC, g[2][r]->reason);
    }
    broadcast(net, g[1], 0, pattern(1000, 1));
    EXPECT_EQ(0, cast[0]);
    broadcast(net, g[0], 2, pattern(1000, 2));
    EXPECT_EQ(10 + 1, cast[1]); // the last once more
}

// Ranks of several subnets: nothing is probed, and set-ups inside a subnet do not do without rails.
TEST(EngineRails, AGroupOfRanksThatCannotHearEachOtherOffersNoRail)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 1);
    std::vector<int> cast(1, 0);
    Groups world, near;

    count_casts(net, cast);
    world = net.group(first(3), [](hwmc_group_cfg &cfg) { cfg.apart = true; });
    net.settle(300000000);
    EXPECT_EQ(0, cast[0]);
    for (auto *of : world)
        EXPECT_EQ((uint32_t) HWMC_REASON_FABRIC, of->reason);
    near = net.group(first(2), [](hwmc_group_cfg &cfg) { cfg.key = 100; });
    net.settle(300000000);
    for (auto *of : near)
        EXPECT_EQ(0x1u, of->negotiation.agreed.rails);
}

// Loss on both rails, long and short broadcasts from all roots.
TEST(EngineRails, LossesOnAllRailsAreRepaired)
{
    for (int push = 0; push < 2; push++) {
        mem::Net net(4, 64 << 20, 40 + 100, 1 << 20, 3);
        Groups g = net.group(first(4), [&](hwmc_group_cfg &cfg) { cfg.policy.first.push = push; });
        std::minstd_rand r(7);

        net.settle();
        net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) { return r() % 5 != 0; };
        for (uint32_t i = 0; i < 100; i++)
            broadcast(net, g, i % 4, pattern(i * 191 % 1000 + 1, i));
    }
}
