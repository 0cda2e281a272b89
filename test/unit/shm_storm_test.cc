// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Collectives of all kinds one after the other, by ranks in any order, from one seed a run.
// HWMC_SIM_SEEDS says how many runs, HWMC_SIM_SEED replays one.
#include <stdlib.h>

#include <gtest/gtest.h>

#include <array>

#include "shm_ranks.h"

extern "C" {
#include "core/base/prng.h"
}

namespace {

using node::Config;
using node::Script;
using sim::Rng;

uint32_t power_of_2(Rng &rng, uint32_t max_log)
{
    return UINT32_C(1) << rng.below(max_log + 1);
}

Config any_config(Rng &rng, uint32_t max_ranks)
{
    Config s;

    s.layout.ranks = (uint32_t) rng.between(1, max_ranks);
    s.layout.slots = power_of_2(rng, 3);
    s.layout.buffers = power_of_2(rng, rng.below(2) ? 2 : 4);
    s.layout.chunk = 64 * (uint32_t) rng.between(1, rng.below(2) ? 4 : 8);
    s.methods = std::array{uint64_t{0}, node::kMemcpy, node::kXpmem}[rng.below(3)];
    s.params = node::params_of((uint32_t) rng.between(40, s.layout.chunk));
    if (rng.below(2))
        s.params.inline_max = (uint32_t) rng.below(rng.below(2) ? 40 : 500);
    s.params.ways = (uint32_t) rng.between(1, 8);
    s.params.copy_min = rng.below(2) ? 0 : rng.below(1000);
    s.params.stream_min = rng.below(2) ? UINT64_MAX : rng.below(600);
    s.params.copy_step = (uint32_t) rng.between(50, 700);
    s.params.piece_min = (uint32_t) rng.between(1, 300);
    s.params.shift = (uint32_t) rng.below(100);
    return s;
}

// One rank in two is 1 to 50 times as fast as the others.
std::vector<uint32_t> any_weights(Rng &rng, uint32_t ranks)
{
    std::vector<uint32_t> weights(ranks, 1);

    if (rng.below(2))
        for (uint32_t &w : weights)
            w = rng.below(2) ? 1 : (uint32_t) rng.between(1, 50);
    return weights;
}

void storms(uint64_t base, uint32_t max_ranks, uint64_t usual)
{
    const char *one = getenv("HWMC_SIM_SEED");
    const char *many = getenv("HWMC_SIM_SEEDS");
    uint64_t n = one ? 1 : many ? strtoull(many, nullptr, 0) / 4 : usual;
    const char *test = ::testing::UnitTest::GetInstance()->current_test_info()->name();

    for (uint64_t i = 0; i < n; i++) {
        uint64_t seed = one ? strtoull(one, nullptr, 0) : hwmc_prng(base, i);
        Rng rng(seed);
        Config config = any_config(rng, max_ranks);
        Script script;

        for (uint64_t k = rng.between(1, 40); k > 0; k--)
            script.push_back(any_item(config, rng));
        std::string wrong = run(config, script, seed, any_weights(rng, config.layout.ranks));
        ASSERT_TRUE(wrong.empty()) << wrong << "\nreplay: HWMC_SIM_SEED=0x" << std::hex << seed
                                   << " build/unit/shm_test --gtest_filter=NodeStorm." << test;
    }
}

} // namespace

TEST(NodeStorm, FewRanks)
{
    storms(1, 5, 3000);
}

TEST(NodeStorm, ManyRanks)
{
    storms(2, 40, 200);
}
