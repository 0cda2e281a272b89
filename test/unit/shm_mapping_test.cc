// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// mapping: what is kept of the memory of others, over an XPMEM that is not one (fake_xpmem.h); and
// groups that copy so.
#include <gtest/gtest.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "fake_xpmem.h"
#include "shm_ranks.h"

extern "C" {
#include "shm/copy/mapping.h"
}

namespace {

constexpr uint64_t kWide = HWMC_SHM_MAPPING_WIDE;
constexpr uint32_t kKept = HWMC_SHM_MAPPING_KEPT;

// One peer. Nothing is read, so any address will do.
class NodeMapping : public testing::Test {
  protected:
    void SetUp() override
    {
        fake_xpmem::reset();
        share = hwmc_shm_mapping_share();
        ASSERT_GT(share, 0);
    }
    void TearDown() override
    {
        hwmc_shm_mapping_close(mappings);
        hwmc_shm_mapping_unshare();
        EXPECT_EQ("", fake_xpmem::wrong());
        fake_xpmem::Counts c = fake_xpmem::counts();
        EXPECT_EQ(0u, c.names + c.permits + c.mappings);
    }
    int find(uint64_t from, size_t bytes)
    {
        int err = hwmc_shm_mapping_find(&mappings, share, from, bytes, &here);

        if (err == HWMC_OK) {
            EXPECT_EQ(from, (uintptr_t) here);
            EXPECT_TRUE(fake_xpmem::is_mapped(here, bytes));
        }
        return err;
    }
    // How many times something was mapped for this.
    unsigned mapped_for(uint64_t from, size_t bytes)
    {
        unsigned before = fake_xpmem::counts().attached;

        EXPECT_EQ(HWMC_OK, find(from, bytes));
        return fake_xpmem::counts().attached - before;
    }

    hwmc_shm_mappings *mappings = nullptr;
    int64_t share = 0;
    void *here = nullptr;
};

} // namespace

TEST_F(NodeMapping, ThePiecesOfAMessageLieInOneMapping)
{
    EXPECT_EQ(1u, mapped_for(5 * kWide + 7, 1000));
    for (uint64_t at = 0; at < kWide; at += kWide / 16)
        EXPECT_EQ(0u, mapped_for(5 * kWide + at, kWide / 16));
    EXPECT_EQ(1u, fake_xpmem::counts().got);
    EXPECT_EQ(kWide, fake_xpmem::counts().bytes);
}

TEST_F(NodeMapping, OneAcrossABoundaryIsMappedWhole)
{
    EXPECT_EQ(1u, mapped_for(6 * kWide - 1, 2));
    EXPECT_EQ(2 * kWide, fake_xpmem::counts().bytes);
    EXPECT_EQ(0u, mapped_for(5 * kWide, 2 * kWide));
    EXPECT_EQ(1u, mapped_for(5 * kWide, 2 * kWide + 1));
}

TEST_F(NodeMapping, TheOneNotUsedForLongestGoes)
{
    for (uint64_t i = 0; i < kKept; i++)
        EXPECT_EQ(1u, mapped_for((2 * i + 2) * kWide, 8));
    EXPECT_EQ(0u, mapped_for(2 * kWide, 8)); // the first is the last used now
    EXPECT_EQ(1u, mapped_for(100 * kWide, 8));
    EXPECT_EQ(kKept, fake_xpmem::counts().mappings);
    EXPECT_EQ(0u, mapped_for(2 * kWide, 8));
    EXPECT_EQ(1u, mapped_for(4 * kWide, 8)); // the second went
}

TEST_F(NodeMapping, ManyAddressesKeepFewMappings)
{
    sim::Rng rng(3);

    for (int i = 0; i < 20000; i++) {
        ASSERT_EQ(HWMC_OK, find(4096 + rng.below(1000) * kWide / 3, 1 + rng.below(3 * kWide)));
        ASSERT_LE(fake_xpmem::counts().mappings, kKept);
    }
}

// There is a bound on what a process keeps in all; a further peer then keeps one.
TEST_F(NodeMapping, ManyPeersKeepFewMappings)
{
    std::vector<hwmc_shm_mappings *> peers(HWMC_SHM_MAPPING_MANY / kKept + 1, nullptr);

    for (hwmc_shm_mappings *&peer : peers)
        for (uint64_t i = 0; i < kKept; i++)
            ASSERT_EQ(HWMC_OK, hwmc_shm_mapping_find(&peer, share, (2 * i + 2) * kWide, 8, &here));
    EXPECT_EQ(HWMC_SHM_MAPPING_MANY + 1u, fake_xpmem::counts().mappings);
    for (hwmc_shm_mappings *peer : peers)
        hwmc_shm_mapping_close(peer);
    EXPECT_EQ(0u, fake_xpmem::counts().mappings);
    for (uint64_t i = 0; i < kKept; i++)
        find((2 * i + 2) * kWide, 8);
    EXPECT_EQ(kKept, fake_xpmem::counts().mappings);
}

// The last wide range of all addresses is not whole; nor may the limit on a process's addresses let
// it be.
TEST_F(NodeMapping, WhereNoMoreCanBeItMapsThePagesAlone)
{
    EXPECT_EQ(1u, mapped_for(fake_xpmem::kEnd - 5000, 5000));
    EXPECT_EQ(8192u, fake_xpmem::counts().bytes);
    fake_xpmem::reset({.longest = 1 << 20});
    EXPECT_EQ(1u, mapped_for(10 * kWide + 4095, 2));
    EXPECT_EQ(2 * 8192u, fake_xpmem::counts().bytes);
}

