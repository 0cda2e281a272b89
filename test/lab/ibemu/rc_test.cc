/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Reliable connections, one thing at a time.
 */
#include "ibemu.h"
#include "world.h"

#include <gtest/gtest.h>
#include <infiniband/opcode.h>

#include <cerrno>
#include <cstring>

namespace {

class Rc : public ::testing::Test {
  protected:
    void SetUp() override
    {
        connect(a, b, 10, 3, 3);
        for (size_t i = 0; i < a.buffer.size(); i++)
            a.buffer[i] = (uint8_t) (i * 7 + i / 251);
    }

    uint64_t at(Side &s, size_t offset)
    {
        return reinterpret_cast<uint64_t>(s.buffer.data()) + offset;
    }

    void expect_same(size_t len, size_t from = 0, size_t to = 0)
    {
        EXPECT_EQ(0, memcmp(a.buffer.data() + from, b.buffer.data() + to, len));
    }

    void expect_status(Side &s, ibv_wc_status status)
    {
        auto all = s.poll();

        ASSERT_FALSE(all.empty());
        EXPECT_EQ(status, all[0].status) << ibv_wc_status_str(all[0].status);
    }

    World world;
    Side a{world, 0}, b{world, 1};
};

TEST_F(Rc, MessagesOfAllLengthsAroundTheMtu)
{
    for (size_t len : {0, 1, 1023, 1024, 1025, 2047, 2048, 2049, 100000}) {
        SCOPED_TRACE(len);
        memset(b.buffer.data(), 0, b.buffer.size());
        ASSERT_EQ(0, b.recv(len));
        ASSERT_EQ(0, a.send(len));
        world.run();
        auto sent = a.poll(), got = b.poll();
        ASSERT_EQ(1u, sent.size());
        ASSERT_EQ(1u, got.size());
        EXPECT_EQ(IBV_WC_SEND, sent[0].opcode);
        EXPECT_EQ(a.qp->qp_num, sent[0].qp_num);
        EXPECT_EQ(IBV_WC_RECV, got[0].opcode);
        EXPECT_EQ(len, got[0].byte_len);
        EXPECT_EQ(b.qp->qp_num, got[0].qp_num);
        EXPECT_EQ(a.qp->qp_num, got[0].src_qp);
        EXPECT_EQ(0u, got[0].wc_flags);
        expect_same(len);
    }
}

TEST_F(Rc, ImmediateDataComesWithTheMessage)
{
    ASSERT_EQ(0, b.recv(5000));
    ASSERT_EQ(0, a.send(5000, 0, IBV_SEND_SIGNALED, IBV_WR_SEND_WITH_IMM));
    world.run();
    auto got = b.poll();
    ASSERT_EQ(1u, got.size());
    EXPECT_EQ((unsigned) IBV_WC_WITH_IMM, got[0].wc_flags);
    EXPECT_EQ(0x12345678u, got[0].imm_data);
}

TEST_F(Rc, UnsignaledRequestsDoNotComplete)
{
    for (int i = 0; i < 4; i++) {
        ASSERT_EQ(0, b.recv(10));
        ASSERT_EQ(0, a.send(10, 0, i == 2 ? IBV_SEND_SIGNALED : 0));
    }
    world.run();
    auto sent = a.poll();
    ASSERT_EQ(1u, sent.size());
    EXPECT_EQ(3u, sent[0].wr_id);
    EXPECT_EQ(4u, b.poll().size());
}

TEST_F(Rc, InlineDataMayChangeAtOnce)
{
    ASSERT_EQ(0, b.recv(256));
    world.room = 0; /* so that it is sent later */
    ASSERT_EQ(0, a.send(256, 0, IBV_SEND_INLINE | IBV_SEND_SIGNALED));
    std::vector<uint8_t> before(a.buffer.begin(), a.buffer.begin() + 256);
    memset(a.buffer.data(), 0xee, 256);
    world.room = 1000;
    world.run();
    EXPECT_EQ(0, memcmp(before.data(), b.buffer.data(), 256));
    EXPECT_EQ(EINVAL, a.send(257, 0, IBV_SEND_INLINE));
}

TEST_F(Rc, GathersAndScatters)
{
    ibv_sge from[3] = {
        {at(a, 0), 700, a.mr->lkey}, {at(a, 5000), 0, 0}, {at(a, 1000), 2300, a.mr->lkey}};
    ibv_sge to[2] = {{at(b, 0), 1500, b.mr->lkey}, {at(b, 9000), 4000, b.mr->lkey}};
    ibv_send_wr wr = {}, *bad;
    ibv_recv_wr rr = {}, *bad_recv;

    rr.sg_list = to;
    rr.num_sge = 2;
    ASSERT_EQ(0, ibv_post_recv(b.qp, &rr, &bad_recv));
    wr.sg_list = from;
    wr.num_sge = 3;
    wr.opcode = IBV_WR_SEND;
    ASSERT_EQ(0, ibv_post_send(a.qp, &wr, &bad));
    world.run();
    EXPECT_EQ(3000u, b.poll().at(0).byte_len);
    expect_same(700);
    expect_same(800, 1000, 700);
    expect_same(1500, 1800, 9000);
}

TEST_F(Rc, RdmaWrite)
{
    ASSERT_EQ(0, a.send(10000, 0, IBV_SEND_SIGNALED, IBV_WR_RDMA_WRITE, at(b, 3), b.mr->rkey));
    world.run();
    EXPECT_EQ(IBV_WC_RDMA_WRITE, a.poll().at(0).opcode);
    EXPECT_TRUE(b.poll().empty());
    expect_same(10000, 0, 3);
}

TEST_F(Rc, RdmaWriteWithImmediateTakesAReceiveRequest)
{
    for (size_t len : {0, 10, 3000}) {
        ASSERT_EQ(0, b.recv(0));
        ASSERT_EQ(
            0, a.send(len, 0, IBV_SEND_SIGNALED, IBV_WR_RDMA_WRITE_WITH_IMM, at(b, 0), b.mr->rkey));
        world.run();
        auto got = b.poll();
        ASSERT_EQ(1u, got.size());
        EXPECT_EQ(IBV_WC_RECV_RDMA_WITH_IMM, got[0].opcode);
        EXPECT_EQ(len, got[0].byte_len);
        EXPECT_EQ(0x12345678u, got[0].imm_data);
        expect_same(len);
        EXPECT_EQ(1u, a.poll().size());
    }
}

TEST_F(Rc, RdmaReadAndWhatFollowsIt)
{
    for (size_t len : {0, 1, 1024, 16 * 1024, 16 * 1024 + 1, 500000}) {
        SCOPED_TRACE(len);
        memset(b.buffer.data(), 0, b.buffer.size());
        ASSERT_EQ(0, a.recv(10, 900000));
        ASSERT_EQ(0, b.send(len, 0, IBV_SEND_SIGNALED, IBV_WR_RDMA_READ, at(a, 5), a.mr->rkey));
        ASSERT_EQ(0, b.send(10, 800000));
        world.run();
        auto done = b.poll();
        ASSERT_EQ(2u, done.size());
        EXPECT_EQ(IBV_WC_RDMA_READ, done[0].opcode);
        EXPECT_EQ(IBV_WC_SEND, done[1].opcode);
        EXPECT_EQ(0, memcmp(a.buffer.data() + 5, b.buffer.data(), len));
        EXPECT_EQ(1u, a.poll().size());
    }
}

TEST_F(Rc, ManyReadsKeepToTheLimit)
{
    int reads = 0, most = 0;

    world.fate = [&](const em_packet &p, const Frame &) {
        reads += p.opcode == IBV_OPCODE_RC_RDMA_READ_REQUEST;
        reads -= p.opcode == IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY;
        most = std::max(most, reads);
        return Fate::Deliver;
    };
    for (int i = 0; i < 50; i++)
        ASSERT_EQ(0, a.send(100, 0, IBV_SEND_SIGNALED, IBV_WR_RDMA_READ, at(b, 0), b.mr->rkey));
    world.run();
    EXPECT_EQ(50u, a.poll().size());
    EXPECT_LE(most, 4);
    EXPECT_GT(most, 1);
}

TEST_F(Rc, FenceWaitsForReads)
{
    std::vector<uint8_t> order;

    world.fate = [&](const em_packet &p, const Frame &) {
        order.push_back(p.opcode);
        return Fate::Deliver;
    };
    ASSERT_EQ(0, b.recv(10));
    ASSERT_EQ(0, a.send(10, 0, 0, IBV_WR_RDMA_READ, at(b, 0), b.mr->rkey));
    ASSERT_EQ(0, a.send(10, 0, IBV_SEND_FENCE));
    world.run();
    ASSERT_GE(order.size(), 3u);
    EXPECT_EQ(IBV_OPCODE_RC_RDMA_READ_RESPONSE_ONLY, order[1]);
    EXPECT_EQ(IBV_OPCODE_RC_SEND_ONLY, order[2]);
}

struct Refusal {
    const char *name;
    ibv_wr_opcode opcode;
    int64_t offset;
    size_t len;
    int key_change;
    int access; /* of the QP */
};

TEST(RcAccess, WhatIsNotAllowedIsRefused)
{
    const int all = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    const Refusal table[] = {
        {"write, wrong key", IBV_WR_RDMA_WRITE, 0, 10, 1, all},
        {"write, before", IBV_WR_RDMA_WRITE, -1, 10, 0, all},
        {"write, behind", IBV_WR_RDMA_WRITE, (1 << 20) - 9, 10, 0, all},
        {"write, QP", IBV_WR_RDMA_WRITE, 0, 10, 0, IBV_ACCESS_REMOTE_READ},
        {"long write, behind", IBV_WR_RDMA_WRITE, (1 << 20) - 4000, 5000, 0, all},
        {"read, wrong key", IBV_WR_RDMA_READ, 0, 10, 1, all},
        {"read, behind", IBV_WR_RDMA_READ, (1 << 20) - 9, 10, 0, all},
        {"read, QP", IBV_WR_RDMA_READ, 0, 10, 0, IBV_ACCESS_REMOTE_WRITE},
    };

    for (const auto &r : table) {
        World world;
        Side a(world, 0), b(world, 1);
        ibv_qp_attr v = {};

        SCOPED_TRACE(r.name);
        connect(a, b);
        v.qp_access_flags = (unsigned) r.access;
        ASSERT_EQ(0, ibv_modify_qp(b.qp, &v, IBV_QP_ACCESS_FLAGS));
        ASSERT_EQ(0, a.send(r.len, 0, IBV_SEND_SIGNALED, r.opcode,
                            reinterpret_cast<uint64_t>(b.buffer.data()) + (uint64_t) r.offset,
                            b.mr->rkey + (uint32_t) r.key_change));
        world.run();
        auto done = a.poll();
        ASSERT_EQ(1u, done.size());
        EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, done[0].status);
        EXPECT_EQ(IBV_QPS_ERR, a.state());
        EXPECT_EQ(IBV_QPS_ERR, b.state());
        EXPECT_EQ(IBV_EVENT_QP_ACCESS_ERR, world.event(1));
    }
}

