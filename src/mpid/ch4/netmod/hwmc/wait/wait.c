/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What a process does while it waits for messages, and how often it polls the engine.
 *
 * core/wait/wait_policy decides what comes between two polls that found nothing. While the thread
 * has its processor to itself, only loops that are known to wait ask it: MPID_Progress_wait, the
 * loops of one-sided epochs, the layer's own (hwmc_pre.h: MPIDI_HWMC_wait_polled), and every POLLS
 * polls. So a call that only tests makes no system call for waiting and reads no clock. Where
 * processors are shared, each poll that follows the last one closely asks it, be it a wait or a
 * program that tests in a loop: the other process may have what this one waits for. Only a wait
 * sleeps. A test yields at most, for the program has other things to do than to wait for MPI. A
 * process with several threads does not sleep either, since progress runs under MPICH's locks.
 *
 * The engine's messages come by further descriptors, and polling those takes longer than a poll of
 * shared memory. A thread that waits for the engine, or shares its processor, polls them each time;
 * others so seldom that it takes 1/SHARE of the time, and at once if they have not for a tick of
 * the kernel's clock. A thread that does nothing but wait looks seldom at what is dry
 * (core/wait/dry): MPICH's worker, the engine, and its sources one by one.
 */

#include "mpidimpl.h"
#include "../../../../../mpi/coll/bcast_hw/op/queue.h"
#include "../../../../../mpi/coll/bcast_hw/op/wait.h"
#include "../base/global.h"
#include "helper.h"
#include "../wires/sessions.h"
#include "sleep.h"
#include "../../ucx/ucx_impl.h"
#include "../../../../../mpi/coll/bcast_hw/core/wait/dry.h"
#include "../../../../../mpi/coll/bcast_hw/core/wait/wait_policy.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <time.h>

#define POLLS                                                                                      \
    32 /* that a thread with a processor of its own makes between two looks at the clock */

/* A thread that shares its processor: from the end of one poll of a wait to the begin of the next
 * passes no more than this; after a sleep the caches are cold. A program that computes between its
 * tests takes longer. */
#define LOOP_NS 5000u
#define LOOP_COLD_NS 50000u
#define LOOP_ALONE_NS 1000000u /* POLLS of them, of a thread that is known to wait */

/* The first full poll after a wait began to watch descriptors comes soon and the next ones later,
 * so that what no descriptor tells (a flag in memory, a generalized request) is noticed late by no
 * more than the wait has taken. */
#define SLEEP_FIRST_NS 100000u
#define SLEEP_MAX_NS 10000000u

#define QUIET_POLLS 16 /* of which one looks where hardly anything comes */
#define LOOK_START_NS 500u
#define ENGINE_POLLS_MAX 4096u
#define ENGINE_LOOKS_NS UINT64_C(1000000) /* a first poll leaves the engine out for so long */

/* The wait of a thread, and what it has measured. */
struct wait {
    struct hwmc_wait policy;
    uint64_t finished;         /* hwmc_finished, when it began */
    uint64_t left;             /* ns: when the last step ended */
    uint64_t entered;          /* ns: when the poll under way began, where that is taken */
    uint64_t engine_looked;    /* ns: when the last one began that looked at the engine */
    uint64_t sleep_ns;         /* the longest the next sleep may take */
    uint64_t poll_ns, look_ns; /* a poll takes, and a look at descriptors; the least of late */
    bool waits;     /* processors are shared, and the poll under way is of a loop that waits */
    unsigned woken; /* where something came, HWMC_CAME_*: there the next poll looks; 0: not known */
    struct hwmc_dry mpich, engine; /* MPICH's worker, and all that the engine looks at */
    unsigned seen;                 /* of MPIDI_HWMC_poll.events: those that earlier polls had */
    bool came;                     /* the last poll found something */
};

/* When the engine is looked at, by a thread that has its processor to itself and does not wait for
 * it. */
struct engine_turn {
    time_t tick_s; /* the kernel's clock at the last look */
    long tick_ns;
    unsigned polls, left; /* from look to look; of them, until the next one */
    uint64_t at, took;    /* ns: when the last look ended, and what it took */
};

__thread struct MPIDI_HWMC_poll MPIDI_HWMC_poll __attribute__((tls_model("initial-exec")));
static __thread struct wait current __attribute__((tls_model("initial-exec")));
static __thread struct engine_turn engine_turn __attribute__((tls_model("initial-exec")));
static bool polite;
static struct hwmc_wait_limits limits;

