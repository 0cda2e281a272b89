// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Joining that takes time, is refused, or never ends; fabrics of one communicator that differ; and
// probes.
#include "engine_groups.h"

namespace {

const uint64_t SECOND = 1000000000;

// Nobody is in a group or about to be.
void expect_none_in(mem::Net &net)
{
    for (auto &f : net.fabrics) {
        EXPECT_TRUE(f->joined.empty()) << "host " << f->host << " rail " << f->rail;
        EXPECT_TRUE(f->under_way.empty()) << "host " << f->host << " rail " << f->rail;
    }
}

void expect_nothing_left(mem::Net &net)
{
    expect_none_in(net);
    for (auto *e : net.engines) {
        EXPECT_EQ(nullptr, e->groups.first);
        EXPECT_EQ(0u, e->groups.memory_used);
    }
}

} // namespace

TEST(EngineJoin, ASlowJoinIsWaitedFor)
{
    for (uint32_t slow = 0; slow < 4; slow++) {
        mem::Net net(4);

        net.fabric(slow).slow_joins = 30;
        Groups g = net.group(first(4));
        net.settle(SECOND / 100);
        expect_all(g, HWMC_GROUP_SETUP);
        net.settle(SECOND);
        expect_all(g, HWMC_GROUP_ON);
        EXPECT_TRUE(g[slow]->casts);
        EXPECT_TRUE(net.fabric(slow).under_way.empty());
        broadcast(net, g, slow, pattern(1000, slow));
        EXPECT_EQ(0u, net.engines[0]->wires.counts->nacks_sent);
    }
}

TEST(EngineJoin, OnlyWhereItIsUnderWayItIsAskedForAgain)
{
    mem::Net net(2, 64 << 20, 40 + 100, 1 << 20, 2);

    net.fabric(1, 1).slow_joins = 5;
    Groups g = net.group(first(2));
    net.settle(SECOND);
    expect_all(g, HWMC_GROUP_ON);
    for (auto &f : net.fabrics)
        EXPECT_EQ(1u, f->joined.size());
}

TEST(EngineJoin, RefusedAfterAWhileTurnsAllOff)
{
    for (uint32_t bad = 0; bad < 4; bad++) {
        mem::Net net(4);

        net.fabric(bad).slow_joins = 30;
        net.fabric(bad).refuses_join = true;
        Groups g = net.group(first(4));
        net.settle(SECOND);
        expect_all(g, HWMC_GROUP_OFF);
        for (auto *x : g) {
            EXPECT_EQ((uint32_t) HWMC_REASON_JOIN, x->reason);
            EXPECT_EQ(bad, x->reason_rank);
        }
        expect_none_in(net);
    }
}

TEST(EngineJoin, OneThatNeverEndsTurnsAllOffWhenItsTimeIsUp)
{
    for (uint32_t bad = 0; bad < 4; bad++) {
        mem::Net net(4);

        net.fabric(bad).slow_joins = -1;
        Groups g = net.group(first(4));
        net.settle(SECOND - SECOND / 100);
        expect_all(g, HWMC_GROUP_SETUP);
        net.settle(SECOND);
        expect_all(g, HWMC_GROUP_OFF);
        for (auto *x : g) {
            EXPECT_EQ((uint32_t) HWMC_REASON_JOIN, x->reason);
            EXPECT_EQ(bad, x->reason_rank);
        }
        expect_none_in(net);
        for (auto *x : g)
            hwmc_group_close(x, net.now);
        net.settle(SECOND);
        expect_nothing_left(net);
    }
}

TEST(EngineJoin, WhereLanesServeTheyDoWhenItsTimeIsUp)
{
    mem::Net net(3);

    net.fabric(2).slow_joins = -1;
    Groups g = net.group(first(3), [](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.seg_bytes = 100;
        cfg.window = cfg.far_window = 4;
    });
    net.settle(2 * SECOND);
    expect_all(g, HWMC_GROUP_ON);
    for (auto *x : g) {
        EXPECT_FALSE(x->casts);
        EXPECT_EQ((uint32_t) HWMC_REASON_JOIN, x->reason);
    }
    expect_none_in(net);
}

TEST(EngineJoin, ARailOnWhichItNeverEndsIsLeft)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);

    net.fabric(1, 0).slow_joins = -1;
    Groups g = net.group(first(3));
    net.settle(2 * SECOND);
    for (auto *x : g) {
        EXPECT_EQ(HWMC_GROUP_ON, x->state);
        EXPECT_EQ(0x2u, x->negotiation.agreed.rails);
        EXPECT_EQ(0x2u, x->joined_rails);
    }
    for (uint32_t h = 0; h < 3; h++) {
        EXPECT_EQ(0u, net.fabric(h, 0).joined.size());
        EXPECT_EQ(0u, net.fabric(h, 0).under_way.size());
    }
    broadcast(net, g, 1, pattern(1000, 1));
}

TEST(EngineJoin, ACommunicatorIsFreedWhileItIsUnderWay)
{
    for (uint32_t slow = 0; slow < 3; slow++) {
        mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);

        net.fabric(slow, 1).slow_joins = -1;
        Groups g = net.group(first(3));
        net.settle(SECOND / 100);
        EXPECT_EQ(1u, net.fabric(slow, 1).under_way.size());
        for (auto *x : g)
            hwmc_group_close(x, net.now);
        net.settle(SECOND);
        expect_nothing_left(net);
    }
}

