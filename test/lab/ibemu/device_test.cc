/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The device: what it says of itself, reliable connections, events, faults.
 */
#include "device_fixture.h"

#include <thread>

namespace {

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

/* Each thread has a queue and a connection of its own; the device is one. */
TEST_F(Device, ThreadsShareIt)
{
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++) {
        ibv_cq *own = ibv_create_cq(context, 64, nullptr, nullptr, 0);
        ibv_qp *a = make_qp(IBV_QPT_RC, own), *b = make_qp(IBV_QPT_RC, own);

        connect(a, b);
        connect(b, a);
        threads.emplace_back([this, own, a, b, t] {
            for (int i = 0; i < 200; i++) {
                ibv_wc wc;

                post_recv(i % 2 ? a : b, 5000, (size_t) (100 + t) * 5000);
                post_send(i % 2 ? b : a, 5000);
                for (int got = 0; got < 2;)
                    if (ibv_poll_cq(own, 1, &wc) == 1) {
                        EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
                        got++;
                    }
            }
            EXPECT_EQ(0, ibv_destroy_qp(a));
            EXPECT_EQ(0, ibv_destroy_qp(b));
            EXPECT_EQ(0, ibv_destroy_cq(own));
        });
    }
    for (auto &t : threads)
        t.join();
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

} // namespace
