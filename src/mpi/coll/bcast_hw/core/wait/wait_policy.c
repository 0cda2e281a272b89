/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wait_policy: see wait_policy.h.
 */
#include "wait_policy.h"
#include "../base/minmax.h"

#include <assert.h>

/* Before anything was measured: a system call, and a timer's slack of Linux. */
#define YIELD_START_NS 500u
#define LATE_START_NS 50000u
#define LATE_MAX_NS 1000000u

/* Somebody computes, as he was given a whole turn: who yields was away for longer than all others
 * of the program take that share the processor, one after the other. One that sleeps and wakes
 * others, as all do once somebody computes, takes up to 60 us; a bound that they exceed by that
 * keeps them at it. */
#define TURN_NS UINT64_C(1000000)
#define TURN_EACH_NS UINT64_C(250000)

/* Verdicts that count on it. */
#define COMPUTES_SLEEPS 64u

#define RATIONED_YIELDS 8u

/* SHARED: one yield in so many is counted. That takes two system calls, as long as the yield. */
#define COUNTED 32u

void hwmc_wait_policy_init(struct hwmc_wait_policy *p, bool alone, bool rationed, uint32_t sharers)
{
    *p = (struct hwmc_wait_policy){
        .turn_ns = TURN_NS + (sharers - 1) * TURN_EACH_NS,
        .regained = alone ? HWMC_WAIT_REGAINED : 0,
        .empty_yield_ns = YIELD_START_NS,
        .late_ns = LATE_START_NS,
        .rationed = rationed,
    };
}

/* Of a wait on a processor that nobody else wants. */
static enum hwmc_wait_verdict next_alone(const struct hwmc_wait_policy *p,
                                         const struct hwmc_wait *w, uint64_t now)
{
    if (now - w->since >= HWMC_WAIT_SHARE * p->late_ns)
        return HWMC_WAIT_SLEEP;
    if (p->met > 0 || now - w->yielded >= HWMC_WAIT_SHARE * p->empty_yield_ns)
        return HWMC_WAIT_YIELD;
    return HWMC_WAIT_POLL;
}

enum hwmc_wait_verdict hwmc_wait_next(const struct hwmc_wait_policy *p, struct hwmc_wait *w,
                                      const struct hwmc_wait_limits *limits, uint64_t now)
{
    if (w->since == 0)
        *w = (struct hwmc_wait){.since = now, .yielded = now};
    if (hwmc_wait_is_alone(p))
        return next_alone(p, w, now);
    if (p->computes > 0 || now - w->since >= limits->ns || w->yields >= limits->yields ||
        (p->rationed && w->yields >= RATIONED_YIELDS))
        return HWMC_WAIT_SLEEP;
    return HWMC_WAIT_YIELD;
}

enum hwmc_wait_verdict hwmc_wait_tested(struct hwmc_wait_policy *p)
{
    if (hwmc_wait_is_alone(p))
        return HWMC_WAIT_POLL;
    if (p->computes > 0) {
        p->computes--;
        return HWMC_WAIT_POLL;
    }
    return HWMC_WAIT_YIELD;
}

static void begin_shared(struct hwmc_wait_policy *p)
{
    p->regained = 0;
    p->met = 0;
}

void hwmc_wait_lost_turn(struct hwmc_wait_policy *p)
{
    begin_shared(p);
    p->computes = COMPUTES_SLEEPS;
}

bool hwmc_wait_counts(const struct hwmc_wait_policy *p)
{
    return hwmc_wait_is_alone(p) || p->yields % COUNTED == 0;
}

/* The least of those that found nobody, which creeps up where clocks and kernels change. */
static void note_empty(struct hwmc_wait_policy *p, uint64_t ns)
{
    p->empty_yield_ns =
        ns < p->empty_yield_ns ? ns : p->empty_yield_ns + (ns - p->empty_yield_ns + 63) / 64;
}

void hwmc_wait_yielded(struct hwmc_wait_policy *p, struct hwmc_wait *w,
                       const struct hwmc_wait_yield *y)
{
    const uint64_t ns = y->after > y->before ? y->after - y->before : 1;

    w->yielded = y->after;
    w->yields++;
    p->yields++;
    if (y->found == HWMC_WAIT_NOBODY) {
        p->computes -= p->computes > 0;
        note_empty(p, ns);
        p->regained += p->regained < HWMC_WAIT_REGAINED;
        p->met = 0;
        return;
    }
    p->computes = ns >= p->turn_ns ? COMPUTES_SLEEPS : p->computes - (p->computes > 0);
    if (y->found == HWMC_WAIT_UNCOUNTED)
        return;
    p->met++;
    if (p->regained < HWMC_WAIT_REGAINED || p->met == HWMC_WAIT_MET || p->computes > 0)
        begin_shared(p);
}

void hwmc_wait_slept(struct hwmc_wait_policy *p, struct hwmc_wait *w, uint64_t until,
                     uint64_t after)
{
    w->yielded = after;
    p->computes -= p->computes > 0;
    if (until > 0 && after > until) {
        const uint64_t late = after - until < LATE_MAX_NS ? after - until : LATE_MAX_NS;

        p->late_ns = hwmc_max_u64((7 * p->late_ns + late) / 8, 1);
    }
}

void hwmc_wait_check(const struct hwmc_wait_policy *p)
{
    assert(p->regained <= HWMC_WAIT_REGAINED);
    assert(p->met < HWMC_WAIT_MET && (p->met == 0 || p->regained == HWMC_WAIT_REGAINED));
    assert(p->empty_yield_ns > 0 && p->late_ns > 0 && p->late_ns <= LATE_MAX_NS);
    assert(p->computes <= COMPUTES_SLEEPS);
}
