/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * net_reduce: combines the vectors of all members of a group at one of them, as a stage. Each
 * member combines its own vector with those of its children, part by part, in the order of the
 * children (core/exchange/combine), and sends the parts on to its parent in the same exchange.
 *
 *   short    one tree of ranges (core/place/ranges.h) of degree `fanout`
 *   long     two trees, each for every other part (core/place/trees.h, reversed): a member is an
 *            inner node of one, so it receives the vector once and sends it once
 *   ordered  an operation that does not commute goes along a tree of ranges from member 0 on, long
 *            ones along a chain; member 0 sends the result on to the root
 *
 * Where the operation commutes the tree of ranges begins with the root, and members follow
 * cyclically. The result depends on the members, the root, the length and what all know alike: it
 * is the same, bit by bit, from run to run.
 *
 * Cost, l being the latency, b the bandwidth of all rails, o a host's time for a message: short
 * log_k p (l + k (o + M / b)), long log_2 p (l + 2 s / b) + M / b with parts of s bytes.
 */

#ifndef HWMC_OP_NET_REDUCE_H_INCLUDED
#define HWMC_OP_NET_REDUCE_H_INCLUDED

#include "../core/exchange/combine.h"
#include "../core/exchange/reduce_plan.h"
#include "../shm/coll/operation.h"
#include "blocks_stage.h"

#define HWMC_REDUCE_TREES 2u
#define HWMC_REDUCE_IN (HWMC_REDUCE_TREES * HWMC_COMBINE_CHILDREN + 1)
#define HWMC_REDUCE_OUT (HWMC_REDUCE_TREES + 1)

struct hwmc_net_reduce_cfg {
    struct hwmc_engine *engine;
    struct hwmc_group *group;
    uint64_t withdraw_ns;
    uint32_t root; /* member */
    const struct hwmc_shm_operation *operation;
    const void *in;             /* this member's vector */
    void *out;                  /* of the result, at the root; may be `in` */
    uint64_t bytes;             /* whole elements; 0 is fine */
    struct hwmc_reduce_way way; /* alike on all members */
    uint32_t window;            /* parts of a child on the way, or not combined: 1 or more */
};

/* One tree at this member. */
struct hwmc_reduce_tree {
    struct hwmc_combine combine;
    uint32_t parts;
    uint32_t first_in;        /* its children's blocks are from this on */
    uint32_t num_out;         /* blocks that go on with what is ready: 0, 1 */
    uint32_t out;             /* the one */
    const unsigned char *own; /* its first part, of this member's vector */
    unsigned char *sum;       /* the same of what is combined; NULL: nothing is, `own` goes on */
};

struct hwmc_net_reduce {
    struct hwmc_op_stage stage;
    struct hwmc_blocks_stage blocks; /* of the piece under way */
    struct hwmc_net_reduce_cfg cfg;
    uint64_t at;         /* the piece begins there */
    uint32_t bytes;      /* of it */
    uint32_t part, slot; /* bytes: of a part, and from one to the next where children's lie */
    uint32_t trees;
    struct hwmc_reduce_plan plan; /* of the piece */
    struct hwmc_reduce_tree tree[HWMC_REDUCE_TREES];
    uint32_t relay; /* at the root, of an ordered one: the block of the result; or num_in */
    uint32_t num_in, num_out;
    struct hwmc_block_in in[HWMC_REDUCE_IN];
    struct hwmc_block_out out[HWMC_REDUCE_OUT];
    struct hwmc_block_place in_place[HWMC_REDUCE_IN], out_place[HWMC_REDUCE_OUT];
    uint32_t here[HWMC_REDUCE_IN], taken[HWMC_REDUCE_IN], ready[HWMC_REDUCE_OUT];
    unsigned char *scratch; /* sums and what children sent; NULL: none is needed, or `few` is */
    unsigned char few[4096] __attribute__((aligned(16))); /* the same, of short messages */
};

/* Begins it; without memory it has failed. It does not move until it is over. */
void hwmc_net_reduce_begin(struct hwmc_net_reduce *r, const struct hwmc_net_reduce_cfg *cfg);

#endif /* HWMC_OP_NET_REDUCE_H_INCLUDED */
