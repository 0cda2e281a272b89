// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Long messages whose payloads adapters put into the program's memory: with and without loss.
// mem::Direct stops the test if anybody else writes there meanwhile, net_stages.h fails it if an
// adapter has memory of a message that is over.
#include "net_stages.h"

namespace {

constexpr uint32_t LONG = 20 * 500 + 130; // bytes: 20 pieces of 5 fragments and one of 2

mem::Net::Tweak direct(uint32_t channels = 4)
{
    return [=](hwmc_group_cfg &cfg) {
        small_pieces()(cfg);
        cfg.channels = channels;
        cfg.direct = true;
    };
}

uint64_t total(mem::Net &net, uint64_t hwmc_engine_counts::*field)
{
    uint64_t sum = 0;

    for (auto &c : net.counts)
        sum += c->engine.*field;
    return sum;
}

// Fragments of a message of LONG bytes from its second window on.
constexpr uint64_t late_frags(uint32_t channels)
{
    return 5 * (20 - channels) + 2;
}

} // namespace

TEST(NetStageDirect, WithoutLossEachPayloadFromTheSecondWindowOnComesToItsPlace)
{
    for (uint32_t p : {2, 3, 8})
        for (uint32_t channels : {4, 8}) {
            mem::Net net(p);
            Groups g = net.group(first(p), direct(channels));
            uint64_t before = 0;

            net.settle();
            for (uint32_t i = 0; i < 3 * p; i++) {
                Plan plan;

                plan.root = i % p;
                bcast(net, g, plan, pattern(LONG, i));
                EXPECT_EQ(before + (p - 1) * late_frags(channels),
                          total(net, &hwmc_engine_counts::direct));
                before = total(net, &hwmc_engine_counts::direct);
            }
            for (uint32_t h = 0; h < p; h++) {
                EXPECT_EQ(0u, net.fabric(h).direct.aside);
                EXPECT_EQ(0u, net.fabric(h).direct.flushes);
                EXPECT_EQ(0u, net.counts[h]->machines.bad);
                EXPECT_EQ(0u, net.counts[h]->machines.nacks_sent);
            }
        }
}

// Headers are longer then, and fragments shorter.
TEST(NetStageDirect, WithAuthenticationCodes)
{
    const unsigned char secret[32] = {1, 2, 3};
    mem::Net net(3);

    net.auth(secret);
    Groups g = net.group(first(3), direct());
    net.settle();
    for (uint32_t root = 0; root < 3; root++) {
        Plan plan;

        plan.root = root;
        bcast(net, g, plan, pattern(LONG, root));
    }
    EXPECT_LE(6 * late_frags(4), total(net, &hwmc_engine_counts::direct));
    for (uint32_t h = 0; h < 3; h++)
        EXPECT_EQ(0u, net.fabric(h).direct.aside);
}

TEST(NetStageDirect, IsNotDoneWhereItIsTurnedOff)
{
    mem::Net net(3);
    Groups g = net.group(first(3), small_pieces());

    net.settle();
    bcast(net, g, Plan(), pattern(LONG, 1));
    EXPECT_EQ(0u, total(net, &hwmc_engine_counts::direct));
    for (uint32_t h = 0; h < 3; h++)
        EXPECT_TRUE(net.fabric(h).direct.joined.empty());
}

// Lengths about the second window.
TEST(NetStageDirect, MessagesOfAllLengths)
{
    mem::Net net(3);
    Groups g = net.group(first(3), direct());

    net.settle();
    for (uint32_t n : {400, 1999, 2000, 2001, 2099, 2100, 2101, 2499, 2500, 2501, 3000, 5050, 9000})
        for (uint32_t root = 0; root < 3; root++) {
            Plan plan;

            plan.root = root;
            bcast(net, g, plan, pattern(n, n + root));
        }
    EXPECT_LT(0u, total(net, &hwmc_engine_counts::direct));
}

TEST(NetStageDirect, IsNotDoneWhereOneMemberCannot)
{
    for (uint32_t who = 0; who < 3; who++) {
        mem::Net net(3);
        Groups g = net.group(first(3), direct());

        net.settle();
        net.fabric(who).direct.works = false;
        for (uint32_t root = 0; root < 3; root++) {
            Plan plan;

            plan.root = root;
            bcast(net, g, plan, pattern(LONG, root));
        }
        EXPECT_EQ(0u, total(net, &hwmc_engine_counts::direct)) << who;
    }
}

TEST(NetStageDirect, IsNotDoneOverTwoRails)
{
    mem::Net net(3, 64 << 20, 140, 1 << 20, 2);
    Groups g = net.group(first(3), direct());

    net.settle();
    bcast(net, g, Plan(), pattern(LONG, 1));
    EXPECT_EQ(0u, total(net, &hwmc_engine_counts::direct));
}

// A member whose adapter has little room stops being ready in the middle.
TEST(NetStageDirect, EndsWhereThereIsNoRoom)
{
    mem::Net net(3);
    Groups g = net.group(first(3), direct());

    net.settle();
    net.fabric(1).direct.room = 7;
    for (uint32_t i = 0; i < 6; i++) {
        Plan plan;

        plan.root = i % 3;
        bcast(net, g, plan, pattern(LONG, i));
    }
}

// Each datagram of a message is lost once, at one member or at all.
TEST(NetStageDirect, OneLossAnywhereIsRepaired)
{
    for (uint32_t victim : {1u, 2u, UINT32_MAX})
        for (uint32_t lost = 0; lost < 125; lost++) {
            mem::Net net(3);
            Groups g = net.group(first(3), direct());
            auto n = std::make_shared<uint32_t>(0);

            net.settle();
            net.passes = [=](uint32_t, uint32_t to, const mem::Bytes &) {
                return (victim != UINT32_MAX && to != victim) || (*n)++ != lost;
            };
            bcast(net, g, Plan(), pattern(LONG, lost));
            net.passes = nullptr;
            bcast(net, g, Plan(), pattern(LONG, lost + 1));
            if (::testing::Test::HasFailure())
                FAIL() << "datagram " << lost << " at " << victim;
        }
}

