/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Listeners to the events of a device that the test plays: its events come through a pipe, and the
 * two functions of libibverbs that read and acknowledge them are the test's.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <thread>
#include <unistd.h>

#include <rdma/rdma_cma.h>

extern "C" {
#include "verbs/events.h"
}

namespace {

std::atomic<int> acknowledged;

struct Device {
    ibv_context context = {};
    int in = -1;

    Device()
    {
        int fds[2];

        EXPECT_EQ(0, pipe(fds));
        context.async_fd = fds[0];
        in = fds[1];
    }
    ~Device()
    {
        if (in >= 0)
            close(in);
        close(context.async_fd);
    }
    void happens(ibv_event_type type, int port = 1)
    {
        ibv_async_event e = {};

        e.event_type = type;
        e.element.port_num = port;
        EXPECT_EQ((ssize_t) sizeof(e), write(in, &e, sizeof(e)));
    }
    void happens(ibv_event_type type, ibv_qp *qp)
    {
        ibv_async_event e = {};

        e.event_type = type;
        e.element.qp = qp;
        EXPECT_EQ((ssize_t) sizeof(e), write(in, &e, sizeof(e)));
    }
};

hwmc_verbs_listener *listen_to(Device &d)
{
    hwmc_verbs_listener *l = nullptr;

    EXPECT_EQ(HWMC_OK, hwmc_verbs_events_open(&d.context, &l));
    return l;
}

/* Waits for the descriptor, then takes. */
int take(hwmc_verbs_listener *l, hwmc_verbs_event *e)
{
    pollfd p = {hwmc_verbs_events_fd(l), POLLIN, 0};

    EXPECT_EQ(1, ::poll(&p, 1, 60000));
    return hwmc_verbs_events_take(l, e);
}

bool readable(hwmc_verbs_listener *l)
{
    pollfd p = {hwmc_verbs_events_fd(l), POLLIN, 0};

    return ::poll(&p, 1, 0) == 1;
}

} // namespace

extern "C" int ibv_get_async_event(ibv_context *context, ibv_async_event *event)
{
    return read(context->async_fd, event, sizeof(*event)) == sizeof(*event) ? 0 : -1;
}

extern "C" void ibv_ack_async_event(ibv_async_event *)
{
    acknowledged++;
}

TEST(VerbsEvents, EveryListenerHearsEveryEventInOrder)
{
    Device d;
    hwmc_verbs_listener *l[2] = {listen_to(d), listen_to(d)};
    hwmc_verbs_event e = {};
    ibv_qp qp = {};

    qp.qp_num = 77;
    d.happens(IBV_EVENT_PORT_ERR, 2);
    d.happens(IBV_EVENT_PATH_MIG, &qp);
    d.happens(IBV_EVENT_DEVICE_FATAL);
    for (auto *x : l) {
        ASSERT_EQ(1, take(x, &e));
        EXPECT_EQ(IBV_EVENT_PORT_ERR, e.type);
        EXPECT_EQ(2u, e.port);
        EXPECT_EQ(0u, e.qp_num);
        ASSERT_EQ(1, take(x, &e));
        EXPECT_EQ(IBV_EVENT_PATH_MIG, e.type);
        EXPECT_EQ(77u, e.qp_num);
        EXPECT_EQ(0u, e.port);
        ASSERT_EQ(1, take(x, &e));
        EXPECT_EQ(IBV_EVENT_DEVICE_FATAL, e.type);
        EXPECT_EQ(0, hwmc_verbs_events_take(x, &e));
        EXPECT_FALSE(readable(x));
        hwmc_verbs_events_close(x);
    }
}

TEST(VerbsEvents, DevicesAreApart)
{
    Device d[2];
    hwmc_verbs_listener *l[2] = {listen_to(d[0]), listen_to(d[1])};
    hwmc_verbs_event e = {};

    d[1].happens(IBV_EVENT_SM_CHANGE);
    ASSERT_EQ(1, take(l[1], &e));
    EXPECT_EQ(0, hwmc_verbs_events_take(l[0], &e));
    for (auto *x : l)
        hwmc_verbs_events_close(x);
}

