/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Shared receive queues.
 */
#include "world.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace {

class Srq : public ::testing::Test {
  protected:
    void SetUp() override
    {
        ibv_srq_init_attr init = {};

        pd = ibv_alloc_pd(world.context(1));
        init.attr.max_wr = 8;
        init.attr.max_sge = 2;
        srq = ibv_create_srq(pd, &init);
        ASSERT_NE(nullptr, srq);
        for (int i = 0; i < 2; i++) {
            from[i] = std::make_unique<Side>(world, 0);
            to[i] = std::make_unique<Side>(world, 1, IBV_QPT_RC, srq, pd);
            connect(*from[i], *to[i], 14, 7, 7);
        }
    }

    void TearDown() override
    {
        to[0].reset();
        to[1].reset();
        EXPECT_EQ(0, ibv_destroy_srq(srq));
        EXPECT_EQ(0, ibv_dealloc_pd(pd));
    }

    World world;
    ibv_pd *pd = nullptr;
    ibv_srq *srq = nullptr;
    std::unique_ptr<Side> from[2], to[2];
};

TEST_F(Srq, ServesAllItsQps)
{
    for (int i = 0; i < 8; i++)
        ASSERT_EQ(0, to[0]->recv(100, (size_t) i * 100));
    EXPECT_EQ(ENOMEM, to[0]->recv(100));
    for (int i = 0; i < 4; i++) {
        ASSERT_EQ(0, from[0]->send(50));
        ASSERT_EQ(0, from[1]->send(60));
    }
    world.run();
    auto first = to[0]->poll(), second = to[1]->poll();
    ASSERT_EQ(4u, first.size());
    ASSERT_EQ(4u, second.size());
    EXPECT_EQ(50u, first[0].byte_len);
    EXPECT_EQ(60u, second[0].byte_len);
}

TEST_F(Srq, EmptyMeansNotReady)
{
    ASSERT_EQ(0, from[0]->send(10));
    world.deliver();
    EXPECT_EQ(1u, world.hca(0).count.rnr_naks);
    ASSERT_EQ(0, to[1]->recv(10));
    world.run();
    EXPECT_EQ(1u, from[0]->poll().size());
}

TEST_F(Srq, LimitIsToldOnce)
{
    ibv_srq_attr a = {};
    void *object = nullptr;

    for (int i = 0; i < 8; i++)
        ASSERT_EQ(0, to[0]->recv(100));
    a.srq_limit = 7;
    ASSERT_EQ(0, ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT));
    ASSERT_EQ(0, from[0]->send(10));
    world.run();
    EXPECT_EQ(-1, world.event(1)); /* seven are left */
    ASSERT_EQ(0, from[0]->send(10));
    ASSERT_EQ(0, from[0]->send(10));
    world.run();
    EXPECT_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, world.event(1, &object));
    EXPECT_EQ(srq, object);
    EXPECT_EQ(-1, world.event(1));
    ASSERT_EQ(0, ibv_query_srq(srq, &a));
    EXPECT_EQ(0u, a.srq_limit);
    EXPECT_EQ(8u, a.max_wr);
    a.srq_limit = 9;
    EXPECT_EQ(EINVAL, ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT));
}

TEST_F(Srq, QpInErrorTellsThatItTakesNoMore)
{
    ibv_qp_attr v = {};
    void *object = nullptr;

    v.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(0, ibv_modify_qp(to[0]->qp, &v, IBV_QP_STATE));
    EXPECT_EQ(IBV_EVENT_QP_LAST_WQE_REACHED, world.event(1, &object));
    EXPECT_EQ(to[0]->qp, object);
}

TEST_F(Srq, InUseIsNotDestroyed)
{
    EXPECT_EQ(EBUSY, ibv_destroy_srq(srq));
}

} // namespace
