/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../base/counters.h"
#include "helper.h"
#include "../../../../../mpi/coll/bcast_hw/engine/engine.h"
#include "../../../../../mpi/coll/bcast_hw/op/queue.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Between looks whether the program makes progress, and while no communicator uses hwmc: a look is
 * a wake-up. The first one after an operation was started comes soon; then each takes twice as
 * long. */
#define LOOK_SOON_NS 50000u
#define LOOK_NS 2000000u
#define IDLE_LOOK_NS 20000000u
#define MEMORY_LOOK_NS 100000u /* while an operation waits for ranks of this host */

#define BUSY_LOOKS 16u /* at once, one after the other */
#define FDS_MAX 64

struct hwmc_helper_told hwmc_helper_told;

static struct {
    pthread_t thread;
    int end;          /* an eventfd: readable when the thread is to end */
    int hurry;        /* another: when an operation was started */
    int epoll;        /* what it sleeps on: those, fabrics and lanes */
    unsigned seen;    /* of the program's polls, at the last look */
    uint64_t look_ns; /* until the next look, while the program makes progress */
} helper = {.end = -1, .hurry = -1, .epoll = -1};

__thread bool hwmc_is_helper __attribute__((tls_model("initial-exec")));

bool hwmc_helper_wanted(void)
{
    switch (hwmc_settings.progress_thread) {
        case HWMC_SET_THREAD_ON:
            return true;
        case HWMC_SET_THREAD_AUTO:
            return hwmc_has_processors_left();
        default:
            return false;
    }
}

/* Sleeping. */

static bool watch(int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};

    return epoll_ctl(helper.epoll, EPOLL_CTL_ADD, fd, &e) == 0 || errno == EEXIST;
}

/* How it went: NEVER: this cannot be waited for; NOT_NOW: something is there already. */
enum watched { WATCHED_NEVER, WATCHED_NOT_NOW, WATCHED };

/* A lane's descriptor may stay readable with nothing to do, as UCX's do over TCP: what counts is
 * what comes anew. */
static enum watched watch_lane(struct hwmc_lane *lane)
{
    if (!watch(lane->ops->fd(lane), EPOLLIN | EPOLLET))
        return WATCHED_NEVER;
    return lane->ops->arm(lane) == HWMC_OK ? WATCHED : WATCHED_NOT_NOW;
}

static enum watched watch_fabric(struct hwmc_fabric *fabric)
{
    int fds[FDS_MAX], num = fabric->ops->fds(fabric, fds, FDS_MAX);

    for (int i = 0; i < num; i++)
        if (i == FDS_MAX || !watch(fds[i], EPOLLIN))
            return WATCHED_NEVER;
    return WATCHED;
}

/* Under the lock: from now on what comes for the engine is seen at helper.epoll. */
static enum watched watch_engine(const struct hwmc_engine *e)
{
    enum watched least = WATCHED;

    for (int i = 0; i < HWMC_RAIL_BITS; i++)
        if (e->wires.rails.one[i].fabric)
            least = MPL_MIN(least, watch_fabric(e->wires.rails.one[i].fabric));
    for (uint32_t i = 0; hwmc_engine_by_lanes(e) && i < e->wires.cfg.num_far_lanes; i++)
        least = MPL_MIN(least, watch_lane(e->wires.cfg.lanes[i]));
    return MPL_MIN(least, watch_lane(e->wires.cfg.lane));
}

/* Until one of the descriptors is readable, for `ns` at most. */
static void sleep_on(struct pollfd *fds, nfds_t num, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t) (ns / 1000000000u),
                         .tv_nsec = (long) (ns % 1000000000u)};

    atomic_store_explicit(&hwmc_helper_told.far, ns > LOOK_SOON_NS, memory_order_seq_cst);
    ppoll(fds, num, &t, NULL);
}

static void take_hurry(void)
{
    eventfd_t times;

    eventfd_read(helper.hurry, &times);
    helper.look_ns = LOOK_SOON_NS;
}

/* Until it is told to end, or that an operation was started, for `ns` at most. Whether it is to
 * end. */
static bool sleep_until_told(uint64_t ns)
{
    struct pollfd p[2] = {{.fd = helper.end, .events = POLLIN},
                          {.fd = helper.hurry, .events = POLLIN}};

    sleep_on(p, 2, ns);
    if (p[1].revents)
        take_hurry();
    return p[0].revents != 0;
}

static void sleep_on_all(uint64_t ns)
{
    struct pollfd p = {.fd = helper.epoll, .events = POLLIN};

    sleep_on(&p, 1, ns);
}

/* Takes the edges; whether the thread is to end. */
static bool take_events(void)
{
    struct epoll_event came[FDS_MAX];
    bool ends = false;

    for (int n = epoll_wait(helper.epoll, came, FDS_MAX, 0); n > 0; n--) {
        ends = ends || came[n - 1].data.fd == helper.end;
        if (came[n - 1].data.fd == helper.hurry)
            take_hurry();
    }
    return ends;
}

/* Answering. */

