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
#include "work.h"

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

/* Down to all. One sends, but each of the others is busy with receiving. */
static uint64_t down_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                        uint64_t bytes)
{
    const uint64_t ns = hwmc_model_ours_ns(net, &c->shape, bytes);
    const uint64_t crowd = hwmc_model_busy_ns(net, 0, c->members - 1, 0, c->members);

    return hwmc_work_plus(ns, crowd);
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
    return hwmc_work_plus(up_ns(net, c, bytes), down_ns(net, c, bytes));
}

static bool is_long(const struct hwmc_coll_case *c, uint64_t bytes)
{
    return hwmc_block_waits(bytes, c->part, c->members);
}

/* One end of a vector of `bytes`: its parts, and the grants that they wait for. */
static uint64_t messages_of(const struct hwmc_coll_case *c, uint64_t bytes)
{
    const uint64_t parts = bytes > c->part ? (bytes - 1) / c->part + 1 : 1;

    return is_long(c, bytes) ? parts + 1 : 1;
}

/* A block from each of so many members to each other one, or to one, or from one: the busiest host
 * has `num` of them each way, or in one direction. A long one takes a grant and a first part; a
 * host handles the others while the line carries them, as parts are that long. */
static struct hwmc_work at_once(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                                uint64_t bytes, bool by_all)
{
    const bool waits = is_long(c, bytes);
    const uint64_t others = c->members - 1, messages = waits ? 2 : 1;

    return (struct hwmc_work){
        .steps = 1 + waits,
        .busy = hwmc_work_mul(others - 1, messages) * (by_all ? 2 : 1),
        .sent = hwmc_work_mul(hwmc_work_mul(others, messages), by_all ? c->members : 1),
        .bytes = hwmc_work_mul(others, bytes),
        .all = hwmc_pace_loaded(
            net, hwmc_work_mul(hwmc_work_mul(others, bytes), by_all ? c->members : 1)),
    };
}

/* Each member's block once, by multicast: of the work with a message the others' ends are left. */
static struct hwmc_work in_turn(const struct hwmc_coll_case *c, uint64_t block)
{
    const uint64_t others = c->members - 1;

    return (struct hwmc_work){
        .steps = 1,
        .busy = others,
        .sent = hwmc_work_mul(others, c->members),
        .bytes = hwmc_work_mul(c->members, block),
        .all = hwmc_work_mul(HWMC_TURNS_LOADED(hwmc_work_mul(c->members, block)), c->members),
    };
}

static struct hwmc_work allgather_work(const struct hwmc_network *net,
                                       const struct hwmc_coll_case *c, uint64_t block)
{
    return hwmc_turns_win(net, &c->shape, block) ? in_turn(c, block) : at_once(net, c, block, true);
}

static uint64_t by_blocks_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t block = (c->bytes - 1) / c->members + 1;
    const struct hwmc_work apart = at_once(net, c, block, true);
    const struct hwmc_work together = allgather_work(net, c, block);

    return hwmc_work_plus(hwmc_work_ns(net, c, &apart, net->mbit_all),
                          hwmc_work_ns(net, c, &together, net->mbit_all));
}

/* Rounds in which all send what they have to the one that is twice as far as before. */
static struct hwmc_work doubling_work(const struct hwmc_network *net,
                                      const struct hwmc_coll_case *c)
{
    const uint64_t log = hwmc_work_log(c->members);

    return (struct hwmc_work){
        .steps = hwmc_work_mul(log, 1 + is_long(c, c->bytes)),
        .sent = hwmc_work_mul(hwmc_work_mul(log, messages_of(c, c->bytes)), c->members),
        .bytes = hwmc_work_mul(log, c->bytes),
        .all = hwmc_pace_loaded(net, hwmc_work_mul(hwmc_work_mul(log, c->bytes), c->members)),
    };
}

static struct hwmc_work scan_work(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    const uint64_t messages = messages_of(c, c->bytes);

    if (!hwmc_scan_way_of(net, c->members, c->bytes, c->part).chain)
        return doubling_work(net, c);
    return (struct hwmc_work){
        .steps = c->members - 1 + is_long(c, c->bytes),
        .busy = hwmc_work_mul(messages, 2),
        .sent = hwmc_work_mul(messages, c->members - 1),
        .bytes = c->bytes + hwmc_work_mul(c->members - 1, c->bytes < c->part ? c->bytes : c->part),
        .all = hwmc_pace_loaded(net, hwmc_work_mul(c->members - 1, c->bytes)),
    };
}

