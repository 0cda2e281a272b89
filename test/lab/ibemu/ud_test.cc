/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Unreliable datagrams and multicast, without sockets.
 */
#include "world.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

namespace {

class Ud : public ::testing::Test {
  protected:
    void SetUp() override
    {
        for (Side *s : {&a, &b, &c}) {
            ASSERT_EQ(0, s->init());
            ASSERT_EQ(0, s->rtr(*s));
            ASSERT_EQ(0, s->rts());
        }
        memset(group.raw, 0x42, 16);
        group.raw[0] = 0xff;
    }

    void TearDown() override
    {
        for (auto *ah : handles)
            EXPECT_EQ(0, ibv_destroy_ah(ah));
    }

    ibv_ah *handle(Side &from, const ibv_ah_attr &attr)
    {
        ibv_ah_attr copy = attr;
        ibv_ah *ah = ibv_create_ah(from.pd, &copy);

        if (ah != nullptr)
            handles.push_back(ah);
        return ah;
    }

    ibv_ah_attr to_group()
    {
        ibv_ah_attr attr = {};

        attr.is_global = 1;
        attr.grh.dgid = group;
        attr.dlid = em_mlid_of(&group);
        attr.port_num = 1;
        return attr;
    }

    int send(Side &from, ibv_ah *ah, uint32_t qpn, uint32_t qkey, size_t len,
             ibv_wr_opcode opcode = IBV_WR_SEND)
    {
        ibv_sge sge = {reinterpret_cast<uint64_t>(from.buffer.data()), (uint32_t) len,
                       from.mr->lkey};
        ibv_send_wr wr = {}, *bad;

        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.opcode = opcode;
        wr.imm_data = 0x99;
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.wr.ud.ah = ah;
        wr.wr.ud.remote_qpn = qpn;
        wr.wr.ud.remote_qkey = qkey;
        return ibv_post_send(from.qp, &wr, &bad);
    }

