// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// feeds: who of each host feeds which rails, and what part of a message goes there.
#include <algorithm>
#include <climits>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/place/feeds.h"
}

namespace {

constexpr int FAR = 21, NEAR = 10;

// Ranks host by host; of each the rails it is near to, a bit each.
struct Feeds {
    std::vector<hwmc_near> near;
    std::vector<uint32_t> host_of, memory, sides_memory;
    hwmc_leaders leaders;
    hwmc_feeds f;

    Feeds(const std::vector<std::vector<int>> &hosts, int casts,
          std::vector<uint32_t> mbit = {100, 100, 100, 100, 100, 100, 100, 100},
          uint32_t lane_rails = 0)
    {
        std::vector<int> far;

        for (uint32_t h = 0; h < hosts.size(); h++)
            for (int mask : hosts[h]) {
                hwmc_near n;

                n.casts = casts;
                for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++)
                    n.distance[r] =
                        (casts | lane_rails) >> r & 1 ? (mask >> r & 1 ? NEAR : FAR) : INT_MAX;
                near.push_back(n);
                host_of.push_back(h);
                far.push_back(n.distance[0]);
            }
        sides_memory.resize(hwmc_leaders_words(host_of.size(), hosts.size()));
        hwmc_leaders_init(&leaders, host_of.size(), hosts.size(), host_of.data(), far.data(),
                          sides_memory.data());
        memory.resize(hwmc_feeds_words(hosts.size()));
        hwmc_feeds_init(&f, &leaders, near.data(),
                        hwmc_feeds_rails(near.data(), near.size(), lane_rails), mbit.data(),
                        memory.data());
    }

    std::vector<uint32_t> of(uint32_t feed) const
    {
        std::vector<uint32_t> ranks;

        for (uint32_t h = 0; h < f.hosts; h++)
            ranks.push_back(hwmc_feeds_at(&f, feed, h));
        return ranks;
    }
};

using Ranks = std::vector<uint32_t>;

TEST(Feeds, RanksNearToDifferentRailsFeedTheirOwn)
{
    Feeds x({{1, 1, 2, 2}, {2, 1}}, 3);

    ASSERT_EQ(2u, x.f.num);
    EXPECT_EQ(1, x.f.rails[0]);
    EXPECT_EQ(2, x.f.rails[1]);
    EXPECT_EQ((Ranks{0, 5}), x.of(0));
    EXPECT_EQ((Ranks{2, 4}), x.of(1));
}

// Then messages go along trees, on the rails that lanes are on.
TEST(Feeds, WithoutMulticastOnAnyRailThoseOfLanesAreFed)
{
    const std::vector<uint32_t> equal(HWMC_RAIL_BITS, 100);

    EXPECT_EQ(0u, Feeds({{1, 4}, {4, 1}}, 0, equal, 0).f.num);
    Feeds x({{1, 4}, {4, 1}}, 0, equal, 5);
    ASSERT_EQ(2u, x.f.num);
    EXPECT_EQ(1, x.f.rails[0]);
    EXPECT_EQ(4, x.f.rails[1]);
    EXPECT_EQ((Ranks{1, 2}), x.of(1));
    EXPECT_EQ(0u, Feeds({{1, 4}, {4, 1}}, 1, equal, 5).f.num); // multicast on one is preferred
}

TEST(Feeds, WhereAllAreAsNearToAllRailsThereAreNone)
{
    EXPECT_EQ(0u, Feeds({{3, 3}, {3, 3}}, 3).f.num);
    EXPECT_EQ(0u, Feeds({{0, 0}, {0, 0}}, 3).f.num);
    EXPECT_EQ(0u, Feeds({{1, 2}, {1, 2}}, 1).f.num);
    EXPECT_EQ(0u, Feeds({{1, 2}, {1, 2}}, 0).f.num);
}

TEST(Feeds, AHostWithoutPreferencesTakesDifferentRanks)
{
    Feeds x({{1, 2}, {3, 3, 3}}, 3);

    ASSERT_EQ(2u, x.f.num);
    EXPECT_EQ((Ranks{0, 2}), x.of(0));
    EXPECT_EQ((Ranks{1, 3}), x.of(1));
}

