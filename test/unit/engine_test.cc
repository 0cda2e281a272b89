// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Engines and groups: real messages through the real wire format, over queues.
#include "any_msg.h"
#include "engine_groups.h"

TEST(Engine, SetsUpAndBroadcastsFromEveryRoot)
{
    mem::Net net(5);
    Groups g = net.group(first(5));

    net.settle();
    expect_all(g, HWMC_GROUP_ON);
    for (uint32_t i = 0; i < 40; i++)
        broadcast(net, g, i % 5, pattern(i * 23 % 1000, i));
}

TEST(Engine, CompletesUnderRandomLossPushAndPull)
{
    for (int push = 0; push < 2; push++) {
        mem::Net net(4);
        std::minstd_rand r(7);
        Groups g;

        net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) { return r() % 100 >= 30; };
        g = net.group(first(4), [&](hwmc_group_cfg &cfg) { cfg.policy.first.push = push; });
        net.settle(300000000);
        expect_all(g, HWMC_GROUP_ON);
        for (uint32_t i = 0; i < 100; i++)
            broadcast(net, g, i * 7 % 4, pattern(i * 91 % 1000, i));
        if (push)
            EXPECT_EQ(net.engines[0]->wires.counts->nacks_sent, 0u);
        else
            EXPECT_GT(net.engines[0]->wires.counts->nacks_sent, 0u);
    }
}

// Rank 2 lacks fragments of a broadcast whose root and rank 1 make no progress; rank 3 has them.
static void seek_while_away(bool auth_lane)
{
    const size_t auth = auth_lane ? HWMC_AUTH : 0;
    mem::Net net(4);
    mem::Bytes data = pattern(700, 3);

    if (auth_lane)
        net.auth(data.data());
    Groups g = net.group(first(4));
    net.settle();
    expect_all(g, HWMC_GROUP_ON);
    net.passes = [auth](uint32_t, uint32_t to, const mem::Bytes &bytes) {
        uint32_t i = index_of(mem::Bytes(bytes.begin() + (long) auth, bytes.end()));
        return to != 2 || (i != 3 && i != 4);
    };
    memcpy(hwmc_group_next_bytes(g[0], (uint32_t) data.size()), data.data(), data.size());
    hwmc_group_post_root(g[0], (uint32_t) data.size(), false, net.now);
    for (uint32_t r = 1; r < 4; r++)
        hwmc_group_post_member(g[r], 0, net.now);
    net.away = {0, 1};
    net.settle(100000000);
    ASSERT_TRUE(hwmc_group_done(g[2]));
    EXPECT_EQ(0, memcmp(hwmc_group_last_bytes(g[2]), data.data(), data.size()));
    EXPECT_EQ(2u, net.engines[2]->wires.counts->found);
    EXPECT_EQ(2u, net.engines[3]->wires.counts->given);
    net.away.clear();
    net.settle(100000000);
    for (uint32_t r = 0; r < 4; r++) {
        ASSERT_TRUE(hwmc_group_done(g[r]));
        EXPECT_EQ(0u, net.engines[r]->wires.counts->bad);
        hwmc_group_consume(g[r], net.now);
    }
    broadcast(net, g, 1, pattern(300, 4));
}

TEST(Engine, WhoWaitsIsFoundWhilePredecessorAndRootAreAway)
{
    seek_while_away(false);
    seek_while_away(true);
}

// Where repair is answered by who cannot look for addresses.
TEST(Engine, WhoIsServedIsMetAtSetUpIfWished)
{
    for (bool meets : {false, true}) {
        mem::Net net(4);

        for (auto *e : net.engines)
            e->wires.cfg.meets = meets;
        Groups g = net.group(first(4));
        net.settle();
        expect_all(g, HWMC_GROUP_ON);
        for (uint32_t r = 0; r < 4; r++)
            EXPECT_EQ(meets ? std::set<uint32_t>{(r + 1) % 4} : std::set<uint32_t>{},
                      net.lane(r, 0).met);
    }
}

