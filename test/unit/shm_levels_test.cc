// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// levels: groups within groups, on hosts of every build, and the order that keeps them in one
// piece.
#include <algorithm>
#include <set>

#include "shm_hosts.h"

namespace {

// "cache: {0 1} {2} {3 4}; package: {0 1 2} {3 4}"
std::string said(const hwmc_shm_levels &l)
{
    std::string text;

    for (uint32_t i = 0; i < l.num; i++) {
        text += (i > 0 ? "; " : "") + std::string(hwmc_shm_part_text(l.kind[i])) + ":";
        for (uint32_t low = 0; low < l.n; low++) {
            if (l.lowest[i][low] != low)
                continue;
            text += " {" + std::to_string(low);
            for (uint32_t r = low + 1; r < l.n; r++)
                if (l.lowest[i][r] == low)
                    text += " " + std::to_string(r);
            text += "}";
        }
    }
    return text;
}

std::string said(const std::string &host, const std::vector<std::string> &cpus)
{
    return said(levels(places(host, cpus)));
}

using Order = std::vector<uint16_t>;

Order order(const hwmc_shm_levels &l, uint32_t first)
{
    Order o(l.n);

    hwmc_shm_levels_order(&l, first, o.data());
    return o;
}

} // namespace

TEST(NodeLevels, ExampleOfTheHeader)
{
    hwmc_shm_levels l = levels(places("package:2 l3:2 core:2 pu:1", {"0", "1", "2", "4", "5"}));

    EXPECT_EQ("cache: {0 1} {2} {3 4}; package: {0 1 2} {3 4}", said(l));
    EXPECT_EQ((Order{3, 4, 0, 1, 2}), order(l, 3));
}

TEST(NodeLevels, ThreadsOfACoreAreOneGroup)
{
    EXPECT_EQ("core: {0 2} {1 3}", said("package:1 l3:1 core:2 pu:2", {"0", "2", "1", "3"}));
}

TEST(NodeLevels, RanksThatAreNotBoundAreAllAlike)
{
    EXPECT_EQ("", said("package:2 l3:2 core:2 pu:1", {"0-7", "0-7", "0-7"}));
    EXPECT_EQ("", said("pu:4", {"0", "1", "2"}));
    EXPECT_EQ("", said("package:2 l3:2 core:2 pu:1", {"5"}));
}

TEST(NodeLevels, RanksThatAreNotBoundAmongOthersAreEachAlone)
{
    EXPECT_EQ("cache: {0 3} {1} {2}", said("package:2 l3:1 core:2 pu:1", {"0", "0-3", "2", "1"}));
    EXPECT_EQ("cache: {0 3} {1} {2}", said("package:2 l3:1 core:2 pu:1", {"0", "0-3", "0-3", "1"}));
}

// Caches, memories and packages are the same here, and no rank shares a second level with another.
TEST(NodeLevels, WhatTellsNothingIsLeftOut)
{
    EXPECT_EQ("cache: {0 1} {2 3}", said("package:2 [numa] l3:1 l2:4 pu:1", {"0", "1", "4", "5"}));
    EXPECT_EQ("", said("package:2 [numa] l3:1 l2:4 pu:1", {"0", "4"}));
    EXPECT_EQ("", said("package:2 [numa] l3:1 l2:4 pu:1", {"0", "1"}));
}

TEST(NodeLevels, MemoriesInsideACacheAndPackagesInsideAMemory)
{
    EXPECT_EQ("numa: {0 1} {2 3} {4 5}; cache: {0 1 2 3} {4 5}",
              said("package:2 l3:1 group:2 [numa] core:2 pu:1", {"0", "1", "2", "3", "4", "5"}));
    EXPECT_EQ("package: {0 1} {2 3} {4 5}; numa: {0 1 2 3} {4 5}",
              said("numa:2 package:2 core:2 pu:1", {"0", "1", "2", "3", "4", "5"}));
}

TEST(NodeLevels, AllKindsAtOnce)
{
    EXPECT_EQ("core: {0 1} {2} {3} {4} {5}; cache: {0 1 2} {3} {4} {5}; "
              "numa: {0 1 2 3} {4} {5}; package: {0 1 2 3 4} {5}",
              said("package:2 group:2 [numa] l3:2 core:2 pu:2", {"0", "1", "2", "4", "8", "16"}));
}

