/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wait_policy: what a thread does between two polls that found nothing: poll again, yield its
 * processor (sched_yield), or sleep. One policy serves all waits: those of MPICH, of the engine,
 * and of collectives inside a host. A waiting thread asks it every few polls, does what it says,
 * and reports how long that took.
 *
 *            presumed, or REGAINED counted yields in a row that found nobody
 *   SHARED ----------------------------------------------------------> ALONE
 *          <----------------------------------------------------------
 *            MET yields in a row that found somebody, or a turn that was lost or given away
 *
 * ALONE: no other process wants the processor. Polling costs no one anything, so the thread polls.
 * It yields so rarely that this takes 1/SHARE of the wait, to find out whether it is still alone.
 * One yield that finds somebody may have met the kernel at its own work; so others follow at once,
 * after a poll each, until one finds nobody or MET have found somebody. The thread sleeps when the
 * wait has lasted so long that waking up late lengthens it by no more than 1/SHARE as well.
 *
 * SHARED: another process wants the processor, perhaps the one that this one waits for. The thread
 * yields after each poll. It sleeps when it has yielded for as long as the limits of the wait say,
 * or soon if another process computes: a sleeping thread gets the processor back in time when it is
 * woken, a yielding one does not. It also sleeps soon if processors are rationed (a quota of a
 * container): polls and yields use the quota up, and then all are stopped.
 *
 * Whether a yield found somebody is asked of the kernel, which counts how often it gave a thread's
 * processor to another. Time does not tell: that other one may wait as well and yield at once, and
 * some kernels do that in less than three times what a yield takes that finds nobody. To ask takes
 * as long as a yield: ALONE all are counted, for they are rare, SHARED one in some.
 *
 * A yield finds nobody where the kernel gives the processor back though others want it, as it does
 * between sessions that it schedules as groups. They show all the same: one takes the processor for
 * a turn of its own, while the thread polls.
 *
 * A thread that only tests, however often, never sleeps: it has other things to do. It yields if
 * other processes wait, and keeps the processor if one computes, as a test must not take as long as
 * that process's turn.
 *
 * The policy uses two measurements: how long a yield takes that finds nobody, and how late a sleep
 * ends. Invariants: regained <= REGAINED, and is REGAINED exactly when ALONE; met < MET, and 0 when
 * not ALONE; empty_yield_ns and late_ns are positive.
 */
#ifndef HWMC_CORE_WAIT_WAIT_POLICY_H_INCLUDED
#define HWMC_CORE_WAIT_WAIT_POLICY_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_WAIT_SHARE 32u   /* a wait is made longer by one part in this */
#define HWMC_WAIT_REGAINED 8u /* counted yields in a row that find nobody, until SHARED is over */
#define HWMC_WAIT_MET 4u      /* yields in a row that find somebody, until ALONE is */

enum hwmc_wait_verdict { HWMC_WAIT_POLL, HWMC_WAIT_YIELD, HWMC_WAIT_SLEEP };

/* What a thread has found out. */
struct hwmc_wait_policy {
    uint32_t regained; /* counted yields in a row that found nobody */
    uint32_t met;      /* ALONE: yields in a row that found somebody */
    uint32_t yields;   /* all, modulo 2^32 */
    uint32_t
        computes; /* verdicts until it is seen again whether somebody computes; 0: nobody does */
    uint64_t empty_yield_ns; /* of a yield that finds nobody; the least of late */
    uint64_t late_ns;        /* how late a sleep ends; a moving average */
    uint64_t turn_ns;        /* who is without a processor for so long has met one who computes */
    bool rationed;           /* processors are */
    bool polite;             /* the user wants SHARED in any case */
};

/* One wait. All zeros: none has begun. */
struct hwmc_wait {
    uint64_t since;   /* ns: when it began; 0: not yet */
    uint64_t yielded; /* ns: when it yielded last, or began */
    uint32_t yields;
};

/* How long a wait yields before it sleeps, where processors are shared: until one of them is
 * exceeded. */
struct hwmc_wait_limits {
    uint64_t ns;
    uint32_t yields;
};

/* `alone`: whether the thread is presumed to have a processor to itself. `sharers`: threads of the
 * program for each processor, 1 or more. */
void hwmc_wait_policy_init(struct hwmc_wait_policy *p, bool alone, bool rationed, uint32_t sharers);

static inline bool hwmc_wait_is_alone(const struct hwmc_wait_policy *p)
{
    return p->regained == HWMC_WAIT_REGAINED && !p->polite;
}

/* Polls have found nothing up to `now` (ns): what comes before the next one. The first call begins
 * the wait. */
enum hwmc_wait_verdict hwmc_wait_next(const struct hwmc_wait_policy *p, struct hwmc_wait *w,
                                      const struct hwmc_wait_limits *limits, uint64_t now);

/* The same for a thread that tests in a loop: POLL or YIELD. */
enum hwmc_wait_verdict hwmc_wait_tested(struct hwmc_wait_policy *p);

/* In the middle of a wait the thread was without its processor for p->turn_ns or more: somebody
 * computes. */
void hwmc_wait_lost_turn(struct hwmc_wait_policy *p);

/* What became of a yield. */
struct hwmc_wait_yield {
    uint64_t before, after; /* ns: from when to when */
    enum { HWMC_WAIT_UNCOUNTED, HWMC_WAIT_NOBODY, HWMC_WAIT_SOMEBODY } found;
};

/* Whether the kernel is to be asked what the next yield found. */
bool hwmc_wait_counts(const struct hwmc_wait_policy *p);

void hwmc_wait_yielded(struct hwmc_wait_policy *p, struct hwmc_wait *w,
                       const struct hwmc_wait_yield *y);

/* It slept, and was awake at `after`. `until`: when it was to end by itself, and did; 0: it was
 * woken. */
void hwmc_wait_slept(struct hwmc_wait_policy *p, struct hwmc_wait *w, uint64_t until,
                     uint64_t after);

/* Asserts the invariants above. */
void hwmc_wait_check(const struct hwmc_wait_policy *p);

#endif /* HWMC_CORE_WAIT_WAIT_POLICY_H_INCLUDED */