static void begin_eager(void)
{
    MPIDI_HWMC_poll.eager++;
    MPIDI_HWMC_poll.left = 0;
}

static void end_eager(void)
{
    MPIDI_HWMC_poll.eager--;
}

static bool polled(void)
{
    MPIDI_HWMC_wait_polled();
    return current.came || current.woken;
}

void hwmc_wait_init(void)
{
    static const struct hwmc_waiter waiter = {
        .begin = begin_eager, .polled = polled, .end = end_eager, .started = hwmc_helper_hurry};

    hwmc_register_waiter(&waiter);
    polite = hwmc_settings.wait != HWMC_SET_WAIT_SPIN;
    hwmc_sleep_init(polite && hwmc_settings.wait != HWMC_SET_WAIT_YIELD);
    limits = (struct hwmc_wait_limits){
        .ns = (uint64_t) MPL_MAX(hwmc_settings.tune.wait_yield_us, 0) * 1000, .yields = UINT32_MAX};
    if (hwmc_settings.wait == HWMC_SET_WAIT_BLOCK)
        limits.ns = 0;
}

/* Of this thread. */
static struct hwmc_wait_policy *policy(void)
{
    struct hwmc_wait_policy *p = hwmc_processor_wait_policy();

    p->polite = hwmc_settings.wait == HWMC_SET_WAIT_BLOCK;
    return p;
}

static bool is_alone(void)
{
    return !polite || hwmc_wait_is_alone(policy());
}

/* The least of late: it creeps up by a 64th. */
static void note_least(uint64_t *least, uint64_t ns)
{
    if (*least == 0 || ns < *least)
        *least = ns;
    else
        *least += MPL_MIN(ns - *least, *least) / 64;
}

/* Whether the poll that found nothing belongs to the wait under way. */
static bool goes_on(const struct wait *w, bool alone, uint64_t now)
{
    if (w->policy.since == 0 || w->finished != hwmc_finished())
        return false;
    if (alone)
        return now - w->left <= LOOP_ALONE_NS;
    return w->entered - w->left <= (w->sleep_ns > SLEEP_FIRST_NS ? LOOP_COLD_NS : LOOP_NS);
}

/* ARMED: looks for what comes, which is one system call where a poll is several, and yields in
 * between, for as long as that is due; then sleeps. */
static void doze(struct wait *w, uint64_t now, uint64_t until)
{
    while (now < until && hwmc_wait_next(policy(), &w->policy, &limits, now) != HWMC_WAIT_SLEEP) {
        const uint64_t begin = hwmc_processor_yield(&w->policy, now);

        w->woken |= hwmc_sleep_look();
        now = hwmc_now();
        note_least(&w->look_ns, now - begin);
        if (w->woken)
            return;
    }
    if (now < until) {
        const unsigned came = hwmc_sleep_until(now, until);

        w->woken = came ? came : HWMC_CAME_MPICH | HWMC_CAME_ENGINE;
        hwmc_wait_slept(policy(), &w->policy, came ? 0 : until, hwmc_now());
    }
}

/* To sleep one watches descriptors; and to yield only, where a poll looks at the engine's as well
 * and so takes longer than a look at all of them at once. Not where messages come by memory alone:
 * who is about to sleep is woken by a system call of each one who sends. And not while an operation
 * waits for what ranks of this host write to memory. */
static bool has_to_arm(const struct wait *w, enum hwmc_wait_verdict verdict)
{
    if (hwmc_queues_in_memory())
        return false;
    return verdict == HWMC_WAIT_SLEEP ||
           (!is_alone() && hwmc_engine_in_use() &&
            w->poll_ns > 2 * (w->look_ns ? w->look_ns : LOOK_START_NS));
}

/* What comes between two polls of a wait. Returns when that was over. */
static uint64_t pause_(struct wait *w, uint64_t now)
{
    const enum hwmc_wait_verdict verdict = hwmc_wait_next(policy(), &w->policy, &limits, now);
    uint64_t until = now + w->sleep_ns;

    if (verdict == HWMC_WAIT_POLL)
        return now;
    if (!hwmc_sleep_can() || !has_to_arm(w, verdict) || hwmc_sleep_arm(now, &until) != HWMC_ARMED)
        return hwmc_processor_yield(&w->policy, now);
    doze(w, now, until);
    w->sleep_ns = MPL_MIN(2 * w->sleep_ns, SLEEP_MAX_NS);
    return hwmc_now();
}