TEST(Feeds, AHostWithTooFewRanksLeavesAllWithout)
{
    EXPECT_EQ(0u, Feeds({{1, 2}, {3}}, 3).f.num);
}

TEST(Feeds, RailsThatTheSameRankIsNearToAreOne)
{
    Feeds x({{5, 2}, {5, 2}}, 7);

    ASSERT_EQ(2u, x.f.num);
    EXPECT_EQ(5, x.f.rails[0]);
    EXPECT_EQ(2, x.f.rails[1]);
    EXPECT_EQ(2u, hwmc_feeds_share(&x.f, 0));
    EXPECT_EQ(1u, hwmc_feeds_share(&x.f, 1));
    EXPECT_EQ(0u, hwmc_feeds_begin(&x.f, 0, 3 << 20));
    EXPECT_EQ(2u << 20, hwmc_feeds_begin(&x.f, 1, 3 << 20));
    EXPECT_EQ(3u << 20, hwmc_feeds_begin(&x.f, 2, 3 << 20));
}

TEST(Feeds, RailsThatAreNotAlikeHaveNone)
{
    EXPECT_EQ(2u, Feeds({{1, 2}, {1, 2}}, 3, {300, 200}).f.num);
    EXPECT_EQ(0u, Feeds({{1, 2}, {1, 2}}, 3, {300, 199}).f.num);
    EXPECT_EQ(0u, Feeds({{1, 2}, {1, 2}}, 3, {199, 300}).f.num);
    EXPECT_EQ(0u, Feeds({{1, 2}, {1, 2}}, 3, {300, 0}).f.num);
    EXPECT_EQ(0u, Feeds({{1, 2}, {1, 2}}, 3, {0, 0}).f.num);
}

TEST(Feeds, AMessageTooShortForAllDoesNotFit)
{
    Feeds x({{1, 2}, {1, 2}}, 3), none({{3, 3}, {3, 3}}, 3);

    EXPECT_FALSE(hwmc_feeds_fit(&x.f, 8191));
    EXPECT_TRUE(hwmc_feeds_fit(&x.f, 8192));
    EXPECT_FALSE(hwmc_feeds_fit(&none.f, 1 << 20));
}

// Whatever the hosts: rails are fed once, a host's feeders differ, parts cover the message in
// order.
TEST(Feeds, EveryRailOnceAndEveryByteOnce)
{
    std::mt19937 random(1);

    for (int times = 0; times < 500; times++) {
        std::vector<std::vector<int>> hosts(1 + random() % 6);
        std::vector<uint32_t> mbit(HWMC_RAIL_BITS);
        int rails = random() % 256, fed = 0;

        for (auto &host : hosts) {
            host.resize(1 + random() % 9);
            for (int &mask : host)
                mask = random() % 256;
        }
        std::generate(mbit.begin(), mbit.end(), [&] { return 100 + random() % 50; });
        Feeds x(hosts, rails, mbit);
        uint64_t bytes = random() % 2 ? random() : (uint64_t) random() << 20;

        for (uint32_t i = 0; i < x.f.num; i++) {
            EXPECT_EQ(0, fed & x.f.rails[i]);
            fed |= x.f.rails[i];
            EXPECT_LE(hwmc_feeds_begin(&x.f, i, bytes), hwmc_feeds_begin(&x.f, i + 1, bytes));
        }
        if (x.f.num == 0)
            continue;
        EXPECT_EQ(rails, fed);
        EXPECT_GE(x.f.num, 2u);
        EXPECT_EQ(0u, hwmc_feeds_begin(&x.f, 0, bytes));
        EXPECT_EQ(bytes, hwmc_feeds_begin(&x.f, x.f.num, bytes));
        for (uint32_t h = 0; h < hosts.size(); h++) {
            std::set<uint32_t> feeders;

            for (uint32_t i = 0; i < x.f.num; i++) {
                uint32_t rank = hwmc_feeds_at(&x.f, i, h);

                EXPECT_EQ(h, x.host_of[rank]);
                EXPECT_TRUE(feeders.insert(rank).second);
            }
        }
    }
}

} // namespace
