/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reliable connections over a network that loses, repeats and reorders: every message comes once,
 * in order, whole. A failing storm prints its seed.
 */
#include "world.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace {

uint8_t byte_of(uint64_t message, size_t i)
{
    return (uint8_t) (message * 31 + i * 7 + i / 256);
}

/* One side's messages to the other, of all kinds. */
class Flow {
  public:
    Flow(Side &from, Side &to, std::mt19937 &random) : from(from), to(to), random(random)
    {
    }

    void start(int messages)
    {
        for (int i = 0; i < messages; i++) {
            const size_t slot = (size_t) i * SLOT,
                         len = random() % 5 == 0 ? random() % SLOT : random() % 2000;
            const uint64_t there =
                reinterpret_cast<uint64_t>(to.buffer.data()) + slot + to_offset();
            static const ibv_wr_opcode ops[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
                                                IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
                                                IBV_WR_RDMA_READ};
            const ibv_wr_opcode op = ops[random() % 5];
            Side &source = op == IBV_WR_RDMA_READ ? to : from;
            const size_t offset = op == IBV_WR_RDMA_READ ? slot + to_offset() : slot;

            for (size_t k = 0; k < len; k++)
                source.buffer[offset + k] = byte_of((uint64_t) i, k);
            if (op != IBV_WR_RDMA_WRITE && op != IBV_WR_RDMA_READ) {
                ASSERT_EQ(0,
                          to.recv(op == IBV_WR_RDMA_WRITE_WITH_IMM ? 0 : SLOT, slot + to_offset()));
            }
            ASSERT_EQ(0, from.send(len, slot, IBV_SEND_SIGNALED, op, there, to.mr->rkey));
            sent.push_back({op, len});
        }
    }

    void check(const std::vector<ibv_wc> &done, const std::vector<ibv_wc> &got)
    {
        size_t k = 0;

        ASSERT_EQ(sent.size(), done.size());
        for (size_t i = 0; i < sent.size(); i++) {
            const auto [op, len] = sent[i];
            Side &sink = op == IBV_WR_RDMA_READ ? from : to;
            const size_t offset = i * SLOT + (op == IBV_WR_RDMA_READ ? 0 : to_offset());

            ASSERT_EQ(IBV_WC_SUCCESS, done[i].status);
            for (size_t b = 0; b < len; b++)
                ASSERT_EQ(byte_of(i, b), sink.buffer[offset + b])
                    << "message " << i << " byte " << b;
            if (op != IBV_WR_RDMA_WRITE && op != IBV_WR_RDMA_READ) {
                ASSERT_LT(k, got.size());
                ASSERT_EQ(len, got[k++].byte_len);
            }
        }
        ASSERT_EQ(k, got.size());
    }

  private:
    static constexpr size_t SLOT = 40000;
    size_t to_offset() const
    {
        return 1 << 19;
    } /* the upper half of a buffer receives */

    Side &from, &to;
    std::mt19937 &random;
    std::vector<std::pair<ibv_wr_opcode, size_t>> sent;
};

struct Weather {
    unsigned lose, twice, late; /* percent */
};

void storm(unsigned seed, const Weather &weather, bool small_wire)
{
    std::mt19937 random(seed);
    World world(0, IBV_MTU_256);
    Side a(world, 0), b(world, 1);
    Flow forth(a, b, random), back(b, a, random);
    std::vector<ibv_wc> all[2], sends[2], recvs[2];

    SCOPED_TRACE(testing::Message() << "seed " << seed << ": --gtest_filter=RcStorm.*");
    connect(a, b, 8, 7, 7);
    world.fate = [&](const em_packet &, const Frame &) {
        unsigned x = random() % 100;

        if (small_wire)
            world.room = (int) (1 + random() % 20);
        return x < weather.lose                                  ? Fate::Lose
               : x < weather.lose + weather.twice                ? Fate::Twice
               : x < weather.lose + weather.twice + weather.late ? Fate::Late
                                                                 : Fate::Deliver;
    };
    if (small_wire)
        world.room = 5;
    forth.start(12);
    back.start(12);
    world.run();
    all[0] = a.poll();
    all[1] = b.poll();
    for (int i = 0; i < 2; i++)
        for (const auto &wc : all[i])
            (wc.opcode & IBV_WC_RECV ? recvs[i] : sends[i]).push_back(wc);
    forth.check(sends[0], recvs[1]);
    back.check(sends[1], recvs[0]);
}

