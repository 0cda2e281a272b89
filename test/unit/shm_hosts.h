// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Hosts for the tests of the collectives inside hosts's topology: described in hwloc's words, or at
// random.
#ifndef HWMC_TEST_UNIT_SHM_HOSTS_H_INCLUDED
#define HWMC_TEST_UNIT_SHM_HOSTS_H_INCLUDED

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim_rng.h"

extern "C" {
#include "shm/topo/levels.h"
#include "shm/topo/topo.h"
}

using Places = std::vector<hwmc_shm_affinity>;

// Ranks bound to these lists of processors of a host.
inline Places places(const std::string &host, const std::vector<std::string> &cpus)
{
    hwmc_shm_topo *topo = nullptr;
    Places p(cpus.size());

    EXPECT_EQ(HWMC_OK, hwmc_shm_topo_open(&topo, host.c_str())) << host;
    if (topo == nullptr)
        return p;
    for (size_t r = 0; r < cpus.size(); r++)
        EXPECT_EQ(HWMC_OK, hwmc_shm_topo_place(topo, cpus[r].c_str(), &p[r])) << cpus[r];
    hwmc_shm_topo_close(topo);
    return p;
}

inline hwmc_shm_levels levels(const Places &p)
{
    hwmc_shm_levels l;

    hwmc_shm_levels_init(&l, p.data(), static_cast<uint32_t>(p.size()));
    hwmc_shm_levels_check(&l);
    return l;
}

inline hwmc_shm_levels flat(uint32_t n)
{
    hwmc_shm_levels l;

    hwmc_shm_levels_flat(&l, n);
    hwmc_shm_levels_check(&l);
    return l;
}

// Some host, in hwloc's words, and how many processors it has.
struct Host {
    std::string words;
    uint32_t processors;
};

inline Host some_host(sim::Rng &rng)
{
    // With memory nowhere (one for all), in packages, or around or inside of last-level caches.
    static const char *const kinds[][4] = {
        {"package:", " l3:", " l2:", " pu:"},        {"package:", " [numa] l3:", " l2:", " pu:"},
        {"package:", " l3:", " [numa] l2:", " pu:"}, {"package:", " l3:", " group:", " [numa] pu:"},
        {"numa:", " package:", " core:", " pu:"},    {"package:", " l2:", " core:", " pu:"},
    };
    const auto &kind = kinds[rng.below(6)];
    Host host = {"", 1};

    for (const char *part : kind) {
        const uint32_t n = static_cast<uint32_t>(rng.between(1, 4));

        host.words += part + std::to_string(n);
        host.processors *= n;
    }
    return host;
}

// `n` ranks, each on one processor of the host; a few may be bound to several, or not bound.
inline std::vector<std::string> some_binding(sim::Rng &rng, const Host &host, uint32_t n,
                                             uint32_t loose_ppm)
{
    std::vector<std::string> cpus(n);

    for (std::string &one : cpus) {
        const uint64_t low = rng.below(host.processors);

        one = std::to_string(low);
        if (rng.chance(loose_ppm))
            one += "-" + std::to_string(rng.between(low, host.processors - 1));
    }
    return cpus;
}

#endif // HWMC_TEST_UNIT_SHM_HOSTS_H_INCLUDED
