/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The time of collectives over hosts by MPICH's algorithms: see collective.h.
 */
#include "collective.h"

#include <assert.h>

#include "work.h"

#define MPICH_ANNOUNCED (64u << 10)      /* longer messages wait for the receiver */
#define MPICH_BINOMIAL_MOST 2048u        /* reduce */
#define MPICH_ELEMENT 8u                 /* allreduce: at least one for each member */
#define MPICH_DOUBLING_MOST (512u << 10) /* allgather, in all */
#define MPICH_BRUCKS_MOST (80u << 10)    /* allgather, in all */
#define MPICH_BRUCKS_BLOCK 256u          /* alltoall */
#define MPICH_BRUCKS_RANKS 8u            /* alltoall */
#define MPICH_AT_ONCE_MOST (32u << 10)   /* alltoall */
#define MPICH_AT_ONCE 32u                /* alltoallv: messages each way */
#define MPICH_HALVING_MOST (512u << 10)  /* reduce_scatter */

static bool is_power_of_2(uint64_t n)
{
    return (n & (n - 1)) == 0;
}

/* `num` messages of `bytes`, one after the other, at each of `senders` hosts or ranks. */
static void add_steps(struct hwmc_work *w, uint64_t num, uint64_t bytes, uint64_t senders)
{
    const uint64_t each = bytes > MPICH_ANNOUNCED ? 3 : 1;

    w->steps += hwmc_work_mul(num, each);
    w->sent += hwmc_work_mul(hwmc_work_mul(num, each), senders);
    w->bytes += hwmc_work_mul(num, bytes);
    w->all += hwmc_work_mul(hwmc_work_mul(num, bytes), senders);
}

/* In each of log p steps half of what is left, or twice as much as before. */
static void add_halving(struct hwmc_work *w, const struct hwmc_coll_case *c, uint64_t bytes,
                        uint64_t senders)
{
    const struct hwmc_work before = *w;
    const uint64_t log = hwmc_work_log(c->members), own = bytes - bytes / c->members;

    for (uint64_t i = 1; i <= log; i++)
        add_steps(w, 1, bytes >> i, senders);
    w->bytes = before.bytes + own;
    w->all = before.all + hwmc_work_mul(own, senders);
}

/* Along a binomial tree to a root, or from it: half of the members in each step send what they and
 * those before them have. */
static void add_binomial(struct hwmc_work *w, const struct hwmc_coll_case *c, uint64_t bytes)
{
    add_halving(w, c, bytes, 0);
    w->sent += c->members - 1;
    w->all += hwmc_work_mul(bytes / 2, hwmc_work_log(c->members));
}

static void add_allgather(struct hwmc_work *w, const struct hwmc_coll_case *c)
{
    const uint64_t block = hwmc_work_mul(c->bytes, c->each), all = hwmc_work_mul(block, c->members);
    const bool doubles = is_power_of_2(hwmc_work_mul(c->members, c->each))
                             ? all < MPICH_DOUBLING_MOST
                             : all < MPICH_BRUCKS_MOST;

    if (doubles) /* each rank of a host for itself */
        add_halving(w, c, hwmc_work_mul(all, c->each), hwmc_work_mul(c->members, c->each));
    else
        add_steps(w, c->members - 1, block, c->members);
}

/* Each rank sends one to each of other hosts, and gets one, so many at a time; 0: all. */
static void add_at_once(struct hwmc_work *w, const struct hwmc_coll_case *c, uint64_t at_a_time)
{
    const uint64_t ranks = hwmc_work_mul(c->members, c->each), far = ranks - c->each;
    const uint64_t by_host = hwmc_work_mul(c->each, far);
    const uint64_t rounds = at_a_time > 0 ? (ranks - 1) / at_a_time + 1 : 1;
    const uint64_t each = c->bytes > MPICH_ANNOUNCED ? 3 : 1;

    w->steps = hwmc_work_mul(rounds, each);
    w->busy = hwmc_work_mul(2, by_host - 1);
    w->sent = hwmc_work_mul(each, hwmc_work_mul(ranks, far));
    w->bytes = hwmc_work_mul(by_host, c->bytes);
    w->all = hwmc_work_mul(w->bytes, c->members);
}

static void add_alltoall(struct hwmc_work *w, const struct hwmc_coll_case *c)
{
    const uint64_t log = hwmc_work_log(c->members), ranks = hwmc_work_mul(c->members, c->each);
    const uint64_t far = ranks - c->each;

    if (c->bytes <= MPICH_BRUCKS_BLOCK && ranks >= MPICH_BRUCKS_RANKS) {
        add_steps(w, log, hwmc_work_mul(c->bytes, ranks) / 2, ranks);
        w->bytes = hwmc_work_mul(w->bytes, c->each);
        return;
    }
    if (c->bytes <= MPICH_AT_ONCE_MOST) {
        add_at_once(w, c, 0);
        return;
    }
    add_steps(w, far, c->bytes, ranks);
    w->bytes = hwmc_work_mul(hwmc_work_mul(c->each, far), c->bytes);
    w->all = hwmc_work_mul(w->bytes, c->members);
}

