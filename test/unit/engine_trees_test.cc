// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Broadcasts along trees through engines and groups, with multicast and without it.
#include <algorithm>

#include "engine_groups.h"

// What makes a group one that has trees.
static std::function<void(hwmc_group_cfg &)>
trees(uint32_t num, uint32_t window, uint32_t seg_bytes, const uint64_t *site = nullptr)
{
    return [=](hwmc_group_cfg &cfg) {
        cfg.trees = num;
        cfg.window = cfg.far_window = window;
        cfg.seg_bytes = seg_bytes;
        cfg.adapt_lanes = true;
        cfg.site = site;
    };
}

// In turn with broadcasts by multicast, which lose datagrams.
TEST(EngineTrees, BroadcastsAlongTreesAreNumberedWithTheOthers)
{
    for (uint32_t p : {2, 3, 8, 11}) {
        mem::Net net(p);
        Groups g = net.group(first(p), trees(2, 3, 70));
        std::minstd_rand r(3);

        net.settle();
        net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) { return r() % 5 != 0; };
        for (uint32_t i = 0; i < 30; i++) {
            along_trees(net, g, i % p, pattern(i * 331 % 2000 + 1, i));
            broadcast(net, g, i * 3 % p, pattern(i * 91 % 1000, i));
        }
        EXPECT_EQ(30u, net.engines[p - 1]->wires.counts->multilane);
        EXPECT_EQ(0u, net.engines[p - 1]->wires.counts->bad);
    }
}

// By whatever multicast fails, at whichever stage: trees serve, and the channels' memory is free.
TEST(EngineTrees, ServeWhereMulticastDoesNotWork)
{
    for (int how = 0; how < 4; how++)
        for (uint32_t p : {2, 3, 8}) {
            mem::Net net(p, how == 3 ? 1000 : 64 << 20);

            for (uint32_t h = 0; how == 0 && h < p; h++)
                net.lose_rail(h, 0);
            if (how == 1)
                net.fabric(p - 1).refuses_join = true;
            if (how == 2)
                net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &) { return to != 1; };
            Groups g = net.group(first(p), trees(2, 2, 70));
            net.settle(UINT64_C(10000000000));
            for (uint32_t r = 0; r < p; r++) {
                ASSERT_EQ(HWMC_GROUP_ON, g[r]->state) << how << " " << p;
                EXPECT_FALSE(g[r]->casts);
                EXPECT_EQ(0u, net.engines[r]->groups.memory_used);
                EXPECT_NE((uint32_t) HWMC_REASON_NONE, g[r]->reason);
            }
            for (uint32_t i = 0; i < 50; i++)
                along_trees(net, g, i % p, pattern(i * 331 % 2000 + 1, i));
            EXPECT_EQ(0u, net.engines[p - 1]->wires.counts->bad);
            for (uint32_t r = 0; r < p; r++)
                hwmc_group_close(g[r], net.now);
            net.settle(UINT64_C(10000000000));
            for (uint32_t r = 0; r < p; r++)
                EXPECT_EQ(nullptr, net.engines[r]->groups.first) << how << " " << p << " " << r;
        }
}

// DATA for a group that has no channels is dropped.
TEST(EngineTrees, WithoutMulticastFragmentsAreBad)
{
    mem::Net net(2);
    hwmc_msg m = {};

    net.lose_rail(0, 0);
    Groups g = net.group(first(2), trees(1, 4, 100));
    net.settle();
    m.type = HWMC_MSG_DATA;
    m.data.frags = m.data.bytes = 1;
    give(net, g[1], m, 1);
    EXPECT_EQ(1u, net.engines[1]->wires.counts->bad);
}

TEST(EngineTrees, SitesAreFedOnce)
{
    mem::Net net(8);
    std::vector<uint64_t> site = {7, 7, 9, 7, 9, 9, 7, 9};
    Groups g = net.group(first(8), trees(2, 3, 10, site.data()));

    net.settle();
    ASSERT_EQ(2u, g[5]->sites.n);
    for (uint32_t i = 0; i < 16; i++)
        along_trees(net, g, i % 8, pattern(500, i));
    EXPECT_EQ(0u, net.engines[3]->wires.counts->bad);
}

TEST(EngineTrees, ManySegmentsBecomeLongerOnes)
{
    mem::Net net(3);
    Groups g = net.group(first(3), trees(2, 3, 1));

    net.settle();
    along_trees(net, g, 1, pattern(100000, 1));
    EXPECT_LE(net.engines[0]->wires.counts->got_segments, 16384u);
}

TEST(EngineTrees, SegmentsOfAnotherLengthAreBad)
{
    mem::Net net(2);
    Groups g = net.group(first(2), trees(1, 4, 100));
    mem::Bytes into(950);

    net.settle();
    hwmc_group_post_trees(g[1], 0, into.data(), 950, net.now);
    for (uint32_t len : {0, 1, 99, 101, 1000}) {
        hwmc_msg m = {};
        uint64_t bad = net.engines[1]->wires.counts->bad;

        m.type = HWMC_MSG_SEGMENT;
        m.segment.index = 3;
        m.segment.bytes = 950;
        give(net, g[1], m, len);
        EXPECT_EQ(bad + 1, net.engines[1]->wires.counts->bad) << len;
    }
    EXPECT_EQ(mem::Bytes(950), into);
}

