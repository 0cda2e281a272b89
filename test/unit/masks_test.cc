// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// Every loss mask over the first 12 deliveries of fragments, in small groups: bit i of the mask
// loses the i-th datagram delivered. HWMC_SIM_MASK replays one.
#include <stdlib.h>

#include <gtest/gtest.h>

#include "sim_net.h"

namespace {

struct Result {
    std::string wrong, trace;
    uint64_t forwarded, asked, repaired, lost;
};

Result run(uint32_t mask, uint32_t ranks, uint32_t frags, uint32_t root, bool push, bool trace)
{
    sim::Config c;
    uint32_t nth = 0;

    c.ranks = ranks;
    c.push = push;
    c.channels = 2;
    c.max_frags = frags;
    c.trace = trace;
    c.script = {{root, frags * c.frag_bytes}, {root, 3}};
    c.lose = [&nth, mask](const hwmc_msg &msg, uint32_t) {
        return msg.type == HWMC_MSG_DATA && nth < 12 && (mask >> nth++ & 1);
    };
    sim::Net net(c);
    std::string wrong = net.run();
    return {wrong,
            net.trace(),
            net.sum(&hwmc_counts::forwarded),
            net.sum(&hwmc_counts::nacks_sent),
            net.sum(&hwmc_counts::repaired),
            (uint64_t) __builtin_popcount(mask)};
}

void masks(uint32_t ranks, uint32_t frags, uint32_t root, bool push)
{
    const char *one = getenv("HWMC_SIM_MASK");
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();

    for (uint32_t mask = 0; mask < 4096; mask++) {
        char replay[200];

        if (one && mask != strtoul(one, nullptr, 0))
            continue;
        snprintf(replay, sizeof(replay),
                 "replay: HWMC_SIM_MASK=0x%x build/unit/masks_test --gtest_filter=Masks.%s", mask,
                 name.c_str());
        sim::replay_line(replay);
        Result r = run(mask, ranks, frags, root, push, one != nullptr);
        ASSERT_TRUE(r.wrong.empty()) << r.trace << r.wrong << replay;
        if (push) {
            // Each fragment of both broadcasts once over each edge but the one into the root.
            ASSERT_EQ((frags + 1) * (ranks - 1), r.forwarded) << r.trace << replay;
            ASSERT_EQ(0u, r.asked) << replay;
        } else {
            // On a network in order and in time, just what was lost is sent again; the last
            // fragment of many is multicast once more anyway.
            uint32_t last = ((1u << (ranks - 1)) - 1) << (frags - 1) * (ranks - 1);
            uint32_t twice = frags > HWMC_STANDING_FRAGS ? last : 0;

            ASSERT_EQ((uint64_t) __builtin_popcount(mask & ~twice), r.forwarded)
                << r.trace << replay;
            ASSERT_LE(r.asked, r.lost) << r.trace << replay;
        }
    }
    sim::replay_line("");
}

} // namespace

TEST(Masks, PullTwoRanksTwelveFragments)
{
    masks(2, 12, 0, false);
}

TEST(Masks, PullThreeRanksSixFragments)
{
    masks(3, 6, 1, false);
}

TEST(Masks, PullFourRanksFourFragments)
{
    masks(4, 4, 3, false);
}

TEST(Masks, PushTwoRanksTwelveFragments)
{
    masks(2, 12, 1, true);
}

TEST(Masks, PushThreeRanksSixFragments)
{
    masks(3, 6, 0, true);
}

TEST(Masks, PushFourRanksFourFragments)
{
    masks(4, 4, 2, true);
}
