/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The device over real sockets, with its thread, on a loopback interface of its own where the
 * system allows that, else on everybody's.
 */
#ifndef HWMC_TEST_LAB_IBEMU_DEVICE_FIXTURE_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_DEVICE_FIXTURE_H_INCLUDED

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

inline bool own_network = false; /* a network namespace with a loopback interface of its own */
inline std::string control_file;

inline bool set_loopback(bool up)
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
};

inline Environment environment;

/* Waits for a descriptor for as long as it takes; the test's own limit is whoever runs it. */
inline void wait_for(int fd)
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

    ibv_qp *make_qp(ibv_qp_type type, ibv_cq *own = nullptr)
    {
        ibv_qp_init_attr init = {};

        init.send_cq = init.recv_cq = own != nullptr ? own : cq;
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

#endif /* HWMC_TEST_LAB_IBEMU_DEVICE_FIXTURE_H_INCLUDED */
