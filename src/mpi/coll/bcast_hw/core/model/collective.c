/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * collective: see collective.h.
 */
#include "collective.h"

#include <assert.h>

#include "scan_way.h"
#include "turns_way.h"

#define MOST (UINT64_C(1) << 44) /* bytes, messages, ns: more are taken for so many */

#define PART_NS 500000u /* what a rail carries in that time is a part: a few are on the way */
#define PART_LEAST 8192u
#define PART_MOST (256u << 10)

uint32_t hwmc_coll_part(const struct hwmc_network *net)
{
    const uint64_t bytes = (uint64_t) net->mbit * PART_NS / 8000;
    uint32_t part = PART_LEAST;

    while (part < PART_MOST && part < bytes)
        part *= 2;
    return part;
}

struct hwmc_reduce_case hwmc_coll_reduction(const struct hwmc_coll_case *c)
{
    return (struct hwmc_reduce_case){
        .members = c->members,
        .commutative = c->commutative,
        .awaited = c->coll != HWMC_COLL_REDUCE,
        .bytes = c->bytes,
        .part = c->part,
        .kind = c->kind,
    };
}

/* What a collective takes, on the longest path and at the busiest host. */
struct work {
    uint64_t steps; /* messages that wait for each other */
    uint64_t busy;  /* of the busiest host, besides them */
    uint64_t sent;  /* by all members */
    uint64_t bytes; /* by the busiest line */
    uint64_t all;   /* bytes that all members send */
};

static uint64_t sat_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > MOST / b ? MOST : a * b;
}

/* UINT64_MAX: it cannot be told. */
static uint64_t plus_ns(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static uint64_t log2_up(uint64_t n)
{
    uint64_t log = 0;

    while (log < 62 && UINT64_C(1) << log < n)
        log++;
    return log;
}

static bool is_power_of_2(uint64_t n)
{
    return (n & (n - 1)) == 0;
}

static uint64_t ns_of(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                      const struct work *w, uint32_t mbit)
{
    const uint64_t bytes = w->bytes > net->burst_bytes ? w->bytes - net->burst_bytes : 0;

    return sat_mul(w->steps, net->latency_ns) + bytes * 8000 / mbit +
           hwmc_model_busy_ns(net, sat_mul(w->busy, net->message_ns), w->sent, w->all, c->members);
}

/* Ours. */

/* Down to all. One sends, but each of the others is busy with receiving. */
static uint64_t down_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                        uint64_t bytes)
{
    const uint64_t ns = hwmc_model_ours_ns(net, &c->shape, bytes);
    const uint64_t crowd = hwmc_model_busy_ns(net, 0, c->members - 1, 0, c->members);

    return plus_ns(ns, crowd);
}

static uint64_t up_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                      uint64_t bytes)
{
    struct hwmc_reduce_case of = hwmc_coll_reduction(c);
    struct hwmc_reduce_way way;

    of.bytes = bytes;
    way = hwmc_reduce_way_of(net, &of);
    return hwmc_reduce_ns(net, &of, &way);
}

static uint64_t up_and_down_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                               uint64_t bytes)
{
    return plus_ns(up_ns(net, c, bytes), down_ns(net, c, bytes));
}

static bool is_long(const struct hwmc_coll_case *c, uint64_t bytes)
{
    return hwmc_block_waits(bytes, c->part, c->members);
}

/* One end of a block of `bytes`: its parts, and the grants that they wait for. */
static uint64_t messages_of(const struct hwmc_coll_case *c, uint64_t bytes)
{
    const uint64_t parts = bytes > c->part ? (bytes - 1) / c->part + 1 : 1;

    return is_long(c, bytes) ? parts + 1 : 1;
}

/* A block from each of so many members to each other one, or to one, or from one: the busiest host
 * has `num` of them each way, or in one direction. */
static struct work at_once(const struct hwmc_coll_case *c, uint64_t bytes, bool by_all)
{
    const uint64_t others = c->members - 1, messages = messages_of(c, bytes);

    return (struct work){
        .steps = 1 + is_long(c, bytes),
        .busy = sat_mul(others - 1, messages) * (by_all ? 2 : 1),
        .sent = sat_mul(sat_mul(others, messages), by_all ? c->members : 1),
        .bytes = sat_mul(others, bytes),
        .all = sat_mul(sat_mul(others, bytes), by_all ? c->members : 1),
    };
}