/* Polls that took a turn of the processor's, in the middle of a wait, have lost it to others. */
static void find_lost_turn(const struct wait *w, uint64_t now)
{
    const uint64_t since = is_alone() ? w->left : w->entered;

    if (now - since >= policy()->turn_ns && w->policy.since != 0 &&
        w->finished == hwmc_finished() && hwmc_processor_was_taken())
        hwmc_wait_lost_turn(policy());
}

/* Polls of a wait, or tests that follow each other closely, found nothing. */
static void step(struct wait *w)
{
    const uint64_t now = hwmc_now();
    bool alone, same;

    find_lost_turn(w, now);
    alone = is_alone();
    same = goes_on(w, alone, now);
    if (!alone)
        note_least(&w->poll_ns, now - w->entered);
    w->left = now;
    if (!same) {
        w->policy.since = 0;
        w->finished = hwmc_finished();
        w->sleep_ns = SLEEP_FIRST_NS;
        hwmc_wait_next(policy(), &w->policy, &limits, now);
        return;
    }
    if (alone || w->waits)
        w->left = pause_(w, now);
    else if (hwmc_wait_tested(policy()) == HWMC_WAIT_YIELD)
        w->left = hwmc_processor_yield(&w->policy, now);
}

/* Polls are over. What they found ends the wait; else this is what comes before the next one. */
static void go_on(struct MPIDI_HWMC_poll *p)
{
    if (p->events > 0) {
        p->events = current.seen = 0;
        current.policy.since = 0;
    } else if (!hwmc_in_shm()) {
        hwmc_helper_in();
        step(&current);
        hwmc_helper_out();
    }
}

/* Where sessions carry all messages nothing but a new acquaintance of this job's comes by MPICH's
 * worker. */
static bool is_quiet(void)
{
    static unsigned polls;

    return hwmc_am_override && atomic_load_explicit(&hwmc_num_strange, memory_order_relaxed) == 0 &&
           ++polls % QUIET_POLLS != 0;
}

/* A wait for the engine looks at MPICH's worker as at a source of messages among others. */
static bool mpich_is_due(const struct MPIDI_HWMC_poll *p)
{
    if (current.woken)
        return current.woken & HWMC_CAME_MPICH;
    return p->eager == 0 || hwmc_dry_is_due(&current.mpich, HWMC_DRY_TURNS);
}

/* What completes the last message of a communicator deletes it, for which MPICH since 4.2 makes
 * progress once more. UCX does not allow that. */
static unsigned progress(ucp_worker_h worker)
{
    struct MPIDI_HWMC_poll *p = &MPIDI_HWMC_poll;
    unsigned events;

    if (p->inside || is_quiet() || !mpich_is_due(p))
        return 0;
    p->inside = true;
#undef ucp_worker_progress
    events = ucp_worker_progress(worker);
    p->inside = false;
    p->events += events;
    return events;
}

/* The ucx netmod waits for one-sided operations in loops of its own; this is a poll of one. */
static unsigned lone_progress(struct MPIDI_HWMC_poll *p, ucp_worker_h worker)
{
    unsigned events;

    if (current.woken) /* the engine has its turn in a poll of everything */
        current.woken |= HWMC_CAME_MPICH;
    if (!p->timed) { /* alone, when that was looked at last */
        events = progress(worker);
        MPIDI_HWMC_wait_polled();
        return events;
    }
    current.entered = hwmc_now();
    events = progress(worker);
    p->timed = !is_alone();
    current.waits = true;
    go_on(p);
    current.waits = false;
    return events;
}

unsigned MPIDI_HWMC_other_progress(ucp_worker_h worker)
{
    struct MPIDI_HWMC_poll *p = &MPIDI_HWMC_poll;

    return p->polling || p->inside ? progress(worker) : lone_progress(p, worker);
}

#undef ucp_ep_flush
ucs_status_t MPIDI_HWMC_ucp_ep_flush(ucp_ep_h ep)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_ptr_t request;
    ucs_status_t status;

    if (MPIDI_HWMC_NUM_VCIS > 1) /* whose worker it is of is not known here */
        return ucp_ep_flush(ep);
    request = ucp_ep_flush_nbx(ep, &param);
    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request);
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        MPIDI_HWMC_other_progress(MPIDI_UCX_global.ctx[0].worker);
    ucp_request_free(request);
    return status;
}

void MPIDI_HWMC_poll_begins(void)
{
    current.entered = hwmc_now();
}

