/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stripe: chooses the rail of the next fragment: the one that would have sent it first, by what
 * waits there and how fast it drains. So each rail carries its share whatever its speed, all end
 * together, and a rail that slows down in mid-message gets less from then on.
 *
 * A rail's rate is what its queue loses while it is not empty. Until that has been seen, the
 * nominal speed counts. A rail that is idle while another one has work for long has too low a rate,
 * which grows, up to the nominal speed. A rail that fails to send is left out for a while.
 *
 * Three schedulers share what is to be sent among rails. They differ in what the sender can know
 * when it chooses:
 *
 *   stripe       fragments by multicast, to all. The fabric says how much waits on each rail here,
 *                so the choice is made fragment by fragment, of what is seen at this moment. State:
 *                a rate for each rail of the process.
 *   wrr          segments along trees, to one child. A lane takes all that it is given and says
 *                nothing of its queue, so shares are fixed, by the speeds that were measured when
 *                the job started. State: none, the index of a segment says its lane.
 *   rail_weight  the same segments, when a child has told that a rail is behind or ahead of those
 *                speeds. Shares are of that edge, and follow what it tells. State: a credit for
 *                each rail to each such child; to all others wrr serves.
 */
#ifndef HWMC_CORE_PATH_STRIPE_H_INCLUDED
#define HWMC_CORE_PATH_STRIPE_H_INCLUDED

#include <stdint.h>
#include <string.h>

#include "../base/msg.h"

#define HWMC_STRIPE_BUSY 4096u                  /* bytes that wait where a rail has work */
#define HWMC_STRIPE_SAMPLE_NS UINT64_C(2000000) /* busy time that makes a sample of the rate */
#define HWMC_STRIPE_LONG_NS UINT64_C(1000000)   /* work for so long is long */
#define HWMC_STRIPE_DOWN_NS UINT64_C(100000000) /* how long a failed rail is left out */
#define HWMC_STRIPE_MBIT 1000u                  /* of a rail that does not tell */

struct hwmc_stripe_rail {
    uint64_t nominal;    /* bytes a second */
    uint64_t rate;       /* bytes a second, as seen */
    uint64_t queued;     /* bytes that wait, as of `at` */
    uint64_t at;         /* ns */
    uint64_t drained;    /* bytes since the last sample, while busy */
    uint64_t busy;       /* ns of that */
    uint64_t grown;      /* ns at which the rate grew last */
    uint64_t down_until; /* ns */
};

struct hwmc_stripe {
    struct hwmc_stripe_rail rail[HWMC_RAIL_BITS];
};

/* `mbit`: the speed of a rail, 0 when unknown. */
static inline void hwmc_stripe_init(struct hwmc_stripe_rail *r, uint32_t mbit)
{
    memset(r, 0, sizeof(*r));
    r->rate = r->nominal = (uint64_t) (mbit > 0 ? mbit : HWMC_STRIPE_MBIT) * 125000;
}

/* `queued` bytes wait on the rail, nothing having been given to it since the last call. */
static inline void hwmc_stripe_on_queue(struct hwmc_stripe_rail *r, uint64_t queued, uint64_t now)
{
    if (queued >= HWMC_STRIPE_BUSY && queued <= r->queued) {
        r->drained += r->queued - queued;
        r->busy += now - r->at;
        if (r->busy >= HWMC_STRIPE_SAMPLE_NS) {
            r->rate = (r->rate + r->drained * 1000000000 / r->busy) / 2 + 1;
            r->drained = r->busy = 0;
        }
    }
    r->queued = queued;
    r->at = now;
}

/* Another rail was better, though it has work for `ns`. */
static inline void hwmc_stripe_on_rival(struct hwmc_stripe_rail *r, uint64_t ns, uint64_t now)
{
    if (ns < HWMC_STRIPE_LONG_NS || r->queued >= HWMC_STRIPE_BUSY ||
        now - r->grown < HWMC_STRIPE_LONG_NS)
        return;
    r->grown = now;
    r->rate = r->rate + r->rate / 4 < r->nominal ? r->rate + r->rate / 4 + 1 : r->nominal;
}

/* Datagrams were given to the rail; now `queued` bytes wait. */
static inline void hwmc_stripe_on_post(struct hwmc_stripe_rail *r, uint64_t queued, uint64_t now)
{
    r->queued = queued;
    r->at = now;
}

static inline void hwmc_stripe_on_failure(struct hwmc_stripe_rail *r, uint64_t now)
{
    r->down_until = now + HWMC_STRIPE_DOWN_NS;
}

/* ns until what waits and `more` bytes are sent. */
static inline uint64_t hwmc_stripe_wait(const struct hwmc_stripe_rail *r, uint64_t more)
{
    return (r->queued + more) * 1000000 / (r->rate / 1000 + 1);
}

/* Of the rails of `mask` the one, as a bit, that would have `more[r]` further bytes out first; 0
 * when there is none. What waits is known as of `now`. */
static inline uint32_t hwmc_stripe_best(struct hwmc_stripe *s, uint32_t mask, const uint64_t *more,
                                        uint64_t now)
{
    uint64_t least = UINT64_MAX;
    uint32_t best = 0;

    for (uint32_t left = mask; left; left &= left - 1) {
        int r = __builtin_ctz(left);
        uint64_t ns = hwmc_stripe_wait(&s->rail[r], more[r]);

        if (s->rail[r].down_until > now)
            ns = UINT64_MAX - 1; /* rather than none */
        if (ns < least) {
            least = ns;
            best = 1u << r;
        }
    }
    for (uint32_t left = mask & ~best; left; left &= left - 1)
        hwmc_stripe_on_rival(&s->rail[__builtin_ctz(left)], least, now);
    return best;
}

#endif /* HWMC_CORE_PATH_STRIPE_H_INCLUDED */