TEST(RcAccess, RegionOfAnotherDomainIsRefused)
{
    World world;
    Side a(world, 0), b(world, 1), other(world, 1);

    connect(a, b);
    ASSERT_EQ(0, a.send(10, 0, IBV_SEND_SIGNALED, IBV_WR_RDMA_WRITE,
                        reinterpret_cast<uint64_t>(other.buffer.data()), other.mr->rkey));
    world.run();
    EXPECT_EQ(IBV_WC_REM_ACCESS_ERR, a.poll().at(0).status);
}

TEST_F(Rc, WrongLocalKeyIsALocalError)
{
    a.mr->lkey += 1;
    ASSERT_EQ(0, a.send(10));
    a.mr->lkey -= 1;
    world.run();
    expect_status(a, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(IBV_QPS_ERR, a.state());
}

TEST_F(Rc, LocalErrorComesAfterWhatWasBefore)
{
    ASSERT_EQ(0, b.recv(10));
    ASSERT_EQ(0, a.send(10));
    a.mr->lkey += 1;
    ASSERT_EQ(0, a.send(10));
    a.mr->lkey -= 1;
    ASSERT_EQ(0, a.send(10));
    world.run();
    auto done = a.poll();
    ASSERT_EQ(3u, done.size());
    EXPECT_EQ(IBV_WC_SUCCESS, done[0].status);
    EXPECT_EQ(IBV_WC_LOC_PROT_ERR, done[1].status);
    EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, done[2].status);
}

