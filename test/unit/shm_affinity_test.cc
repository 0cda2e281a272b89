// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// place: what follows from the places of all ranks: processors, crowding, caches, length of a
// chunk.
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "shm/topo/affinity.h"
}

namespace {

constexpr uint64_t KiB = 1024, MiB = 1024 * KiB;

hwmc_shm_affinity unknown()
{
    hwmc_shm_affinity p = {};

    for (int32_t &part : p.part)
        part = -1;
    return p;
}

// Bound to these processors.
hwmc_shm_affinity on(const std::vector<uint32_t> &processors)
{
    hwmc_shm_affinity p = unknown();

    for (uint32_t i : processors)
        p.processors[i / 64] |= UINT64_C(1) << i % 64;
    return p;
}

using Places = std::vector<hwmc_shm_affinity>;

uint32_t processors(const Places &p)
{
    return hwmc_shm_processors(p.data(), static_cast<uint32_t>(p.size()));
}

bool crowded(const Places &p)
{
    return hwmc_shm_crowded(p.data(), static_cast<uint32_t>(p.size()));
}

hwmc_shm_caches caches(const Places &p)
{
    hwmc_shm_caches c;

    hwmc_shm_caches_of(p.data(), static_cast<uint32_t>(p.size()), &c);
    return c;
}

uint32_t chunk(uint64_t l2, uint64_t llc)
{
    hwmc_shm_caches c = {64, l2, llc};

    return hwmc_shm_chunk(&c);
}

} // namespace

TEST(NodePlace, ProcessorsAreCountedOnce)
{
    EXPECT_EQ(0u, processors({unknown()}));
    EXPECT_EQ(1u, processors({on({0}), on({0})}));
    EXPECT_EQ(4u, processors({on({0, 1}), on({1, 63}), on({1023})}));
    EXPECT_EQ(1u, processors({unknown(), on({64})}));
}

TEST(NodePlace, MoreRanksThanProcessorsAreCrowded)
{
    EXPECT_FALSE(crowded({on({0})}));
    EXPECT_FALSE(crowded({on({0}), on({1})}));
    EXPECT_TRUE(crowded({on({0}), on({0})}));
    EXPECT_FALSE(crowded({on({0, 1}), on({0, 1})}));
    EXPECT_TRUE(crowded({on({0, 1}), on({0, 1}), on({0, 1})}));
    // Any two have two processors, but three have no third.
    EXPECT_FALSE(crowded({on({0, 1}), on({1, 2}), on({0, 2})}));
    EXPECT_TRUE(crowded({on({0, 1}), on({1, 2}), on({0, 2}), on({0, 1})}));
}

TEST(NodePlace, CrowdedInOnePlaceIsCrowdedThoughThereIsRoomElsewhere)
{
    EXPECT_TRUE(crowded({on({0}), on({0}), on({1, 2, 3})}));
    EXPECT_TRUE(crowded({on({0}), on({1}), on({0, 1}), on({2, 3, 4, 5})}));
    EXPECT_FALSE(crowded({on({0}), on({1}), on({0, 1, 2}), on({2, 3, 4, 5})}));
}

TEST(NodePlace, WhatIsNotKnownIsCrowded)
{
    EXPECT_TRUE(crowded({unknown()}));
    EXPECT_TRUE(crowded({on({0}), unknown(), on({1, 2, 3})}));
}

TEST(NodePlace, ACacheIsSharedByThoseThatCannotLeaveIt)
{
    Places p(4, unknown());

    for (uint32_t r = 0; r < 4; r++) {
        p[r].line = 64;
        p[r].l2 = 512 * KiB;
        p[r].llc = 32 * MiB;
        p[r].part[HWMC_SHM_PART_CORE] = static_cast<int32_t>(r / 2);
        p[r].part[HWMC_SHM_PART_CACHE] = r < 3 ? 0 : 8;
    }
    hwmc_shm_caches c = caches(p);
    EXPECT_EQ(64u, c.line);
    EXPECT_EQ(256 * KiB, c.l2);
    EXPECT_EQ(32 * MiB / 3, c.llc);

    // Ranks that can leave it are not in it together.
    for (hwmc_shm_affinity &one : p)
        one.part[HWMC_SHM_PART_CORE] = one.part[HWMC_SHM_PART_CACHE] = -1;
    c = caches(p);
    EXPECT_EQ(512 * KiB, c.l2);
    EXPECT_EQ(32 * MiB, c.llc);
}

TEST(NodePlace, WhatTheCachesWouldNotKeepIsWrittenPastThem)
{
    hwmc_shm_caches c = {64, 512 * KiB, 32 * MiB};

    EXPECT_EQ(16 * MiB, hwmc_shm_nontemporal_min(&c));
    c.llc = 0;
    EXPECT_EQ(UINT64_MAX, hwmc_shm_nontemporal_min(&c));
}

TEST(NodePlace, CachesAreTheLeastOfThoseKnown)
{
    Places p(3, unknown());

    EXPECT_EQ(0u, caches(p).line);
    EXPECT_EQ(0u, caches(p).l2);
    EXPECT_EQ(0u, caches(p).llc);
    p[1].l2 = 2 * MiB;
    p[2].l2 = 1 * MiB;
    p[1].line = 128;
    p[2].line = 64;
    EXPECT_EQ(128u, caches(p).line);
    EXPECT_EQ(1 * MiB, caches(p).l2);
    EXPECT_EQ(0u, caches(p).llc);
}

TEST(NodePlace, ARanksBuffersFillItsSecondLevel)
{
    EXPECT_EQ(16 * KiB, chunk(256 * KiB, 0));
    EXPECT_EQ(32 * KiB, chunk(512 * KiB, 0));
    EXPECT_EQ(32 * KiB, chunk(1 * MiB - 1, 0));
    EXPECT_EQ(64 * KiB, chunk(1 * MiB, 0));
}

TEST(NodePlace, AllBuffersFillHalfOfTheLastLevel)
{
    EXPECT_EQ(16 * KiB, chunk(1 * MiB, 512 * KiB));
    EXPECT_EQ(8 * KiB, chunk(1 * MiB, 512 * KiB - 1));
    EXPECT_EQ(16 * KiB, chunk(256 * KiB, 32 * MiB));
}

TEST(NodePlace, AChunkHasBounds)
{
    EXPECT_EQ(4 * KiB, chunk(1, 1));
    EXPECT_EQ(4 * KiB, chunk(64 * KiB, 0));
    EXPECT_EQ(64 * KiB, chunk(UINT64_MAX, UINT64_MAX));
    EXPECT_EQ(16 * KiB, chunk(0, 0)); // nothing is known
    EXPECT_EQ(4 * KiB, chunk(0, 128 * KiB));
}

TEST(NodePlace, PartsHaveNames)
{
    EXPECT_STREQ("core", hwmc_shm_part_text(HWMC_SHM_PART_CORE));
    EXPECT_STREQ("package", hwmc_shm_part_text(HWMC_SHM_PART_PACKAGE));
}