/* Bytes of a host's block for another host, or of its own part. */
static uint64_t block_of(const struct hwmc_coll_case *c)
{
    uint64_t all = hwmc_work_mul(c->bytes, c->each);

    if (c->coll == HWMC_COLL_ALLTOALL || c->coll == HWMC_COLL_ALLTOALLV ||
        c->coll == HWMC_COLL_ALLTOALLW)
        return hwmc_work_mul(all, c->each);
    return c->coll == HWMC_COLL_REDUCE_SCATTER ? c->bytes / c->members : all;
}

uint64_t hwmc_coll_ours_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    struct hwmc_work w = {0};

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
            w = at_once(net, c, block_of(c), false);
            break;
        case HWMC_COLL_SCAN:
            w = scan_work(net, c);
            break;
        case HWMC_COLL_ALLGATHER:
            w = allgather_work(net, c, block_of(c));
            break;
        default:
            w = at_once(net, c, block_of(c), true);
    }
    return hwmc_work_ns(net, c, &w, net->mbit_all);
}

bool hwmc_coll_direct_fits(enum hwmc_coll coll, uint64_t ranks, uint64_t bytes)
{
    switch (coll) {
        case HWMC_COLL_REDUCE:
            return bytes <= HWMC_COLL_DIRECT_BYTES / ranks;
        case HWMC_COLL_SCAN:
            return bytes <= HWMC_COLL_DIRECT_BYTES;
        case HWMC_COLL_ALLREDUCE:
            return bytes > HWMC_PART_LEAST; /* a block of a short one saves nothing */
        case HWMC_COLL_GATHER:
        case HWMC_COLL_SCATTER:
        case HWMC_COLL_ALLTOALL:
            return bytes != HWMC_LENGTH_UNKNOWN;
        default:
            return false;
    }
}

uint64_t hwmc_coll_direct_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    assert(c->bytes != HWMC_LENGTH_UNKNOWN);
    if (net->mbit == 0 ||
        !hwmc_coll_direct_fits(c->coll, hwmc_work_mul(c->members, c->each), c->bytes))
        return UINT64_MAX;
    if (c->coll != HWMC_COLL_ALLREDUCE)
        return hwmc_coll_mpich_direct_ns(net, c);
    return c->members <= HWMC_COLL_DIRECT_MOST ? by_blocks_ns(net, c) : UINT64_MAX;
}

enum hwmc_way hwmc_coll_way(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                            bool ours)
{
    const bool can = c->coll == HWMC_COLL_GATHER || c->coll == HWMC_COLL_SCATTER ||
                     c->coll == HWMC_COLL_ALLREDUCE ||
                     (c->coll == HWMC_COLL_REDUCE && c->each == 1) ||
                     (c->coll == HWMC_COLL_ALLTOALL && hwmc_model_is_fast(net));
    uint64_t ns;

    if (can && c->bytes != HWMC_LENGTH_UNKNOWN) {
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
    return hwmc_work_mul(ns, HUNDREDS) / (other > 0 ? other : 1);
}

/* Lines decide how long it takes, not processors; or hosts have several ranks, whose memory hwmc
 * uses better than is counted. */
static bool gains_beyond_model(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    if (c->each > 1 || net->mbit_all > net->mbit)
        return true;
    return c->bytes != HWMC_LENGTH_UNKNOWN && !hwmc_model_is_fast(net) &&
           hwmc_model_is_long(net, block_of(c));
}

/* As long as hwmc may take, where MPICH takes so long. */
static uint64_t most_for(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                         uint64_t mpich)
{
    const uint64_t part = mpich / HWMC_COLL_ALIKE;

    if (c->each > 1 && hwmc_model_crowd(net) > 1)
        return hwmc_work_mul(mpich, 2);
    return gains_beyond_model(net, c) ? mpich + part : mpich - part;
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
    return ours_worst <= most_for(net, c, mpich_worst);
}

bool hwmc_coll_is_ours(const struct hwmc_network *net, const struct hwmc_coll_case *c)
{
    uint64_t ours, mpich;

    if (c->bytes == HWMC_LENGTH_UNKNOWN)
        return is_ours_at_any(net, c);
    ours = hwmc_coll_ours_ns(net, c);
    if (c->coll == HWMC_COLL_ALLREDUCE)
        ours = hwmc_min_u64(ours, hwmc_coll_direct_ns(net, c));
    mpich = hwmc_coll_mpich_ns(net, c);
    return mpich == UINT64_MAX || ours <= most_for(net, c, mpich);
}
