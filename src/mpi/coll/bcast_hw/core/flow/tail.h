/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * tail: how long a member that has called a broadcast of a few fragments waits for it before it
 * sends NACK. If the only datagram of a release or a result is lost, every rank waits for this. It
 * is as for any broadcast (rtt.h) until KNOWN first fragments have come by multicast, and a repair
 * has shown how long the way to the predecessor is. From then on it is four times as long as first
 * fragments take from the call, of late and but for one in eight; at least twice the shortest round
 * trip, at least LEAST, and never longer than for any broadcast.
 *
 * One in eight, and not a mean and deviations as TCP has (RFC 6298): where one rank has lost
 * something all others wait for it in the next broadcast, so late ones are many in just the network
 * in which the wait counts; but one that is late by ten times is only late. Each moves the estimate
 * by a fixed part of it: up by 7/64 who came later than that, down by 1/64 who did not.
 *
 * A NACK that comes too early costs one lane message and one for each of the few fragments, and no
 * rank waits for those. What was asked for and comes by lane says nothing of how long to wait
 * without asking, and does not count (Karn's rule).
 *
 * Example: seven of eight first fragments come within 80 us: the wait is 320 us instead of 1 ms.
 */
#ifndef HWMC_CORE_FLOW_TAIL_H_INCLUDED
#define HWMC_CORE_FLOW_TAIL_H_INCLUDED

#include "rtt.h"

#define HWMC_TAIL_KNOWN 8u /* samples before they count */
/* Linux lets a thread that sleeps for a time sleep so much longer (timer slack). */
#define HWMC_TAIL_LEAST_NS UINT64_C(50000)

struct hwmc_tail {
    uint64_t most;    /* ns from the call within which seven of eight come; 0: not known */
    uint32_t samples; /* KNOWN at most */
};

/* A broadcast came by multicast, `ns` after the call. */
static inline void hwmc_tail_sample(struct hwmc_tail *t, uint64_t ns)
{
    const uint64_t least = HWMC_TAIL_LEAST_NS / 4;

    if (t->samples == 0)
        t->most = ns < HWMC_RTT_START_NS ? ns : HWMC_RTT_START_NS;
    else if (ns > t->most)
        t->most += t->most / 64 * 7;
    else
        t->most -= t->most / 64;
    t->most = t->most > least ? t->most : least;
    t->samples += t->samples < HWMC_TAIL_KNOWN;
}

/* Nanoseconds to wait. */
static inline uint64_t hwmc_tail_wait(const struct hwmc_tail *t, const struct hwmc_rtt *rtt)
{
    const uint64_t longest = hwmc_rtt_wait(rtt), trips = 2 * hwmc_rtt_least(rtt);
    const uint64_t ns = 4 * t->most > trips ? 4 * t->most : trips;

    return t->samples == HWMC_TAIL_KNOWN && ns < longest ? ns : longest;
}

#endif /* HWMC_CORE_FLOW_TAIL_H_INCLUDED */
