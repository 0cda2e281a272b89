// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// shape: for hosts of every build, every root and degree, the ranks agree on one tree, which enters
// each group once.
#include <algorithm>

#include "shm_hosts.h"

extern "C" {
#include "shm/topo/shape.h"
}

namespace {

// The tree as all ranks see it.
struct Tree {
    std::vector<uint16_t> parent;
    std::vector<std::vector<uint16_t>> children;
};

Tree tree(const hwmc_shm_levels &l, hwmc_shm_shape shape, uint32_t degree, uint32_t root)
{
    Tree t;

    for (uint32_t r = 0; r < l.n; r++) {
        std::vector<uint16_t> room(l.n - 1u);
        hwmc_shm_tree own = hwmc_shm_shape_tree(&l, shape, degree, root, r, room.data());

        EXPECT_EQ(room.data(), own.children);
        t.parent.push_back(own.parent);
        t.children.emplace_back(own.children, own.children + own.num_children);
    }
    return t;
}

std::string said(const hwmc_shm_levels &l, hwmc_shm_shape shape, uint32_t degree, uint32_t root)
{
    Tree t = tree(l, shape, degree, root);
    std::vector<uint16_t> order(l.n);
    std::string text;

    hwmc_shm_levels_order(&l, root, order.data());
    for (uint16_t r : order) {
        if (t.children[r].empty())
            continue;
        text += (text.empty() ? "" : "; ") + std::to_string(r) + " ->";
        for (uint16_t c : t.children[r])
            text += " " + std::to_string(c);
    }
    return text;
}

// The paper's phases: in each, who has the data serves the next degree - 1 of its children. How
// many it takes.
uint32_t phases(const Tree &t, uint32_t root, uint32_t per_phase)
{
    std::vector<uint16_t> have = {static_cast<uint16_t>(root)};
    std::vector<uint32_t> served(t.parent.size(), 0);
    uint32_t num = 0;

    for (; have.size() < t.parent.size() && num < t.parent.size(); num++)
        for (size_t i = 0, before = have.size(); i < before; i++) {
            uint32_t &s = served[have[i]];

            for (uint32_t k = 0; k < per_phase && s < t.children[have[i]].size(); k++)
                have.push_back(t.children[have[i]][s++]);
        }
    return num;
}

uint32_t log_up(uint32_t base, uint32_t n)
{
    uint32_t log = 0;

    for (uint64_t reach = 1; reach < n; reach *= base)
        log++;
    return log;
}

// One tree with the root on top: parents and children agree, and every rank is below the root.
void one_tree(const Tree &t, uint32_t root)
{
    std::vector<uint16_t> reached = {static_cast<uint16_t>(root)};

    ASSERT_EQ(root, t.parent[root]);
    for (size_t i = 0; i < reached.size(); i++)
        for (uint16_t c : t.children[reached[i]]) {
            ASSERT_LT(reached.size(), t.parent.size());
            ASSERT_EQ(reached[i], t.parent[c]);
            ASSERT_NE(root, c);
            reached.push_back(c);
        }
    ASSERT_EQ(t.parent.size(), reached.size());
}

// Data comes into each group once, and not at all into those that have the root.
void enters_once(const Tree &t, const hwmc_shm_levels &l, uint32_t root)
{
    for (uint32_t level = 0; level < l.num; level++) {
        std::vector<uint32_t> entered(l.n, 0);

        for (uint32_t r = 0; r < l.n; r++)
            if (r != root && l.lowest[level][r] != l.lowest[level][t.parent[r]])
                entered[l.lowest[level][r]]++;
        for (uint32_t r = 0; r < l.n; r++) {
            const uint16_t group = l.lowest[level][r];

            ASSERT_EQ(l.lowest[level][root] == group ? 0u : 1u, entered[group])
                << "level " << level;
        }
    }
}

// Children in outer groups first. A rank serves no more on a level than the shape allows.
void serves_as_said(const Tree &t, const hwmc_shm_levels &l, hwmc_shm_shape shape, uint32_t degree)
{
    for (uint32_t r = 0; r < l.n; r++) {
        std::vector<uint32_t> served(l.num + 1u, 0);
        uint32_t before = l.num;

        for (uint16_t c : t.children[r]) {
            uint32_t level = 0;

            while (level < l.num && l.lowest[level][c] != l.lowest[level][r])
                level++;
            ASSERT_LE(level, before);
            before = level;
            served[level]++;
        }
        ASSERT_TRUE(degree > 1 || t.children[r].size() <= 1);
        for (uint32_t s : served)
            ASSERT_LE(s, shape == HWMC_SHM_SHAPE_KARY || degree == 1
                             ? degree
                             : (degree - 1) * log_up(degree, l.n));
    }
}

constexpr hwmc_shm_shape SHAPES[] = {HWMC_SHM_SHAPE_KNOMIAL, HWMC_SHM_SHAPE_KARY};

void check(const hwmc_shm_levels &l, uint32_t degree, uint32_t root)
{
    for (hwmc_shm_shape shape : SHAPES) {
        Tree t = tree(l, shape, degree, root);

        SCOPED_TRACE(std::string(hwmc_shm_shape_text(shape)) + ", degree " +
                     std::to_string(degree) + ", root " + std::to_string(root));
        one_tree(t, root);
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
        enters_once(t, l, root);
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
        serves_as_said(t, l, shape, degree);
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
}

} // namespace

TEST(NodeShape, ExampleOfTheHeader)
{
    hwmc_shm_levels l = levels(places("package:2 core:3 pu:1", {"0", "1", "3", "4", "2", "5"}));

    for (hwmc_shm_shape shape : SHAPES)
        EXPECT_EQ("3 -> 5; 5 -> 2; 2 -> 4; 4 -> 0; 0 -> 1", said(l, shape, 1, 3));
    EXPECT_EQ("3 -> 4 2 5; 4 -> 1 0", said(l, HWMC_SHM_SHAPE_KNOMIAL, 2, 3));
    EXPECT_EQ("3 -> 4 5 2; 4 -> 0 1", said(l, HWMC_SHM_SHAPE_KARY, 2, 3));
}

TEST(NodeShape, BinomialOfEight)
{
    EXPECT_EQ("0 -> 4 2 1; 2 -> 3; 4 -> 6 5; 6 -> 7", said(flat(8), HWMC_SHM_SHAPE_KNOMIAL, 2, 0));
}

TEST(NodeShape, DegreeThreeOfEleven)
{
    EXPECT_EQ("2 -> 0 5 8 3 4; 5 -> 6 7; 8 -> 9 10; 0 -> 1",
              said(flat(11), HWMC_SHM_SHAPE_KNOMIAL, 3, 2));
    EXPECT_EQ("2 -> 3 4 5; 3 -> 6 7 8; 4 -> 9 10 0; 5 -> 1",
              said(flat(11), HWMC_SHM_SHAPE_KARY, 3, 2));
}

TEST(NodeShape, OneAndTwoRanks)
{
    for (uint32_t degree : {1u, 2u, 8u, UINT32_MAX})
        for (hwmc_shm_shape shape : SHAPES) {
            EXPECT_EQ("", said(flat(1), shape, degree, 0));
            EXPECT_EQ("1 -> 0", said(flat(2), shape, degree, 1));
        }
}

TEST(NodeShape, WithADegreeOfAllRanksTheRootServesAll)
{
    for (uint32_t degree : {5u, 6u, 1000u, UINT32_MAX})
        for (hwmc_shm_shape shape : SHAPES)
            EXPECT_EQ("1 -> 2 3 4 0", said(flat(5), shape, degree, 1)) << degree;
}

// Up to 24 ranks every root with every degree; beyond that every root, with one degree after the
// other.
TEST(NodeShape, EveryHostRootAndDegree)
{
    for (uint32_t n = 1; n <= 64; n++) {
        sim::Rng rng(n);
        Host host = some_host(rng);
        hwmc_shm_levels l = levels(places(host.words, some_binding(rng, host, n, n % 2 * 100000)));

        SCOPED_TRACE("n " + std::to_string(n) + ", " + host.words);
        for (uint32_t root = 0; root < n; root++)
            for (uint32_t degree = 1; degree <= 8; degree++) {
                if (n <= 24 || root % 8 + 1 == degree)
                    check(l, degree, root);
                ASSERT_FALSE(::testing::Test::HasFatalFailure());
            }
    }
}

TEST(NodeShape, AsManyRanksAsThereMayBe)
{
    sim::Rng rng(1);
    Host host = {"package:2 [numa] l3:4 l2:8 pu:2", 128};
    hwmc_shm_levels l = levels(places(host.words, some_binding(rng, host, 300, 0)));
    std::vector<uint16_t> room(HWMC_SHM_RANKS_MAX), above(HWMC_SHM_RANKS_MAX);

    EXPECT_EQ(3u, l.num);
    for (uint32_t degree : {1, 2, 3, 8})
        check(l, degree, 77);
    l = levels(places(host.words, some_binding(rng, host, HWMC_SHM_RANKS_MAX, 0)));
    for (uint16_t r : {0, 77, 255, 256, 4095}) {
        hwmc_shm_tree own = hwmc_shm_shape_tree(&l, HWMC_SHM_SHAPE_KNOMIAL, 3, 78, r, room.data());
        hwmc_shm_tree up =
            hwmc_shm_shape_tree(&l, HWMC_SHM_SHAPE_KNOMIAL, 3, 78, own.parent, above.data());

        EXPECT_EQ(1, std::count(up.children, up.children + up.num_children, r));
    }
}

TEST(NodeShape, KnomialTakesAsManyPhasesAsThePaperSays)
{
    for (uint32_t n = 1; n <= 64; n++)
        for (uint32_t degree = 2; degree <= 8; degree++) {
            const uint32_t root = n / 3;
            Tree t = tree(flat(n), HWMC_SHM_SHAPE_KNOMIAL, degree, root);

            ASSERT_EQ(log_up(degree, n), phases(t, root, degree - 1)) << n << ", " << degree;
        }
}

// With groups it takes those of the upper level, then those of the level below, and so on.
TEST(NodeShape, PhasesOfTheLevelsFollowEachOther)
{
    std::vector<std::string> cpus;

    for (int r = 0; r < 48; r++)
        cpus.push_back(std::to_string(r));
    hwmc_shm_levels l = levels(places("package:2 l3:3 core:8 pu:1", cpus));
    ASSERT_EQ(2u, l.num);
    for (uint32_t root : {0u, 29u, 47u})
        for (uint32_t degree = 2; degree <= 8; degree++) {
            Tree t = tree(l, HWMC_SHM_SHAPE_KNOMIAL, degree, root);

            EXPECT_EQ(log_up(degree, 2) + log_up(degree, 3) + log_up(degree, 8),
                      phases(t, root, degree - 1));
        }
}

TEST(NodeShape, BelowARankOfKnomialAreThoseThatFollowIt)
{
    for (uint32_t degree = 2; degree <= 8; degree++) {
        Tree t = tree(flat(61), HWMC_SHM_SHAPE_KNOMIAL, degree, 0);
        std::vector<uint32_t> last(61);

        for (uint32_t r = 61; r-- > 0;) {
            uint32_t expected = r;

            // What is below one child ends where the next child stands.
            std::vector<uint16_t> sorted = t.children[r];
            std::sort(sorted.begin(), sorted.end());
            for (uint16_t c : sorted) {
                ASSERT_EQ(expected + 1, c);
                expected = last[c];
            }
            last[r] = expected;
        }
        ASSERT_EQ(60u, last[0]);
    }
}
