/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * collective: the time of a collective over hosts, other than a broadcast, by hwmc and by MPICH.
 * Like the model of broadcasts it is a function of its arguments, in integers: ranks that know the
 * same select the same.
 *
 * Time is a sum of four terms, as in LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1997), and of
 * two for hosts that hinder each other, as they share processors or lines:
 *
 *   steps * l     messages that wait for each other, on the longest path
 *   busy * o      messages that the busiest host sends and receives besides
 *   bytes / b     on the busiest line; of that what the line lets through faster at first, once
 *   sent * x      messages that a host sends, at the mean; x is what a message takes longer if all
 *                 hosts have one on the way
 *   all * y       bytes that a host sends, at the mean; y is what a byte takes longer if all send,
 *                 unless one part at a time is on its way (pace.h)
 *
 * Of busy * o and sent * x the greater counts: where processors are shared, x has o in it.
 *
 * Inside a host hwmc's ranks have the segment, and MPICH's send messages: log k steps before those
 * between hosts, and as many after, which cost x each.
 *
 * p members take part, one of each host or all ranks; k ranks a host, M bytes, b the bandwidth of
 * one rail and B of all. MPICH's algorithms use one rail at a time. Messages longer than 64 KiB
 * they announce first: 2 l more.
 *
 *                   hwmc: steps, messages, bytes           MPICH
 *   barrier         up a tree, down by multicast           dissemination
 *   reduce          the fastest tree (reduce_way.h)        binomial to 2 KiB, else reduce-scatter
 *                                                          and gather
 *   allreduce       that, down by multicast                recursive doubling to an element a
 *                                                          member, else reduce-scatter and
 *                                                          allgather
 *   gather, scatter to the root, or from it, at once       binomial
 *   allgather       in turn (turns_way.h), or all to all   recursive doubling to 512 KiB in all,
 *                                                          Bruck to 80 KiB if p is no power of
 *                                                          2; else on a ring
 *   alltoall        all to all at once                     Bruck to 256 bytes from 8 ranks on, all
 *                                                          at once to 32 KiB, else pairwise
 *   alltoallv, -w   likewise                               all to all, 32 messages at once
 *   reduce_scatter  all to all at once                     recursive halving to 512 KiB, else
 *                                                          pairwise; recursive doubling for an
 *                                                          operation that does not commute
 *   scan            doubling, or a chain of members, by    recursive doubling
 *                   parts (scan_way.h)
 *
 * MPICH's lengths are those of its own selection file.
 *
 * Blocks of a gather, scatter or alltoall, and vectors that the root of a reduce combines, can also
 * go directly: one message from process to process each, by MPICH's algorithms of that kind, which
 * it chooses for the vector forms alone or for short blocks. A block is copied nowhere on its way,
 * but messages are as many as ranks. A scan goes directly along a chain of all ranks. An alltoallv
 * or -w, whose lengths are not known to all, does so as far as its parts are long (entry/split.h).
 *
 * A long allreduce has a third way too, by blocks (entry/spread_blocks.h): members combine a block
 * each, all to all at once, and gather the blocks. A line carries 2 M (p - 1) / p bytes then
 * instead of 2 M, but each member has messages for each other one.
 */
#ifndef HWMC_CORE_MODEL_COLLECTIVE_H_INCLUDED
#define HWMC_CORE_MODEL_COLLECTIVE_H_INCLUDED

#include "reduce_way.h"

/* Vector forms but these of alltoall, reduce_scatter_block and exscan go by their base. */
#define HWMC_COLLS(X)                                                                              \
    X(BARRIER, barrier)                                                                            \
    X(REDUCE, reduce)                                                                              \
    X(ALLREDUCE, allreduce)                                                                        \
    X(GATHER, gather)                                                                              \
    X(SCATTER, scatter)                                                                            \
    X(ALLGATHER, allgather)                                                                        \
    X(ALLTOALL, alltoall)                                                                          \
    X(ALLTOALLV, alltoallv)                                                                        \
    X(ALLTOALLW, alltoallw)                                                                        \
    X(REDUCE_SCATTER, reduce_scatter)                                                              \
    X(SCAN, scan)

enum hwmc_coll {
#define X(name, lower) HWMC_COLL_##name,
    HWMC_COLLS(X)
#undef X
        HWMC_COLL_LIMIT
};

/* The ways of a collective over hosts. */
enum hwmc_way {
    HWMC_WAY_HWMC,
    HWMC_WAY_MPICH, /* as MPICH chooses */
    HWMC_WAY_DIRECT /* entry/direct.h; of an allreduce hwmc's by blocks */
};