static void add_reduce_scatter(struct hwmc_work *w, const struct hwmc_coll_case *c)
{
    const uint64_t ranks = hwmc_work_mul(c->members, c->each);

    if (!c->commutative) {
        add_steps(w, hwmc_work_log(c->members), c->bytes, ranks);
    } else if (c->bytes < MPICH_HALVING_MOST) {
        add_halving(w, c, c->bytes, ranks);
    } else {
        add_steps(w, ranks - c->each, c->bytes / ranks, ranks);
    }
    w->bytes = hwmc_work_mul(w->bytes, c->each);
}

static void add_reduction(struct hwmc_work *w, const struct hwmc_coll_case *c)
{
    const bool to_all = c->coll == HWMC_COLL_ALLREDUCE;
    const uint64_t log = hwmc_work_log(c->members);
    const uint64_t least = to_all ? MPICH_ELEMENT * (uint64_t) c->members : MPICH_BINOMIAL_MOST;

    if (c->bytes <= least || !c->commutative) {
        add_steps(w, log, c->bytes, to_all ? c->members : 0);
        w->sent += to_all ? 0 : c->members - 1;
        w->all += to_all ? 0 : hwmc_work_mul(c->members - 1, c->bytes);
        return;
    }
    add_halving(w, c, c->bytes, c->members);
    if (to_all)
        add_halving(w, c, c->bytes, c->members);
    else
        add_binomial(w, c, c->bytes);
}

/* What ranks of a host send each other before, and all but in a reduction after. Where hosts share
 * processors each of these waits for its turn as those between hosts do. */
static uint64_t inside_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t steps = hwmc_work_log(c->each) * (c->coll == HWMC_COLL_REDUCE ? 1 : 2);

    return hwmc_model_busy_ns(net, 0, steps, 0, 1);
}

uint64_t hwmc_coll_mpich_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t log = hwmc_work_log(c->members);
    struct hwmc_work w = {0};

    assert(c->coll < HWMC_COLL_LIMIT && c->members >= 2 && c->each >= 1);
    assert(c->bytes != HWMC_LENGTH_UNKNOWN);
    if (net->mbit == 0)
        return UINT64_MAX;
    switch (c->coll) {
        case HWMC_COLL_BARRIER:
            add_steps(&w, log, 0, c->members);
            break;
        case HWMC_COLL_REDUCE:
        case HWMC_COLL_ALLREDUCE:
            add_reduction(&w, c);
            break;
        case HWMC_COLL_GATHER:
        case HWMC_COLL_SCATTER:
            add_binomial(&w, c, hwmc_work_mul(hwmc_work_mul(c->bytes, c->each), c->members));
            break;
        case HWMC_COLL_ALLGATHER:
            add_allgather(&w, c);
            break;
        case HWMC_COLL_ALLTOALL:
            add_alltoall(&w, c);
            break;
        case HWMC_COLL_ALLTOALLV:
        case HWMC_COLL_ALLTOALLW:
            add_at_once(&w, c, MPICH_AT_ONCE);
            break;
        case HWMC_COLL_REDUCE_SCATTER:
            add_reduce_scatter(&w, c);
            break;
        default:
            add_steps(&w, log, c->bytes, c->members);
    }
    return hwmc_work_plus(hwmc_work_ns(net, c, &w, net->mbit), inside_ns(net, c));
}

/* A message between the root and each rank of other hosts. */
static void add_rooted(struct hwmc_work *w, const struct hwmc_coll_case *c)
{
    const uint64_t far = hwmc_work_mul(c->members - 1, c->each);
    const uint64_t each = c->bytes > MPICH_ANNOUNCED ? 3 : 1;

    w->steps = each;
    w->busy = hwmc_work_mul(far - 1, each);
    w->sent = hwmc_work_mul(far, each);
    w->bytes = w->all = hwmc_work_mul(far, c->bytes);
}

/* Vectors along a chain of ranks. */
static void add_chain(struct hwmc_work *w, const struct hwmc_coll_case *c)
{
    const uint64_t hops = c->members - 1;

    w->steps = w->sent = hops * (c->bytes > MPICH_ANNOUNCED ? 3 : 1);
    w->bytes = w->all = hwmc_work_mul(hops, c->bytes);
}

uint64_t hwmc_coll_mpich_direct_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t ranks = hwmc_work_mul(c->members, c->each);
    uint64_t inside = c->each - 1;
    struct hwmc_work w = {0};

    if (ranks > HWMC_COLL_DIRECT_MOST)
        return UINT64_MAX;
    if (c->coll == HWMC_COLL_SCAN) {
        add_chain(&w, c);
        inside *= c->members;
    } else if (c->coll != HWMC_COLL_ALLTOALL) {
        add_rooted(&w, c);
    } else if (c->bytes > MPICH_AT_ONCE_MOST) {
        add_at_once(&w, c, MPICH_AT_ONCE);
    } else {
        return UINT64_MAX;
    }
    return hwmc_work_plus(hwmc_work_ns(net, c, &w, net->mbit),
                          hwmc_model_busy_ns(net, 0, inside, 0, 1));
}