/* Whether the program makes progress, or has since this was asked last. */
static bool program_polls(void)
{
    struct hwmc_helper_told *t = &hwmc_helper_told;
    unsigned polls = atomic_load_explicit(&t->polls, memory_order_relaxed), before = helper.seen;

    helper.seen = polls;
    return polls != before || atomic_load_explicit(&t->in, memory_order_acquire);
}

/* How many fragments others were sent that had asked for them. */
static uint64_t repairs(const struct hwmc_engine *e)
{
    return e->wires.counts->forwarded + e->wires.counts->given;
}

/* Under the lock, in place of the program: progress. How long from `now` on there is nothing to do,
 * in ns, if nothing comes. Where that is not known it soon looks again, and less soon when it has
 * done so for a while. */
static uint64_t stand_in(struct hwmc_engine *e, uint64_t now)
{
    static unsigned in_a_row;
    uint64_t before = repairs(e), until;
    enum watched watched;

    hwmc_counters.helper->wakes++;
    hwmc_engine_progress(e, now);
    hwmc_counters.helper->repairs += repairs(e) - before;
    watched = watch_engine(e);
    if (watched == WATCHED_NOT_NOW)
        return ++in_a_row < BUSY_LOOKS ? 0 : LOOK_NS;
    in_a_row = 0;
    until = MPL_MIN(hwmc_engine_deadline(e), e->wires.cfg.lane->ops->deadline(e->wires.cfg.lane));
    until = until > now ? until - now : 0;
    return watched == WATCHED ? until : MPL_MIN(until, LOOK_NS);
}

/* Steps the program's operations on what has come, and sends what follows of that. How long there
 * is nothing to do then; `ns`: as far as is known. No descriptor tells of what ranks of this host
 * write to memory. */
static uint64_t step_operations(struct hwmc_engine *e, uint64_t ns)
{
    if (program_polls())
        return 0;
    hwmc_queues_step(HWMC_STEP_BY_HELPER);
    hwmc_lock();
    if (!program_polls())
        ns = MPL_MIN(ns, stand_in(e, hwmc_now()));
    hwmc_unlock();
    return hwmc_queues_in_memory() ? MPL_MIN(ns, MEMORY_LOOK_NS) : ns;
}

/* The program makes progress: until the next look. Whether the thread is to end. */
static bool look_later(void)
{
    const uint64_t ns = helper.look_ns;

    helper.look_ns = MPL_MIN(2 * ns, LOOK_NS);
    return sleep_until_told(ns);
}

/* One step: until the next look, or until something comes. Whether the thread is to end. */
static bool step(void)
{
    struct hwmc_engine *e = hwmc_process_engine();
    const bool active = hwmc_active();
    uint64_t ns;

    if (!active)
        return sleep_until_told(IDLE_LOOK_NS);
    if (program_polls())
        return look_later();
    hwmc_lock();
    ns = program_polls() ? 0 : stand_in(e, hwmc_now()); /* it may have begun meanwhile */
    hwmc_unlock();
    if (hwmc_queues_pending() > 0)
        ns = step_operations(e, ns);
    if (ns > 0)
        sleep_on_all(ns);
    return take_events();
}

static void *help(void *unused)
{
    hwmc_is_helper = true;
    while (!step())
        ;
    return unused;
}

/* Beginning and end. */

static int begin_thread(void)
{
    sigset_t all, before;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&helper.thread, NULL, help, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

static void close_descriptors(void)
{
    if (helper.epoll >= 0)
        close(helper.epoll);
    if (helper.end >= 0)
        close(helper.end);
    if (helper.hurry >= 0)
        close(helper.hurry);
    helper.epoll = helper.end = helper.hurry = -1;
}

int hwmc_helper_start(void)
{
    int mpi_errno = MPI_SUCCESS, err;

    if (!hwmc_helper_wanted())
        goto fn_exit;
    helper.end = eventfd(0, EFD_CLOEXEC);
    helper.hurry = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    helper.epoll = epoll_create1(EPOLL_CLOEXEC);
    helper.look_ns = LOOK_NS;
    err = helper.end < 0 || helper.hurry < 0 || helper.epoll < 0 || !watch(helper.end, EPOLLIN) ||
                  !watch(helper.hurry, EPOLLIN)
              ? errno
              : begin_thread();
    MPIR_ERR_CHKANDJUMP1(err != 0, mpi_errno, MPI_ERR_OTHER, "**hwmc_helper", "**hwmc_helper %s",
                         strerror(err));
    hwmc_helper_told.on = true;

fn_exit:
    return mpi_errno;
fn_fail:
    close_descriptors();
    goto fn_exit;
}

void hwmc_helper_hurry(void)
{
    struct hwmc_helper_told *t = &hwmc_helper_told;

    if (t->on && atomic_exchange_explicit(&t->far, false, memory_order_seq_cst))
        eventfd_write(helper.hurry, 1);
}

void hwmc_helper_stop(void)
{
    if (!hwmc_helper_told.on)
        return;
    hwmc_helper_told.on = false;
    eventfd_write(helper.end, 1);
    pthread_join(helper.thread, NULL);
    close_descriptors();
}