TEST(Engine, FragmentsInARowGoAsOneLaneMessage)
{
    for (int push = 0; push < 2; push++) {
        mem::Net net(4);
        Groups g = net.group(first(4), [&](hwmc_group_cfg &cfg) { cfg.policy.first.push = push; });
        uint64_t before;

        net.settle();
        net.passes = [&](uint32_t, uint32_t to, const mem::Bytes &bytes) {
            uint32_t i = index_of(bytes);
            return to != 2 || !((i >= 3 && i <= 5) || i == 8);
        };
        before = net.engines[1]->wires.engine_counts->lane_messages_sent;
        broadcast(net, g, 0, pattern(950, 1));
        // Push: all ten in one. Pull: 3 to 5, and 8.
        EXPECT_EQ(before + (push ? 1 : 2), net.engines[1]->wires.engine_counts->lane_messages_sent);
        EXPECT_EQ(1u, net.engines[2]->wires.counts->repaired);
    }
}

// One with fragments from `index` on, of a broadcast of 950 bytes.
static void give_run(mem::Net &net, hwmc_group *to, uint32_t index, uint32_t len)
{
    hwmc_msg m = {};

    m.type = HWMC_MSG_DATA;
    m.data.index = index;
    m.data.frags = 10;
    m.data.bytes = 950;
    give(net, to, m, len);
}

TEST(Engine, ARunOfFragmentsIsWholeAndOfOneBroadcast)
{
    mem::Net net(3);
    Groups g = net.group(first(3));
    hwmc_counts *counts = net.engines[1]->wires.counts;
    const hwmc_two_stage *m;

    net.settle();
    m = &g[1]->stream.slots[0];
    for (uint32_t len : {0u, 99u, 101u, 150u, 199u, 249u, 251u, 300u, 350u})
        give_run(net, g[1], 8, len); // whole: 150
    EXPECT_EQ(8u, counts->bad);
    EXPECT_EQ(2u, m->n_got);
    give_run(net, g[1], 0, 950); // 8 and 9 again
    EXPECT_EQ(8u, counts->bad);
    EXPECT_EQ(2u, counts->dup);
    EXPECT_EQ(10u, m->n_got);
}

TEST(Engine, WithoutMulticastAllAreOffForTheSameReason)
{
    mem::Net net(6);
    Groups g;

    net.passes = [](uint32_t, uint32_t to, const mem::Bytes &) { return to != 4; };
    g = net.group(first(6));
    net.settle(600000000);
    expect_all(g, HWMC_GROUP_OFF);
    for (auto *x : g) {
        EXPECT_EQ(x->reason, (uint32_t) HWMC_REASON_PROBE);
        EXPECT_EQ(x->reason_rank, 4u);
        EXPECT_EQ(x->all->memory_used, 0u);
    }
    for (auto &f : net.fabrics)
        EXPECT_TRUE(f->joined.empty());
}

TEST(Engine, OneRefusedJoinTurnsAllOff)
{
    mem::Net net(4);

    net.fabrics[2]->refuses_join = true;
    Groups g = net.group(first(4));
    net.settle(600000000);
    expect_all(g, HWMC_GROUP_OFF);
    EXPECT_EQ(g[0]->reason, (uint32_t) HWMC_REASON_JOIN);
    EXPECT_EQ(g[3]->reason_rank, 2u);
}

TEST(Engine, MemoryIsBoundedAndSharedByCommunicators)
{
    mem::Net net(2, 2 * 4 * 1000); // two communicators of 4 channels of 1000 bytes
    std::vector<Groups> g;

    for (uint32_t i = 0; i < 3; i++) {
        g.push_back(net.group(first(2), [&](hwmc_group_cfg &cfg) { cfg.context = i; }));
        net.settle();
    }
    expect_all(g[0], HWMC_GROUP_ON);
    expect_all(g[1], HWMC_GROUP_ON);
    expect_all(g[2], HWMC_GROUP_OFF);
    EXPECT_EQ(g[2][0]->reason, (uint32_t) HWMC_REASON_MEMORY);
    for (auto &group : g)
        for (auto *x : group)
            hwmc_group_close(x, net.now);
    net.settle();
    for (auto *e : net.engines) {
        EXPECT_EQ(e->groups.memory_used, 0u);
        EXPECT_EQ(e->groups.first, nullptr);
    }
}

