/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Completion queues, channels, and events that must be acknowledged.
 */
#include "world.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <thread>

namespace {

bool readable(int fd)
{
    pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, 0) == 1;
}

class Cq : public ::testing::Test {
  protected:
    void SetUp() override
    {
        channel = ibv_create_comp_channel(world.context(0));
        cq = ibv_create_cq(world.context(0), 4, this, channel, 0);
        ASSERT_EQ(0, fcntl(channel->fd, F_SETFL, O_NONBLOCK));
    }

    void TearDown() override
    {
        if (cq != nullptr) {
            EXPECT_EQ(0, ibv_destroy_cq(cq));
        }
        EXPECT_EQ(0, ibv_destroy_comp_channel(channel));
    }

    void push(bool solicited, ibv_wc_status status = IBV_WC_SUCCESS)
    {
        ibv_wc wc = {};

        wc.status = status;
        em_cq_push(reinterpret_cast<em_cq *>(cq), &wc, solicited);
    }

    bool got_event()
    {
        ibv_cq *which = nullptr;
        void *context = nullptr;

        if (ibv_get_cq_event(channel, &which, &context) != 0) {
            EXPECT_EQ(EAGAIN, errno);
            return false;
        }
        EXPECT_EQ(cq, which);
        EXPECT_EQ(this, context);
        ibv_ack_cq_events(cq, 1);
        return true;
    }

    World world;
    ibv_comp_channel *channel = nullptr;
    ibv_cq *cq = nullptr;
};

TEST_F(Cq, NoEventUnlessAskedFor)
{
    push(true);
    EXPECT_FALSE(readable(channel->fd));
    EXPECT_FALSE(got_event());
}

TEST_F(Cq, OneEventForEachRequest)
{
    ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
    EXPECT_FALSE(readable(channel->fd));
    push(false);
    push(false);
    EXPECT_TRUE(readable(channel->fd));
    EXPECT_TRUE(got_event());
    EXPECT_FALSE(got_event());
    EXPECT_FALSE(readable(channel->fd));
}

TEST_F(Cq, SolicitedOnly)
{
    ASSERT_EQ(0, ibv_req_notify_cq(cq, 1));
    push(false);
    EXPECT_FALSE(got_event());
    push(true);
    EXPECT_TRUE(got_event());
    ASSERT_EQ(0, ibv_req_notify_cq(cq, 1));
    push(false, IBV_WC_WR_FLUSH_ERR); /* an error is always told */
    EXPECT_TRUE(got_event());
}

TEST_F(Cq, RequestForAnyIsNotTakenBack)
{
    ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
    ASSERT_EQ(0, ibv_req_notify_cq(cq, 1));
    push(false);
    EXPECT_TRUE(got_event());
}

TEST_F(Cq, OverrunIsAnErrorEvent)
{
    ibv_async_event event;
    ibv_wc wc[8];

    for (int i = 0; i < 4; i++)
        push(false);
    EXPECT_EQ(4, ibv_poll_cq(cq, 8, wc));
    for (int i = 0; i < 5; i++)
        push(false);
    EXPECT_EQ(-1, ibv_poll_cq(cq, 8, wc));
    ASSERT_EQ(0, ibv_get_async_event(world.context(0), &event));
    EXPECT_EQ(IBV_EVENT_CQ_ERR, event.event_type);
    EXPECT_EQ(cq, event.element.cq);
    ibv_ack_async_event(&event);
}

TEST_F(Cq, ResizeKeepsWhatIsThere)
{
    ibv_wc wc[8];

    for (int i = 0; i < 3; i++)
        push(false);
    EXPECT_EQ(EINVAL, ibv_resize_cq(cq, 2));
    EXPECT_EQ(0, ibv_resize_cq(cq, 8));
    EXPECT_EQ(8, cq->cqe);
    for (int i = 0; i < 5; i++)
        push(false);
    EXPECT_EQ(8, ibv_poll_cq(cq, 8, wc));
}

TEST_F(Cq, ChannelInUseIsNotDestroyed)
{
    EXPECT_EQ(EBUSY, ibv_destroy_comp_channel(channel));
}

TEST_F(Cq, EventsNotFetchedGoWithTheQueue)
{
    ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
    push(false);
    EXPECT_EQ(0, ibv_destroy_cq(cq));
    cq = nullptr;
    EXPECT_FALSE(readable(channel->fd));
}

/* Destroying waits for the acknowledgement of what was fetched. That it waits can be seen only by
 * giving it time; that it ends, always. */
TEST_F(Cq, DestroyWaitsForAcknowledgements)
{
    ibv_cq *which;
    void *context;
    std::atomic<bool> destroyed = false;

    ASSERT_EQ(0, ibv_req_notify_cq(cq, 0));
    push(false);
    ASSERT_EQ(0, ibv_get_cq_event(channel, &which, &context));
    std::thread t([&] {
        ibv_destroy_cq(cq);
        destroyed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(destroyed);
    ibv_ack_cq_events(cq, 1);
    t.join();
    EXPECT_TRUE(destroyed);
    cq = nullptr;
}

TEST(QpEvents, DestroyWaitsForAcknowledgements)
{
    World world;
    auto side = std::make_unique<Side>(world, 0);
    std::atomic<bool> destroyed = false;
    ibv_async_event event;

    em_qp_event(reinterpret_cast<em_qp *>(side->qp), IBV_EVENT_PATH_MIG);
    em_qp_event(reinterpret_cast<em_qp *>(side->qp), IBV_EVENT_PATH_MIG_ERR); /* not fetched */
    ASSERT_EQ(0, ibv_get_async_event(world.context(0), &event));
    EXPECT_EQ(IBV_EVENT_PATH_MIG, event.event_type);
    std::thread t([&] {
        side.reset();
        destroyed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(destroyed);
    ibv_ack_async_event(&event);
    t.join();
    EXPECT_TRUE(destroyed);
    EXPECT_EQ(-1, world.event(0));
}

} // namespace
