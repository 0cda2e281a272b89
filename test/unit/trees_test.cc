// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// trees: for every number of ranks and trees, every rank gets every part once, sends one part only,
// and no more than its share.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/place/trees.h"
}

namespace {

std::string said(uint32_t p, uint32_t t, uint32_t tree)
{
    hwmc_trees trees = {p, 0, t, nullptr};
    std::string text;

    for (uint32_t r = 0; r < p; r++) {
        uint32_t num = hwmc_trees_children(&trees, tree, r);

        if (num == 0)
            continue;
        text += (text.empty() ? "" : "; ") + std::to_string(r) + " ->";
        for (uint32_t s = 0; s < num; s++)
            text += " " + std::to_string(hwmc_trees_child(&trees, tree, r, s));
    }
    return text;
}

// What is known of one set of trees.
struct Seen {
    uint32_t depth = 0;
    std::vector<uint32_t> degree, parts; // of each rank: children in all trees; trees it sends in
    uint32_t between = 0;                // edges from site to site
};

// Walks all trees from the root: everybody is reached once, parents and children agree.
void walk(const hwmc_trees &trees, Seen &seen, const std::vector<uint32_t> &site = {})
{
    seen.degree.assign(trees.size, 0);
    seen.parts.assign(trees.size, 0);
    for (uint32_t tree = 0; tree < trees.t; tree++) {
        std::vector<uint32_t> level(trees.size, UINT32_MAX), queue = {trees.root};

        level[trees.root] = 0;
        for (size_t i = 0; i < queue.size(); i++) {
            uint32_t r = queue[i], num = hwmc_trees_children(&trees, tree, r);

            seen.degree[r] += num;
            seen.parts[r] += num > 0;
            for (uint32_t s = 0; s < num; s++) {
                uint32_t child = hwmc_trees_child(&trees, tree, r, s);

                ASSERT_LT(child, trees.size);
                ASSERT_EQ(UINT32_MAX, level[child]) << "reached twice: " << child;
                level[child] = level[r] + 1;
                seen.depth = std::max(seen.depth, level[child]);
                queue.push_back(child);
                hwmc_edge up = hwmc_trees_parent(&trees, tree, child);
                ASSERT_EQ(r, up.rank);
                ASSERT_EQ(s, up.slot);
                if (!site.empty())
                    seen.between += site[r] != site[child];
            }
        }
        ASSERT_EQ(trees.size, queue.size());
    }
}

// Levels of a heap of `n` places of degree t, the root of the broadcast above it and leaves below.
uint32_t bound_on_depth(uint32_t n, uint32_t t)
{
    uint32_t heap = n / t + (n % t > 0), levels = 1;

    for (uint64_t row = 1, all = 1; all < heap; levels++)
        all += row *= t;
    return 1 + levels;
}

} // namespace

// The examples of core/place/trees.h.
TEST(Trees, EightRanks)
{
    EXPECT_EQ("0 -> 1; 1 -> 3 5; 3 -> 7 2; 5 -> 4 6", said(8, 2, 0));
    EXPECT_EQ("0 -> 2; 2 -> 4 6; 4 -> 1 3; 6 -> 5 7", said(8, 2, 1));
}

TEST(Trees, ElevenRanksAsInThePaper)
{
    EXPECT_EQ("0 -> 1; 1 -> 3 5; 3 -> 7 9; 5 -> 2 4; 7 -> 6 8; 9 -> 10", said(11, 2, 0));
    EXPECT_EQ("0 -> 2; 2 -> 4 6; 4 -> 8 10; 6 -> 1 3; 8 -> 5 7; 10 -> 9", said(11, 2, 1));
}

TEST(Trees, EveryNumberOfRanksAndTrees)
{
    for (uint32_t wished = 1; wished <= HWMC_TREES_MAX; wished++)
        for (uint32_t p = 2; p <= 512; p++) {
            uint32_t t = hwmc_trees_count(p, wished), n = p - 1;
            hwmc_trees trees = {p, p / 3, t, nullptr};
            Seen seen;

            SCOPED_TRACE("p " + std::to_string(p) + ", t " + std::to_string(t));
            walk(trees, seen);
            ASSERT_FALSE(::testing::Test::HasFatalFailure());
            ASSERT_LE(seen.depth, bound_on_depth(n, t));
            for (uint32_t r = 0; r < p; r++) {
                // The smallest group has n / t ranks and may be up to t - 2 places short.
                uint32_t more = n % t > 1 ? (n % t - 1 + n / t - 1) / (n / t) : 0;

                ASSERT_LE(seen.degree[r], t + (r == trees.root ? 0 : more)) << "rank " << r;
                ASSERT_LE(seen.parts[r], r == trees.root ? t : 1) << "rank " << r;
            }
        }
}