TEST(Engine, DisjointCommunicatorsWithOneContextIdAndOneGroupDoNotMix)
{
    mem::Net net(4);

    Groups a = net.group({0, 1});
    net.next_group = 1; // the same group again
    Groups b = net.group({2, 3});
    net.settle();
    expect_all(a, HWMC_GROUP_ON);
    expect_all(b, HWMC_GROUP_ON);
    for (uint32_t i = 0; i < 20; i++) {
        broadcast(net, a, i % 2, pattern(300, i));
        broadcast(net, b, i % 2, pattern(300, 1000 + i));
    }
    EXPECT_GT(net.engines[0]->wires.engine_counts->drop_communicator, 0u);
}

TEST(Engine, CorruptForeignAndStrayDatagramsAreDroppedAndCounted)
{
    mem::Net net(3);
    Groups g = net.group(first(3));
    mem::Bytes sent;

    net.settle();
    net.wire.clear();
    broadcast(net, g, 0, pattern(50, 1));
    sent = net.wire.front();
    for (size_t bit = 0; bit < 8 * sent.size(); bit++) {
        mem::Bytes bad = sent;

        bad[bit / 8] ^= (unsigned char) (1 << bit % 8);
        net.fabrics[1]->in.push_back(bad);
    }
    net.fabrics[1]->in.push_back(mem::Bytes(10)); // short
    net.fabrics[1]->in.push_back(sent);           // late
    net.settle();
    const auto &c = *net.engines[1]->wires.engine_counts;
    EXPECT_EQ(c.drop_foreign, 64u);
    EXPECT_EQ(c.drop_crc + c.drop_format, 8 * sent.size() - 64 + 1);
    EXPECT_EQ(net.engines[1]->wires.counts->dup + net.engines[1]->wires.counts->stale, 1u);
    broadcast(net, g, 2, pattern(500, 2));
}

TEST(Engine, CloseServesOthersToTheEnd)
{
    mem::Net net(4);
    Groups g = net.group(first(4));
    bool deaf = false;

    net.settle();
    net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) { return !deaf; };
    deaf = true; // the last broadcast reaches nobody by multicast
    mem::Bytes data = pattern(400, 5);

    memcpy(hwmc_group_next_bytes(g[1], (uint32_t) data.size()), data.data(), data.size());
    hwmc_group_post_root(g[1], (uint32_t) data.size(), false, net.now);
    hwmc_group_consume(g[1], net.now);
    hwmc_group_close(g[1], net.now); // the root leaves at once
    for (uint32_t r : {2u, 3u, 0u}) {
        hwmc_group_post_member(g[r], 1, net.now);
        net.settle(50000000);
        ASSERT_TRUE(hwmc_group_done(g[r]));
        ASSERT_EQ(0, memcmp(hwmc_group_last_bytes(g[r]), data.data(), data.size()));
        hwmc_group_consume(g[r], net.now);
        hwmc_group_close(g[r], net.now);
    }
    net.settle(500000000);
    for (auto *e : net.engines)
        EXPECT_EQ(e->groups.first, nullptr);
}

TEST(Engine, CloseDuringSetUpLeavesNothing)
{
    mem::Net net(3);
    Groups g = net.group(first(3));

    for (auto *x : g)
        hwmc_group_close(x, net.now);
    net.settle(600000000);
    for (auto *e : net.engines) {
        EXPECT_EQ(e->groups.first, nullptr);
        EXPECT_EQ(e->groups.memory_used, 0u);
    }
}