/* A thread that has its processor to itself makes a poll: whether it looks at the engine. */
static bool engine_is_due(struct engine_turn *t)
{
    struct timespec tick;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &tick);
    if (tick.tv_nsec != t->tick_ns || tick.tv_sec != t->tick_s) {
        t->tick_ns = tick.tv_nsec;
        t->tick_s = tick.tv_sec;
        return true;
    }
    if (t->left > 0) {
        t->left--;
        return false;
    }
    return true;
}

/* It looked from `begin` to now: so many polls are to come before the next look that this takes its
 * share. */
static void note_engine_turn(struct engine_turn *t, uint64_t begin)
{
    const uint64_t now = hwmc_now(), apart = begin - t->at;

    note_least(&t->took, now - begin);
    if (apart < HWMC_WAIT_SHARE * t->took)
        t->polls = MPL_MIN(2 * t->polls + 1, ENGINE_POLLS_MAX);
    else if (apart > 2 * HWMC_WAIT_SHARE * t->took)
        t->polls /= 2;
    t->left = t->polls;
    t->at = now;
}

/* Whether polls that follow each other may leave the engine out, if it is dry: nothing of its own
 * is under way. Those of a wait; and where processors are shared others, as the first of a wait, if
 * the engine has been looked at not long ago. */
static bool may_rest(const struct MPIDI_HWMC_poll *p, const struct wait *w)
{
    const bool follows = w->waits || (p->timed && w->entered - w->engine_looked < ENGINE_LOOKS_NS);

    return follows && !(w->woken & HWMC_CAME_ENGINE) && p->eager == 0 && !hwmc_global.sessions &&
           !hwmc_by_lanes() && hwmc_queues_pending() == 0;
}

/* Progress of the engine, and of messages over sessions. */
static int poll_engine(struct MPIDI_HWMC_poll *p, struct wait *w, bool alone)
{
    int mpi_errno = MPI_SUCCESS, events = 0;
    const bool active = hwmc_active();
    const bool eager = !alone || p->eager > 0 || hwmc_global.sessions || !active ||
                       hwmc_by_lanes() || hwmc_queues_pending() > 0;

    if (may_rest(p, w) && (w->woken || !hwmc_dry_is_due(&w->engine, HWMC_DRY_RARE)))
        return MPI_SUCCESS;
    w->engine_looked = w->entered;
    if (eager || engine_is_due(&engine_turn)) {
        const uint64_t begin = eager ? 0 : hwmc_now();

        p->events +=
            (unsigned) hwmc_progress((w->woken & HWMC_CAME_ENGINE) || !(p->eager > 0 || w->waits));
        if (!eager)
            note_engine_turn(&engine_turn, begin);
    }
    if (hwmc_global.sessions)
        mpi_errno = hwmc_global.am_progress(active, &events);
    p->events += (unsigned) events;
    p->left = active || hwmc_global.sessions ? 0 : POLLS;
    return mpi_errno;
}

/* After MPICH's worker, the engine has its turn. */
static int poll_sources(struct MPIDI_HWMC_poll *p, bool alone)
{
    struct wait *w = &current;
    const unsigned before = p->events;
    const bool by_mpich = before > w->seen;
    const int mpi_errno = poll_engine(p, w, alone);

    w->came = p->events > w->seen;
    hwmc_dry_polled(&w->mpich, by_mpich, w->came);
    hwmc_dry_polled(&w->engine, p->events > before, w->came);
    w->woken = 0;
    w->seen = p->events;
    return mpi_errno;
}

/* The engine lives with VCI 0. */
int MPIDI_HWMC_poll_ends(int vci)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIDI_HWMC_poll *p = &MPIDI_HWMC_poll;
    const bool alone = is_alone();

    hwmc_helper_in();
    p->left = POLLS;
    if (vci == 0)
        mpi_errno = poll_sources(p, alone);
    p->timed = !alone;
    if (!alone) {
        p->left = 0;
        go_on(p);
        current.waits = false;
    }
    hwmc_helper_out();
    return mpi_errno;
}

/* POLLS polls of a wait are over. Where processors are shared this is called for each one, and what
 * comes between polls is for the next one's end to do (MPIDI_HWMC_poll_ends). */
void hwmc_wait_looked(void)
{
    struct MPIDI_HWMC_poll *p = &MPIDI_HWMC_poll;

    p->wait_left = POLLS;
    if (!polite || hwmc_in_shm())
        return;
    if (!hwmc_wait_is_alone(policy())) {
        p->wait_left = 0;
        p->timed = true;
        current.waits = true;
        return;
    }
    go_on(p);
}