/* Each member's block once, by multicast: of the work with a message the others' ends are left. */
static struct work in_turn(const struct hwmc_coll_case *c, uint64_t block)
{
    const uint64_t others = c->members - 1;

    return (struct work){
        .steps = 1,
        .busy = others,
        .sent = sat_mul(others, c->members),
        .bytes = sat_mul(others, block),
        .all = sat_mul(sat_mul(c->members, block), c->members) / 2,
    };
}

static struct work allgather_work(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                                  uint64_t block)
{
    return c->each == 1 && hwmc_turns_win(net, &c->shape, block) ? in_turn(c, block)
                                                                 : at_once(c, block, true);
}

/* Rounds in which all send what they have to the one that is twice as far as before. */
static struct work doubling_work(const struct hwmc_coll_case *c)
{
    const uint64_t log = log2_up(c->members);

    return (struct work){
        .steps = sat_mul(log, 1 + is_long(c, c->bytes)),
        .sent = sat_mul(sat_mul(log, messages_of(c, c->bytes)), c->members),
        .bytes = sat_mul(log, c->bytes),
        .all = sat_mul(sat_mul(log, c->bytes), c->members),
    };
}

static struct work scan_work(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t messages = messages_of(c, c->bytes);

    if (!hwmc_scan_way_of(net, c->members, c->bytes, c->part).chain)
        return doubling_work(c);
    return (struct work){
        .steps = c->members - 1 + is_long(c, c->bytes),
        .busy = sat_mul(messages, 2),
        .sent = sat_mul(messages, c->members - 1),
        .bytes = c->bytes + sat_mul(c->members - 1, c->bytes < c->part ? c->bytes : c->part),
        .all = sat_mul(c->members - 1, c->bytes),
    };
}

/* Bytes of a host's block for another host, or of its own part. */
static uint64_t block_of(const struct hwmc_coll_case *c)
{
    uint64_t all = sat_mul(c->bytes, c->each);

    if (c->coll == HWMC_COLL_ALLTOALL || c->coll == HWMC_COLL_ALLTOALLV ||
        c->coll == HWMC_COLL_ALLTOALLW)
        return sat_mul(all, c->each);
    return c->coll == HWMC_COLL_REDUCE_SCATTER ? c->bytes / c->members : all;
}

uint64_t hwmc_coll_ours_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    struct work w = {0};

    assert(c->coll < HWMC_COLL_LIMIT && c->members >= 2 && c->each >= 1 && c->part >= 1);
    assert(c->bytes != HWMC_LENGTH_UNKNOWN);
    if (net->mbit == 0)
        return UINT64_MAX;
    switch (c->coll) {
        case HWMC_COLL_BARRIER:
            return up_and_down_ns(net, c, 1);
        case HWMC_COLL_REDUCE:
            return up_ns(net, c, c->bytes);
        case HWMC_COLL_ALLREDUCE:
            return up_and_down_ns(net, c, c->bytes);
        case HWMC_COLL_GATHER:
        case HWMC_COLL_SCATTER:
            w = at_once(c, block_of(c), false);
            break;
        case HWMC_COLL_SCAN:
            w = scan_work(net, c);
            break;
        case HWMC_COLL_ALLGATHER:
            w = allgather_work(net, c, block_of(c));
            break;
        default:
            w = at_once(c, block_of(c), true);
    }
    return ns_of(net, c, &w, net->mbit_all);
}

/* MPICH's. */

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

/* `num` messages of `bytes`, one after the other, at each of `senders` hosts or ranks. */
static void add_steps(struct work *w, uint64_t num, uint64_t bytes, uint64_t senders)
{
    const uint64_t each = bytes > MPICH_ANNOUNCED ? 3 : 1;

    w->steps += sat_mul(num, each);
    w->sent += sat_mul(sat_mul(num, each), senders);
    w->bytes += sat_mul(num, bytes);
    w->all += sat_mul(sat_mul(num, bytes), senders);
}

/* In each of log p steps half of what is left, or twice as much as before. */
static void add_halving(struct work *w, const struct hwmc_coll_case *c, uint64_t bytes,
                        uint64_t senders)
{
    const struct work before = *w;
    const uint64_t log = log2_up(c->members), own = bytes - bytes / c->members;

    for (uint64_t i = 1; i <= log; i++)
        add_steps(w, 1, bytes >> i, senders);
    w->bytes = before.bytes + own;
    w->all = before.all + sat_mul(own, senders);
}