// Segments that went over the lanes of an index, of all hosts.
static int segments(mem::Net &net, uint32_t index)
{
    int n = 0;

    for (uint32_t h = 0; h < net.hosts; h++)
        n += net.lane(h, index).segments;
    return n;
}

// Lanes on rails 0 and 2 of three: groups of one rail, of both, and of a rail without a lane, where
// all serve.
TEST(EngineTrees, AGroupKeepsToTheLanesOfItsRails)
{
    for (uint32_t rails : {0u, 1u, 2u, 4u, 5u}) {
        mem::Net net(5, 64 << 20, 40 + 100, 1 << 20, 3);
        Groups g;

        net.lanes_on({0, 2});
        EXPECT_EQ(5u, hwmc_wires_lane_rails(&net.engines[0]->wires));
        EXPECT_EQ(rails == 2                 ? 0u
                  : rails == 0 || rails == 5 ? 2u
                                             : 1u,
                  hwmc_wires_lanes_on(&net.engines[0]->wires, rails));
        g = net.group(first(5), [rails](hwmc_group_cfg &cfg) {
            trees(2, 2, 70)(cfg);
            cfg.rails = rails;
        });
        net.settle(UINT64_C(10000000000));
        for (uint32_t i = 0; i < 10; i++)
            along_trees(net, g, i % 5, pattern(i * 331 % 2000 + 500, i));
        EXPECT_EQ(0, segments(net, 0));
        EXPECT_EQ(rails != 4, segments(net, 1) > 0) << rails;
        EXPECT_EQ(rails != 1, segments(net, 2) > 0) << rails;
    }
}

// By the second lane a message leaves only after polls of its receiver: a connection that is being
// made, or one without room. A segment may go by a second lane when its receiver has had it and is
// through with the broadcast. The next one begins when all are.
TEST(EngineTrees, AReceiverThatIsThroughServesItsParentsLanes)
{
    const uint32_t p = 3, mbit[HWMC_RAIL_BITS] = {1600, 160}; // the second one is on probation
    mem::Net net(p, 64 << 20, 40 + 100, 1 << 20, 2);
    Groups g;
    std::vector<mem::Bytes> got(p, mem::Bytes(50));
    std::vector<uint32_t> done(p, 0);

    net.lanes_on({0, 1});
    for (auto *e : net.engines)
        hwmc_engine_rates(e, mbit);
    for (uint32_t r = 0; r < p; r++)
        net.lane(r, 2).handshake = 5;
    g = net.group(first(p), trees(2, 2, 70));
    net.settle(UINT64_C(10000000000));
    for (int i = 0; i < 100000 && *std::min_element(done.begin(), done.end()) < 200; i++) {
        net.now += 20000;
        net.step();
        for (uint32_t r = 0; r < p; r++) {
            const bool posted = hwmc_stream_by_trees(&g[r]->stream);

            if (posted && hwmc_group_done(g[r])) {
                hwmc_group_consume(g[r], net.now);
                done[r]++;
            } else if (!posted && hwmc_group_open(g[r]) &&
                       done[r] == *std::min_element(done.begin(), done.end())) {
                hwmc_group_post_trees(g[r], done[r] % p, got[r].data(), 50, net.now);
            }
        }
    }
    for (uint32_t r = 0; r < p; r++)
        EXPECT_LE(200u, done[r]) << "rank " << r;
    EXPECT_LT(0u, net.engines[0]->wires.counts->lane_copies);
}

// Lanes that nothing goes by are polled now and then only.
TEST(EngineTrees, QuietLanesAreLookedAtSeldom)
{
    mem::Net net(2);
    Groups g;
    int before;

    net.lanes_on({0});
    g = net.group(first(2), trees(1, 2, 70));
    net.settle(UINT64_C(10000000000));
    along_trees(net, g, 0, pattern(500, 1));
    net.settle();
    before = net.lane(1, 1).polls;
    for (int i = 0; i < 1000; i++) {
        net.now += HWMC_LANES_QUIET_NS / 100;
        net.step();
    }
    EXPECT_NEAR(10, net.lane(1, 1).polls - before, 2);
}

// Where segments may be long, those of long messages are: so many a message, for each level.
TEST(EngineTrees, SegmentsGrowWithTheMessage)
{
    const struct {
        uint32_t ranks, max, bytes, segments; // of the message
    } cases[] = {
        {2, 0, 32000, 320},  {2, 100, 32000, 320}, {2, 1000, 32000, 32}, {2, 5000, 32000, 16},
        {2, 5000, 1500, 15}, {2, 5000, 1700, 17},  {8, 5000, 48000, 48},
    };

    for (const auto &c : cases) {
        mem::Net net(c.ranks);
        Groups g = net.group(first(c.ranks), [&](hwmc_group_cfg &cfg) {
            trees(2, 8, 100)(cfg);
            cfg.seg_max = c.max;
        });
        int sent = 0;

        net.settle(UINT64_C(10000000000));
        along_trees(net, g, 0, pattern(c.bytes, c.max));
        for (auto &lane : net.lanes)
            sent += lane->segments;
        EXPECT_EQ((int) (c.segments * (c.ranks - 1)), sent) << c.ranks << " " << c.max;
    }
}
