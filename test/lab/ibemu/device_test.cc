/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The device over real sockets, with its thread, on a loopback interface of its own where the system
 * allows that, else on everybody's.
 */
#include <gtest/gtest.h>

#include <rdma/rdma_cma.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include "ibemu.h"

namespace {

bool own_network = false;
std::string control_file;

bool set_loopback(bool up)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    ifreq r = {};
    bool done;

    strcpy(r.ifr_name, "lo");
    r.ifr_flags = (short) (up ? IFF_UP | IFF_RUNNING | IFF_LOOPBACK : IFF_LOOPBACK);
    done = ioctl(fd, SIOCSIFFLAGS, &r) == 0;
    close(fd);
    return done;
}

/* Before anything of the library is called. */
struct Environment {
    Environment()
    {
        char name[] = "/tmp/ibemu_control_XXXXXX";
        int fd = mkstemp(name);

        close(fd);
        control_file = name;
        own_network = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
        own_network = own_network && set_loopback(true);
        setenv("IBEMU_PORTS", "lo=127.77.0.1,lo=127.77.1.1", 1);
        setenv("IBEMU_LMC", "2", 1);
        setenv("IBEMU_CONTROL", name, 1);
    }
    ~Environment()
    {
        unlink(control_file.c_str());
    }
} environment;

/* Waits for a descriptor for as long as it takes; the test's own limit is whoever runs it. */
void wait_for(int fd)
{
    pollfd p = {fd, POLLIN, 0};

    while (poll(&p, 1, -1) != 1)
        continue;
}

