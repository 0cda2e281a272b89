/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rtt: how long to wait for a fragment before asking for it: the smoothed round trip to the ring
 * predecessor and its variation (the estimator of RFC 6298 section 2), starting at 1 ms. A wait
 * that turned out needless (the multicast was only late) doubles the next one; a real loss takes
 * that back.
 */
#ifndef BCAST_HW_RTT_H_INCLUDED
#define BCAST_HW_RTT_H_INCLUDED

#include <stdint.h>

#define BCAST_HW_RTT_START_NS UINT64_C(1000000)
#define BCAST_HW_RTT_MAX_NS UINT64_C(64000000)
#define BCAST_HW_RTT_MAX_BACKOFF 6u

struct bcast_hw_rtt {
    uint64_t srtt;    /* ns; 0 before the first sample */
    uint64_t rttvar;  /* ns */
    uint32_t backoff; /* 0 to MAX_BACKOFF: the wait is shifted left by it */
};

static inline void bcast_hw_rtt_init(struct bcast_hw_rtt *r)
{
    r->srtt = 0;
    r->rttvar = 0;
    r->backoff = 0;
}

static inline void bcast_hw_rtt_sample(struct bcast_hw_rtt *r, uint64_t ns)
{
    if (r->srtt == 0) {
        r->srtt = ns;
        r->rttvar = ns / 2;
    } else {
        uint64_t off = ns > r->srtt ? ns - r->srtt : r->srtt - ns;

        r->rttvar = (3 * r->rttvar + off) / 4;
        r->srtt = (7 * r->srtt + ns) / 8;
    }
}

static inline void bcast_hw_rtt_needless(struct bcast_hw_rtt *r)
{
    if (r->backoff < BCAST_HW_RTT_MAX_BACKOFF)
        r->backoff++;
}

static inline void bcast_hw_rtt_needed(struct bcast_hw_rtt *r)
{
    r->backoff = 0;
}

/* Nanoseconds to wait; at least the start value, at most MAX. */
static inline uint64_t bcast_hw_rtt_wait(const struct bcast_hw_rtt *r)
{
    uint64_t ns = r->srtt + 4 * r->rttvar;

    if (ns < BCAST_HW_RTT_START_NS)
        ns = BCAST_HW_RTT_START_NS;
    ns <<= r->backoff;
    return ns < BCAST_HW_RTT_MAX_NS ? ns : BCAST_HW_RTT_MAX_NS;
}

#endif /* BCAST_HW_RTT_H_INCLUDED */
