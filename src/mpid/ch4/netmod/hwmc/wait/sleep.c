/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sleep: see sleep.h. UCX's descriptors are epoll instances themselves, and over TCP (seen
 * with 1.13) one can stay readable with nothing for progress to do: a writable socket that UCX
 * waits to write to no more. Waiting for edges tells what comes anew all the same; what comes
 * between the last poll and the sleep is an edge as well.
 */

#include "mpidimpl.h"
#include "../../../../../mpi/coll/bcast_hw/op/wait.h"
#include "../base/global.h"
#include "../wires/sessions.h"
#include "sleep.h"
#include "../../ucx/ucx_impl.h"
#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "../../../../../mpi/coll/bcast_hw/port/lane.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX 64 /* of a fabric: udp has no more */
#define CAME_MAX 64

/* A shmmod, hcoll or UCC makes progress that none of our descriptors tells of. */
#if !defined(MPIDI_CH4_DIRECT_NETMOD) || defined(HAVE_HCOLL) || defined(HAVE_UCC)
#define SLEEP_IS_SAFE false
#else
#define SLEEP_IS_SAFE true
#endif

static bool may_sleep;
static bool wakeup; /* MPICH's UCX context can be waited for */
static int epoll_fd = -1;

/* What is in the epoll instance, so that a sleep need not put it there again: the lanes' and
 * MPICH's once, a fabric's where they differ from these. A descriptor that was closed has left it
 * by itself. */
static bool mpich_is_watched, lane_is_watched[HWMC_JOB_LANES_MAX], control_is_watched;
static struct watched {
    int num, fds[FDS_MAX];
} watched[HWMC_RAILS_MAX];

void hwmc_sleep_init(bool wanted)
{
    may_sleep = SLEEP_IS_SAFE && wanted;
    /* An earlier MPI_Init of this process may have left some. */
    if (epoll_fd >= 0)
        close(epoll_fd);
    /* At once: a program that counts its descriptors shall not see one more when it first sleeps.
     * */
    epoll_fd = may_sleep ? epoll_create1(EPOLL_CLOEXEC) : -1;
    mpich_is_watched = control_is_watched = false;
    memset(lane_is_watched, 0, sizeof(lane_is_watched));
    memset(watched, 0, sizeof(watched));
}

bool hwmc_sleep_wanted(void)
{
    return may_sleep;
}

void hwmc_sleep_possible(void)
{
    wakeup = true;
}

bool hwmc_sleep_can(void)
{
    return may_sleep && wakeup && !MPIR_IS_THREADED && MPIDI_HWMC_NUM_VCIS == 1;
}

/* `whose`: HWMC_CAME_*. */
static bool watch(int fd, uint32_t events, uint32_t whose)
{
    struct epoll_event e = {.events = events, .data.u32 = whose};

    if (epoll_fd < 0)
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return epoll_fd >= 0 && (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0 || errno == EEXIST);
}

static bool watch_mpich(void)
{
    int fd;

    if (!mpich_is_watched)
        mpich_is_watched = ucp_worker_get_efd(MPIDI_UCX_global.ctx[0].worker, &fd) == UCS_OK &&
                           watch(fd, EPOLLIN | EPOLLET, HWMC_CAME_MPICH);
    return mpich_is_watched;
}

static bool watch_lane(struct hwmc_lane *lane, bool *is_watched)
{
    if (!*is_watched)
        *is_watched = watch(lane->ops->fd(lane), EPOLLIN | EPOLLET, HWMC_CAME_ENGINE);
    return *is_watched;
}

static bool watch_fabric(struct hwmc_fabric *fabric, struct watched *w)
{
    int fds[FDS_MAX], num = fabric->ops->fds(fabric, fds, FDS_MAX);

    if (num > FDS_MAX)
        return false;
    for (int i = 0; i < num; i++)
        if (i >= w->num || w->fds[i] != fds[i]) {
            if (!watch(fds[i], EPOLLIN, HWMC_CAME_ENGINE))
                return false;
            w->fds[i] = fds[i];
        }
    w->num = num;
    return true;
}

