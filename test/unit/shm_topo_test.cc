// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// topo: places of ranks on hosts that hwloc makes up, and on this one.
#include <sched.h>

#include <cstring>

#include "shm_hosts.h"

namespace {

using Parts = std::vector<int32_t>;

// Core, cache, memory, package.
Parts vector(const hwmc_shm_affinity &p)
{
    return Parts(p.part, p.part + HWMC_SHM_PART_NUM);
}

Parts vector(const std::string &host, const std::string &cpus)
{
    return vector(places(host, {cpus})[0]);
}

} // namespace

TEST(NodeTopo, APartIsNamedByItsLowestProcessor)
{
    const char *host = "package:2 [numa] l3:2 l2:2 core:1 pu:2"; // 16 processors

    EXPECT_EQ((Parts{0, 0, 0, 0}), vector(host, "0"));
    EXPECT_EQ((Parts{0, 0, 0, 0}), vector(host, "1"));
    EXPECT_EQ((Parts{2, 0, 0, 0}), vector(host, "2,3"));
    EXPECT_EQ((Parts{6, 4, 0, 0}), vector(host, "7"));
    EXPECT_EQ((Parts{14, 12, 8, 8}), vector(host, "14"));
}

TEST(NodeTopo, ARankHasNoPartThatItCanLeave)
{
    const char *host = "package:2 [numa] l3:2 l2:2 core:1 pu:2";

    EXPECT_EQ((Parts{-1, 0, 0, 0}), vector(host, "0-3"));
    EXPECT_EQ((Parts{-1, -1, 8, 8}), vector(host, "9,12"));
    EXPECT_EQ((Parts{-1, -1, -1, -1}), vector(host, "7,8"));
    EXPECT_EQ((Parts{-1, -1, -1, -1}), vector(host, "0-15"));
    EXPECT_EQ((Parts{-1, -1, -1, -1}), vector(host, "0-99"));
}

TEST(NodeTopo, OfASecondLevelForSeveralCoresTheCacheCounts)
{
    EXPECT_EQ((Parts{4, 0, 0, 0}), vector("package:1 l3:1 l2:2 core:4 pu:1", "6"));
}

TEST(NodeTopo, WithoutASecondLevelTheCoreCounts)
{
    EXPECT_EQ((Parts{6, 0, 0, 0}), vector("package:1 l3:1 core:4 pu:2", "7"));
}

TEST(NodeTopo, TwoLevelsOfCache)
{
    Places p = places("package:2 l2:2(size=1048576) core:2 pu:1", {"3"});

    EXPECT_EQ((Parts{2, 2, 0, 0}), vector(p[0]));
    EXPECT_EQ(1048576u, p[0].l2);
    EXPECT_EQ(1048576u, p[0].llc);
}

TEST(NodeTopo, AHostOfWhichNothingIsKnown)
{
    Places p = places("pu:4", {"2"});

    EXPECT_EQ((Parts{-1, -1, 0, -1}), vector(p[0])); // all memory is one
    EXPECT_EQ(0u, p[0].line);
    EXPECT_EQ(0u, p[0].l2);
    EXPECT_EQ(0u, p[0].llc);
    EXPECT_EQ(4u, p[0].processors[0]);
}

TEST(NodeTopo, OfMemoriesInsideEachOtherTheNearestCounts)
{
    const char *host = "package:2 [numa] group:2 [numa] core:2 pu:1"; // 8 processors

    EXPECT_EQ((Parts{2, -1, 2, 0}), vector(host, "2"));
    EXPECT_EQ((Parts{-1, -1, 2, 0}), vector(host, "2-3"));
    EXPECT_EQ((Parts{-1, -1, -1, 0}), vector(host, "1-2"));
    EXPECT_EQ((Parts{7, -1, 6, 4}), vector(host, "7"));
}

TEST(NodeTopo, SizesOfCachesAreKnownToARankThatIsNotBound)
{
    const char *host = "package:2 l3:1(size=33554432) l2:4(size=524288) pu:1";

    for (const hwmc_shm_affinity &p : places(host, {"5", "0-3", "0-7"})) {
        EXPECT_EQ(64u, p.line);
        EXPECT_EQ(524288u, p.l2);
        EXPECT_EQ(33554432u, p.llc);
    }
}

TEST(NodeTopo, ProcessorsAreThoseOfTheListThatThereAre)
{
    Places p = places("package:4 core:50 pu:1", {"0-2,64,199-300"});

    EXPECT_EQ(7u, p[0].processors[0]);
    EXPECT_EQ(1u, p[0].processors[1]);
    EXPECT_EQ(0u, p[0].processors[2]);
    EXPECT_EQ(UINT64_C(1) << (199 - 192), p[0].processors[3]);
}

// Beyond what a place has bits for it is as if they were unknown.
TEST(NodeTopo, ALargeHost)
{
    Places p = places("package:4 core:300 pu:1", {"1023", "1024"});

    EXPECT_EQ((Parts{1023, -1, 0, 900}), vector(p[0]));
    EXPECT_EQ((Parts{1024, -1, 0, 900}), vector(p[1]));
    EXPECT_EQ(UINT64_C(1) << 63, p[0].processors[15]);
    EXPECT_EQ(0u, hwmc_shm_processors(&p[1], 1));
    EXPECT_TRUE(hwmc_shm_crowded(&p[1], 1));
}

TEST(NodeTopo, WhatIsNoHostOrNoListIsSaid)
{
    hwmc_shm_topo *topo = nullptr;
    hwmc_shm_affinity place, before;

    EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_topo_open(&topo, "package:x"));
    EXPECT_EQ(nullptr, topo);
    ASSERT_EQ(HWMC_OK, hwmc_shm_topo_open(&topo, "package:2 core:2 pu:1"));
    memset(&before, 0x5a, sizeof before);
    place = before;
    for (const char *cpus : {"", "x", "4", "99-100"})
        EXPECT_EQ(HWMC_ERR_INVAL, hwmc_shm_topo_place(topo, cpus, &place)) << cpus;
    EXPECT_EQ(0, memcmp(&before, &place, sizeof place));
    hwmc_shm_topo_close(topo);
}

TEST(NodeTopo, ThisHostAndThisProcess)
{
    hwmc_shm_topo *topo = nullptr;
    hwmc_shm_affinity all, one;
    cpu_set_t before, first;
    int cpu = 0;

    ASSERT_EQ(0, sched_getaffinity(0, sizeof before, &before));
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    ASSERT_EQ(HWMC_OK, hwmc_shm_topo_open(&topo, nullptr));
    EXPECT_EQ(HWMC_OK, hwmc_shm_topo_place(topo, nullptr, &all));
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    ASSERT_EQ(0, sched_setaffinity(0, sizeof first, &first));
    EXPECT_EQ(HWMC_OK, hwmc_shm_topo_place(topo, nullptr, &one));
    sched_setaffinity(0, sizeof before, &before);
    hwmc_shm_topo_close(topo);

    EXPECT_EQ(static_cast<uint32_t>(CPU_COUNT(&before)), hwmc_shm_processors(&all, 1));
    EXPECT_EQ(1u, hwmc_shm_processors(&one, 1));
    EXPECT_EQ(1u, one.processors[cpu / 64] >> cpu % 64);
    EXPECT_EQ(all.llc, one.llc);
}
