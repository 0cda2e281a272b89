// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Ranks that have no memory for a group. The others get to know, and nobody waits for them.
#include <algorithm>
#include <numeric>

#include "engine_groups.h"
#include "failing_memory.h"

namespace {

using failing_memory::Range;

constexpr uint32_t P = 7; // with fanout 2: three levels
constexpr uint64_t WHILE = 600000000;

// With sites, so that there is one more allocation.
mem::Net::Tweak with_sites(uint32_t context = 7)
{
    static const uint64_t sites[P] = {1, 1, 1, 1, 2, 2, 2};

    return [context](hwmc_group_cfg &cfg) {
        cfg.context = context;
        cfg.key = 92 + context;
        cfg.site = sites;
        cfg.trees = 2;
        cfg.window = cfg.far_window = 8;
        cfg.seg_bytes = 1000;
    };
}

// Begins it at rank `r`, of which the allocation with this number fails.
hwmc_group *begin_without(mem::Net &net, const hwmc_group_cfg &cfg, uint32_t r, int64_t one)
{
    Range range(one);

    return net.begin(cfg, r);
}

// Those that have a group know that somebody had no memory; who has none has nothing left to say.
void expect_given_up(const mem::Net &net, const Groups &g)
{
    for (auto *x : g) {
        if (!x)
            continue;
        EXPECT_EQ(HWMC_GROUP_OFF, x->state);
        EXPECT_EQ(HWMC_REASON_NOMEM, x->reason);
    }
    for (auto *e : net.engines) {
        EXPECT_EQ(0u, e->groups.declines.num);
        EXPECT_EQ(1u, e->wires.engine_counts->setup_off);
    }
}

void expect_drained(mem::Net &net)
{
    for (auto *e : net.engines)
        hwmc_engine_drain(e, net.now);
    net.settle(WHILE);
    for (auto *e : net.engines) {
        EXPECT_TRUE(hwmc_engine_drained(e));
        EXPECT_EQ(0u, e->groups.memory_used);
    }
}

bool are_neighbours(const hwmc_group_cfg &cfg, uint32_t a, uint32_t b)
{
    hwmc_decline_cfg d = {};

    d.size = cfg.size;
    d.rank = a;
    d.fanout = cfg.fanout;
    hwmc_decline_list(&d);
    return std::count(d.neighbour, d.neighbour + d.num_neighbours, b) > 0;
}

} // namespace

// Whichever rank it is, and whichever allocation.
TEST(EngineDecline, WhoHasNoMemoryForAGroupTellsTheOthers)
{
    for (uint32_t who = 0; who < P; who++) {
        int64_t one = 0;

        for (bool failed = true; failed; one++) {
            mem::Net net(P);
            const auto members = first(P);
            const auto cfg = net.group_cfg(members, with_sites());
            Groups g;

            for (uint32_t r = 0; r < P; r++)
                g.push_back(begin_without(net, cfg, r, r == who ? one : INT64_MAX));
            failed = !g[who];
            net.settle(WHILE);
            if (failed)
                expect_given_up(net, g);
            else
                expect_all(g, HWMC_GROUP_ON);
            expect_drained(net);
        }
        EXPECT_EQ(5, one); // group, members, sites, agenda
    }
}

// Members begin in any order, each when the one before has nothing more to say: messages to a rank
// that has not begun are lost.
TEST(EngineDecline, AtAnyTime)
{
    std::minstd_rand random(1);
    std::vector<uint32_t> order(P);

    std::iota(order.begin(), order.end(), 0);
    for (int round = 0; round < 200; round++) {
        mem::Net net(P);
        const auto members = first(P);
        const auto cfg = net.group_cfg(members, with_sites());
        const uint32_t decliners = 1 + random() % ((1u << P) - 1); // a bit each
        Groups g(P);

        std::shuffle(order.begin(), order.end(), random);
        for (uint32_t r : order) {
            g[r] = begin_without(net, cfg, r, decliners >> r & 1 ? 0 : INT64_MAX);
            if (round % 2)
                net.settle();
        }
        net.settle(WHILE);
        expect_given_up(net, g);
        expect_drained(net);
    }
}

// The program is through with the group before it knows the outcome.
TEST(EngineDecline, WhoClosesOrFinalizesInSetUpWaitsForNobodyForEver)
{
    for (uint32_t who = 0; who < P; who++)
        for (int steps = 0; steps < 8; steps++)
            for (bool all : {false, true}) {
                mem::Net net(P);
                const auto members = first(P);
                const auto cfg = net.group_cfg(members, with_sites());
                Groups g;

                for (uint32_t r = 0; r < P; r++)
                    g.push_back(begin_without(net, cfg, r, r == who ? 0 : INT64_MAX));
                for (int i = 0; i < steps; i++)
                    net.step();
                for (uint32_t r = 0; r < P; r++)
                    if (r != who && !all)
                        hwmc_group_close(g[r], net.now);
                if (!all)
                    net.settle(WHILE);
                for (auto *e : net.engines)
                    EXPECT_TRUE(all || hwmc_engine_drained(e)) << who << " " << steps;
                expect_drained(net);
            }
}

