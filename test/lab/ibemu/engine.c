/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The thread of an HCA.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* ppoll */
#endif
#include "engine.h"
#include "cm.h"
#include "net.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define QUIET_NS 1000000u /* since the last poll of an empty queue */

static struct {
    struct em_hca *hca; /* that was started; NULL: none */
    struct em_net net;
    pthread_t thread;
    int kick; /* an eventfd that wakes the thread */
    bool stop;
    bool asleep, listening; /* the thread waits; with the sockets */
    uint64_t wake_at;       /* until when it sleeps at most */
    uint64_t polled_at;     /* last poll of an empty queue; 0: long ago */
} engine;

uint64_t em_engine_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static void kick(void)
{
    eventfd_write(engine.kick, 1);
    engine.asleep = false;
}

static void sleep_until(uint64_t at, uint64_t now, bool listen)
{
    struct pollfd fds[2] = {{.fd = engine.kick, .events = POLLIN},
                            {.fd = engine.net.epoll, .events = POLLIN}};
    uint64_t ns = at > now ? at - now : 0;
    struct timespec t = {.tv_sec = (time_t) (ns / 1000000000u),
                         .tv_nsec = (long) (ns % 1000000000u)};
    eventfd_t count;

    pthread_mutex_unlock(&engine.hca->lock);
    if (ppoll(fds, listen ? 2 : 1, at == EM_NEVER ? NULL : &t, NULL) > 0 &&
        (fds[0].revents & POLLIN))
        eventfd_read(engine.kick, &count);
    pthread_mutex_lock(&engine.hca->lock);
}

static void *run(void *arg)
{
    struct em_hca *hca = arg;

    pthread_mutex_lock(&hca->lock);
    while (!engine.stop) {
        uint64_t now, next, cm;

        em_net_receive(&engine.net);
        now = em_engine_now();
        next = em_hca_run_timers(hca, now);
        em_hca_send(hca, now);
        cm = em_cm_run_timers(now);
        next = cm < next ? cm : next;
        next = hca->retry_at < next ? hca->retry_at : next;
        engine.listening = now - engine.polled_at > QUIET_NS;
        if (!engine.listening && now + QUIET_NS < next)
            next = now + QUIET_NS;
        engine.wake_at = next;
        engine.asleep = true;
        sleep_until(next, now, engine.listening);
        engine.asleep = false;
    }
    pthread_mutex_unlock(&hca->lock);
    return NULL;
}

static uint64_t clock_of(void *arg)
{
    (void) arg;
    return em_engine_now();
}

static void on_timer(void *arg, uint64_t at)
{
    em_engine_wake_at(arg, at);
}

/* Signals are for the threads of the program. */
static int start_thread(struct em_hca *hca)
{
    sigset_t all, before;
    int e;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    e = pthread_create(&engine.thread, NULL, run, hca);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return e;
}

int em_engine_start(struct em_hca *hca, uint16_t udp_port, const char *control)
{
    int e = em_net_open(&engine.net, hca, udp_port, control);

    if (e != 0)
        return e;
    engine.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (engine.kick < 0) {
        e = errno;
        em_net_close(&engine.net);
        return e;
    }
    engine.hca = hca;
    engine.stop = engine.asleep = false;
    engine.polled_at = 0;
    hca->wire = (struct em_wire){em_net_send, em_net_member, on_timer, clock_of, hca};
    e = start_thread(hca);
    if (e != 0) {
        close(engine.kick);
        em_net_close(&engine.net);
        engine.hca = NULL;
    }
    return e;
}

void em_engine_stop(struct em_hca *hca)
{
    pthread_mutex_lock(&hca->lock);
    engine.stop = true;
    kick();
    pthread_mutex_unlock(&hca->lock);
    pthread_join(engine.thread, NULL);
    close(engine.kick);
    em_net_close(&engine.net);
    engine.hca = NULL;
}

void em_engine_poll(struct em_hca *hca)
{
    if (engine.hca != hca)
        return;
    engine.polled_at = em_engine_now();
    if (em_net_receive(&engine.net))
        em_hca_send(hca, engine.polled_at);
}

void em_engine_listen(struct em_hca *hca)
{
    if (engine.hca != hca)
        return;
    engine.polled_at = 0;
    if (engine.asleep && !engine.listening)
        kick();
}

void em_engine_wake_at(struct em_hca *hca, uint64_t at)
{
    if (engine.hca == hca && engine.asleep && at < engine.wake_at)
        kick();
}
