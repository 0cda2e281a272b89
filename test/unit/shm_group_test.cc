// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// group: joining, and how far ranks may be ahead of each other.
#include <gtest/gtest.h>
#include <string.h>

#include <memory>

#include "shm_ranks.h"

namespace {

using node::Config;
using node::Item;
using node::Rank;
using node::Script;

// Some ranks over one segment, each stepped by hand.
class NodeGroup : public testing::Test {
  protected:
    void open(const Config &config, const Script &s, const std::vector<uint64_t> &methods = {})
    {
        script = s;
        memory = std::make_unique<node::Memory>(config.layout);
        ASSERT_EQ(HWMC_OK, hwmc_shm_segment_over(&segment, &config.layout, memory->at));
        for (uint32_t r = 0; r < config.layout.ranks; r++) {
            Config own = config;

            if (!methods.empty())
                own.methods = methods[r];
            ranks.push_back(std::make_unique<Rank>(own, segment, r, script, begun, 1));
        }
    }
    void join()
    {
        for (int i = 0; i < 2; i++)
            for (auto &rank : ranks)
                rank->step();
    }
    void step(uint32_t rank, int times)
    {
        for (int i = 0; i < times; i++) {
            ranks[rank]->step();
            hwmc_shm_group_check(&ranks[rank]->group);
            ASSERT_EQ("", ranks[rank]->wrong);
        }
    }

    // What a rank has told of itself; a card is not known to C++.
    hwmc_shm_owner *owner_told(uint32_t rank)
    {
        hwmc_shm_owner own;

        EXPECT_EQ(HWMC_OK, hwmc_shm_copy_self(&own, ranks[rank]->group.methods));
        return (hwmc_shm_owner *) memmem(segment.base + HWMC_SHM_HEADER +
                                             rank * segment.block_bytes,
                                         segment.block_bytes, &own, sizeof(own));
    }

    Script script;
    std::unique_ptr<node::Memory> memory;
    hwmc_shm_segment segment;
    std::atomic<uint64_t> begun[16] = {};
    std::vector<std::unique_ptr<Rank>> ranks;
};

Item message(int algorithm, uint64_t length, uint32_t root = 0)
{
    Item item;

    item.algorithm = algorithm;
    item.length = length;
    item.root = root;
    return item;
}

} // namespace

TEST_F(NodeGroup, TakesTheFirstMethodThatAllHave)
{
    open(Config(), {},
         {node::kMemcpy | node::kCma, node::kCma, node::kMemcpy | node::kCma, node::kCma});
    join();
    for (auto &rank : ranks)
        EXPECT_EQ(hwmc_shm_copy_of(HWMC_SHM_COPY_CMA), rank->group.copy);
}

TEST_F(NodeGroup, HasNoMethodWhereOneRankHasNone)
{
    open(Config(), {}, {node::kMemcpy, node::kMemcpy, 0, node::kMemcpy});
    join();
    for (auto &rank : ranks)
        EXPECT_EQ(nullptr, rank->group.copy);
}

// A process number may mean another process here: what counts is what is read.
TEST_F(NodeGroup, DoesNotBelieveWhatItCannotRead)
{
    Config config;

    config.methods = node::kMemcpy | node::kXpmem | node::kCma;
    open(config, {});
    owner_told(2)->key ^= 1;
    join();
    for (auto &rank : ranks)
        EXPECT_EQ(nullptr, rank->group.copy);
}

TEST_F(NodeGroup, WaitsForAllToJoin)
{
    Config config;

    open(config, {});
    for (int i = 0; i < 10; i++)
        for (uint32_t r = 0; r < 3; r++)
            EXPECT_EQ(HWMC_AGAIN, hwmc_shm_group_join(&ranks[r]->group));
    EXPECT_EQ(HWMC_OK, hwmc_shm_group_join(&ranks[3]->group));
    EXPECT_EQ(HWMC_OK, hwmc_shm_group_join(&ranks[0]->group));
}