// Each rank's rails send and receive alike, all segments of all parts taken together.
TEST(Trees, RailsCarryAlike)
{
    for (uint32_t rails = 1; rails <= 8; rails++)
        for (uint32_t p : {2, 3, 8, 11, 47, 100}) {
            uint32_t t = hwmc_trees_count(p, std::max(rails, 2u)), segs = 3 * rails;
            hwmc_trees trees = {p, 1, t, nullptr};

            for (uint32_t r = 0; r < p; r++) {
                std::vector<uint32_t> in(rails, 0), out(rails, 0);

                for (uint32_t tree = 0; tree < t; tree++)
                    for (uint32_t seg = 0; seg < segs; seg++) {
                        uint32_t num = hwmc_trees_children(&trees, tree, r);

                        for (uint32_t s = 0; s < num; s++)
                            out[(tree + s + seg) % rails]++;
                        if (r != trees.root) {
                            hwmc_edge up = hwmc_trees_parent(&trees, tree, r);

                            in[(tree + up.slot + seg) % rails]++;
                        }
                    }
                for (uint32_t rail = 1; rail < rails; rail++) {
                    ASSERT_EQ(in[0], in[rail]) << p << " " << r;
                    ASSERT_EQ(out[0], out[rail]) << p << " " << r;
                }
            }
        }
}

// A segment more or less than a multiple of the rails: rails differ by a segment for each tree at
// most.
TEST(Trees, AnyNumberOfSegmentsIsNearlyEven)
{
    for (uint32_t rails : {2, 3, 5})
        for (uint32_t segs : {1, 2, 7, 100}) {
            uint32_t p = 20, t = rails;
            hwmc_trees trees = {p, 0, t, nullptr};

            for (uint32_t r = 1; r < p; r++) {
                std::vector<uint32_t> in(rails, 0);

                for (uint32_t tree = 0; tree < t; tree++)
                    for (uint32_t seg = 0; seg < segs; seg++)
                        in[(tree + hwmc_trees_parent(&trees, tree, r).slot + seg) % rails]++;
                auto [low, high] = std::minmax_element(in.begin(), in.end());
                EXPECT_LE(*high - *low, t);
            }
        }
}

TEST(Trees, SitesAreChainedAndTheMessageGoesOnceFromEachToTheNext)
{
    std::minstd_rand rng(5);

    for (int run = 0; run < 2000; run++) {
        uint32_t p = 2 + rng() % 60, n = 1 + rng() % std::min(p, 6u);
        uint32_t t = hwmc_trees_count(p, 1 + rng() % 4), root = rng() % p;
        std::vector<uint32_t> site(p), first(n + 1, 0), ranks(p), at(p);

        for (uint32_t r = 0; r < p; r++)
            site[r] = r < n ? r : rng() % n; // none is empty
        std::shuffle(site.begin(), site.end(), rng);
        std::iota(ranks.begin(), ranks.end(), 0);
        std::stable_sort(ranks.begin(), ranks.end(),
                         [&](uint32_t a, uint32_t b) { return site[a] < site[b]; });
        for (uint32_t i = 0; i < p; i++) {
            at[ranks[i]] = i;
            first[site[ranks[i]] + 1] = i + 1;
        }
        hwmc_sites sites = {n, first.data(), ranks.data(), at.data()};
        hwmc_trees trees = {p, root, t, &sites};
        Seen seen;

        SCOPED_TRACE("run " + std::to_string(run));
        walk(trees, seen, site);
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
        ASSERT_EQ(t * (n - 1), seen.between);
        // Feeding the next site is no more than others do, but where a site is small or its heaps
        // overflow.
        for (uint32_t i = 0; i < n; i++) {
            uint32_t receive = first[i + 1] - first[i] - (site[root] == i);

            if (receive <= t || (receive % t != 0 && t != 2))
                continue;
            for (uint32_t r = 0; r < p; r++)
                ASSERT_LE(site[r] == i && r != root ? seen.degree[r] : 0, t)
                    << "rank " << r << " of " << receive;
        }
    }
}

TEST(Trees, AMillionRanksNeedNoTable)
{
    hwmc_trees trees = {1000000, 77, 4, nullptr};

    for (uint32_t r : {0u, 78u, 79u, 500000u, 999999u})
        for (uint32_t tree = 0; tree < 4; tree++) {
            uint32_t at = r, depth = 0;

            for (; at != trees.root; depth++)
                at = hwmc_trees_parent(&trees, tree, at).rank;
            EXPECT_LE(depth, bound_on_depth(999999, 4));
        }
}