TEST(Engine, AFullSenderHoldsBackAndLosesNothing)
{
    mem::Net net(2);
    Groups g = net.group(first(2));
    mem::Bytes data = pattern(900, 3);

    net.settle();
    net.fabrics[0]->credits = 3; // of 9 fragments
    memcpy(hwmc_group_next_bytes(g[0], (uint32_t) data.size()), data.data(), data.size());
    hwmc_group_post_root(g[0], (uint32_t) data.size(), false, net.now);
    hwmc_group_consume(g[0], net.now);
    EXPECT_FALSE(hwmc_group_open(g[0]));
    EXPECT_EQ(hwmc_engine_deadline(net.engines[0]), net.now + 100000); // the fabric says
    net.fabrics[0]->credits = -1;
    hwmc_group_post_member(g[1], 0, net.now);
    while (net.step())
        ;
    EXPECT_TRUE(hwmc_group_done(g[1]));
    EXPECT_EQ(net.engines[1]->wires.counts->nacks_sent, 0u);
    EXPECT_EQ(0, memcmp(hwmc_group_last_bytes(g[1]), data.data(), data.size()));
}

TEST(Engine, ASenderThatWasFullForAMomentSendsTheRest)
{
    mem::Net net(2);
    Groups g = net.group(first(2), [](hwmc_group_cfg &cfg) {
        cfg.policy.first.push = true;
        cfg.piece_bytes = 5000;
    });
    mem::Bytes data = pattern(5000, 4); // 50 fragments, more than a batch

    net.settle();
    net.fabrics[0]->hiccups = 1; // the batch is refused once, and taken at the next try
    memcpy(hwmc_group_next_bytes(g[0], (uint32_t) data.size()), data.data(), data.size());
    hwmc_group_post_root(g[0], (uint32_t) data.size(), false, net.now);
    hwmc_group_post_member(g[1], 0, net.now);
    while (net.step())
        ;
    EXPECT_TRUE(hwmc_group_done(g[0]));
    ASSERT_TRUE(hwmc_group_done(g[1]));
    EXPECT_EQ(net.engines[0]->wires.counts->cast_frags, 50u);
}

TEST(Engine, ALostPeerBreaksItsCommunicatorsOnly)
{
    mem::Net net(4);
    Groups a = net.group({0, 1, 2});
    Groups b = net.group({0, 3}, [](hwmc_group_cfg &cfg) { cfg.context = 8; });

    net.settle();
    hwmc_engine_on_lost(net.engines[0], 2);
    EXPECT_EQ(a[0]->state, HWMC_GROUP_BROKEN);
    EXPECT_EQ(a[0]->loss.rank, 2u);
    EXPECT_EQ(b[0]->state, HWMC_GROUP_ON);
    broadcast(net, b, 0, pattern(10, 1));
}

// The set-up key names a group that has no stream yet: only for messages of set-up, and that a
// member is lost.
TEST(Engine, TheSetUpKeyNamesAGroupForSetUpAndLossesOnly)
{
    for (int type = HWMC_MSG_DATA; type < HWMC_MSG_LIMIT; type++) {
        mem::Net net(2);
        Groups g = net.group(first(2));
        hwmc_msg m = {};
        hwmc_parameters t = {};
        bool parameters = type == HWMC_MSG_REPORT || type == HWMC_MSG_DECIDE;
        bool by_key = parameters || type == HWMC_MSG_INVITE || type == HWMC_MSG_LOST;

        ASSERT_FALSE(g[1]->running);
        m.type = (hwmc_msg_type) type;
        m.bid = 99;
        if (parameters)
            m.parameters = &t;
        give(net, g[1], m, parameters ? HWMC_WIRE_PARAMETERS : 0);
        EXPECT_EQ(by_key || type == HWMC_MSG_MEASURE ? 0u : 1u,
                  net.engines[1]->wires.engine_counts->drop_communicator)
            << type;
    }
}

