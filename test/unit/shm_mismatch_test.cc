// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// stuck: ranks whose lengths disagree come to an end, whatever those choose. That those whose
// lengths agree are never told so all other tests of ranks see, which look as well.
#include <gtest/gtest.h>

#include "shm_ranks.h"

extern "C" {
#include "core/base/prng.h"
}

namespace {

using node::Config;
using node::Item;
using node::Kind;
using node::Rank;
using node::Script;

// Ranks with a script of their own each. One that ends with an error says so to the others, as
// under MPI.
struct Jumble {
    Jumble(const Config &c, std::vector<Script> s)
        : config(c), scripts(std::move(s)), memory(c.layout), begun(c.layout.ranks)
    {
        hwmc_shm_segment_over(&segment, &config.layout, memory.at);
        for (uint32_t r = 0; r < config.layout.ranks; r++) {
            ranks.push_back(
                std::make_unique<Rank>(config, segment, r, scripts[r], begun.data(), r));
            ranks[r]->checks = false;
        }
    }

    bool is_over(uint32_t r) const
    {
        return ranks[r]->over() || told[r];
    }

    void step(uint32_t r)
    {
        Rank &rank = *ranks[r];

        rank.step();
        if (!rank.wrong.empty())
            hwmc_shm_group_fail(&rank.group);
        told[r] = hwmc_shm_group_failed(&rank.group);
    }

    // True: all came to an end.
    bool run(sim::Rng &rng)
    {
        uint32_t n = config.layout.ranks, over = 0;

        for (uint64_t left = UINT64_C(200000) * n; over < n && left > 0; left--) {
            uint32_t r = (uint32_t) rng.below(n);

            if (is_over(r))
                continue;
            step(r);
            over += is_over(r);
        }
        return over == n;
    }

    std::string text() const
    {
        std::string s = config.text();

        for (uint32_t r = 0; r < config.layout.ranks; r++)
            for (size_t i = 0; i < scripts[r].size(); i++)
                s += "\n  " + std::to_string(r) + ": " + scripts[r][i].text() +
                     (ranks[r]->done() == i
                          ? " <- in " + std::to_string(ranks[r]->group.serial) + " of " +
                                std::to_string(ranks[r]->group.finished) + " looks " +
                                std::to_string(ranks[r]->group.mismatch.looks)
                          : "");
        return s;
    }

    Config config;
    std::vector<Script> scripts;
    node::Memory memory;
    hwmc_shm_segment segment;
    std::vector<std::atomic<uint64_t>> begun;
    std::vector<std::unique_ptr<Rank>> ranks;
    bool told[HWMC_SHM_RANKS_MAX] = {};
};

Config any_config(sim::Rng &rng)
{
    Config s;

    s.layout.ranks = (uint32_t) rng.between(2, 6);
    s.layout.slots = UINT32_C(1) << rng.below(4);
    s.layout.buffers = UINT32_C(1) << rng.below(3);
    s.layout.chunk = 64 * (uint32_t) rng.between(1, 4);
    s.params = hwmc_shm_params_default(s.layout.chunk);
    s.params.inline_max = (uint32_t) rng.below(89);
    return s;
}

// Of the same collective and root, but of any length, and so of any algorithm and tree.
Item another(const Config &config, sim::Rng &rng, const Item &like)
{
    Item item = any_item(config, rng);

    while (item.kind != like.kind)
        item = any_item(config, rng);
    item.root = like.root;
    item.ordered = like.ordered;
    return item;
}

} // namespace

// At the end all meet: a rank whose lengths need fewer of the group's collectives waits there.
TEST(NodeStuck, LengthsThatChooseDifferentAlgorithmsEnd)
{
    const char *one = getenv("HWMC_SIM_SEED");
    const char *many = getenv("HWMC_SIM_SEEDS");
    uint64_t n = one ? 1 : many ? strtoull(many, nullptr, 0) : 1000;
    Item barrier;

    barrier.kind = Kind::kBarrier;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t seed = one ? strtoull(one, nullptr, 0) : hwmc_prng(11, i);
        sim::Rng rng(seed);
        Config config = any_config(rng);
        std::vector<Script> scripts(config.layout.ranks);

        for (uint64_t k = rng.between(1, 4); k > 0; k--) {
            Item item = any_item(config, rng);

            for (Script &script : scripts)
                script.push_back(rng.below(2) ? item : another(config, rng, item));
        }
        for (Script &script : scripts)
            script.push_back(barrier);
        Jumble jumble(config, scripts);
        ASSERT_TRUE(jumble.run(rng))
            << jumble.text() << "\nreplay: HWMC_SIM_SEED=0x" << std::hex << seed;
    }
}

// Nobody is told while one that has not come may still come.
TEST(NodeStuck, WhoHasNotComeIsWaitedFor)
{
    Config config;
    Script script(1);

    script[0].kind = Kind::kBarrier;
    Jumble jumble(config, std::vector<Script>(4, script));
    for (int i = 0; i < 2; i++)
        for (uint32_t r = 0; r < 4; r++)
            jumble.step(r); // they join
    for (int i = 0; i < 100000; i++)
        for (uint32_t r = 0; r < 3; r++)
            jumble.step(r);
    for (int i = 0; i < 10; i++)
        for (uint32_t r = 0; r < 4; r++)
            jumble.step(r);
    for (uint32_t r = 0; r < 4; r++) {
        EXPECT_EQ("", jumble.ranks[r]->wrong);
        EXPECT_EQ(1u, jumble.ranks[r]->done());
    }
}