TEST(RcStorm, FairWeather)
{
    for (unsigned seed = 0; seed < 50 && !testing::Test::HasFailure(); seed++)
        storm(seed, {0, 0, 0}, false);
}

TEST(RcStorm, Loss)
{
    for (unsigned seed = 0; seed < 100 && !testing::Test::HasFailure(); seed++)
        storm(seed, {3, 0, 0}, false);
}

TEST(RcStorm, LossDuplicatesAndReordering)
{
    for (unsigned seed = 0; seed < 200 && !testing::Test::HasFailure(); seed++)
        storm(seed, {2, 5, 5}, false);
}

TEST(RcStorm, WireThatIsOftenFull)
{
    for (unsigned seed = 0; seed < 50 && !testing::Test::HasFailure(); seed++)
        storm(seed, {1, 1, 1}, true);
}

/* Every way to lose some of the first packets of a short exchange. */
TEST(RcStorm, EveryLossOfTheFirstTenPackets)
{
    for (unsigned mask = 0; mask < 1u << 10; mask++) {
        World world(0, IBV_MTU_256);
        Side a(world, 0), b(world, 1);
        unsigned n = 0;

        SCOPED_TRACE(mask);
        connect(a, b, 8, 7, 7);
        world.fate = [&](const em_packet &, const Frame &) {
            return n < 10 && (mask >> n++ & 1) ? Fate::Lose : Fate::Deliver;
        };
        for (size_t i = 0; i < 700; i++)
            a.buffer[i] = byte_of(mask, i);
        ASSERT_EQ(0, b.recv(1000));
        ASSERT_EQ(0, a.send(700));
        ASSERT_EQ(0, a.send(700, 2000, IBV_SEND_SIGNALED, IBV_WR_RDMA_READ,
                            reinterpret_cast<uint64_t>(b.buffer.data()), b.mr->rkey));
        world.run();
        auto done = a.poll();
        ASSERT_EQ(2u, done.size());
        ASSERT_EQ(IBV_WC_SUCCESS, done[0].status);
        ASSERT_EQ(IBV_WC_SUCCESS, done[1].status);
        ASSERT_EQ(1u, b.poll().size());
        ASSERT_EQ(0, memcmp(a.buffer.data(), a.buffer.data() + 2000, 700));
    }
}

/* The path breaks at any packet of a stream, at any time of migration. */
TEST(RcStorm, MigrationAtEveryPacket)
{
    for (unsigned at = 0; at < 60; at++) {
        World world(0, IBV_MTU_256);
        Side a(world, 0), b(world, 1);
        unsigned n = 0;

        SCOPED_TRACE(at);
        connect(a, b, 8, 2, 7);
        ASSERT_EQ(0, a.load_alternate(b, 2));
        ASSERT_EQ(0, b.load_alternate(a, 2));
        ASSERT_EQ(0, a.mig(IBV_MIG_REARM));
        ASSERT_EQ(0, b.mig(IBV_MIG_REARM));
        ASSERT_EQ(0, b.recv(10));
        ASSERT_EQ(0, a.send(10));
        world.run();
        ASSERT_EQ(IBV_MIG_ARMED, a.mig_state());
        world.fate = [&](const em_packet &, const Frame &f) {
            return f.port == 1 && n++ >= at ? Fate::Lose : Fate::Deliver;
        };
        for (size_t i = 0; i < 8; i++) {
            ASSERT_EQ(0, b.recv(1000, i * 1000));
            ASSERT_EQ(0, a.recv(1000, i * 1000));
            ASSERT_EQ(0, a.send(1000, 1 << 19));
            ASSERT_EQ(0, b.send(1000, 1 << 19));
        }
        world.run();
        auto from_a = a.poll(), from_b = b.poll();
        ASSERT_EQ(17u, from_a.size());
        ASSERT_EQ(17u, from_b.size());
        for (const auto &wc : from_a)
            ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
        for (const auto &wc : from_b)
            ASSERT_EQ(IBV_WC_SUCCESS, wc.status);
    }
}

} // namespace