TEST(Engine, HostileBytesUnderTheRightKeyCrashNothing)
{
    mem::Net net(3);
    Groups g = net.group(first(3), [](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 10;
    });
    std::minstd_rand r(11);

    net.settle();
    for (int n = 0; n < 20000; n++) {
        hwmc_msg m = {};
        AnyFields f;
        hwmc_parameters t = {};
        uint64_t bits[HWMC_WIRE_BITS_MAX / 64];
        unsigned char head[HWMC_WIRE_HEAD], body[HWMC_WIRE_CONTROL_MAX] = {};
        hwmc_wire_id id = g[1]->id;
        uint32_t len;

        for (auto &w : bits)
            w = (uint64_t) r() << 32 | r();
        m.type = (hwmc_msg_type) (1 + r() % 12);
        m.bid = r() % 3 ? r() % 8 : (uint64_t) r() << 40;
        f.root = r() % 4;
        f.index = r() % 12;
        f.frags = r() % 12;
        f.bytes = r() % 1200;
        m.flags = r() % 8;
        m.multicast = r() % 2;
        f.rails = (uint8_t) (r() % 4);
        f.tree = (uint8_t) (r() % 3);
        f.slot = (uint8_t) (r() % 3);
        f.bits = bits;
        t.stage = r() % 6;
        t.reason = r() % 9;
        f.parameters = &t;
        set_fields(m, f);
        if (m.type == HWMC_MSG_INVITE || m.type == HWMC_MSG_REPORT || m.type == HWMC_MSG_DECIDE) {
            id.generation = 0;
            m.bid = 99;
        }
        len = hwmc_wire_encode(head, &id, r() % 5, &m, body, r() % sizeof(body));
        mem::Bytes bytes(head, head + hwmc_wire_head_len(&m));

        bytes.insert(bytes.end(), body, body + len);
        if (r() % 2)
            net.fabrics[1]->in.push_back(bytes);
        else
            net.lanes[1]->in.push_back(bytes);
        hwmc_engine_progress(net.engines[1], net.now += 1000);
        if (g[1]->running)
            hwmc_stream_check(&g[1]->stream);
        hwmc_engine_check(net.engines[1]);
    }
}

// A message of several pieces, pinned by root and members, with losses: the pieces are placed where
// they belong, and what a member lacks comes though the others have taken their memory back.
TEST(Engine, LentMemoryIsSentFromAndPlacedInto)
{
    for (int push = 0; push < 2; push++) {
        mem::Net net(4);
        Groups g = net.group(first(4), [&](hwmc_group_cfg &cfg) {
            cfg.policy.first.push = push;
            cfg.channels = 4;
        });
        mem::Bytes data = pattern(9500, 1);
        std::vector<mem::Bytes> got(4, mem::Bytes(data.size()));
        std::vector<size_t> at(4, 0);
        std::minstd_rand r(3);
        const uint32_t piece = 1000;
        auto posted = [&](uint32_t i) {
            return g[i]->stream.posted > g[i]->stream.channel.consumed;
        };

        net.settle();
        net.passes = [&](uint32_t, uint32_t, const mem::Bytes &) { return r() % 10 != 0; };
        got[1] = data;
        for (uint32_t i = 0; i < 4; i++)
            hwmc_group_pin(g[i], got[i].data(), data.size());
        for (int turns = 0; at != std::vector<size_t>(4, data.size()); turns++) {
            ASSERT_LT(turns, 1000);
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t n = (uint32_t) std::min<size_t>(piece, data.size() - at[i]);

                if (n == 0 || posted(i) || (i == 3 && turns < 5)) // it comes late
                    continue;
                if (!hwmc_group_open(g[i])) {
                    hwmc_group_stall(g[i], net.now);
                    continue;
                }
                if (i == 1)
                    hwmc_group_post_root(g[i], n, at[i] + n < data.size(), net.now);
                else
                    hwmc_group_post_member(g[i], 1, net.now);
            }
            net.settle(100000000);
            for (uint32_t i = 0; i < 4; i++) {
                if (!posted(i) || !hwmc_group_done(g[i]))
                    continue;
                auto *from = (const unsigned char *) hwmc_group_last_bytes(g[i]);
                uint32_t n = hwmc_stream_bytes(&g[i]->stream);

                if (from != got[i].data() + at[i])
                    memcpy(got[i].data() + at[i], from, n);
                at[i] += n;
                hwmc_group_consume(g[i], net.now);
                if (at[i] == data.size()) {
                    EXPECT_EQ(i == 1, net.counts[i]->engine.in_place == 0) << i;
                    hwmc_group_unpin(g[i]);
                    EXPECT_EQ(data, got[i]) << i;
                    std::fill(got[i].begin(), got[i].end(), 0xee);
                }
            }
        }
        net.passes = {};
        broadcast(net, g, 2, pattern(300, 2));
    }
}

