/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Polite waiting. MPICH waits by calling progress until something is done, and does not say so. A
 * wait is recognised by that: calls that follow each other within microseconds and find nothing. It
 * first polls, then gives the processor away between polls, then sleeps until one of its descriptors
 * is readable or time is up. A program that tests now and then never sleeps, nor does one with
 * several threads, for progress runs under MPICH's locks.
 *
 * How long giving the processor away takes tells who else wants it, and what comes next:
 *   nobody (< ALONE_NS)                poll, at first without giving way: it costs no one anything, and
 *                                      nothing has to interrupt this process to wake it
 *   others who give way in turn        give way at once, and between that only look at descriptors:
 *                                      they may have what this one waits for
 *   one who computes (> CROWDED_NS)    sleep at once: who sleeps is woken in time, who gives way is not
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_am.h"
#include "hwmc_links.h"
#include "../ucx/ucx_impl.h"
#include "../../../../mpi/coll/bcast_hw/port/fabric.h"
#include "../../../../mpi/coll/bcast_hw/port/lane.h"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

categories :
    - name : CH4_HWMC
      description : A category for CH4 HWMC netmod variables

cvars:
    - name        : MPIR_CVAR_HWMC_WAIT
      category    : CH4_HWMC
      type        : enum
      default     : auto
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : |-
        What a process does while it waits for a message.
        auto  - Poll, then give the processor away between polls, then sleep until one comes.
        spin  - Poll, as MPICH does without hwmc.
        yield - Poll, then give the processor away between polls, but never sleep.
        block - Poll, then sleep until one comes.

    - name        : MPIR_CVAR_HWMC_WAIT_SPINS
      category    : CH4_HWMC
      type        : int
      default     : 16
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        How many polls that find nothing come before a waiting process gives the processor away,
        where it has a core to itself. Where others turn out to run on the core it does so at once.

    - name        : MPIR_CVAR_HWMC_WAIT_YIELD_US
      category    : CH4_HWMC
      type        : int
      default     : 1000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        How many microseconds a waiting process gives the processor away between polls before it
        sleeps. It sleeps at once where others turn out to compute on the core.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* From the end of one poll of a wait to the begin of the next passes no more than this; after a sleep
 * the caches are cold. A program that computes between its tests takes longer. */
#define LOOP_NS 5000u
#define LOOP_COLD_NS 50000u

/* The first full poll after a wait began to watch descriptors comes soon and the next ones later, so
 * that what no descriptor tells (a flag in memory, a generalized request) is noticed late by no more
 * than the wait has taken. */
#define SLEEP_FIRST_NS 100000u
#define SLEEP_MAX_NS 10000000u

#define ALONE_NS 2000u
#define CROWDED_NS 1000000u
#define ALONE_AGAIN                                                                                \
    64u /* times in a row that nobody wanted the core, until it counts as the own one */
#define CROWDED_SLEEPS 64 /* sleeps until giving way is tried again */

#define QUIET_POLLS 16 /* of which one looks where hardly anything comes */

#define FDS_MAX 64

/* The wait of a thread. */
struct wait {
    unsigned events;   /* that MPICH's worker had in the poll under way */
    int polls_left;    /* empty polls until the clock is looked at */
    uint64_t since;    /* ns: when this wait began; 0: none was recognised */
    uint64_t finished; /* collectives inside the host, at that time */
    uint64_t left;     /* ns: when the last look ended */
    uint64_t entered;  /* ns: when the poll after that began */
    uint64_t sleep_ns; /* the longest the next sleep may take */
    unsigned alone;    /* times in a row that giving way found nobody; at most ALONE_AGAIN */
    int crowded;       /* sleeps until giving way is tried again */
    bool inside;       /* a worker of MPICH's makes progress */
};

static __thread struct wait current __attribute__((tls_model("initial-exec")));
static bool polite;
static int spins; /* empty polls before a process that has its core to itself looks at the clock */
static bool wakeup; /* MPICH's UCX context can be waited for */
static bool may_sleep;
static uint64_t yield_ns;

/* A shmmod, hcoll or UCC makes progress that none of our descriptors tells of. */
#if !defined(MPIDI_CH4_DIRECT_NETMOD) || defined(HAVE_HCOLL) || defined(HAVE_UCC)
#define SLEEP_IS_SAFE false
#else
#define SLEEP_IS_SAFE true
#endif

void MPIDI_HWMC_wait_init(void)
{
    if (MPIR_CVAR_HWMC_WAIT == MPIR_CVAR_HWMC_WAIT_spin)
        return;
    polite = true;
    may_sleep = SLEEP_IS_SAFE && MPIR_CVAR_HWMC_WAIT != MPIR_CVAR_HWMC_WAIT_yield;
    yield_ns = MPIR_CVAR_HWMC_WAIT == MPIR_CVAR_HWMC_WAIT_block
                   ? 0
                   : (uint64_t) MPL_MAX(MPIR_CVAR_HWMC_WAIT_YIELD_US, 0) * 1000;
    spins = MPL_MAX(MPIR_CVAR_HWMC_WAIT_SPINS, 0);
}