class Device : public ::testing::Test {
  protected:
    void SetUp() override
    {
        ibv_device **list = ibv_get_device_list(nullptr);

        ASSERT_NE(nullptr, list);
        context = ibv_open_device(list[0]);
        ASSERT_NE(nullptr, context) << strerror(errno);
        ibv_free_device_list(list);
        pd = ibv_alloc_pd(context);
        channel = ibv_create_comp_channel(context);
        cq = ibv_create_cq(context, 256, nullptr, channel, 0);
        buffer.resize(1 << 20);
        mr = ibv_reg_mr(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
    }

    void TearDown() override
    {
        EXPECT_EQ(0, ibv_dereg_mr(mr));
        EXPECT_EQ(0, ibv_destroy_cq(cq));
        EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
        EXPECT_EQ(0, ibv_dealloc_pd(pd));
        EXPECT_EQ(0, ibv_close_device(context));
    }

    ibv_qp *make_qp(ibv_qp_type type)
    {
        ibv_qp_init_attr init = {};

        init.send_cq = init.recv_cq = cq;
        init.cap = {64, 64, 1, 1, 0};
        init.qp_type = type;
        return ibv_create_qp(pd, &init);
    }

    uint16_t lid(int port)
    {
        ibv_port_attr attr;

        EXPECT_EQ(0, ibv_query_port(context, (uint8_t) port, &attr));
        return attr.lid;
    }

    void connect(ibv_qp *qp, const ibv_qp *peer)
    {
        ibv_qp_attr a = {};

        a.qp_state = IBV_QPS_INIT;
        a.port_num = 1;
        ASSERT_EQ(
            0, ibv_modify_qp(qp, &a,
                             IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
        a.qp_state = IBV_QPS_RTR;
        a.ah_attr.dlid = lid(1);
        a.ah_attr.port_num = 1;
        a.path_mtu = IBV_MTU_1024;
        a.dest_qp_num = peer->qp_num;
        a.alt_ah_attr.dlid = lid(2);
        a.alt_port_num = 2;
        a.alt_timeout = 14;
        ASSERT_EQ(0, ibv_modify_qp(qp, &a,
                                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                       IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH));
        a.qp_state = IBV_QPS_RTS;
        a.timeout = 14;
        a.retry_cnt = 2;
        a.rnr_retry = 7;
        a.path_mig_state = IBV_MIG_REARM;
        ASSERT_EQ(0, ibv_modify_qp(qp, &a,
                                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
                                       IBV_QP_PATH_MIG_STATE));
    }

    void post_recv(ibv_qp *qp, uint32_t len, size_t offset)
    {
        ibv_sge sge = {reinterpret_cast<uint64_t>(buffer.data()) + offset, len, mr->lkey};
        ibv_recv_wr wr = {}, *bad;

        wr.sg_list = &sge;
        wr.num_sge = 1;
        ASSERT_EQ(0, ibv_post_recv(qp, &wr, &bad));
    }

    void post_send(ibv_qp *qp, uint32_t len, const rdma_ud_param *ud = nullptr,
                   ibv_ah *ah = nullptr)
    {
        ibv_sge sge = {reinterpret_cast<uint64_t>(buffer.data()), len, mr->lkey};
        ibv_send_wr wr = {}, *bad;

        wr.sg_list = &sge;
        wr.num_sge = 1;
        wr.opcode = IBV_WR_SEND;
        wr.send_flags = IBV_SEND_SIGNALED;
        if (ud != nullptr) {
            wr.wr.ud.ah = ah;
            wr.wr.ud.remote_qpn = ud->qp_num;
            wr.wr.ud.remote_qkey = ud->qkey;
        }
        ASSERT_EQ(0, ibv_post_send(qp, &wr, &bad));
    }

    /* That many completions, slept for. */
    std::vector<ibv_wc> completions(size_t n)
    {
        std::vector<ibv_wc> all;

        while (all.size() < n) {
            ibv_wc wc;
            ibv_cq *which;
            void *nothing;

            EXPECT_EQ(0, ibv_req_notify_cq(cq, 0));
            if (ibv_poll_cq(cq, 1, &wc) == 1) {
                all.push_back(wc);
                continue;
            }
            EXPECT_EQ(0, ibv_get_cq_event(channel, &which, &nothing));
            ibv_ack_cq_events(which, 1);
        }
        return all;
    }

    ibv_async_event event()
    {
        ibv_async_event e;

        wait_for(context->async_fd);
        EXPECT_EQ(0, ibv_get_async_event(context, &e));
        ibv_ack_async_event(&e);
        return e;
    }

    ibv_context *context = nullptr;
    ibv_pd *pd = nullptr;
    ibv_comp_channel *channel = nullptr;
    ibv_cq *cq = nullptr;
    ibv_mr *mr = nullptr;
    std::vector<uint8_t> buffer;
};

TEST_F(Device, SaysWhatItIs)
{
    ibv_device_attr attr;
    ibv_device_attr_ex extended;
    ibv_port_attr port;
    union ibv_gid gid[2];
    ibv_gid_entry entries[4];
    __be16 pkey;

    ASSERT_EQ(0, ibv_query_device(context, &attr));
    EXPECT_EQ(2, attr.phys_port_cnt);
    EXPECT_TRUE(attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG);
    ASSERT_EQ(0, ibv_query_device_ex(context, nullptr, &extended));
    EXPECT_EQ(attr.node_guid, extended.orig_attr.node_guid);
    for (int num = 1; num <= 2; num++) {
        ASSERT_EQ(0, ibv_query_port(context, (uint8_t) num, &port));
        EXPECT_EQ(IBV_PORT_ACTIVE, port.state);
        EXPECT_EQ(IBV_LINK_LAYER_INFINIBAND, port.link_layer);
        EXPECT_EQ(2, port.lmc);
        EXPECT_EQ((2 + num - 1) << 2, port.lid);
        EXPECT_TRUE(port.port_cap_flags & IBV_PORT_AUTO_MIGR_SUP);
        ASSERT_EQ(0, ibv_query_gid(context, (uint8_t) num, 0, &gid[num - 1]));
        ASSERT_EQ(0, ibv_query_pkey(context, (uint8_t) num, 0, &pkey));
        EXPECT_EQ(htons(0xffff), pkey);
        EXPECT_EQ(0, ibv_get_pkey_index(context, (uint8_t) num, pkey));
    }
    EXPECT_NE(0, memcmp(gid[0].raw, gid[1].raw, 16));
    EXPECT_EQ(2, ibv_query_gid_table(context, entries, 4, 0));
    EXPECT_EQ(0, memcmp(gid[1].raw, entries[1].gid.raw, 16));
    EXPECT_EQ(EINVAL, ibv_query_port(context, 3, &port));
    EXPECT_EQ(-1, ibv_query_gid(context, 1, 1, gid));
}

TEST_F(Device, WhatIsNotEmulatedSaysSo)
{
    ibv_qp_init_attr init = {};

    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_UC;
    EXPECT_EQ(nullptr, ibv_create_qp(pd, &init));
    EXPECT_EQ(EOPNOTSUPP, errno);
    errno = 0;
    EXPECT_EQ(nullptr, ibv_alloc_mw(pd, IBV_MW_TYPE_1));
    EXPECT_EQ(EOPNOTSUPP, errno);
    ibv_cq_init_attr_ex ex = {};
    errno = 0;
    EXPECT_EQ(nullptr, ibv_create_cq_ex(context, &ex));
    EXPECT_EQ(EOPNOTSUPP, errno);
    errno = 0;
    EXPECT_EQ(nullptr, ibv_reg_mr(pd, buffer.data(), 10, IBV_ACCESS_ON_DEMAND));
    EXPECT_EQ(EOPNOTSUPP, errno);
}

TEST_F(Device, MessagesAndMigration)
{
    ibv_qp *a = make_qp(IBV_QPT_RC), *b = make_qp(IBV_QPT_RC);
    ibv_qp_attr attr;
    ibv_qp_init_attr init;

    ASSERT_NE(nullptr, a);
    connect(a, b);
    connect(b, a);
    post_recv(b, 100000, 500000);
    memset(buffer.data(), 0x5a, 100000);
    post_send(a, 100000);
    for (const auto &wc : completions(2))
        EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
    EXPECT_EQ(0, memcmp(buffer.data(), buffer.data() + 500000, 100000));
    ASSERT_EQ(0, ibv_query_qp(a, &attr, IBV_QP_PATH_MIG_STATE, &init));
    EXPECT_EQ(IBV_MIG_ARMED, attr.path_mig_state);

    ASSERT_EQ(0, ibemu_cut_port(1, 1));
    post_recv(b, 100, 0);
    post_send(a, 100);
    for (const auto &wc : completions(2))
        EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
    ASSERT_EQ(0, ibemu_cut_port(1, 0));
    EXPECT_EQ(IBV_EVENT_PATH_MIG, event().event_type);
    EXPECT_EQ(IBV_EVENT_PATH_MIG, event().event_type);
    ASSERT_EQ(0, ibv_query_qp(b, &attr, IBV_QP_PORT, &init));
    EXPECT_EQ(2, attr.port_num);
    EXPECT_EQ(EBUSY, ibv_destroy_cq(cq));
    EXPECT_EQ(EBUSY, ibv_dealloc_pd(pd));
    EXPECT_EQ(0, ibv_destroy_qp(a));
    EXPECT_EQ(0, ibv_destroy_qp(b));
}

/* Messages as long as the wire is lossy, without anybody polling. */
TEST_F(Device, LossIsRepaired)
{
    ibv_qp *a = make_qp(IBV_QPT_RC), *b = make_qp(IBV_QPT_RC);
    ibemu_counters before, after;

    connect(a, b);
    connect(b, a);
    ASSERT_EQ(0, ibemu_read_counters(&before));
    ASSERT_EQ(0, ibemu_drop(2, 7));
    for (int i = 0; i < 20; i++) {
        post_recv(b, 20000, 500000);
        post_send(a, 20000);
    }
    for (const auto &wc : completions(40))
        EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
    ASSERT_EQ(0, ibemu_drop(0, 0));
    ASSERT_EQ(0, ibemu_read_counters(&after));
    EXPECT_LT(before.lost, after.lost);
    EXPECT_LT(before.retransmitted, after.retransmitted);
    EXPECT_EQ(0, ibv_destroy_qp(a));
    EXPECT_EQ(0, ibv_destroy_qp(b));
}

TEST_F(Device, PortEventsForEveryContext)
{
    ibv_context *other = ibv_open_device(context->device);
    ibv_async_event e;

    ASSERT_EQ(0, fcntl(context->async_fd, F_SETFL, O_NONBLOCK));
    EXPECT_EQ(-1, ibv_get_async_event(context, &e));
    EXPECT_EQ(EAGAIN, errno);
    ASSERT_EQ(0, ibemu_raise(IBV_EVENT_CLIENT_REREGISTER, 2));
    for (ibv_context *c : {context, other}) {
        ASSERT_EQ(0, ibv_get_async_event(c, &e));
        EXPECT_EQ(IBV_EVENT_CLIENT_REREGISTER, e.event_type);
        EXPECT_EQ(2, e.element.port_num);
        ibv_ack_async_event(&e);
    }
    EXPECT_EQ(0, ibv_close_device(other));
}

TEST_F(Device, FollowsItsInterface)
{
    ibv_port_attr port;

    if (!own_network)
        GTEST_SKIP() << "no network namespace of its own";
    ASSERT_TRUE(set_loopback(false));
    EXPECT_EQ(IBV_EVENT_PORT_ERR, event().event_type);
    EXPECT_EQ(IBV_EVENT_PORT_ERR, event().event_type);
    ASSERT_EQ(0, ibv_query_port(context, 1, &port));
    EXPECT_EQ(IBV_PORT_DOWN, port.state);
    ASSERT_TRUE(set_loopback(true));
    EXPECT_EQ(IBV_EVENT_PORT_ACTIVE, event().event_type);
    EXPECT_EQ(IBV_EVENT_PORT_ACTIVE, event().event_type);
    ASSERT_EQ(0, ibv_query_port(context, 1, &port));
    EXPECT_EQ(IBV_PORT_ACTIVE, port.state);
}

TEST_F(Device, ControlFile)
{
    FILE *f = fopen(control_file.c_str(), "w");

    ASSERT_NE(nullptr, f);
    fprintf(f, "drop 0\nnonsense\nraise sm-change 1\n");
    fclose(f);
    ibv_async_event e = event();
    EXPECT_EQ(IBV_EVENT_SM_CHANGE, e.event_type);
    EXPECT_EQ(1, e.element.port_num);
}

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
