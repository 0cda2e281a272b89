// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// leader groups: who of each host is on which leader group.
#include <algorithm>
#include <climits>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/place/leaders.h"
}

namespace {

struct Sides {
    std::vector<uint32_t> host_of, memory;
    hwmc_leaders s;

    Sides(uint32_t hosts, const std::vector<uint32_t> &host_of, const std::vector<int> &distance)
        : host_of(host_of), memory(hwmc_leaders_words(host_of.size(), hosts))
    {
        hwmc_leaders_init(&s, host_of.size(), hosts, host_of.data(), distance.data(),
                          memory.data());
        hwmc_leaders_check(&s);
    }

    std::vector<uint32_t> on(uint32_t side) const
    {
        std::vector<uint32_t> ranks;

        for (uint32_t h = 0; h < s.hosts; h++)
            ranks.push_back(hwmc_leaders_at(&s, side, h));
        return ranks;
    }
};

using Ranks = std::vector<uint32_t>;

TEST(Sides, RanksOfAHostTakeTurnsNearestFirst)
{
    Sides x(2, {0, 0, 0, 1, 1}, {5, 3, 5, 0, 0});

    EXPECT_EQ(3u, hwmc_leaders_num(&x.s));
    EXPECT_EQ((Ranks{1, 3}), x.on(0));
    EXPECT_EQ((Ranks{0, 4}), x.on(1));
    EXPECT_EQ((Ranks{2, 3}), x.on(2));
    EXPECT_TRUE(hwmc_leaders_has(&x.s, 2, 3));
    EXPECT_FALSE(hwmc_leaders_has(&x.s, 2, 4));
}

// The root of a persistent broadcast is put before all others of its host.
TEST(Sides, OneBeforeAllDistancesLeads)
{
    Sides x(2, {0, 0, 0, 1, 1}, {5, 0, -1, INT_MAX, 0});

    EXPECT_EQ((Ranks{2, 4}), x.on(0));
    EXPECT_EQ((Ranks{1, 3}), x.on(1));
}

TEST(Sides, RanksThatAreSpreadKeepTheirOrder)
{
    Sides x(3, {0, 1, 2, 0, 1, 2, 0}, {0, 0, 0, 0, 0, 0, 0});

    EXPECT_EQ((Ranks{0, 1, 2}), x.on(0));
    EXPECT_EQ((Ranks{3, 4, 5}), x.on(1));
    EXPECT_EQ((Ranks{6, 1, 2}), x.on(2));
}

TEST(Sides, OneRankAHostIsOneSide)
{
    Sides x(3, {0, 1, 2}, {7, 1, 4});

    EXPECT_EQ(1u, hwmc_leaders_num(&x.s));
    EXPECT_EQ((Ranks{0, 1, 2}), x.on(0));
    EXPECT_EQ((Ranks{0, 1, 2}), x.on(5));
}

// Whatever the hosts: each rank is in the leader group of its place, leader groups below the most
// have different ranks, and nobody comes after one that is farther from the rail.
TEST(Sides, EachRankIsOnTheSideOfItsPlace)
{
    std::mt19937 random(1);

    for (int times = 0; times < 300; times++) {
        uint32_t ranks = 1 + random() % 40, hosts = 1 + random() % ranks;
        std::vector<uint32_t> host_of(ranks);
        std::vector<int> distance(ranks);

        for (uint32_t r = 0; r < ranks; r++) {
            host_of[r] = r < hosts ? r : random() % hosts;
            distance[r] = random() % 3;
        }
        std::shuffle(host_of.begin(), host_of.end(), random);
        Sides x(hosts, host_of, distance);
        std::set<Ranks> different;

        for (uint32_t side = 0; side < hwmc_leaders_num(&x.s); side++)
            EXPECT_TRUE(different.insert(x.on(side)).second);
        for (uint32_t r = 0; r < ranks; r++) {
            EXPECT_TRUE(hwmc_leaders_has(&x.s, x.s.place[r], r));
            EXPECT_EQ(host_of[r], x.s.host_of[r]);
            EXPECT_EQ((uint32_t) std::count(host_of.begin(), host_of.begin() + r, host_of[r]),
                      x.s.number[r]);
            for (uint32_t other = 0; other < ranks; other++) {
                if (host_of[other] != host_of[r] || x.s.place[other] >= x.s.place[r])
                    continue;
                EXPECT_TRUE(distance[other] < distance[r] ||
                            (distance[other] == distance[r] && other < r));
            }
        }
    }
}

} // namespace

TEST(Sides, HostsAreNumberedAsTheyCome)
{
    std::minstd_rand r(3);

    for (uint32_t n = 1; n < 300; n++) {
        const int kinds = 1 + (int) (r() % n);
        std::vector<int> name(n);
        std::vector<uint32_t> host_of(n), table(hwmc_leaders_table_words(n)), expected(n);
        uint32_t hosts = 0;

        for (uint32_t i = 0; i < n; i++) {
            uint32_t j = 0;

            name[i] = (int) (r() % kinds) * 1024 - 5;
            while (name[j] != name[i])
                j++;
            expected[i] = j < i ? expected[j] : hosts++;
        }
        EXPECT_EQ(hosts, hwmc_leaders_number(n, name.data(), host_of.data(), table.data()));
        EXPECT_EQ(expected, host_of);
    }
}

// As many as the ranks of a large machine: the square of it would take minutes.
TEST(Sides, ManyHostsAreNumbered)
{
    const uint32_t n = 200000;
    std::vector<int> name(n);
    std::vector<uint32_t> host_of(n), table(hwmc_leaders_table_words(n));

    for (uint32_t i = 0; i < n; i++)
        name[i] = (int) i;
    EXPECT_EQ(n, hwmc_leaders_number(n, name.data(), host_of.data(), table.data()));
    for (uint32_t i = 0; i < n; i++)
        ASSERT_EQ(i, host_of[i]);
}