TEST(VerbsEvents, WhatDoesNotFitIsToldOnceAndLast)
{
    const int more = 3;
    Device d;
    hwmc_verbs_listener *l = listen_to(d);
    hwmc_verbs_event e = {};

    acknowledged = 0;
    for (int i = 0; i < HWMC_VERBS_EVENTS_MAX + more; i++)
        d.happens(IBV_EVENT_PORT_ACTIVE, i);
    while (acknowledged < HWMC_VERBS_EVENTS_MAX + more) /* the reader never holds the device up */
        std::this_thread::yield();
    for (int i = 0; i < HWMC_VERBS_EVENTS_MAX; i++) {
        ASSERT_EQ(1, take(l, &e));
        EXPECT_EQ(i, e.port);
    }
    EXPECT_EQ(HWMC_ERR_LIMIT, take(l, &e));
    EXPECT_EQ(0, hwmc_verbs_events_take(l, &e));
    EXPECT_FALSE(readable(l));
    d.happens(IBV_EVENT_PORT_ERR, 9);
    ASSERT_EQ(1, take(l, &e));
    EXPECT_EQ(9, e.port);
    hwmc_verbs_events_close(l);
}

TEST(VerbsEvents, ADeviceThatGoesIsTold)
{
    Device d;
    hwmc_verbs_listener *l = listen_to(d);
    hwmc_verbs_event e = {};

    close(d.in);
    d.in = -1;
    EXPECT_EQ(HWMC_ERR_LIMIT, take(l, &e));
    hwmc_verbs_events_close(l);
}

TEST(VerbsEvents, TheThreadTakesNoSignals)
{
    static std::atomic<std::thread::id> by;
    Device d;
    hwmc_verbs_listener *l = listen_to(d);
    sigset_t usr1;

    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    signal(SIGUSR1, [](int) { by = std::this_thread::get_id(); });
    for (int i = 0; i < 100; i++) {
        by = std::thread::id();
        pthread_sigmask(SIG_BLOCK, &usr1, nullptr); /* nobody takes it but such a thread */
        kill(getpid(), SIGUSR1);
        std::this_thread::yield();
        pthread_sigmask(SIG_UNBLOCK, &usr1, nullptr);
        while (by.load() == std::thread::id())
            std::this_thread::yield();
        ASSERT_EQ(std::this_thread::get_id(), by.load());
    }
    signal(SIGUSR1, SIG_DFL);
    hwmc_verbs_events_close(l);
}

/* Listeners that come and go in several threads while events come: none of a listener that stays is
 * lost. With thread sanitizer this is also about data races. */
TEST(VerbsEvents, ListenersComeAndGoWhileEventsCome)
{
    const int rounds = 300;
    Device d;
    hwmc_verbs_listener *stays = listen_to(d);
    std::atomic<bool> over = {false};
    std::vector<std::thread> others;

    for (int i = 0; i < 3; i++)
        others.emplace_back([&] {
            hwmc_verbs_event e;

            while (!over) {
                hwmc_verbs_listener *l = listen_to(d);

                while (hwmc_verbs_events_take(l, &e) != 0)
                    ;
                hwmc_verbs_events_close(l);
            }
        });
    for (int i = 0; i < rounds; i++) {
        hwmc_verbs_event e = {};

        d.happens(IBV_EVENT_GID_CHANGE, i % 200);
        EXPECT_EQ(1, take(stays, &e));
        EXPECT_EQ(i % 200, e.port);
    }
    over = true;
    for (auto &t : others)
        t.join();
    hwmc_verbs_events_close(stays);
}

/* The last listener goes and another comes at once: an event is never read by a thread that
 * ends. */
TEST(VerbsEvents, AListenerAfterTheLastHearsAll)
{
    Device d;

    for (int i = 0; i < 100; i++) {
        hwmc_verbs_listener *l = listen_to(d);
        hwmc_verbs_event e = {};

        d.happens(IBV_EVENT_GID_CHANGE, i);
        ASSERT_EQ(1, take(l, &e));
        ASSERT_EQ(i, e.port);
        hwmc_verbs_events_close(l);
    }
}
