// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// relay_plan: leaders of hosts of any number of ranks, in any order, carry parts of all ranks to
// all ranks, in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

extern "C" {
#include "op/relay_plan.h"
}

namespace {

using Bytes = std::vector<unsigned char>;
using Matrix = std::vector<std::vector<uint64_t>>;

unsigned char byte_of(uint32_t from, uint32_t to, uint64_t i)
{
    return (unsigned char) (from * 31 + to * 7 + i * 3 + 1);
}

// One host's leader, and what its mates have and get.
struct Host {
    hwmc_relay_plan plan;
    std::vector<uint32_t> ranks;
    Bytes gathered, spread;
};

struct Relay {
    Relay(const std::vector<uint32_t> &host_of, uint32_t num)
        : memory(hwmc_leaders_words((uint32_t) host_of.size(), num)), hosts(num)
    {
        const std::vector<int> near(host_of.size());

        hwmc_leaders_init(&leaders, (uint32_t) host_of.size(), num, host_of.data(), near.data(),
                          memory.data());
        for (uint32_t h = 0; h < num; h++) {
            EXPECT_TRUE(hwmc_relay_plan_init(&hosts[h].plan, &leaders, h));
            for (uint32_t r = 0; r < host_of.size(); r++)
                if (host_of[r] == h)
                    hosts[h].ranks.push_back(r);
        }
    }
    ~Relay()
    {
        for (auto &h : hosts)
            hwmc_relay_plan_free(&h.plan);
    }

    // Lays all plans for these lengths; the callers' memory for every other host.
    void lay(const Matrix &bytes, bool own_memory)
    {
        for (auto &h : hosts) {
            uint64_t given = 0, got = 0;

            for (uint32_t m = 0; m < h.ranks.size(); m++)
                for (uint32_t r = 0; r < leaders.ranks; r++) {
                    given += hwmc_relay_gives(&h.plan, m)[r] = bytes[h.ranks[m]][r];
                    got += hwmc_relay_gets(&h.plan, m)[r] = bytes[r][h.ranks[m]];
                }
            h.gathered = Bytes(given);
            h.spread = Bytes(got);
            ASSERT_TRUE(hwmc_relay_plan_lay(&h.plan, own_memory ? h.gathered.data() : nullptr,
                                            own_memory ? h.spread.data() : nullptr));
        }
    }

    void gather(const Matrix &bytes)
    {
        for (auto &h : hosts)
            for (uint32_t m = 0; m < h.ranks.size(); m++) {
                unsigned char *at = h.plan.gathered + h.plan.gives[m].at;

                for (uint32_t r = 0; r < leaders.ranks; r++)
                    for (uint64_t i = 0; i < bytes[h.ranks[m]][r]; i++)
                        *at++ = byte_of(h.ranks[m], r, i);
            }
    }

    void carry()
    {
        for (uint32_t from = 0; from < hosts.size(); from++) {
            EXPECT_TRUE(hwmc_relay_plan_own(&hosts[from].plan));
            for (uint32_t to = 0; to < hosts.size(); to++) {
                if (to == from)
                    continue;
                const auto out = hwmc_relay_plan_out(&hosts[from].plan, to);
                const auto in = hwmc_relay_plan_in(&hosts[to].plan, from);

                ASSERT_EQ(out.bytes, in.bytes);
                if (out.bytes > 0)
                    memcpy(in.memory, out.memory, out.bytes);
                copied += out.apart + in.apart;
            }
        }
        for (auto &h : hosts)
            for (uint32_t from = 0; from < hosts.size(); from++)
                if (&hosts[from] != &h)
                    hwmc_relay_plan_came(&h.plan, from);
    }

    void check(const Matrix &bytes)
    {
        for (auto &h : hosts)
            for (uint32_t m = 0; m < h.ranks.size(); m++) {
                const unsigned char *at = h.plan.spread + h.plan.gets[m].at;

                for (uint32_t r = 0; r < leaders.ranks; r++)
                    for (uint64_t i = 0; i < bytes[r][h.ranks[m]]; i++)
                        ASSERT_EQ(byte_of(r, h.ranks[m], i), *at++) << r << " " << h.ranks[m];
            }
    }

    void run(const Matrix &bytes, bool own_memory)
    {
        lay(bytes, own_memory);
        gather(bytes);
        carry();
        check(bytes);
    }

    hwmc_leaders leaders;
    std::vector<uint32_t> memory;
    std::vector<Host> hosts;
    int copied = 0; // blocks that were apart
};

Matrix lengths(uint32_t ranks, std::mt19937 &random)
{
    Matrix bytes(ranks, std::vector<uint64_t>(ranks));

    for (auto &row : bytes)
        for (auto &b : row)
            b = random() % 3 == 0 ? 0 : random() % 50;
    return bytes;
}

// Rounds of one plan have other lengths each.
TEST(RelayPlan, BringsEachRankWhatItIsToHave)
{
    std::mt19937 random(1);

    for (int times = 0; times < 200; times++) {
        const uint32_t ranks = 1 + random() % 12, num = 1 + random() % ranks;
        std::vector<uint32_t> host_of(ranks);

        for (uint32_t r = 0; r < ranks; r++)
            host_of[r] = r < num ? r : random() % num;
        std::shuffle(host_of.begin(), host_of.end(), random);
        Relay relay(host_of, num);

        for (int round = 0; round < 3; round++) {
            relay.run(lengths(ranks, random), round == 1);
            if (HasFatalFailure())
                return;
        }
    }
}

// Of a gather, and of a scatter, over hosts whose ranks follow each other nothing is copied.
TEST(RelayPlan, PartsOfAndForOneRankStayWhereTheyAre)
{
    for (bool gather : {true, false}) {
        Relay relay({0, 0, 1, 1, 1, 2}, 3);
        Matrix bytes(6, std::vector<uint64_t>(6));

        for (uint32_t r = 0; r < 6; r++)
            (gather ? bytes[r][3] : bytes[3][r]) = 10 + r;
        relay.run(bytes, true);
        EXPECT_EQ(0, relay.copied);
    }
}

// Mate 0 has a byte less for mate 1 than that expects.
TEST(RelayPlan, LengthsThatDisagreeInsideTheHostAreSeen)
{
    Relay relay({0, 0, 1}, 2);
    hwmc_relay_plan &plan = relay.hosts[0].plan;

    hwmc_relay_gives(&plan, 0)[1] = 4;
    hwmc_relay_gets(&plan, 1)[0] = 5;
    ASSERT_TRUE(hwmc_relay_plan_lay(&plan, nullptr, nullptr));
    EXPECT_FALSE(hwmc_relay_plan_own(&plan));
}

TEST(RelayPlan, PartsOfAllForAllAreCopiedBySeveralRanks)
{
    Relay relay({0, 0, 1, 1}, 2);

    relay.run(Matrix(4, std::vector<uint64_t>(4, 5)), false);
    EXPECT_EQ(4, relay.copied);
}

} // namespace
