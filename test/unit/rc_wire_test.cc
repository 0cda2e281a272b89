// SPDX-License-Identifier: BSD-3-Clause
// Copyright (C) the hwmc contributors
//
// The bytes of the rc lane: what is read is what was written, and nothing else is taken.
#include <cstring>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <string>
#include <vector>

#include "core.h"

extern "C" {
#include "lane/rc/rc.h"
#include "lane/rc/rc_wire.h"
}

namespace {

rc_exchange make(rc_exchange_type type, uint8_t ports)
{
    rc_exchange x = {};

    x.type = type;
    x.epoch = 0x01020304;
    x.end.qp_num = 0xabcdef;
    x.end.psn = 0xffffff;
    x.end.credits = 16;
    x.end.hardware = true;
    x.end.num_ports = ports;
    for (uint8_t i = 0; i < ports; i++) {
        x.end.port[i].number = i + 1;
        x.end.port[i].lmc = i;
        x.end.port[i].lid = 0xbf00 + i;
        x.end.port[i].gid.raw[15] = i;
        x.end.port[i].grh = i % 2;
        x.end.port[i].bits = 127 - i;
        x.end.mtu[i] = IBV_MTU_2048;
    }
    return x;
}

std::vector<uint8_t> bytes_of(const rc_exchange &x)
{
    std::vector<uint8_t> bytes(RC_EXCHANGE_MAX);

    bytes.resize(rc_wire_write_exchange(&x, bytes.data()));
    return bytes;
}

bool reads(const std::vector<uint8_t> &bytes, rc_exchange *x)
{
    std::vector<uint8_t> exact(bytes); // so that a byte too many is seen

    exact.shrink_to_fit();
    return rc_wire_read_exchange(exact.data(), exact.size(), x);
}

TEST(RcWire, ReadsWhatItWrote)
{
    for (int type = RC_CONNECT; type <= RC_WANT; type++) {
        for (uint8_t ports = 1; ports <= RC_PORTS_MAX; ports++) {
            rc_exchange x = make(rc_exchange_type(type), ports), y = {};

            ASSERT_TRUE(reads(bytes_of(x), &y)) << type;
            EXPECT_EQ(x.type, y.type);
            EXPECT_EQ(x.epoch, y.epoch);
            if (type != RC_CONNECT && type != RC_ACCEPT)
                continue;
            EXPECT_EQ(x.end.qp_num, y.end.qp_num);
            EXPECT_EQ(x.end.psn, y.end.psn);
            EXPECT_EQ(x.end.credits, y.end.credits);
            EXPECT_TRUE(y.end.hardware);
            ASSERT_EQ(ports, y.end.num_ports);
            EXPECT_EQ(0, memcmp(x.end.port, y.end.port, sizeof(x.end.port)));
            EXPECT_EQ(0, memcmp(x.end.mtu, y.end.mtu, ports * sizeof(x.end.mtu[0])));
        }
    }
}

// As lane/rc/rc_wire.h has it.
TEST(RcWire, Layout)
{
    std::vector<uint8_t> bytes = bytes_of(make(RC_CONNECT, 1));
    const std::vector<uint8_t> expected = {0x72, 0x63, 1,    1,    1, 2,  3, 4, 0, 0xab, 0xcd, 0xef,
                                           0,    0xff, 0xff, 0xff, 0, 16, 1, 1, // the port:
                                           1,    0,    0xbf, 0x00, 0, 0,  0, 0, 0, 0,    0,    0,
                                           0,    0,    0,    0,    0, 0,  0, 0, 4, 0,    127,  0};

    EXPECT_EQ(expected, bytes);
}

TEST(RcWire, TakesNoOtherLength)
{
    for (rc_exchange_type type : {RC_CONNECT, RC_READY}) {
        std::vector<uint8_t> bytes = bytes_of(make(type, 2));
        rc_exchange x;

        for (size_t len = 1; len <= bytes.size() + 1; len++) {
            std::vector<uint8_t> other(bytes);

            other.resize(len);
            EXPECT_EQ(len == bytes.size(), reads(other, &x)) << len;
        }
    }
    rc_exchange x;
    EXPECT_FALSE(rc_wire_read_exchange(nullptr, 0, &x));
}

TEST(RcWire, TakesNoEndThatCannotBe)
{
    const struct {
        size_t at;
        uint8_t value;
    } wrong[] = {{0, 0},  {2, 2},  {3, 0},  {3, 7},  {8, 1},  {12, 1}, {16, 0xff},
                 {17, 1}, {19, 0}, {19, 5}, {20, 0}, {21, 8}, {40, 0}, {40, 6}};

    for (auto &w : wrong) {
        std::vector<uint8_t> bytes = bytes_of(make(RC_ACCEPT, 2));
        rc_exchange x;

        bytes[w.at] = w.value;
        EXPECT_FALSE(reads(bytes, &x)) << w.at << " " << int(w.value);
    }
}

TEST(RcWire, Fragments)
{
    const rc_fragment f = {RC_DATA, 7, 64, 100000, 8172};
    std::vector<uint8_t> bytes(RC_HEADER + 1000);
    rc_fragment g;

    rc_wire_write_fragment(&f, bytes.data());
    ASSERT_TRUE(rc_wire_read_fragment(bytes.data(), bytes.size(), &g));
    EXPECT_EQ(0, memcmp(&f, &g, sizeof(f)));
    const struct {
        rc_fragment f;
        size_t payload;
        bool taken;
    } cases[] = {
        {{RC_DATA, 0, 0, 0, 0}, 0, true},
        {{RC_DATA, 0, 0, 0, 0}, 1, false},
        {{RC_DATA, 0, 10, 10, 0}, 10, true},
        {{RC_DATA, 0, 11, 10, 0}, 10, false},
        {{RC_DATA, 0, 10, 20, 0}, 9, false}, // a head in two
        {{RC_DATA, 0, 10, 2000, 1500}, 500, true},
        {{RC_DATA, 0, 10, 2000, 1500}, 501, false},
        {{RC_DATA, 0, 10, 2000, 1500}, 0, false},
        {{RC_DATA, 0, 10, 2000, 2001}, 0, false},
        {{RC_DATA, 0, HWMC_LANE_RC_HEAD_MAX + 1, 8000, 0}, 8000, false},
        {{RC_DATA, 0, 0, HWMC_LANE_RC_MESSAGE_MAX, 0}, 100, true},
        {{RC_DATA, 0, 0, HWMC_LANE_RC_MESSAGE_MAX + 1, 0}, 100, false},
        {{RC_DATA, 0, 0, 0xffffffff, 0xfffffff0}, 15, false},
        {{RC_CREDIT, 5, 0, 0, 0}, 0, true},
        {{RC_CREDIT, 5, 0, 0, 0}, 1, false},
    };
    for (auto &c : cases) {
        bytes.assign(RC_HEADER + c.payload, 0);
        rc_wire_write_fragment(&c.f, bytes.data());
        EXPECT_EQ(c.taken, rc_wire_read_fragment(bytes.data(), bytes.size(), &g))
            << c.f.head_len << " " << c.f.total << " " << c.f.offset << " " << c.payload;
    }
    for (size_t len = 0; len < RC_HEADER; len++)
        EXPECT_FALSE(rc_wire_read_fragment(bytes.data(), len, &g));
}

// Anything at all: what is taken is within its bounds.
TEST(RcWire, Storms)
{
    int taken = 0;

    for (uint64_t seed = 0; seed < 20000; seed++) {
        std::vector<uint8_t> bytes = bytes_of(make(RC_CONNECT, seed % RC_PORTS_MAX + 1));
        rc_exchange x;

        for (uint64_t i = 0; i < seed % 4; i++) {
            uint64_t r = hwmc_prng(seed, i);

            bytes[r % bytes.size()] = (uint8_t) (r >> 32);
        }
        if (!reads(bytes, &x))
            continue;
        taken++;
        if (x.type == RC_CONNECT || x.type == RC_ACCEPT) {
            ASSERT_TRUE(x.end.num_ports >= 1 && x.end.num_ports <= RC_PORTS_MAX) << seed;
            ASSERT_TRUE(x.end.credits >= RC_CREDITS_MIN && x.end.credits <= RC_CREDITS_MAX);
            for (uint8_t i = 0; i < x.end.num_ports; i++)
                ASSERT_TRUE(x.end.port[i].lmc <= 7 && x.end.mtu[i] <= IBV_MTU_4096);
        }
    }
    EXPECT_GT(taken, 5000);
}

} // namespace