TEST_F(Rc, TooLongForTheReceiverEndsBoth)
{
    ASSERT_EQ(0, b.recv(1500));
    ASSERT_EQ(0, a.send(1501));
    world.run();
    expect_status(a, IBV_WC_REM_INV_REQ_ERR);
    expect_status(b, IBV_WC_LOC_LEN_ERR);
    EXPECT_EQ(IBV_QPS_ERR, a.state());
    EXPECT_EQ(IBV_QPS_ERR, b.state());
}

TEST_F(Rc, NotReadyIsTriedAgain)
{
    ASSERT_EQ(0, a.send(3000));
    world.deliver();
    EXPECT_TRUE(a.poll().empty());
    EXPECT_EQ(1u, world.hca(0).count.rnr_naks);
    ASSERT_EQ(0, b.recv(3000));
    world.run();
    expect_status(a, IBV_WC_SUCCESS);
    expect_status(b, IBV_WC_SUCCESS);
    expect_same(3000);
}

TEST_F(Rc, NotReadyTooOftenIsAnError)
{
    ASSERT_EQ(0, a.send(10));
    world.run();
    expect_status(a, IBV_WC_RNR_RETRY_EXC_ERR);
    EXPECT_EQ(4u, world.hca(0).count.rnr_naks); /* once, and three times again */
}