/* UCX gives a descriptor to wait on only to who asked for that when the context was made, and the
 * ucx netmod does not ask. Where UCX cannot, waiting goes without. */
#undef ucp_init
ucs_status_t MPIDI_HWMC_ucp_init(const ucp_params_t *params, const ucp_config_t *config,
                                 ucp_context_h *context)
{
    ucp_params_t more = *params;

    if (may_sleep) {
        more.features |= UCP_FEATURE_WAKEUP;
        if (ucp_init(&more, config, context) == UCS_OK) {
            wakeup = true;
            return UCS_OK;
        }
    }
    return ucp_init(params, config, context);
}

/* What is waited on: an epoll instance of ours with UCX's descriptors and the fabric's in it. UCX's are
 * epoll instances themselves, and over TCP (seen with 1.13) one can stay readable with nothing for
 * progress to do: a writable socket that UCX waits to write to no more. Waiting for edges tells what
 * comes anew all the same; what comes between the last poll and the sleep is an edge as well. */
static int epoll_fd = -1;
static int watched[FDS_MAX];
static int num_watched;

static bool watch(int fd, uint32_t events)
{
    struct epoll_event e = {.events = events};

    for (int i = 0; i < num_watched; i++)
        if (watched[i] == fd)
            return true;
    if (num_watched == FDS_MAX || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0)
        return false;
    watched[num_watched++] = fd;
    return true;
}

static bool watch_mpich(void)
{
    int fd;

    if (epoll_fd < 0)
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return epoll_fd >= 0 && ucp_worker_get_efd(MPIDI_UCX_global.ctx[0].worker, &fd) == UCS_OK &&
           watch(fd, EPOLLIN | EPOLLET);
}

static bool watch_fabric(struct bcast_hw_fabric *fabric)
{
    int fds[FDS_MAX], num = fabric->ops->fds(fabric, fds, FDS_MAX);

    for (int i = 0; i < num; i++)
        if (i == FDS_MAX || !watch(fds[i], EPOLLIN))
            return false;
    return true;
}

/* The lanes of rails carry nothing most of the time, and then nobody need look at them. */
static int lanes_in_use(void)
{
    return MPIR_Bcast_hw_by_lanes() ? MPIDI_HWMC_global.num_lanes : 0;
}

static bool arm_lanes(void)
{
    for (int i = 0; i < lanes_in_use(); i++)
        if (MPIDI_HWMC_global.lanes[i]->ops->arm(MPIDI_HWMC_global.lanes[i]) != BCAST_HW_OK)
            return false;
    return MPIDI_HWMC_global.lane->ops->arm(MPIDI_HWMC_global.lane) == BCAST_HW_OK;
}

/* Also shortens the sleep to the engine's deadline, which tells of what came before the descriptors were
 * asked for. */
static bool watch_engine(uint64_t *until)
{
    struct bcast_hw_lane *lane = MPIDI_HWMC_global.lane;
    uint64_t deadline;

    for (int i = 0; i < BCAST_HW_RAILS_MAX; i++)
        if (MPIDI_HWMC_global.fabrics[i] && !watch_fabric(MPIDI_HWMC_global.fabrics[i]))
            return false;
    deadline = MPIR_Bcast_hw_deadline();
    if (MPIDI_HWMC_global.links)
        deadline = MPL_MIN(deadline, MPIDI_HWMC_links_deadline());
    if (deadline < *until)
        *until = deadline;
    for (int i = 0; i < lanes_in_use(); i++)
        if (!watch(MPIDI_HWMC_global.lanes[i]->ops->fd(MPIDI_HWMC_global.lanes[i]),
                   EPOLLIN | EPOLLET))
            return false;
    return watch(lane->ops->fd(lane), EPOLLIN | EPOLLET);
}

enum armed { ARMED_NEVER, ARMED_NOT_NOW, ARMED };

/* From ARMED on, whatever comes is an edge at epoll_fd; `until` is brought forward to the engine's
 * deadline. NOT_NOW: there is something to do already. NEVER: this process cannot tell. */
static enum armed arm(uint64_t now, uint64_t *until)
{
    bool engine = MPIR_Bcast_hw_active() || MPIDI_HWMC_global.links;

    if (!watch_mpich() || (engine && !watch_engine(until)))
        return ARMED_NEVER;
    if (*until <= now || (engine && !arm_lanes()) ||
        ucp_worker_arm(MPIDI_UCX_global.ctx[0].worker) != UCS_OK)
        return ARMED_NOT_NOW;
    return ARMED;
}

