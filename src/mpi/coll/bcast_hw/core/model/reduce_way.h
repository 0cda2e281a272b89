/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reduce_way: along which trees the members of a group combine vectors. Like the model of
 * broadcasts it is a function of its arguments, in integers: members that know the same go the same
 * way, and results are alike from run to run.
 *
 * p members, M bytes, latency l, bandwidth b of a rail and B of all, o a host's time for a message:
 *
 *   range of degree k   d(k) (l + k (o + M / b))        d(k) = log_k p: every part goes up as one
 *   range, a chain      (p - 1) (l + o + s / b) + M / B + 2 M / s o  parts of s bytes, for an order
 *   two trees           log_2 p (l + 2 (o + s / b)) + M / B + 2 M / s o
 *
 * What waits for a grant takes l more. What hosts that hinder each other cost (collective.h) is
 * that of all parts and grants, shared by p, if it is more. Where they do and all members wait for
 * the outcome, each child after the first one costs a parent as many times o as hosts are slower
 * then: those that wait have turns on its processor. What a line lets through faster at first is
 * taken off once.
 */
#ifndef HWMC_CORE_MODEL_REDUCE_WAY_H_INCLUDED
#define HWMC_CORE_MODEL_REDUCE_WAY_H_INCLUDED

#include "pace.h"

#define HWMC_REDUCE_FANOUT_MAX 32u

enum hwmc_reduce_kind {
    HWMC_REDUCE_ANY, /* the fastest */
    HWMC_REDUCE_RANGES,
    HWMC_REDUCE_TREES,
    HWMC_REDUCE_CHAIN
};

/* What is reduced. */
struct hwmc_reduce_case {
    uint32_t members; /* 2 or more */
    bool commutative;
    bool awaited; /* all members wait until it is over, as in an allreduce */
    uint64_t bytes;
    uint32_t part; /* bytes at most, where several parts follow each other */
    enum hwmc_reduce_kind kind;
    uint32_t group; /* how many members the group has; 0: `members` */
};

struct hwmc_reduce_way {
    uint32_t trees;  /* 1: a tree of ranges (core/place/ranges.h); 2 (core/place/trees.h) */
    uint32_t fanout; /* of the one, 1 to HWMC_REDUCE_FANOUT_MAX */
    uint32_t part;   /* bytes that go up at a time */
};

/* The fastest way of a kind, or of all where that kind cannot be: two trees are for 4 members or
 * more, operations that commute, and vectors of several parts. */
struct hwmc_reduce_way hwmc_reduce_way_of(const struct hwmc_network *net,
                                          const struct hwmc_reduce_case *c);

/* The same, remembered: what was found last, of one network. All zero: nothing yet. The search
 * takes a sixth of the instructions of a short reduction at a leaf. */
struct hwmc_reduce_memo {
    struct hwmc_reduce_case of;
    struct hwmc_reduce_way way;
};

struct hwmc_reduce_way hwmc_reduce_way_again(struct hwmc_reduce_memo *memo,
                                             const struct hwmc_network *net,
                                             const struct hwmc_reduce_case *c);

/* How long the case takes by this way, ns. */
uint64_t hwmc_reduce_ns(const struct hwmc_network *net, const struct hwmc_reduce_case *c,
                        const struct hwmc_reduce_way *way);

#endif /* HWMC_CORE_MODEL_REDUCE_WAY_H_INCLUDED */