/* The way of a collective is one by which hwmc runs it. */
static inline bool hwmc_way_is_hwmcs(enum hwmc_coll coll, enum hwmc_way way)
{
    return way == HWMC_WAY_HWMC || (way == HWMC_WAY_DIRECT && coll == HWMC_COLL_ALLREDUCE);
}

/* The collective whose selection, where it says nothing, is followed by that of `coll`;
 * HWMC_COLL_LIMIT: none. */
static inline enum hwmc_coll hwmc_coll_base(enum hwmc_coll coll)
{
    switch (coll) {
        case HWMC_COLL_ALLTOALLV:
            return HWMC_COLL_ALLTOALL;
        case HWMC_COLL_ALLTOALLW:
            return HWMC_COLL_ALLTOALLV;
        default:
            return HWMC_COLL_LIMIT;
    }
}

/* Bytes of a collective that ranks do not all know. */
#define HWMC_LENGTH_UNKNOWN UINT64_MAX

/* What all ranks know alike of a collective. */
struct hwmc_coll_case {
    enum hwmc_coll coll;
    bool commutative; /* of reductions: the operation is */
    uint32_t members; /* that take part between hosts, 2 or more */
    uint32_t each;    /* ranks that each stands for, 1 or more, at the mean, rounded up */
    /* Of reduce, allreduce and scan the vector; of gather, scatter and allgather a rank's part; of
     * alltoall what a rank has for each other; of reduce_scatter the whole vectors. Or
     * HWMC_LENGTH_UNKNOWN. */
    uint64_t bytes;
    uint32_t part;              /* bytes that hwmc's ways send at a time at most: reduce_way.h */
    enum hwmc_reduce_kind kind; /* of reduce and allreduce: by which of them */
    struct hwmc_shape shape;    /* of the members: for what hwmc multicasts */
};

/* The reduction that the case is, or that is a part of it. */
struct hwmc_reduce_case hwmc_coll_reduction(const struct hwmc_coll_case *c);

/* Nanoseconds; UINT64_MAX: nothing is known of the network. The length is known. */
uint64_t hwmc_coll_ours_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c);
uint64_t hwmc_coll_mpich_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c);

/* A collective of `bytes` and so many ranks can go directly, or by blocks, as far as its lengths
 * go. Of vectors no rank has memory for more than HWMC_COLL_DIRECT_BYTES besides its own. */
#define HWMC_COLL_DIRECT_BYTES (UINT64_C(1) << 20)
bool hwmc_coll_direct_fits(enum hwmc_coll coll, uint64_t ranks, uint64_t bytes);

/* Likewise, directly or by blocks; UINT64_MAX: there is no such way, or it is the one that MPICH
 * chooses, or more ranks than HWMC_COLL_DIRECT_MOST would each need a connection to a root, or more
 * members to each other. */
#define HWMC_COLL_DIRECT_MOST 256u
uint64_t hwmc_coll_direct_ns(const struct hwmc_network *net, const struct hwmc_coll_case *c);

/* hwmc is faster, by more than a part in HWMC_COLL_ALIKE, which the model cannot tell apart: of
 * ways that are alike MPICH's executes least. Or hwmc is slower by no more than that part where
 * there is something to gain that the model does not have:
 *
 *   several rails            one that fails does not matter
 *   long blocks, slow lines  hwmc's wait for grants, and overrun no queue on the way (8 hosts,
 *                            1 Gbit/s, alltoall of 256 KiB: 39 ms, MPICH's 75, predicted 16 and 17)
 *   hosts of several ranks   what MPICH's copy inside hosts is not counted; where hosts also share
 *                            processors MPICH's has to be predicted twice as fast (4 x 4 ranks on
 *                            two processors: a reduce of 32 KiB took 3.3 times as long as hwmc's)
 *
 * Where nothing is known of the network: it is. Of a length that is not known: hwmc loses so much
 * less, or no more than that part more, at the length where it loses most, than MPICH does where
 * that loses most. */
#define HWMC_COLL_ALIKE 8u
bool hwmc_coll_is_ours(const struct hwmc_network *net, const struct hwmc_coll_case *c);

/* The way that calls begin with that wait. If `ours` or not, as hwmc_coll_is_ours or a better judge
 * has it, a gather or scatter goes directly if that is predicted to be no slower, and so does a
 * reduce of one rank a host: of ways that are alike it copies and executes least. An allreduce goes
 * by blocks in that case. An alltoall goes directly only where the network is fast: on slow lines
 * all at once hinder each other more than the model has it (4 hosts of 4 ranks, 256 KiB: 1 Gbit/s
 * 424 ms, pairwise 278; no rate 15.2 and 20.6). */
enum hwmc_way hwmc_coll_way(const struct hwmc_network *net, const struct hwmc_coll_case *c,
                            bool ours);

#endif /* HWMC_CORE_MODEL_COLLECTIVE_H_INCLUDED */
