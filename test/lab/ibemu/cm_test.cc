/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The connection manager: identifiers, and joining multicast groups.
 */
#include "device_fixture.h"

namespace {

/* Identifiers of the connection manager. */
class Cm : public Device {
  protected:
    void SetUp() override
    {
        Device::SetUp();
        events = rdma_create_event_channel();
        ASSERT_EQ(0, rdma_create_id(events, &id, this, RDMA_PS_UDP));
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(0x7f4d0001);
        group.sin_family = AF_INET;
        group.sin_addr.s_addr = htonl(0xefc00000 + (uint32_t) getpid() % 65536);
    }

    void TearDown() override
    {
        if (id != nullptr) {
            EXPECT_EQ(0, rdma_destroy_id(id));
        }
        rdma_destroy_event_channel(events);
        Device::TearDown();
    }

    rdma_cm_event *next()
    {
        rdma_cm_event *e = nullptr;

        wait_for(events->fd);
        EXPECT_EQ(0, rdma_get_cm_event(events, &e));
        return e;
    }

    sockaddr *addr(sockaddr_in &a)
    {
        return reinterpret_cast<sockaddr *>(&a);
    }

    rdma_event_channel *events = nullptr;
    rdma_cm_id *id = nullptr;
    sockaddr_in address = {}, group = {};
};

TEST_F(Cm, BindsByAddress)
{
    rdma_cm_id *other;

    ASSERT_EQ(0, rdma_bind_addr(id, addr(address)));
    ASSERT_NE(nullptr, id->verbs);
    EXPECT_EQ(1, id->port_num);
    ASSERT_EQ(0, rdma_create_id(events, &other, nullptr, RDMA_PS_UDP));
    address.sin_addr.s_addr = htonl(0x7f4d0101);
    ASSERT_EQ(0, rdma_bind_addr(other, addr(address)));
    EXPECT_EQ(2, other->port_num);
    EXPECT_EQ(id->verbs, other->verbs);
    EXPECT_EQ(0, rdma_destroy_id(other));
    ASSERT_EQ(0, rdma_create_id(events, &other, nullptr, RDMA_PS_UDP));
    address.sin_addr.s_addr = htonl(0x7f000001);
    EXPECT_EQ(-1, rdma_bind_addr(other, addr(address)));
    EXPECT_EQ(ENODEV, errno);
    EXPECT_EQ(0, rdma_destroy_id(other));
}

TEST_F(Cm, ResolvesAndJoinsAndGetsItsOwnDatagrams)
{
    ibv_qp_init_attr init = {};
    rdma_cm_event *e;
    rdma_ud_param ud;
    ibv_cq *own;
    ibv_pd *own_pd;
    ibv_mr *own_mr;
    ibv_ah *ah;
    ibv_wc wc;
    int got = 0;

    ASSERT_EQ(0, rdma_resolve_addr(id, addr(address), addr(group), 1000));
    e = next();
    EXPECT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, e->event);
    EXPECT_EQ(id, e->id);
    ASSERT_EQ(0, rdma_ack_cm_event(e));
    own_pd = ibv_alloc_pd(id->verbs);
    own = ibv_create_cq(id->verbs, 16, nullptr, nullptr, 0);
    own_mr = ibv_reg_mr(own_pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
    init.send_cq = init.recv_cq = own;
    init.cap = {4, 4, 1, 1, 0};
    init.qp_type = IBV_QPT_UD;
    ASSERT_EQ(0, rdma_create_qp(id, own_pd, &init));
    std::swap(mr, own_mr);
    post_recv(id->qp, 2000, 500000);
    ASSERT_EQ(0, rdma_join_multicast(id, addr(group), this));
    e = next();
    ASSERT_EQ(RDMA_CM_EVENT_MULTICAST_JOIN, e->event);
    EXPECT_EQ(this, e->param.ud.private_data);
    ud = e->param.ud;
    EXPECT_EQ(0xffffffu, ud.qp_num);
    EXPECT_EQ((uint32_t) RDMA_UDP_QKEY, ud.qkey);
    EXPECT_LE(0xc000, ud.ah_attr.dlid);
    EXPECT_EQ(1, ud.ah_attr.is_global);
    ASSERT_EQ(0, rdma_ack_cm_event(e));
    ah = ibv_create_ah(own_pd, &ud.ah_attr);
    ASSERT_NE(nullptr, ah);
    memset(buffer.data(), 0x77, 1000);
    post_send(id->qp, 1000, &ud, ah);
    while (got < 2)
        if (ibv_poll_cq(own, 1, &wc) == 1) {
            EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
            EXPECT_EQ(wc.opcode == IBV_WC_RECV ? 1040u : 1000u, wc.byte_len);
            got++;
        }
    EXPECT_EQ(0, memcmp(buffer.data(), buffer.data() + 500040, 1000));
    std::swap(mr, own_mr);
    EXPECT_EQ(0, rdma_leave_multicast(id, addr(group)));
    EXPECT_EQ(-1, rdma_leave_multicast(id, addr(group)));
    EXPECT_EQ(0, ibv_destroy_ah(ah));
    rdma_destroy_qp(id);
    EXPECT_EQ(0, ibv_dereg_mr(own_mr));
    EXPECT_EQ(0, ibv_destroy_cq(own));
    EXPECT_EQ(0, ibv_dealloc_pd(own_pd));
}

TEST_F(Cm, JoinMayBeRefused)
{
    rdma_cm_event *e;

    ASSERT_EQ(0, rdma_bind_addr(id, addr(address)));
    ASSERT_EQ(0, ibemu_join("refuse"));
    ASSERT_EQ(0, rdma_join_multicast(id, addr(group), nullptr));
    e = next();
    EXPECT_EQ(RDMA_CM_EVENT_MULTICAST_ERROR, e->event);
    EXPECT_GT(0, e->status);
    ASSERT_EQ(0, rdma_ack_cm_event(e));
    ASSERT_EQ(0, ibemu_join("grant"));
    EXPECT_EQ(EINVAL, ibemu_join("perhaps"));
}

TEST_F(Cm, JoinMayTakeItsTime)
{
    rdma_cm_event *e;

    ASSERT_EQ(0, rdma_bind_addr(id, addr(address)));
    ASSERT_EQ(0, ibemu_join("delay:30"));
    ASSERT_EQ(0, rdma_join_multicast(id, addr(group), nullptr));
    e = next();
    EXPECT_EQ(RDMA_CM_EVENT_MULTICAST_JOIN, e->event);
    ASSERT_EQ(0, rdma_ack_cm_event(e));
    /* One that is not waited for is taken back with its identifier. */
    ASSERT_EQ(0, ibemu_join("delay:1000000"));
    ASSERT_EQ(0, rdma_join_multicast(id, addr(group), nullptr));
    ASSERT_EQ(0, rdma_destroy_id(id));
    id = nullptr;
    ASSERT_EQ(0, ibemu_join("grant"));
}

TEST_F(Cm, ConnectionsAreNotEmulated)
{
    rdma_conn_param param = {};

    EXPECT_EQ(-1, rdma_listen(id, 1));
    EXPECT_EQ(EOPNOTSUPP, errno);
    EXPECT_EQ(-1, rdma_connect(id, &param));
    EXPECT_EQ(EOPNOTSUPP, errno);
}

} // namespace