// Ranks that are each on one processor: a kind's groups are a level's, or tell nothing.
TEST(NodeLevels, EveryKindOfPartIsALevelOrTellsNothing)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        sim::Rng rng(seed);
        Host host = some_host(rng);
        const uint32_t n = static_cast<uint32_t>(rng.between(1, 64));
        Places p = places(host.words, some_binding(rng, host, n, 0));
        hwmc_shm_levels l = levels(p);

        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + host.words);
        for (uint32_t kind = 0; kind < HWMC_SHM_PART_NUM; kind++) {
            std::vector<uint16_t> lowest(n);
            std::set<uint16_t> groups;

            for (uint32_t r = 0; r < n; r++) {
                auto same = [&](const hwmc_shm_affinity &q) {
                    return p[r].part[kind] >= 0 && q.part[kind] == p[r].part[kind];
                };
                auto at = std::find_if(p.begin(), p.begin() + r, same);
                lowest[r] = static_cast<uint16_t>(at - p.begin());
                groups.insert(lowest[r]);
            }
            if (groups.size() == 1 || groups.size() == n)
                continue;
            bool found = false;
            for (uint32_t i = 0; i < l.num; i++)
                found = found || std::equal(lowest.begin(), lowest.end(), l.lowest[i]);
            ASSERT_TRUE(found) << hwmc_shm_part_text(static_cast<hwmc_shm_part>(kind));
        }
    }
}

// Whatever the others claim: check asserts that groups are within groups.
TEST(NodeLevels, AnyIntegersGiveGroupsWithinGroups)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        sim::Rng rng(seed);
        Places p(seed == 1000 ? HWMC_SHM_RANKS_MAX : rng.between(1, seed % 100 == 0 ? 300 : 24));

        for (hwmc_shm_affinity &one : p)
            for (int32_t &part : one.part)
                part = static_cast<int32_t>(rng.below(8)) - 1;
        levels(p);
    }
}

TEST(NodeLevels, WithoutLevelsTheOrderIsCyclic)
{
    EXPECT_EQ((Order{2, 3, 4, 0, 1}), order(flat(5), 2));
    EXPECT_EQ((Order{0}), order(flat(1), 0));
}

TEST(NodeLevels, TheOrderKeepsGroupsInOnePieceWhereTheirFirstRankIs)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sim::Rng rng(seed);
        Host host = some_host(rng);
        const uint32_t n = static_cast<uint32_t>(rng.between(1, 64));
        hwmc_shm_levels l = levels(places(host.words, some_binding(rng, host, n, 200000)));

        SCOPED_TRACE("seed " + std::to_string(seed));
        for (uint32_t first = 0; first < n; first++) {
            Order o = order(l, first), sorted = o;
            auto distance = [&](uint32_t r) { return (r + n - first) % n; };

            ASSERT_EQ(first, o[0]);
            std::sort(sorted.begin(), sorted.end());
            for (uint32_t i = 0; i < n; i++)
                ASSERT_EQ(i, sorted[i]);
            // Of two ranks that stand in the wrong order, the groups that part them do not: that of
            // the one behind has a rank before the other's first one.
            for (uint32_t i = 0; i + 1 < n; i++) {
                int32_t level = static_cast<int32_t>(l.num) - 1;
                uint32_t a = n, b = n;

                while (level >= 0 && l.lowest[level][o[i]] == l.lowest[level][o[i + 1]])
                    level--;
                if (level < 0) {
                    ASSERT_LT(distance(o[i]), distance(o[i + 1]));
                    continue;
                }
                for (uint32_t r = 0; r < n; r++) {
                    if (l.lowest[level][r] == l.lowest[level][o[i]])
                        a = std::min(a, distance(r));
                    if (l.lowest[level][r] == l.lowest[level][o[i + 1]])
                        b = std::min(b, distance(r));
                }
                ASSERT_LT(a, b);
            }
            for (uint32_t level = 0; level < l.num; level++) {
                std::set<uint16_t> done;

                for (uint32_t i = 0; i < n; i++) {
                    const uint16_t group = l.lowest[level][o[i]];

                    ASSERT_TRUE(i > 0 && l.lowest[level][o[i - 1]] == group
                                    ? true
                                    : done.insert(group).second)
                        << "level " << level;
                }
            }
        }
    }
}