// Slots bound how far a root is ahead of a rank that does nothing.
TEST_F(NodeGroup, ARootIsAtMostAllSlotsAhead)
{
    Config config;

    config.layout = {3, 4, 2, 64};
    open(config, Script(20, message(HWMC_SHM_BCAST_OTA, 8)));
    join();
    step(0, 100);
    EXPECT_EQ(4u, ranks[0]->done());
    step(1, 100); // takes what there is
    EXPECT_EQ(4u, ranks[1]->done());
    step(0, 100); // but 2 still may need it
    EXPECT_EQ(4u, ranks[0]->done());
    step(2, 1);
    step(0, 100);
    EXPECT_EQ(5u, ranks[0]->done());
    step(2, 100);
    step(0, 100);
    EXPECT_EQ(8u, ranks[0]->done()); // 1 is at 4
}

// Whose turn it is to be root changes nothing.
TEST_F(NodeGroup, NobodyIsMoreThanAllSlotsAhead)
{
    Config config;
    Script s;

    config.layout = {4, 2, 2, 64};
    for (uint32_t i = 0; i < 40; i++)
        s.push_back(message(HWMC_SHM_BCAST_TREE, 30, i % 3));
    open(config, s);
    join();
    for (int i = 0; i < 500; i++)
        for (uint32_t r = 0; r < 3; r++)
            step(r, 1);
    for (uint32_t r = 0; r < 3; r++)
        EXPECT_LE(ranks[r]->done(), 2u);
}

// Buffers bound it where messages go through them.
TEST_F(NodeGroup, ARootIsAtMostAllBuffersAhead)
{
    Config config;

    config.layout = {2, 8, 2, 64};
    config.params.inline_max = 0;
    open(config, Script(20, message(HWMC_SHM_BCAST_OTA, 64)));
    join();
    step(0, 100);
    EXPECT_EQ(2u, ranks[0]->done());
    step(1, 1);
    step(0, 100);
    EXPECT_EQ(3u, ranks[0]->done());
}

// Elements that are longer than the chunks of their collective do not end in the buffer behind,
// which may hold a message that a slow rank has not read.
TEST_F(NodeGroup, LongElementsStayInTheirBuffers)
{
    Config config;
    Item sum = {.kind = node::Kind::kAllreduce, .algorithm = HWMC_SHM_REDUCTION_EACH};
    Script s(5, message(HWMC_SHM_BCAST_TREE, 192));

    config.layout = {2, 8, 8, 192};
    config.params = node::params_of(192);
    sum.chunk = 48;
    sum.wide = true;
    sum.length = 3 * 90;
    s.push_back(sum);
    open(config, s);
    join();
    for (int i = 0; i < 100 && ranks[1]->done() < 4; i++) {
        step(0, 1);
        step(1, ranks[0]->done() > ranks[1]->done());
    }
    EXPECT_EQ(4u, ranks[1]->done());
    step(0, 20);
    EXPECT_EQ(5u, ranks[0]->done());
    for (int i = 0; i < 100; i++) {
        step(1, 1);
        step(0, 1);
    }
    EXPECT_TRUE(ranks[0]->over() && ranks[1]->over());
}

// A rank that has finished owes nobody anything: the others go on without it.
TEST_F(NodeGroup, ARankThatIsThroughIsNotNeeded)
{
    for (int a = 0; a < HWMC_SHM_BCAST_NUM; a++) {
        Config config;

        ranks.clear();
        config.methods = a % 2 ? node::kMemcpy : 0;
        config.params.copy_min = 100;
        open(config, {message(a, 500)});
        join();
        sim::Rng rng((uint64_t) a);
        for (int i = 0; i < 5000; i++) {
            Rank &rank = *ranks[rng.below(4)];

            if (!rank.over())
                rank.step();
        }
        for (auto &rank : ranks)
            EXPECT_EQ(1u, rank->done()) << a << rank->wrong;
    }
}