// Memory for what set-up needs on the way may be missing as well.
TEST(EngineDecline, WhicheverAllocationFailsAllMembersAreAlike)
{
    bool failed = true;

    for (int64_t one = 0; failed; one++) {
        mem::Net net(P, 64 << 20, 40 + 1600);
        const auto members = first(P);

        // Fragments of full length do not pass, so that what was made is made anew.
        net.passes = [](uint32_t, uint32_t to, const mem::Bytes &bytes) {
            return to != 4 || bytes.size() < 1500;
        };
        Range range(one);
        Groups g = net.group(members, with_sites());
        net.settle(WHILE);
        failed = one < Range::allocations();
        if (failed)
            expect_given_up(net, g);
        else
            expect_all(g, HWMC_GROUP_ON);
        for (auto *e : net.engines)
            EXPECT_TRUE(failed || e->wires.engine_counts->setup_shorter == 1);
        expect_drained(net);
    }
}

// There is room for so many. One more than that is said to be too many.
TEST(EngineDecline, ThereIsRoomForSoManyAndItComesBack)
{
    mem::Net net(P);
    const auto members = first(P);

    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < HWMC_DECLINES; i++) {
            EXPECT_EQ(nullptr, begin_without(net, net.group_cfg(members, with_sites(i)), 3, 0));
            EXPECT_EQ(i + 1, net.engines[3]->groups.declines.num);
        }
        hwmc_decline_cfg more = net.engines[3]->groups.declines.one[0].cfg;
        more.key = 1;
        EXPECT_FALSE(hwmc_decline_begin(&net.engines[3]->groups, &more, net.now));
        for (uint32_t i = 0; i < HWMC_DECLINES; i++)
            for (uint32_t r = 0; r < P; r++)
                if (r != 3)
                    hwmc_group_close(net.begin(net.group_cfg(members, with_sites(i)), r), net.now);
        net.settle(WHILE);
        EXPECT_EQ(0u, net.engines[3]->groups.declines.num);
    }
    expect_drained(net);
}

// A member never begins, and some others find that it is lost. A rank that declines tells its
// neighbours, and is told.
TEST(EngineDecline, ALostMemberEndsItEverywhere)
{
    for (uint32_t who = 0; who < P; who++)
        for (uint32_t other = 0; other < P; other++)
            for (bool found_here : {false, true}) {
                mem::Net net(P);
                const auto members = first(P);
                const auto cfg = net.group_cfg(members, with_sites());
                Groups g(P);

                if (other == who || (found_here && !are_neighbours(cfg, who, other)))
                    continue;
                net.away.insert(other);
                for (uint32_t r = 0; r < P; r++)
                    if (r != other)
                        g[r] = begin_without(net, cfg, r, r == who ? 0 : INT64_MAX);
                net.settle(WHILE);
                EXPECT_EQ(1u, net.engines[who]->groups.declines.num);
                for (uint32_t r = 0; r < P; r++)
                    if (r != other && (r == who) == found_here)
                        hwmc_engine_on_lost(net.engines[r], other);
                net.settle(WHILE);
                EXPECT_EQ(0u, net.engines[who]->groups.declines.num) << who << " " << other;
                for (uint32_t r = 0; r < P; r++)
                    if (r != other && r != who) {
                        EXPECT_EQ(HWMC_GROUP_BROKEN, g[r]->state) << who << " " << other;
                    }
            }
}

TEST(EngineDecline, WhatMakesNoSenseChangesNothing)
{
    mem::Net net(P);
    const auto members = first(P);
    const auto cfg = net.group_cfg(members, with_sites());
    hwmc_engine *e = net.engines[1];
    unsigned char head[HWMC_WIRE_HEAD], body[HWMC_WIRE_CONTROL_MAX];
    auto give = [&](const hwmc_msg &m, uint32_t src, uint32_t context) {
        const hwmc_wire_id id = {e->wires.cfg.job, context, 0, 0, false};
        const uint32_t len = hwmc_wire_encode(head, &id, src, &m, body, 0);

        hwmc_engine_on_lane(e, head, sizeof(head), body, len);
    };
    hwmc_parameters yes = {HWMC_NEGOTIATION_PROPOSE, 0, 0, 1, 100, 1000, 1, 0, 1, 1};
    hwmc_msg m = {};

    EXPECT_EQ(nullptr, begin_without(net, cfg, 1, 0));
    m.bid = cfg.key;
    m.type = HWMC_MSG_LOST;
    for (uint32_t wrong = 0; wrong < 4; wrong++) {
        m.lost.rank = wrong == 0 ? P : 2;
        m.lost.finder = wrong == 1 ? P : 0;
        m.lost.stage = wrong == 2 ? HWMC_STAGE_LIMIT : 0;
        give(m, wrong == 3 ? P : 0, cfg.context);
    }
    m.type = HWMC_MSG_DECIDE;
    m.parameters = &yes;
    give(m, 0, cfg.context); // before there was a report
    for (uint32_t child : {3, 4}) {
        m.type = HWMC_MSG_REPORT;
        give(m, child, cfg.context);
    }
    m.type = HWMC_MSG_DECIDE;
    give(m, 0, cfg.context); // not what this rank reported
    EXPECT_EQ(5u, e->wires.counts->bad);
    EXPECT_EQ(0u, e->wires.engine_counts->drop_communicator);
    EXPECT_EQ(1u, e->groups.declines.num);
    yes = {HWMC_NEGOTIATION_PROPOSE, HWMC_REASON_PROBE, 0, 0, 0, 0, 0, 0, 0, 0};
    give(m, 0, cfg.context + 1); // of another communicator
    EXPECT_EQ(1u, e->wires.engine_counts->drop_communicator);
    EXPECT_EQ(1u, e->groups.declines.num);
    give(m, 0, cfg.context);
    EXPECT_EQ(0u, e->groups.declines.num);
    give(m, 0, cfg.context); // it is over
    EXPECT_EQ(2u, e->wires.engine_counts->drop_communicator);
}
