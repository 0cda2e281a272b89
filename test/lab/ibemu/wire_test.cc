/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Packets on the wire.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include <rdma/rdma_cma.h>

extern "C" {
#include "wire.h"
#include <infiniband/opcode.h>
}

namespace {

em_packet example(uint8_t opcode)
{
    em_packet p = {};

    p.slid = 0x0102;
    p.dlid = 0x0304;
    p.sl = 5;
    p.opcode = opcode;
    p.solicited = true;
    p.mig_req = true;
    p.ack_req = true;
    p.pkey = 0xffff;
    p.dest_qpn = 0xabcdef;
    p.psn = 0x123456;
    p.qkey = 0x89abcdef;
    p.src_qpn = 0x654321;
    p.remote_addr = 0x1122334455667788u;
    p.rkey = 0xcafebabe;
    p.dma_len = 0x10203040;
    p.syndrome = 0x3f;
    p.msn = 0x777777;
    p.imm_data = 0x01020304;
    return p;
}

TEST(Wire, EveryOpcodeComesBackAsItWent)
{
    const uint8_t data[4] = {1, 2, 3, 4};
    int known = 0;

    for (int op = 0; op < 256; op++) {
        unsigned flags = em_opcode_flags((uint8_t) op);
        em_packet p = example((uint8_t) op), q;
        uint8_t bytes[EM_HEADERS_MAX + 4];
        size_t head;

        if (flags == 0)
            continue;
        known++;
        head = em_packet_encode(&p, bytes);
        ASSERT_LE(head, EM_HEADERS_MAX);
        memcpy(bytes + head, data, 4);
        ASSERT_EQ((flags & EM_OP_PAYLOAD) != 0, em_packet_decode(&q, bytes, head + 4));
        ASSERT_TRUE(em_packet_decode(&q, bytes, head));
        EXPECT_EQ(p.slid, q.slid);
        EXPECT_EQ(p.dlid, q.dlid);
        EXPECT_EQ(p.sl, q.sl);
        EXPECT_EQ(p.opcode, q.opcode);
        EXPECT_TRUE(q.solicited && q.mig_req && q.ack_req);
        EXPECT_EQ(p.dest_qpn, q.dest_qpn);
        EXPECT_EQ(p.psn, q.psn);
        EXPECT_EQ(flags & EM_OP_DETH ? p.qkey : 0, q.qkey);
        EXPECT_EQ(flags & EM_OP_DETH ? p.src_qpn : 0, q.src_qpn);
        EXPECT_EQ(flags & EM_OP_RETH ? p.remote_addr : 0, q.remote_addr);
        EXPECT_EQ(flags & EM_OP_RETH ? p.rkey : 0, q.rkey);
        EXPECT_EQ(flags & EM_OP_RETH ? p.dma_len : 0, q.dma_len);
        EXPECT_EQ(flags & EM_OP_AETH ? p.syndrome : 0, q.syndrome);
        EXPECT_EQ(flags & EM_OP_AETH ? p.msn : 0, q.msn);
        EXPECT_EQ(flags & EM_OP_IMM ? p.imm_data : 0, q.imm_data);
    }
    EXPECT_EQ(20, known);
}

TEST(Wire, MigReqIsTheSecondBitOfTheTransportHeader)
{
    em_packet p = example(IBV_OPCODE_RC_SEND_ONLY);
    uint8_t bytes[EM_HEADERS_MAX];

    p.solicited = false;
    em_packet_encode(&p, bytes);
    EXPECT_EQ(0x40, bytes[EM_LRH_BYTES + 1]);
    p.mig_req = false;
    em_packet_encode(&p, bytes);
    EXPECT_EQ(0, bytes[EM_LRH_BYTES + 1]);
}

TEST(Wire, GlobalRouteHeader)
{
    em_packet p = example(IBV_OPCODE_UD_SEND_ONLY), q;
    uint8_t bytes[EM_HEADERS_MAX], grh[EM_GRH_BYTES];

    p.has_grh = true;
    p.hop_limit = 64;
    p.traffic_class = 0xa5;
    p.flow_label = 0xbeef1;
    for (uint8_t i = 0; i < 16; i++) {
        p.sgid.raw[i] = i;
        p.dgid.raw[i] = (uint8_t) (0xf0 + i);
    }
    ASSERT_TRUE(em_packet_decode(&q, bytes, em_packet_encode(&p, bytes)));
    EXPECT_TRUE(q.has_grh);
    EXPECT_EQ(64, q.hop_limit);
    EXPECT_EQ(0xa5, q.traffic_class);
    EXPECT_EQ(0xbeef1u, q.flow_label);
    EXPECT_EQ(0, memcmp(p.sgid.raw, q.sgid.raw, 16));
    EXPECT_EQ(0, memcmp(p.dgid.raw, q.dgid.raw, 16));
    em_grh_encode(&q, grh);
    EXPECT_EQ(0x6a, grh[0]);
    EXPECT_EQ(0, memcmp(grh + 8, p.sgid.raw, 16));
    EXPECT_EQ(0, memcmp(grh + 24, p.dgid.raw, 16));
}

TEST(Wire, NothingShorterThanItsHeadersIsTaken)
{
    for (int op = 0; op < 256; op++)
        for (bool grh : {false, true}) {
            em_packet p = example((uint8_t) op), q;
            uint8_t bytes[EM_HEADERS_MAX];
            size_t head;

            p.has_grh = grh;
            head = em_packet_encode(&p, bytes);
            for (size_t len = 0; len < head; len++) {
                std::vector<uint8_t> exact(bytes, bytes + len);

                EXPECT_FALSE(em_packet_decode(&q, exact.data(), len));
            }
        }
}

TEST(Wire, AnyBytesAreReadWithinTheirBounds)
{
    std::mt19937 random(1);

    for (int i = 0; i < 100000; i++) {
        std::vector<uint8_t> bytes(random() % 120);
        em_packet p;

        for (auto &b : bytes)
            b = (uint8_t) random();
        if (em_packet_decode(&p, bytes.data(), bytes.size())) {
            EXPECT_LE(p.payload + p.len, bytes.data() + bytes.size());
        }
    }
}

} // namespace