// Down a chain of three: TREE gives on each chunk as it comes, TREEMM only the whole message.
TEST_F(NodeGroup, OnlyTreeGivesOnWhatIsNotWhole)
{
    for (uint64_t methods : {UINT64_C(0), node::kMemcpy})
        for (int a : {HWMC_SHM_BCAST_TREE, HWMC_SHM_BCAST_TREEMM}) {
            Config config;
            bool unexpected = false;

            ranks.clear();
            config.layout.ranks = 3;
            config.methods = methods;
            config.params.copy_min = 0;
            config.params.copy_step = 64;
            open(config, {message(a, 500)});
            script[0].degree = 1;
            join();
            for (int i = 0; i < 100; i++)
                for (auto &rank : ranks) {
                    rank->step();
                    unexpected |=
                        ranks[1]->here() < 500 && ranks[1]->done() == 0 && ranks[2]->here() > 0;
                }
            EXPECT_EQ(1u, ranks[2]->done()) << a;
            EXPECT_EQ(a == HWMC_SHM_BCAST_TREE, unexpected) << a;
        }
}

TEST_F(NodeGroup, ABarrierTellsThatAllHaveFinishedWhatWasBefore)
{
    Script s(3, message(HWMC_SHM_BCAST_OTA, 8));

    s.push_back(Item());
    s.back().kind = node::Kind::kBarrier;
    open(Config(), s);
    join();
    for (int i = 0; i < 200; i++)
        for (uint32_t r = 0; r < 4; r++)
            step(r, 1);
    for (auto &rank : ranks)
        EXPECT_EQ(3u, rank->group.floor);
}

// Who is still in a collective that the other one has finished goes on with it.
TEST_F(NodeGroup, AFailureIsSeenFromItsCollectiveOn)
{
    open(Config(), {});
    join();
    hwmc_shm_group &failing = ranks[0]->group, &other = ranks[1]->group;
    EXPECT_FALSE(hwmc_shm_group_failed(&other));
    failing.serial = 3;
    hwmc_shm_group_fail(&failing);
    for (uint64_t serial = 0; serial < 6; serial++) {
        other.serial = serial;
        EXPECT_EQ(serial >= 3, hwmc_shm_group_failed(&other)) << serial;
    }
}

// Why a rank has failed is known as soon as that it has.
TEST_F(NodeGroup, AFailureNamesWhoIsLost)
{
    open(Config(), {});
    join();
    hwmc_shm_group &failing = ranks[0]->group, &other = ranks[1]->group;
    hwmc_shm_loss lost = {.rank = 99, .finder = 99}, noted = {.rank = 0, .finder = 7};

    hwmc_shm_group_fail(&ranks[2]->group);
    EXPECT_FALSE(hwmc_shm_group_lost(&other, &lost));
    failing.serial = 3;
    hwmc_shm_group_note_lost(&failing, &noted);
    EXPECT_FALSE(hwmc_shm_group_lost(&other, &lost));
    hwmc_shm_group_fail(&failing);
    EXPECT_FALSE(hwmc_shm_group_lost(&other, &lost));
    other.serial = 3;
    EXPECT_TRUE(hwmc_shm_group_lost(&other, &lost));
    EXPECT_EQ(0u, lost.rank);
    EXPECT_EQ(7u, lost.finder);
}

TEST_F(NodeGroup, RefusesWhatDoesNotFit)
{
    Config config;
    hwmc_shm_group g;
    hwmc_shm_params p = config.params;

    open(config, {});
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_group_init(&g, &segment, 4, 0, &p));
    p.chunk = 65;
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_group_init(&g, &segment, 0, 0, &p));
    p.chunk = 64;
    p.inline_max = HWMC_SHM_INLINE + 1;
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_group_set(&ranks[0]->group, &p));
    p.inline_max = HWMC_SHM_INLINE;
    EXPECT_EQ(HWMC_OK, hwmc_shm_group_set(&ranks[0]->group, &p));
    p.ways = 0;
    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_group_set(&ranks[0]->group, &p));
    p.ways = UINT32_MAX;
    EXPECT_EQ(HWMC_OK, hwmc_shm_group_set(&ranks[0]->group, &p));
}