TEST_F(NodeMapping, SaysWhyNot)
{
    EXPECT_EQ(HWMC_ERR_INVAL, find(fake_xpmem::kEnd - 8, 9));
    EXPECT_EQ(HWMC_ERR_INVAL, find(UINT64_MAX - 8, 8));
    fake_xpmem::reset({.most = 0});
    EXPECT_EQ(HWMC_ERR_LIMIT, find(4096, 8));
    fake_xpmem::reset();
    EXPECT_EQ(HWMC_OK, find(4096, 8)); // it can be tried again
}

TEST_F(NodeMapping, NobodyGetsAtWhatHasNoName)
{
    share = 0;
    EXPECT_EQ(HWMC_ERR_PEER, find(4096, 8));
    share = 12345;
    EXPECT_EQ(HWMC_ERR_PEER, find(4096, 8));
    EXPECT_EQ(0u, fake_xpmem::counts().got);
    EXPECT_EQ(nullptr, mappings);
}

TEST_F(NodeMapping, AProcessHasOneName)
{
    EXPECT_EQ(share, hwmc_shm_mapping_share());
    EXPECT_EQ(1u, fake_xpmem::counts().made);
    pid_t child = fork();
    if (child == 0)
        _exit(hwmc_shm_mapping_share() != share && fake_xpmem::counts().made == 2 ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(0, status);
}

namespace {

// Groups over it.
class NodeXpmem : public testing::Test {
  protected:
    void SetUp() override
    {
        fake_xpmem::reset();
        config.layout.ranks = 4;
        config.methods = node::kXpmem;
        config.params.copy_min = 100;
        ASSERT_EQ(HWMC_OK, hwmc_shm_segment_over(
                               &segment, &config.layout,
                               (memory = std::make_unique<node::Memory>(config.layout))->at));
    }
    void TearDown() override
    {
        ranks.clear();
        hwmc_shm_copy_close();
        EXPECT_EQ("", fake_xpmem::wrong());
        fake_xpmem::Counts c = fake_xpmem::counts();
        EXPECT_EQ(0u, c.names + c.permits + c.mappings);
    }
    void join()
    {
        for (uint32_t r = 0; r < config.layout.ranks; r++)
            ranks.push_back(std::make_unique<node::Rank>(config, segment, r, script, begun, 1));
        for (int i = 0; i < 2; i++)
            for (auto &rank : ranks)
                rank->step();
    }
    void expect_method(const char *name)
    {
        for (auto &rank : ranks)
            EXPECT_STREQ(name, rank->group.copy ? rank->group.copy->name : "none");
    }

    node::Config config;
    node::Script script;
    std::unique_ptr<node::Memory> memory;
    hwmc_shm_segment segment;
    std::atomic<uint64_t> begun[4] = {};
    std::vector<std::unique_ptr<node::Rank>> ranks;
};

} // namespace

TEST_F(NodeXpmem, GoesBeforeCrossMemoryAttach)
{
    config.methods |= node::kCma;
    join();
    expect_method("xpmem");
}

// What was tried when the group was made is given back: a group that copies nothing holds nothing.
TEST_F(NodeXpmem, HoldsNothingBeforeTheFirstCopy)
{
    join();
    EXPECT_EQ(12u, fake_xpmem::counts().attached);
    EXPECT_EQ(0u, fake_xpmem::counts().mappings);
    EXPECT_EQ(0u, fake_xpmem::counts().permits);
}

TEST_F(NodeXpmem, WithoutTheModuleCrossMemoryAttachServes)
{
    hwmc_shm_copy_close();
    fake_xpmem::reset({.no_names = true});
    config.methods |= node::kCma;
    join();
    expect_method("cma");
}

TEST_F(NodeXpmem, WithoutAPermitTheSegmentServes)
{
    fake_xpmem::reset({.no_permits = true});
    join();
    expect_method("none");
}

TEST_F(NodeXpmem, WhereNothingCanBeMappedTheSegmentServes)
{
    fake_xpmem::reset({.most = 0});
    join();
    expect_method("none");
}

TEST_F(NodeXpmem, ReductionsReadWhereTheOperandsLie)
{
    unsigned char operand[8], got[8] = {};
    hwmc_shm_group *g;

    join();
    g = &ranks[0]->group;
    memset(operand, 7, sizeof(operand));
    const void *at = hwmc_shm_group_at(g, 1, (uintptr_t) operand, sizeof(operand));
    EXPECT_EQ(operand, at);
    EXPECT_EQ(nullptr, hwmc_shm_group_at(g, 1, (uintptr_t) operand, 0));
    EXPECT_EQ(1u, fake_xpmem::counts().permits);
    EXPECT_EQ(HWMC_OK, hwmc_shm_group_get(g, 1, got, (uintptr_t) operand, sizeof(got)));
    EXPECT_EQ(0, memcmp(got, operand, sizeof(got)));
    got[0] = 9;
    EXPECT_EQ(HWMC_OK, hwmc_shm_group_put(g, 1, (uintptr_t) operand, got, sizeof(got)));
    EXPECT_EQ(9, operand[0]);
    EXPECT_EQ(13u, fake_xpmem::counts().attached); // 12 when joining
}