TEST(RcRnr, SevenMeansForEver)
{
    World world;
    Side a(world, 0), b(world, 1);

    connect(a, b, 14, 7, 7);
    ASSERT_EQ(0, a.send(10));
    world.run(10000000); /* 10 ms, of a timer of 10 us */
    EXPECT_LT(100u, world.hca(0).count.rnr_naks);
    EXPECT_TRUE(a.poll().empty());
    ASSERT_EQ(0, b.recv(10));
    world.run();
    EXPECT_EQ(IBV_WC_SUCCESS, a.poll().at(0).status);
}

TEST_F(Rc, SilenceUsesUpTheRetries)
{
    int packets = 0;
    uint64_t start = world.now;

    world.fate = [&](const em_packet &, const Frame &) {
        packets++;
        return Fate::Lose;
    };
    ASSERT_EQ(0, a.send(10));
    ASSERT_EQ(0, a.send(10));
    world.run();
    auto done = a.poll();
    ASSERT_EQ(2u, done.size());
    EXPECT_EQ(IBV_WC_RETRY_EXC_ERR, done[0].status);
    EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, done[1].status);
    EXPECT_EQ(8, packets);                            /* two, and three times again */
    EXPECT_EQ(4u * (4096u << 10), world.now - start); /* the timeout, four times */
}

TEST(RcTimeout, ZeroIsNoTimeout)
{
    World world;
    Side a(world, 0), b(world, 1);

    connect(a, b, 0);
    world.fate = [](const em_packet &, const Frame &) { return Fate::Lose; };
    ASSERT_EQ(0, a.send(10));
    world.run();
    EXPECT_TRUE(a.poll().empty());
    EXPECT_EQ(IBV_QPS_RTS, a.state());
}