/* Along a binomial tree to a root, or from it: half of the members in each step send what they and
 * those before them have. */
static void add_binomial(struct work *w, const struct hwmc_coll_case *c, uint64_t bytes)
{
    add_halving(w, c, bytes, 0);
    w->sent += c->members - 1;
    w->all += sat_mul(bytes / 2, log2_up(c->members));
}

static void add_allgather(struct work *w, const struct hwmc_coll_case *c)
{
    const uint64_t block = sat_mul(c->bytes, c->each), all = sat_mul(block, c->members);
    const bool doubles = is_power_of_2(sat_mul(c->members, c->each)) ? all < MPICH_DOUBLING_MOST
                                                                     : all < MPICH_BRUCKS_MOST;

    if (doubles) /* each rank of a host for itself */
        add_halving(w, c, sat_mul(all, c->each), sat_mul(c->members, c->each));
    else
        add_steps(w, c->members - 1, block, c->members);
}

/* Each rank sends one to each of other hosts, and gets one, so many at a time; 0: all. */
static void add_at_once(struct work *w, const struct hwmc_coll_case *c, uint64_t at_a_time)
{
    const uint64_t ranks = sat_mul(c->members, c->each), far = ranks - c->each;
    const uint64_t by_host = sat_mul(c->each, far);
    const uint64_t rounds = at_a_time > 0 ? (ranks - 1) / at_a_time + 1 : 1;
    const uint64_t each = c->bytes > MPICH_ANNOUNCED ? 3 : 1;

    w->steps = sat_mul(rounds, each);
    w->busy = sat_mul(2, by_host - 1);
    w->sent = sat_mul(each, sat_mul(ranks, far));
    w->bytes = sat_mul(by_host, c->bytes);
    w->all = sat_mul(w->bytes, c->members);
}

static void add_alltoall(struct work *w, const struct hwmc_coll_case *c)
{
    const uint64_t log = log2_up(c->members), ranks = sat_mul(c->members, c->each);
    const uint64_t far = ranks - c->each;

    if (c->bytes <= MPICH_BRUCKS_BLOCK && ranks >= MPICH_BRUCKS_RANKS) {
        add_steps(w, log, sat_mul(c->bytes, ranks) / 2, ranks);
        w->bytes = sat_mul(w->bytes, c->each);
        return;
    }
    if (c->bytes <= MPICH_AT_ONCE_MOST) {
        add_at_once(w, c, 0);
        return;
    }
    add_steps(w, far, c->bytes, ranks);
    w->bytes = sat_mul(sat_mul(c->each, far), c->bytes);
    w->all = sat_mul(w->bytes, c->members);
}

static void add_reduce_scatter(struct work *w, const struct hwmc_coll_case *c)
{
    const uint64_t ranks = sat_mul(c->members, c->each);

    if (!c->commutative) {
        add_steps(w, log2_up(c->members), c->bytes, ranks);
    } else if (c->bytes < MPICH_HALVING_MOST) {
        add_halving(w, c, c->bytes, ranks);
    } else {
        add_steps(w, ranks - c->each, c->bytes / ranks, ranks);
    }
    w->bytes = sat_mul(w->bytes, c->each);
}

static void add_reduction(struct work *w, const struct hwmc_coll_case *c)
{
    const bool to_all = c->coll == HWMC_COLL_ALLREDUCE;
    const uint64_t log = log2_up(c->members);
    const uint64_t least = to_all ? MPICH_ELEMENT * (uint64_t) c->members : MPICH_BINOMIAL_MOST;

    if (c->bytes <= least || !c->commutative) {
        add_steps(w, log, c->bytes, to_all ? c->members : 0);
        w->sent += to_all ? 0 : c->members - 1;
        w->all += to_all ? 0 : sat_mul(c->members - 1, c->bytes);
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
    const uint64_t steps = log2_up(c->each) * (c->coll == HWMC_COLL_REDUCE ? 1 : 2);

    return hwmc_model_busy_ns(net, 0, steps, 0, 1);
}

uint64_t hwmc_coll_mpich_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t log = log2_up(c->members);
    struct work w = {0};

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
            add_binomial(&w, c, sat_mul(sat_mul(c->bytes, c->each), c->members));
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
    return plus_ns(ns_of(net, c, &w, net->mbit), inside_ns(net, c));
}

