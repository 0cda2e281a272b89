/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rtt: how long a rank waits for a fragment before it sends NACK: twice the round trip to the ring
 * predecessor, at least 1 ms (short broadcasts may be asked for sooner: tail.h). The round trip is
 * the shortest of the last 8 to 16. A longer one mostly contains the time a host took to notice,
 * and an early NACK is cheap: one lane message, and one more for each fragment, which no rank waits
 * for. A lost last fragment costs this wait, which every rank waits for. So the first 8 round trips
 * do not lengthen the wait. A needless wait (the root was only late) makes the minimum 2 ms, and a
 * real loss 1 ms again. A predecessor that computes says nothing about the way to it: if other
 * members had to be asked, their round trips count.
 */
#ifndef HWMC_CORE_FLOW_RTT_H_INCLUDED
#define HWMC_CORE_FLOW_RTT_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_RTT_START_NS UINT64_C(1000000)
#define HWMC_RTT_PATIENT_NS UINT64_C(2000000)
#define HWMC_RTT_MAX_NS UINT64_C(64000000)
#define HWMC_RTT_WINDOW 8u

struct hwmc_rtt {
    uint64_t least;      /* ns; of this window's samples, MAX without one */
    uint64_t least_past; /* ns; of the window before; at first half the least wait */
    uint32_t samples;    /* in this window */
    bool patient;        /* the last request was needless */
};

static inline void hwmc_rtt_init(struct hwmc_rtt *r)
{
    r->least = HWMC_RTT_MAX_NS;
    r->least_past = HWMC_RTT_START_NS / 2;
    r->samples = 0;
    r->patient = false;
}

static inline void hwmc_rtt_sample(struct hwmc_rtt *r, uint64_t ns)
{
    if (r->samples == HWMC_RTT_WINDOW) {
        r->least_past = r->least;
        r->least = HWMC_RTT_MAX_NS;
        r->samples = 0;
    }
    r->samples++;
    if (ns < r->least)
        r->least = ns;
}

static inline void hwmc_rtt_needless(struct hwmc_rtt *r)
{
    r->patient = true;
}

static inline void hwmc_rtt_needed(struct hwmc_rtt *r)
{
    r->patient = false;
}

/* The shortest round trip of late, ns; half the least wait until one is known. */
static inline uint64_t hwmc_rtt_least(const struct hwmc_rtt *r)
{
    return r->least < r->least_past ? r->least : r->least_past;
}

/* Nanoseconds to wait. */
static inline uint64_t hwmc_rtt_wait(const struct hwmc_rtt *r)
{
    uint64_t ns = hwmc_rtt_least(r);
    uint64_t floor = r->patient ? HWMC_RTT_PATIENT_NS : HWMC_RTT_START_NS;

    if (2 * ns < floor)
        return floor;
    return 2 * ns < HWMC_RTT_MAX_NS ? 2 * ns : HWMC_RTT_MAX_NS;
}

#endif /* HWMC_CORE_FLOW_RTT_H_INCLUDED */