TEST(EngineJoin, APeerIsLostWhileItIsUnderWay)
{
    mem::Net net(3);

    net.fabric(1).slow_joins = -1;
    Groups g = net.group(first(3));
    net.settle(SECOND / 100);
    for (uint32_t h = 0; h < 3; h++)
        hwmc_engine_on_lost(net.engines[h], (h + 1) % 3);
    net.settle(2 * SECOND);
    expect_all(g, HWMC_GROUP_BROKEN);
    for (auto *x : g)
        hwmc_group_close(x, net.now);
    net.settle(SECOND);
    expect_nothing_left(net);
}

TEST(EngineJoin, TheProcessEndsWhileItIsUnderWay)
{
    mem::Net net(3);

    net.fabric(1).slow_joins = -1;
    net.group(first(3));
    net.settle(SECOND / 100);
    EXPECT_EQ(1u, net.fabric(1).under_way.size());
    for (auto *e : net.engines)
        hwmc_engine_drain(e, net.now);
    net.settle(); // they tell each other, and wait for nothing else
    expect_nothing_left(net);
}

TEST(EngineJoin, FragmentsFitTheShortestDatagramOfAll)
{
    mem::Net net(3, 64 << 20, 40 + 100, 1 << 20, 2);

    for (uint32_t h = 0; h < 3; h++)
        net.engines[h]->wires.rails.one[1].attr.max_datagram = 40 + 100 - h;
    Groups g = net.group(first(3));
    net.settle(SECOND);
    expect_all(g, HWMC_GROUP_ON);
    for (auto *x : g)
        EXPECT_EQ(98u, x->negotiation.agreed.frag_bytes);
    broadcast(net, g, 1, pattern(980, 1));
}

// Its numbers serve the others too, whatever its rail.
TEST(EngineJoin, TheFabricWithTheFewestBitsDraws)
{
    mem::Net net(2, 64 << 20, 40 + 100, 1 << 20, 3);
    const int bits[] = {64, 18, 64};
    hwmc_fabric_ops counting[3];
    static int drawn[3];

    for (int r = 0; r < 3; r++) {
        drawn[r] = 0;
        counting[r] = *net.fabric(0, (uint32_t) r).base.ops;
        net.fabric(0, (uint32_t) r).base.ops = &counting[r];
        net.engines[0]->wires.rails.one[r].attr.group_bits = bits[r];
    }
    counting[0].draw = [](hwmc_fabric *, uint64_t *g) { return drawn[0]++, *g = 1, 0; };
    counting[1].draw = [](hwmc_fabric *, uint64_t *g) { return drawn[1]++, *g = 2, 0; };
    counting[2].draw = [](hwmc_fabric *, uint64_t *g) { return drawn[2]++, *g = 3, 0; };
    Groups g = net.group(first(2));
    net.settle(SECOND);
    expect_all(g, HWMC_GROUP_ON);
    EXPECT_EQ(2u, g[1]->negotiation.agreed.group);
    EXPECT_EQ(0, drawn[0]);
    EXPECT_EQ(1, drawn[1]);
    EXPECT_EQ(0, drawn[2]);
}

// Where the network loses long datagrams shorter ones are agreed on, and carry everything.
TEST(Engine, DatagramsAreNoLongerThanTheNetworkTakes)
{
    for (size_t longest : {1500u, 1420u, 600u}) {
        mem::Net net(4, 64 << 20, 40 + 8000, 1 << 20, 2);
        Groups g;

        net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &bytes) {
            return to != 2 || bytes.size() <= longest;
        };
        g = net.group(first(4), [](hwmc_group_cfg &cfg) { cfg.piece_bytes = 64000; });
        net.settle(600000000);
        expect_all(g, HWMC_GROUP_ON);
        for (auto *x : g) {
            EXPECT_EQ(3u, x->negotiation.agreed.rails);
            EXPECT_EQ(1u, x->wires->engine_counts->setup_shorter);
        }
        for (uint32_t i = 0; i < 12; i++)
            broadcast(net, g, i % 4, pattern(i * 2900, i));
        for (auto *x : g)
            EXPECT_EQ(0u, x->wires->counts->nacks_sent + x->wires->counts->bad);
        for (auto *x : g)
            hwmc_group_close(x, net.now);
        net.settle(600000000);
        for (auto *e : net.engines)
            EXPECT_EQ(nullptr, e->groups.first);
    }
}

// Probes have the length of the datagrams that they stand for, with and without seals.
TEST(Engine, ProbesAreAsLongAsFragments)
{
    for (int auth_lane = 0; auth_lane < 2; auth_lane++) {
        const unsigned char secret[32] = {1};
        mem::Net net(3, 64 << 20, 40 + 32 + 500);
        std::set<size_t> probes;

        if (auth_lane)
            net.auth(secret);
        net.on_post = [&](const mem::Fabric &, const mem::Bytes &b) {
            if (b[(auth_lane ? HWMC_AUTH : 0) + 3] == HWMC_MSG_PROBE)
                probes.insert(b.size());
        };
        Groups g = net.group(first(3));
        net.settle();
        expect_all(g, HWMC_GROUP_ON);
        EXPECT_EQ(std::set<size_t>{40 + 32 + 500}, probes);
    }
}