/* The lanes of rails carry nothing most of the time, and then nobody need look at them. */
static int lanes_in_use(void)
{
    return hwmc_by_lanes() ? hwmc_global.num_lanes : 0;
}

static bool arm_lanes(void)
{
    bool armed = true;

    hwmc_lock();
    for (int i = 0; i < lanes_in_use() && armed; i++)
        armed = hwmc_global.lanes[i]->ops->arm(hwmc_global.lanes[i]) == HWMC_OK;
    armed = armed && hwmc_global.lane->ops->arm(hwmc_global.lane) == HWMC_OK;
    hwmc_unlock();
    return armed;
}

static bool watch_fabrics(void)
{
    for (int i = 0; i < HWMC_RAILS_MAX; i++)
        if (hwmc_global.fabrics[i] && !watch_fabric(hwmc_global.fabrics[i], &watched[i]))
            return false;
    return true;
}

/* Also shortens the sleep to the engine's deadline, which tells of what came before the descriptors
 * were asked for. The helper may still be at what it has begun, so fabrics and lanes are asked
 * under the engine's lock. */
static bool watch_engine(uint64_t *until)
{
    struct hwmc_lane *lane = hwmc_global.lane;
    uint64_t deadline;
    bool can;

    hwmc_lock();
    can = watch_fabrics();
    hwmc_unlock();
    if (!can)
        return false;
    deadline = hwmc_deadline();
    if (hwmc_global.sessions)
        deadline = MPL_MIN(deadline, hwmc_job_sessions_deadline());
    if (deadline < *until)
        *until = deadline;
    for (int i = 0; i < lanes_in_use(); i++)
        if (!watch_lane(hwmc_global.lanes[i], &lane_is_watched[i]))
            return false;
    return watch_lane(lane, &control_is_watched);
}

static enum hwmc_armed arm(uint64_t now, uint64_t *until)
{
    const bool engine = hwmc_engine_in_use();

    if (!watch_mpich() || (engine && !watch_engine(until)))
        return HWMC_ARMED_NEVER;
    if (*until <= now || (engine && !arm_lanes()) ||
        ucp_worker_arm(MPIDI_UCX_global.ctx[0].worker) != UCS_OK)
        return HWMC_ARMED_NOT_NOW;
    return HWMC_ARMED;
}

enum hwmc_armed hwmc_sleep_arm(uint64_t now, uint64_t *until)
{
    const enum hwmc_armed armed = arm(now, until);

    may_sleep = armed != HWMC_ARMED_NEVER;
    return armed;
}

static unsigned where(const struct epoll_event *came, int num)
{
    unsigned at = 0;

    for (int i = 0; i < num; i++)
        at |= came[i].data.u32;
    return at;
}

unsigned hwmc_sleep_look(void)
{
    struct epoll_event came[CAME_MAX];

    return where(came, epoll_wait(epoll_fd, came, CAME_MAX, 0)); /* takes the edges */
}

/* One system call; on a kernel before 5.11, or in a container that forbids it, two. */
static unsigned look_for(const struct timespec *t)
{
    struct pollfd p = {.fd = epoll_fd, .events = POLLIN};
#ifdef SYS_epoll_pwait2
    static bool is_missing;
    struct epoll_event came[CAME_MAX];

    if (!is_missing) {
        const long num = syscall(SYS_epoll_pwait2, epoll_fd, came, CAME_MAX, t, NULL, 0);

        is_missing = num < 0 && errno != EINTR;
        if (!is_missing)
            return where(came, (int) num);
    }
#endif
    return ppoll(&p, 1, t, NULL) > 0 ? hwmc_sleep_look() : 0;
}

unsigned hwmc_sleep_until(uint64_t now, uint64_t until)
{
    const struct timespec t = {.tv_sec = (time_t) ((until - now) / 1000000000u),
                               .tv_nsec = (long) ((until - now) % 1000000000u)};

    return look_for(&t);
}