/* A message between the root and each rank of other hosts. */
static void add_rooted(struct work *w, const struct hwmc_coll_case *c)
{
    const uint64_t far = sat_mul(c->members - 1, c->each);
    const uint64_t each = c->bytes > MPICH_ANNOUNCED ? 3 : 1;

    w->steps = each;
    w->busy = sat_mul(far - 1, each);
    w->sent = sat_mul(far, each);
    w->bytes = w->all = sat_mul(far, c->bytes);
}

uint64_t hwmc_coll_direct_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t ranks = sat_mul(c->members, c->each);
    struct work w = {0};

    assert(c->bytes != HWMC_LENGTH_UNKNOWN);
    if (net->mbit == 0 || ranks > HWMC_COLL_DIRECT_MOST)
        return UINT64_MAX;
    if (c->coll == HWMC_COLL_GATHER || c->coll == HWMC_COLL_SCATTER ||
        (c->coll == HWMC_COLL_REDUCE && c->bytes <= HWMC_COLL_DIRECT_BYTES / ranks))
        add_rooted(&w, c);
    else if (c->coll == HWMC_COLL_ALLTOALL && c->bytes > MPICH_AT_ONCE_MOST)
        add_at_once(&w, c, MPICH_AT_ONCE);
    else
        return UINT64_MAX;
    return plus_ns(ns_of(net, c, &w, net->mbit), hwmc_model_busy_ns(net, 0, c->each - 1, 0, 1));
}

enum hwmc_way hwmc_coll_way(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                            bool ours)
{
    const bool rooted = c->coll == HWMC_COLL_GATHER || c->coll == HWMC_COLL_SCATTER;
    uint64_t ns;

    if (rooted && c->bytes != HWMC_LENGTH_UNKNOWN && net->mbit > 0) {
        ns = ours ? hwmc_coll_ours_ns(net, c) : hwmc_coll_mpich_ns(net, c);
        if (hwmc_coll_direct_ns(net, c) <= ns && ns != UINT64_MAX)
            return HWMC_WAY_DIRECT;
    }
    return ours ? HWMC_WAY_HWMC : HWMC_WAY_MPICH;
}

/* Lengths for those that are not known: from short to what the network's rate alone decides. */
static const uint64_t usual_lengths[] = {8, 1024, 64u << 10, 1u << 20};

/* How many times as long one takes as the other, in HUNDREDS. */
#define HUNDREDS UINT64_C(100)

static uint64_t times_as_long(uint64_t ns, uint64_t other)
{
    return sat_mul(ns, HUNDREDS) / (other > 0 ? other : 1);
}

/* What MPICH's ranks copy inside hosts that share processors is not counted. */
static uint64_t alike_part(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    return c->each > 1 && hwmc_model_crowd(net) > 1 ? 1 : HWMC_COLL_ALIKE;
}

static bool is_ours_at_any(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    struct hwmc_coll_case at = *c;
    uint64_t ours_worst = 0, mpich_worst = 0;

    for (uint32_t i = 0; i < sizeof(usual_lengths) / sizeof(usual_lengths[0]); i++) {
        uint64_t ours, mpich;

        at.bytes = usual_lengths[i];
        ours = hwmc_coll_ours_ns(net, &at);
        mpich = hwmc_coll_mpich_ns(net, &at);
        if (mpich == UINT64_MAX)
            return true;
        if (times_as_long(ours, mpich) > ours_worst)
            ours_worst = times_as_long(ours, mpich);
        if (times_as_long(mpich, ours) > mpich_worst)
            mpich_worst = times_as_long(mpich, ours);
    }
    return ours_worst <= mpich_worst + mpich_worst / alike_part(net, c);
}

bool hwmc_coll_is_ours(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    uint64_t ours, mpich;

    if (c->bytes == HWMC_LENGTH_UNKNOWN)
        return is_ours_at_any(net, c);
    ours = hwmc_coll_ours_ns(net, c);
    mpich = hwmc_coll_mpich_ns(net, c);
    return mpich == UINT64_MAX || ours <= mpich + mpich / alike_part(net, c);
}
