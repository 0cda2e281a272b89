// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// What the tests of engines and groups share: broadcasts on groups of mem::Net.
#ifndef HWMC_TEST_UNIT_ENGINE_GROUPS_H_INCLUDED
#define HWMC_TEST_UNIT_ENGINE_GROUPS_H_INCLUDED

#include <cstring>
#include <random>
#include <vector>
#include <gtest/gtest.h>

#include "mem_net.h"

using Groups = std::vector<hwmc_group *>;

inline std::vector<uint32_t> first(uint32_t n)
{
    std::vector<uint32_t> v(n);

    for (uint32_t i = 0; i < n; i++)
        v[i] = i;
    return v;
}

inline mem::Bytes pattern(uint32_t n, uint32_t seed)
{
    mem::Bytes b(n);
    std::minstd_rand r(seed + 1);

    for (auto &c : b)
        c = (unsigned char) r();
    return b;
}

constexpr uint64_t MS = 1000000;

// Pieces, segments and windows so small that short messages have many, and short pauses. `stays`:
// no rail is left.
inline mem::Net::Tweak small_pieces(bool stays = true)
{
    return [=](hwmc_group_cfg &cfg) {
        cfg.trees = 2;
        cfg.window = cfg.far_window = 3;
        cfg.seg_bytes = 70;
        cfg.piece_bytes = 500;
        cfg.policy.stay = stays;
        cfg.policy.pause_ns = MS;
        cfg.policy.pause_max_ns = 100 * MS;
    };
}

// Index of a fragment by multicast (PROTOCOL.md, section 2).
inline uint32_t index_of(const mem::Bytes &bytes)
{
    return bytes[3] == 32 ? (uint32_t) bytes[37] : UINT32_MAX;
}

// One broadcast on all members, checked on all; time moves when nothing else does.
inline void broadcast(mem::Net &net, Groups &g, uint32_t root, const mem::Bytes &data)
{
    for (int tries = 0; !hwmc_group_open(g[root]); tries++) {
        ASSERT_LT(tries, 100);
        hwmc_group_stall(g[root], net.now);
        net.settle(100000000);
    }
    memcpy(hwmc_group_next_bytes(g[root], (uint32_t) data.size()), data.data(), data.size());
    hwmc_group_post_root(g[root], (uint32_t) data.size(), false, net.now);
    for (uint32_t r = 0; r < g.size(); r++) {
        if (r == root)
            continue;
        for (int tries = 0; !hwmc_group_open(g[r]); tries++) {
            ASSERT_LT(tries, 100);
            hwmc_group_stall(g[r], net.now);
            net.settle(100000000);
        }
        hwmc_group_post_member(g[r], root, net.now);
    }
    net.settle(500000000);
    for (uint32_t r = 0; r < g.size(); r++) {
        ASSERT_TRUE(hwmc_group_done(g[r])) << "rank " << r;
        ASSERT_EQ(hwmc_stream_bytes(&g[r]->stream), data.size());
        ASSERT_EQ(0, memcmp(hwmc_group_last_bytes(g[r]), data.data(), data.size()));
        hwmc_group_consume(g[r], net.now);
    }
}

// The same along trees.
inline void along_trees(mem::Net &net, Groups &g, uint32_t root, const mem::Bytes &data)
{
    std::vector<mem::Bytes> got(g.size(), mem::Bytes(data.size()));

    got[root] = data;
    for (uint32_t r = 0; r < g.size(); r++) {
        if (!hwmc_group_open(g[r]))
            hwmc_group_stall(g[r], net.now);
        net.settle(100000000);
        ASSERT_TRUE(hwmc_group_open(g[r]));
        hwmc_group_post_trees(g[r], root, got[r].data(), (uint32_t) data.size(), net.now);
    }
    net.settle();
    for (uint32_t r = 0; r < g.size(); r++) {
        ASSERT_TRUE(hwmc_group_done(g[r])) << "rank " << r;
        EXPECT_EQ(data, got[r]);
        hwmc_group_consume(g[r], net.now);
    }
}

inline void expect_all(const Groups &g, hwmc_group_state state)
{
    for (auto *x : g)
        EXPECT_EQ(x->state, state);
}

// Host 1 gets a lane message of rank 0 for `to`, with a payload of `len` bytes.
inline void give(mem::Net &net, hwmc_group *to, const hwmc_msg &m, uint32_t len)
{
    unsigned char head[HWMC_WIRE_HEAD];
    mem::Bytes body = pattern(len, 2), bytes;

    hwmc_wire_encode(head, &to->id, 0, &m, body.data(), len);
    bytes.assign(head, head + sizeof(head));
    bytes.insert(bytes.end(), body.begin(), body.end());
    net.lanes[1]->in.push_back(bytes);
    hwmc_engine_progress(net.engines[1], net.now += 1000);
}

#endif // HWMC_TEST_UNIT_ENGINE_GROUPS_H_INCLUDED
