/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * work: what a collective takes, and how long that is on a network: collective.h has the terms.
 * Numbers are bytes, messages or ns, and are at most HWMC_WORK_MOST.
 */
#ifndef HWMC_CORE_MODEL_WORK_H_INCLUDED
#define HWMC_CORE_MODEL_WORK_H_INCLUDED

#include "collective.h"
#include "../base/minmax.h"

#define HWMC_WORK_MOST (UINT64_C(1) << 44) /* more is taken for so much */

/* What a collective takes, on the longest path and at the busiest host. */
struct hwmc_work {
    uint64_t steps; /* messages that wait for each other */
    uint64_t busy;  /* of the busiest host, besides them */
    uint64_t sent;  /* by all members */
    uint64_t bytes; /* by the busiest line */
    uint64_t all;   /* bytes that all members send */
};

/* By MPICH's messages, directly: of hwmc_coll_direct_ns all but an allreduce. */
uint64_t hwmc_coll_mpich_direct_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c);

static inline uint64_t hwmc_work_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > HWMC_WORK_MOST / b ? HWMC_WORK_MOST : a * b;
}

/* UINT64_MAX: it cannot be told. */
static inline uint64_t hwmc_work_plus(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static inline uint64_t hwmc_work_log(uint64_t n)
{
    uint64_t log = 0;

    while (log < 62 && UINT64_C(1) << log < n)
        log++;
    return log;
}

static inline uint64_t hwmc_work_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                                    const struct hwmc_work *w, uint32_t mbit)
{
    const uint64_t bytes = w->bytes > net->burst_bytes ? w->bytes - net->burst_bytes : 0;

    return hwmc_work_mul(w->steps, net->latency_ns) + bytes * 8000 / mbit +
           hwmc_model_busy_ns(net, hwmc_work_mul(w->busy, net->message_ns), w->sent, w->all,
                              c->members);
}

#endif /* HWMC_CORE_MODEL_WORK_H_INCLUDED */