TEST_F(Rc, PortThatIsDownNeitherSendsNorReceives)
{
    em_hca_port_changed(&world.hca(0), &world.hca(0).ports[0], false);
    EXPECT_EQ(IBV_EVENT_PORT_ERR, world.event(0));
    ASSERT_EQ(0, b.recv(10));
    ASSERT_EQ(0, a.send(10));
    world.deliver();
    EXPECT_TRUE(b.poll().empty());
    EXPECT_EQ(0u, world.hca(0).count.sent);
    em_hca_port_changed(&world.hca(0), &world.hca(0).ports[0], true);
    EXPECT_EQ(IBV_EVENT_PORT_ACTIVE, world.event(0));
    world.run();
    expect_status(a, IBV_WC_SUCCESS);
}

TEST_F(Rc, FlushesInOrderAndOnPosting)
{
    ibv_qp_attr v = {};

    ASSERT_EQ(0, a.recv(10));
    world.fate = [](const em_packet &, const Frame &) { return Fate::Lose; };
    ASSERT_EQ(0, a.send(10, 0, 0)); /* also what is not signaled */
    v.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_STATE));
    ASSERT_EQ(0, a.send(10));
    ASSERT_EQ(0, a.recv(10));
    auto done = a.poll();
    ASSERT_EQ(4u, done.size());
    for (const auto &wc : done)
        EXPECT_EQ(IBV_WC_WR_FLUSH_ERR, wc.status);
    EXPECT_EQ(1u, done[0].wr_id);
    EXPECT_EQ(1000000u, done[1].wr_id);
    EXPECT_EQ(2u, done[2].wr_id);
    EXPECT_EQ(1000001u, done[3].wr_id);
}

TEST_F(Rc, BrokenQpTellsAndFlushes)
{
    void *object = nullptr;

    ASSERT_EQ(0, a.recv(10));
    ASSERT_EQ(0, ibemu_break_qp(a.qp));
    EXPECT_EQ(IBV_EVENT_QP_FATAL, world.event(0, &object));
    EXPECT_EQ(a.qp, object);
    expect_status(a, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(IBV_QPS_ERR, a.state());
}

TEST_F(Rc, FullQueuesAndWrongStatesAreErrorsOfPosting)
{
    Side c(world, 0);

    EXPECT_EQ(EINVAL, c.send(10));
    EXPECT_EQ(EINVAL, c.recv(10));
    ASSERT_EQ(0, c.init());
    EXPECT_EQ(0, c.recv(10));
    EXPECT_EQ(EINVAL, c.send(10));
    world.room = 0;
    for (int i = 0; i < 256; i++)
        ASSERT_EQ(0, a.send(1));
    EXPECT_EQ(ENOMEM, a.send(1));
    for (int i = 0; i < 256; i++)
        ASSERT_EQ(0, a.recv(1));
    EXPECT_EQ(ENOMEM, a.recv(1));
    EXPECT_EQ(EOPNOTSUPP, a.send(8, 0, 0, IBV_WR_ATOMIC_FETCH_AND_ADD));
}

TEST(RcEvents, CommunicationEstablishedInRtr)
{
    World world;
    Side a(world, 0), b(world, 1);

    ASSERT_EQ(0, a.init());
    ASSERT_EQ(0, b.init());
    ASSERT_EQ(0, a.rtr(b));
    ASSERT_EQ(0, b.rtr(a));
    ASSERT_EQ(0, a.rts());
    ASSERT_EQ(0, b.recv(10));
    ASSERT_EQ(0, b.recv(10));
    ASSERT_EQ(0, a.send(10));
    ASSERT_EQ(0, a.send(10));
    world.run();
    EXPECT_EQ(IBV_EVENT_COMM_EST, world.event(1));
    EXPECT_EQ(-1, world.event(1));
    EXPECT_EQ(2u, b.poll().size());
}

} // namespace