// Losses, datagrams that come twice or late, several roots.
TEST(NetStageDirect, StormsArrive)
{
    uint64_t direct_frags = 0, flushes = 0;

    for (uint32_t seed = 1; seed <= 100; seed++) {
        const uint32_t p = 2 + seed % 4, one_of = 4 + seed * 7 % 300;
        auto r = std::make_shared<std::minstd_rand>(seed);
        mem::Net net(p);
        Groups g = net.group(first(p), direct(4 + seed % 2 * 4));

        net.settle();
        net.passes = [=](uint32_t, uint32_t, const mem::Bytes &) { return (*r)() % one_of != 0; };
        net.on_post = [&](const mem::Fabric &from, const mem::Bytes &bytes) {
            if ((*r)() % one_of != 1)
                return;
            for (uint32_t h = 0; h < p; h++) { // again, or what came much earlier
                mem::Fabric &to = net.fabric(h);

                if (h != from.host && !to.direct.joined.empty())
                    to.direct.arrive((*r)() % 2 ? bytes : net.wire[(*r)() % net.wire.size()],
                                     to.in);
            }
        };
        for (uint32_t i = 0; i < 6; i++) {
            Plan plan;

            plan.root = (*r)() % p;
            bcast(net, g, plan, pattern(300 + (uint32_t) ((*r)() % (2 * LONG)), i));
        }
        if (::testing::Test::HasFailure())
            FAIL() << "seed " << seed;
        direct_frags += total(net, &hwmc_engine_counts::direct);
        for (uint32_t h = 0; h < p; h++)
            flushes += net.fabric(h).direct.flushes;
    }
    EXPECT_LT(0u, direct_frags);
    EXPECT_LT(0u, flushes);
}

// The root learns of floors late, as SYNC_DOWN is lost: it sends the ordinary way, and who has
// posted memory takes it back.
TEST(NetStageDirect, ARootThatDoesNotHear)
{
    mem::Net net(3);
    Groups g = net.group(first(3), direct());
    Plan plan;

    net.settle();
    plan.root = 1;
    net.passes = [](uint32_t, uint32_t to, const mem::Bytes &b) { return to != 1 || b[3] == 32; };
    bcast(net, g, plan, pattern(LONG, 1));
    net.passes = nullptr;
    bcast(net, g, plan, pattern(LONG, 2));
    EXPECT_LE(2 * late_frags(4), total(net, &hwmc_engine_counts::direct));
}

// Two communicators of the same hosts, in turn and at the same time: one at a time has an adapter.
TEST(NetStageDirect, OneGroupAtATimeHasTheAdapter)
{
    mem::Net net(3);
    Groups g = net.group(first(3), direct());
    Groups other = net.group(first(3), [](hwmc_group_cfg &cfg) {
        direct()(cfg);
        cfg.key = 100;
        cfg.context = 8;
    });
    mem::Bytes data[] = {pattern(LONG, 1), pattern(LONG, 2)};
    Plan plan;

    net.settle();
    plan.root = 2;
    bcast(net, g, Plan(), pattern(LONG, 3));
    bcast(net, other, plan, pattern(LONG, 4));
    EXPECT_EQ(4 * late_frags(4), total(net, &hwmc_engine_counts::direct));
    lose_some(net, 60);
    {
        Stages one(net, g, Plan(), data[0]), two(net, other, plan, data[1]);

        one.shares = two.shares = true;
        one.run_until([&] {
            const bool over = one.step();

            return two.step() && over;
        });
        one.expect_data();
        two.expect_data();
    }
    for (uint32_t h = 0; h < 3; h++)
        EXPECT_TRUE(net.fabric(h).direct.is_idle());
}

// A program's lengths disagree: the shorter one's memory is not written beyond its end.
TEST(NetStageDirect, LengthsThatDisagree)
{
    for (uint32_t odd_bytes : {2600, 3000, 5001, 9999, 11000, 14000}) {
        mem::Net net(3);
        Groups g = net.group(first(3), direct());
        Plan plan;

        net.settle();
        plan.odd = 2;
        plan.odd_bytes = odd_bytes;
        {
            Stages stages(net, g, plan, pattern(LONG, 1));

            stages.run();
            EXPECT_NE(HWMC_OK, stages[2].err) << odd_bytes;
            EXPECT_EQ(HWMC_OK, stages[1].err) << odd_bytes;
        }
        plan.odd = UINT32_MAX;
        bcast(net, g, plan, pattern(LONG, 2));
    }
}

// At each step of a message a failure ends a member's call.
TEST(NetStageDirect, AfterAFailureNoAdapterHasTheMemory)
{
    for (int steps = 0; steps < 90; steps++) {
        mem::Net net(3);
        Groups g = net.group(first(3), direct());

        net.settle();
        Stages stages(net, g, Plan(), pattern(LONG, 1));
        stages.go(steps);
        hwmc_net_stage_fail(&stages[1], HWMC_ERR_PEER, net.now);
        stages.run_until([&] {
            stages.step();
            return stages[1].state == HWMC_NET_OVER;
        });
        EXPECT_TRUE(net.fabric(1).direct.is_idle());
        for (int i = 0; i < 50; i++)
            net.step();
        EXPECT_TRUE(net.fabric(1).direct.is_idle());
        for (uint32_t r : {0u, 2u})
            hwmc_net_stage_fail(&stages[r], HWMC_ERR_PEER, net.now);
        stages.run();
    }
}
