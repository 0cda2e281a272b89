// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Many groups in a process: those with nothing to do cost nothing. What is counted is looks at
// groups, not time.
#include "engine_groups.h"
#include "failing_memory.h"

extern "C" {
#include "engine/seen.h"
}

namespace {

constexpr uint32_t kMany = 1500;

Groups one_more(mem::Net &net, uint32_t number)
{
    return net.group(first(2), [=](hwmc_group_cfg &cfg) {
        cfg.context = number;
        cfg.key = 1000 + number;
        cfg.channels = 1;
        cfg.policy.first.period = 1;
        cfg.piece_bytes = 100;
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 70;
    });
}

uint64_t looks(const mem::Net &net, uint32_t host)
{
    return net.engines[host]->groups.agenda.looks + net.engines[host]->groups.names.looks;
}

} // namespace

TEST(EngineMany, IdleGroupsCostNothing)
{
    uint64_t cost[2][2];

    for (int many = 0; many < 2; many++) {
        mem::Net net(2);
        Groups busy = one_more(net, 0);

        for (uint32_t i = 1; many && i < kMany; i++)
            one_more(net, i);
        net.settle(UINT64_C(10000000000));
        uint64_t before = looks(net, 0);
        for (int i = 0; i < 1000; i++)
            net.step();
        EXPECT_EQ(before, looks(net, 0)) << "polls that find nothing";
        before = looks(net, 0);
        for (uint32_t i = 0; i < 50; i++)
            broadcast(net, busy, i % 2, pattern(90, i));
        cost[many][0] = looks(net, 0) - before;
        before = looks(net, 0);
        for (uint32_t i = 0; i < 50; i++)
            along_trees(net, busy, i % 2, pattern(900, i));
        cost[many][1] = looks(net, 0) - before;
        EXPECT_LT(hwmc_engine_by_lanes(net.engines[0]), 1);
        hwmc_engine_check(net.engines[0]);
    }
    // Several groups share a list of names: a few looks more.
    EXPECT_LT(cost[1][0], 10 * cost[0][0]);
    EXPECT_LT(cost[1][1], 10 * cost[0][1]);
    EXPECT_LT(cost[1][0] + cost[1][1], 100 * kMany / 2) << "as if all were looked at at each";
}

TEST(EngineMany, EachIsFoundAndEachGoes)
{
    mem::Net net(2);
    std::vector<Groups> all;
    std::minstd_rand r(5);

    for (uint32_t i = 0; i < 300; i++) {
        all.push_back(one_more(net, i));
        if (i % 50 == 0)
            hwmc_engine_check(net.engines[1]);
    }
    net.settle(UINT64_C(10000000000));
    for (uint32_t left = 300; left > 0; left--) {
        uint32_t which = r() % left;

        expect_all(all[which], HWMC_GROUP_ON);
        broadcast(net, all[which], which % 2, pattern(90, which));
        for (auto *g : all[which])
            hwmc_group_close(g, net.now);
        net.settle(1000000000);
        all.erase(all.begin() + which);
        hwmc_engine_check(net.engines[0]);
        EXPECT_EQ(left - 1, net.engines[0]->groups.agenda.groups);
    }
    EXPECT_EQ(nullptr, net.engines[0]->groups.first);
    EXPECT_EQ(nullptr, net.engines[1]->groups.first);
}

// Against the same by going through all.
TEST(EngineMany, TheAgendaKnowsWhoIsDue)
{
    constexpr uint32_t n = 60;
    hwmc_agenda a;
    std::vector<std::unique_ptr<hwmc_group>> g;
    std::minstd_rand r(7);
    static std::set<hwmc_group *> room;

    hwmc_agenda_init(&a);
    for (uint32_t i = 0; i < n; i++) {
        g.push_back(std::make_unique<hwmc_group>());
        ASSERT_TRUE(hwmc_agenda_add(&a, g[i].get()));
    }
    for (uint64_t now = 0; now < 3000; now++) {
        std::set<hwmc_group *> touched, due, came;
        hwmc_agenda_turn turn;
        uint64_t next = HWMC_NEVER;

        room.clear();
        for (uint32_t i = r() % 8; i > 0; i--) {
            hwmc_group *x = g[r() % n].get();

            switch (r() % 4) {
                case 0:
                    hwmc_agenda_touch(&a, x);
                    touched.insert(x);
                    break;
                case 1:
                    hwmc_agenda_wake(&a, x, r() % 3 ? now + r() % 20 : HWMC_NEVER);
                    break;
                case 2:
                    hwmc_agenda_block(&a, x, true);
                    room.insert(x);
                    break;
                default:
                    hwmc_agenda_done(&a, x);
                    touched.erase(x);
                    break;
            }
            hwmc_agenda_check(&a);
        }
        for (auto &x : g) {
            next = std::min(next, x->item.wake);
            if (x->item.wake <= now || touched.count(x.get()) || room.count(x.get()))
                due.insert(x.get());
        }
        EXPECT_EQ(touched.empty() ? next : 0, hwmc_agenda_deadline(&a));
        hwmc_agenda_begin(&a, &turn, now,
                          [](hwmc_group *x, uint64_t) { return room.count(x) > 0; });
        while (hwmc_group *x = hwmc_agenda_next(&a, &turn)) {
            EXPECT_TRUE(came.insert(x).second);
            hwmc_agenda_block(&a, x, false);
        }
        EXPECT_EQ(due, came);
        hwmc_agenda_check(&a);
    }
    for (auto &x : g)
        hwmc_agenda_remove(&a, x.get());
    hwmc_agenda_free(&a);
}

TEST(EngineMany, NamesThatWereSeenAreCounted)
{
    hwmc_seen s = {};
    uint64_t before;

    for (uint64_t round = 0; round < 3; round++)
        for (uint64_t i = 0; i < 10000; i++) {
            ASSERT_TRUE(hwmc_seen_again(&s, hwmc_prng(3, i), &before));
            ASSERT_EQ(round, before);
        }
    EXPECT_EQ(10000u, s.names);
    EXPECT_LT(s.looks, 3 * 10000u * 5);
    ASSERT_TRUE(hwmc_seen_again(&s, 0, &before));
    EXPECT_EQ(0u, before);
    hwmc_seen_free(&s);
    ASSERT_TRUE(hwmc_seen_again(&s, hwmc_prng(3, 1), &before));
    EXPECT_EQ(0u, before);
    hwmc_seen_free(&s);
}

// Without memory for a larger table the one there is gets full, and still tells all apart.
TEST(EngineMany, NamesAreCountedWithoutMoreMemory)
{
    hwmc_seen s = {};
    uint64_t before;

    const uint64_t room = HWMC_SEEN_FIRST;
    {
        failing_memory::Range range(0, INT64_MAX);
        for (uint64_t round = 0; round < 2; round++)
            for (uint64_t i = 0; i + 1 < room; i++) {
                ASSERT_TRUE(hwmc_seen_again(&s, hwmc_prng(3, i), &before)) << i;
                ASSERT_EQ(round, before);
            }
        EXPECT_FALSE(hwmc_seen_again(&s, hwmc_prng(3, room), &before));
        EXPECT_EQ(room - 1, s.names);
    }
    EXPECT_TRUE(hwmc_seen_again(&s, hwmc_prng(3, room), &before));
    EXPECT_EQ(0u, before);
    EXPECT_TRUE(hwmc_seen_again(&s, hwmc_prng(3, 0), &before));
    EXPECT_EQ(2u, before);
    hwmc_seen_free(&s);
}