static bool something_came(void)
{
    struct epoll_event came[FDS_MAX];

    return epoll_wait(epoll_fd, came, FDS_MAX, 0) > 0; /* takes the edges */
}

static void sleep_until(uint64_t now, uint64_t until)
{
    struct pollfd p = {.fd = epoll_fd, .events = POLLIN};
    struct timespec t = {.tv_sec = (time_t) ((until - now) / 1000000000u),
                         .tv_nsec = (long) ((until - now) % 1000000000u)};

    if (ppoll(&p, 1, &t, NULL) > 0)
        something_came();
}

static bool can_sleep(void)
{
    return may_sleep && wakeup && !MPIR_IS_THREADED && MPIDI_HWMC_NUM_VCIS == 1;
}

/* Whether the empty poll belongs to the wait under way. */
static bool goes_on(const struct wait *w)
{
    uint64_t allowed = w->sleep_ns > SLEEP_FIRST_NS ? LOOP_COLD_NS : LOOP_NS;

    return w->since != 0 && w->entered - w->left <= allowed &&
           w->finished == MPIR_Bcast_hw_node_finished();
}

/* Gives the processor away once; what that takes tells who else wants it. Returns the time after. */
static uint64_t give_way(struct wait *w, uint64_t now)
{
    uint64_t after;

    sched_yield();
    after = MPIR_Bcast_hw_now();
    if (after - now >= ALONE_NS)
        w->alone = 0;
    else if (w->alone < ALONE_AGAIN)
        w->alone++;
    if (after - now >= CROWDED_NS)
        w->crowded = CROWDED_SLEEPS;
    return after;
}

/* Until something comes or `until`: looks for edges, which is one system call where a poll is several,
 * and gives way in between, for as long as that is due; then sleeps. */
static void doze(struct wait *w, uint64_t now, uint64_t until)
{
    while (now < until && w->crowded == 0 && now - w->since < yield_ns) {
        now = give_way(w, now);
        if (something_came())
            return;
    }
    if (now < until) {
        sleep_until(now, until);
        w->crowded -= w->crowded > 0;
    }
}

/* Nobody else wanted the core lately. */
static bool alone(const struct wait *w)
{
    return w->alone == ALONE_AGAIN;
}

/* A poll found nothing and polls_left is used up. */
static void step(struct wait *w)
{
    uint64_t now = MPIR_Bcast_hw_now();
    uint64_t until = now + w->sleep_ns;
    enum armed armed = ARMED_NEVER;

    w->polls_left = 0;
    if (!goes_on(w)) {
        w->since = now;
        w->finished = MPIR_Bcast_hw_node_finished();
        w->sleep_ns = SLEEP_FIRST_NS;
        w->left = now;
        return;
    }
    if (can_sleep() && !(alone(w) && now - w->since < yield_ns)) {
        armed = arm(now, &until);
        may_sleep = armed != ARMED_NEVER;
    }
    if (armed == ARMED) {
        doze(w, now, until);
        w->sleep_ns = MPL_MIN(2 * w->sleep_ns, SLEEP_MAX_NS);
    } else {
        give_way(w, now);
    }
    w->left = MPIR_Bcast_hw_now();
}

void MPIDI_HWMC_poll_begins(void)
{
    struct wait *w = &current;

    w->events = 0;
    if (w->since != 0)
        w->entered = MPIR_Bcast_hw_now();
}

/* Where links carry all messages nothing but a new acquaintance of this job's comes by MPICH's worker. */
static bool is_quiet(void)
{
    static unsigned polls;

    return MPIDI_HWMC_carries && MPIDI_HWMC_num_strange == 0 && ++polls % QUIET_POLLS != 0;
}

/* What completes the last message of a communicator deletes it, for which MPICH since 4.2 makes progress once more. UCX
 * does not allow that. */
#undef ucp_worker_progress
unsigned MPIDI_HWMC_ucp_worker_progress(ucp_worker_h worker)
{
    unsigned events;

    if (current.inside || is_quiet())
        return 0;
    current.inside = true;
    events = ucp_worker_progress(worker);
    current.inside = false;
    current.events += events;
    return events;
}

/* The engine lives with VCI 0. */
int MPIDI_HWMC_poll_ends(int vci)
{
    int mpi_errno = MPI_SUCCESS;
    struct wait *w = &current;

    if (vci == 0) {
        bool active = MPIR_Bcast_hw_active();
        int events = 0;

        w->events += (unsigned) MPIR_Bcast_hw_progress();
        if (MPIDI_HWMC_global.links)
            mpi_errno = MPIDI_HWMC_am_progress(active, &events);
        w->events += (unsigned) events;
    }
    if (w->events > 0) {
        w->polls_left = alone(w) ? spins : 0;
        w->since = 0;
    } else if (polite && !MPIR_Bcast_hw_in_node() && --w->polls_left < 0) {
        step(w);
    }
    return mpi_errno;
}