    World world;
    Side a{world, 0, IBV_QPT_UD}, b{world, 1, IBV_QPT_UD}, c{world, 1, IBV_QPT_UD};
    union ibv_gid group;
    std::vector<ibv_ah *> handles;
};

TEST_F(Ud, DatagramWithRoomForARouteHeader)
{
    memset(a.buffer.data(), 7, 100);
    ASSERT_EQ(0, b.recv(140));
    ASSERT_EQ(0,
              send(a, handle(a, a.path_to(b, 1)), b.qp->qp_num, 0x11, 100, IBV_WR_SEND_WITH_IMM));
    world.run();
    EXPECT_EQ(IBV_WC_SUCCESS, a.poll().at(0).status);
    auto got = b.poll();
    ASSERT_EQ(1u, got.size());
    EXPECT_EQ(140u, got[0].byte_len);
    EXPECT_EQ((unsigned) IBV_WC_WITH_IMM, got[0].wc_flags);
    EXPECT_EQ(0x99u, got[0].imm_data);
    EXPECT_EQ(a.qp->qp_num, got[0].src_qp);
    EXPECT_EQ(world.hca(0).ports[0].lid, got[0].slid);
    EXPECT_EQ(0, memcmp(b.buffer.data() + 40, a.buffer.data(), 100));
    EXPECT_TRUE(c.poll().empty());
}

TEST_F(Ud, AnswerToACompletion)
{
    ibv_ah_attr attr = a.path_to(b, 1);
    ibv_ah *back;

    attr.is_global = 1;
    attr.grh.dgid = world.hca(1).ports[0].gid;
    ASSERT_EQ(0, b.recv(140));
    ASSERT_EQ(0, send(a, handle(a, attr), b.qp->qp_num, 0x11, 10));
    world.run();
    auto got = b.poll();
    ASSERT_EQ(1u, got.size());
    EXPECT_EQ((unsigned) IBV_WC_GRH, got[0].wc_flags);
    back = ibv_create_ah_from_wc(b.pd, &got[0], reinterpret_cast<ibv_grh *>(b.buffer.data()), 1);
    ASSERT_NE(nullptr, back);
    handles.push_back(back);
    ASSERT_EQ(0, a.recv(140));
    ASSERT_EQ(0, send(b, back, got[0].src_qp, 0x11, 10));
    world.run();
    EXPECT_EQ(1u, a.poll().size() - 1); /* after the send's own */
}

TEST_F(Ud, DroppedWithoutAWord)
{
    ibv_ah *ah = handle(a, a.path_to(b, 1));

    ASSERT_EQ(0, send(a, ah, b.qp->qp_num, 0x11, 10)); /* no receive request */
    world.run();
    EXPECT_EQ(1u, world.hca(1).count.dropped_no_recv);
    ASSERT_EQ(0, b.recv(49));
    ASSERT_EQ(0, send(a, ah, b.qp->qp_num, 0x12, 9)); /* another key */
    world.run();
    EXPECT_EQ(1u, world.hca(1).count.dropped_qkey);
    ASSERT_EQ(0, send(a, ah, b.qp->qp_num, 0x11, 10)); /* too long */
    world.run();
    EXPECT_EQ(2u, world.hca(1).count.dropped_no_recv);
    ASSERT_EQ(0, send(a, ah, b.qp->qp_num + 5, 0x11, 10)); /* nobody */
    world.run();
    EXPECT_TRUE(b.poll().empty());
    ASSERT_EQ(0, send(a, ah, b.qp->qp_num, 0x11, 9)); /* the request is still there */
    world.run();
    EXPECT_EQ(1u, b.poll().size());
    EXPECT_EQ(5u, a.poll().size());
}

TEST_F(Ud, TooLongToSendStopsTheQueue)
{
    ibv_ah *ah = handle(a, a.path_to(b, 1));
    ibv_qp_attr v = {};

    ASSERT_EQ(0, send(a, ah, b.qp->qp_num, 0x11, 1025));
    EXPECT_EQ(IBV_WC_LOC_LEN_ERR, a.poll().at(0).status);
    EXPECT_EQ(IBV_QPS_SQE, a.state());
    v.qp_state = IBV_QPS_RTS;
    ASSERT_EQ(0, ibv_modify_qp(a.qp, &v, IBV_QP_STATE));
    ASSERT_EQ(0, b.recv(2000));
    ASSERT_EQ(0, send(a, ah, b.qp->qp_num, 0x11, 1024));
    world.run();
    EXPECT_EQ(1u, b.poll().size());
}

TEST_F(Ud, HandlesAreChecked)
{
    ibv_ah_attr attr = to_group();

    attr.is_global = 0;
    EXPECT_EQ(nullptr, handle(a, attr)); /* multicast without a route header */
    attr = a.path_to(b, 1);
    attr.port_num = 3;
    EXPECT_EQ(nullptr, handle(a, attr));
    attr = a.path_to(b, 1);
    attr.src_path_bits = 1;
    EXPECT_EQ(nullptr, handle(a, attr)); /* no LMC */
}

TEST_F(Ud, MulticastComesToAllThatAreAttachedAlsoTheSender)
{
    const uint16_t mlid = em_mlid_of(&group);

    for (int i = 0; i < 2; i++)
        ASSERT_EQ(0, em_group_join(&world.hca(i), 1, &group));
    for (Side *s : {&a, &b, &c}) {
        ASSERT_EQ(0, ibv_attach_mcast(s->qp, &group, mlid));
        ASSERT_EQ(0, s->recv(1064));
        ASSERT_EQ(0, s->recv(1064));
    }
    ASSERT_EQ(0, send(a, handle(a, to_group()), 0xffffff, 0x11, 1024));
    world.run();
    EXPECT_EQ(2u, a.poll().size());
    for (Side *s : {&b, &c}) {
        auto got = s->poll();
        ASSERT_EQ(1u, got.size());
        EXPECT_EQ((unsigned) IBV_WC_GRH, got[0].wc_flags);
        EXPECT_EQ(0, memcmp(group.raw, s->buffer.data() + 24, 16));
        EXPECT_EQ(0, memcmp(world.hca(0).ports[0].gid.raw, s->buffer.data() + 8, 16));
    }
    ASSERT_EQ(0, ibv_detach_mcast(c.qp, &group, mlid));
    EXPECT_EQ(EINVAL, ibv_detach_mcast(c.qp, &group, mlid));
    EXPECT_EQ(EBUSY, ibv_destroy_qp(b.qp));
    ASSERT_EQ(0, send(a, handles[0], 0xffffff, 0x11, 10));
    world.run();
    EXPECT_EQ(1u, b.poll().size());
    EXPECT_TRUE(c.poll().empty());
    for (Side *s : {&a, &b})
        ASSERT_EQ(0, ibv_detach_mcast(s->qp, &group, mlid));
    for (int i = 0; i < 2; i++)
        ASSERT_EQ(0, em_group_leave(&world.hca(i), 1, &group));
    EXPECT_EQ(EINVAL, em_group_leave(&world.hca(0), 1, &group));
}

TEST_F(Ud, AttachedWithoutAMemberPortGetsNothing)
{
    ASSERT_EQ(0, ibv_attach_mcast(b.qp, &group, em_mlid_of(&group)));
    ASSERT_EQ(0, b.recv(1064));
    ASSERT_EQ(0, send(a, handle(a, to_group()), 0xffffff, 0x11, 10));
    world.run();
    EXPECT_TRUE(b.poll().empty());
    ASSERT_EQ(0, ibv_detach_mcast(b.qp, &group, em_mlid_of(&group)));
}

TEST_F(Ud, AttachChecksGroupLidAndType)
{
    World other;
    Side rc(other, 0);
    union ibv_gid unicast = group;

    unicast.raw[0] = 0xfe;
    EXPECT_EQ(EINVAL, ibv_attach_mcast(b.qp, &unicast, em_mlid_of(&unicast)));
    EXPECT_EQ(EINVAL, ibv_attach_mcast(b.qp, &group, (uint16_t) (em_mlid_of(&group) + 1)));
    EXPECT_EQ(EINVAL, ibv_attach_mcast(rc.qp, &group, em_mlid_of(&group)));
}

} // namespace