// One asks, the other answers, over every lane; somebody who takes no part answers nothing.
TEST(EngineMeasure, AsksAndIsAnswered)
{
    mem::Net net(3);
    hwmc_engine *asks = net.engines[0], *answers = net.engines[2];

    hwmc_engine_measuring(asks, true);
    hwmc_engine_measure(asks, 2, 0, net.now);
    net.settle();
    EXPECT_FALSE(hwmc_measure_done(&asks->measure)); // 2 does nothing yet
    hwmc_engine_measuring(answers, true);
    for (int i = 0; i < 1000 && !hwmc_measure_done(&asks->measure); i++) {
        net.now += 1000;
        net.step();
    }
    ASSERT_TRUE(hwmc_measure_done(&asks->measure));
    EXPECT_GT(asks->measure.of[0].latency_ns, 0u);
    EXPECT_GT(asks->measure.of[0].mbit, 0u);
    EXPECT_EQ(0u, asks->wires.counts->bad + answers->wires.counts->bad);
    hwmc_engine_measuring(asks, false);
    hwmc_engine_measuring(answers, false);
    EXPECT_FALSE(hwmc_engine_active(asks));
}

// A question that comes when measuring is over at who is asked is late, and contradicts nothing.
TEST(EngineMeasure, ALateQuestionIsStale)
{
    mem::Net net(3);
    Groups g = net.group(first(3));
    hwmc_engine *asks = net.engines[0], *answers = net.engines[2];

    net.settle();
    hwmc_engine_measuring(asks, true);
    hwmc_engine_measure(asks, 2, 0, net.now);
    net.settle();
    EXPECT_FALSE(hwmc_measure_done(&asks->measure));
    EXPECT_GT(answers->wires.counts->stale, 0u);
    EXPECT_EQ(0u, answers->wires.counts->bad);
    hwmc_engine_measuring(asks, false);
}

// Who is asked by all lanes answers by those that work; the others are measured, and dealt
// segments, no more.
TEST(EngineMeasure, WhatDoesNotAnswerCarriesNothing)
{
    mem::Net net(3);

    net.lanes_on({0, 1});
    for (uint32_t host = 0; host < 3; host++) {
        net.lane(host, 2).silent = true;
        hwmc_engine_measuring(net.engines[host], true);
    }
    hwmc_engine_ask(net.engines[0], 2);
    for (int i = 0; i < 100; i++) {
        net.now += 1000;
        net.step();
    }
    EXPECT_EQ(1u, net.engines[0]->answered);
    for (auto *e : net.engines)
        hwmc_engine_silent(e, 2);
    EXPECT_EQ(1u, hwmc_wires_lane_rails(&net.engines[1]->wires));
    EXPECT_FALSE(hwmc_wires_is_silent(&net.engines[1]->wires, 0));
    EXPECT_TRUE(hwmc_wires_is_silent(&net.engines[1]->wires, 1));
    EXPECT_EQ(1u, hwmc_wires_lanes_on(&net.engines[1]->wires, 0));
    hwmc_engine_measure(net.engines[0], 2, 0, net.now);
    for (int i = 0; i < 2000 && !hwmc_measure_done(&net.engines[0]->measure); i++) {
        net.now += 1000;
        net.step();
    }
    ASSERT_TRUE(hwmc_measure_done(&net.engines[0]->measure));
    EXPECT_GT(net.engines[0]->measure.of[0].mbit, 0u);
    EXPECT_EQ(0u, net.engines[0]->measure.of[1].mbit);
    for (auto *e : net.engines)
        hwmc_engine_measuring(e, false);

    Groups g = net.group(first(3), [](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 700;
    });
    net.settle();
    expect_all(g, HWMC_GROUP_ON);
    for (uint32_t i = 0; i < 6; i++)
        along_trees(net, g, i % 3, pattern(20000, i));
    for (uint32_t host = 0; host < 3; host++)
        EXPECT_EQ(0, net.lane(host, 2).segments);
    EXPECT_GT(net.lane(0, 1).segments, 0);
}
