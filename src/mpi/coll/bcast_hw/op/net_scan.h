/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * net_scan: combines, at each member of a group, the vectors of the members before it in the order
 * of members, as a stage. It is one exchange, of blocks as long as the vector, in parts.
 *
 *   doubling   in round i from the member 2^i before this one, which sends what it has combined of
 *              2^i members, its own vector last (Hillis and Steele 1986)
 *   chain      from the member before: what it has combined of all up to itself
 *
 * Each part goes through the rounds by itself (core/exchange/combine: rounds are its children). The
 * result depends on the members, the length and the way: it is the same, bit by bit, from run to
 * run.
 *
 * Example, doubling, member 5 of 7: R0 is of 4, R1 of 2 3, R2 of 0 1. Before it: R2 R1 R0. It sends
 * its own vector to member 6 and to nobody else, as 7 and 9 are no members.
 *
 * Memory: doubling 2 log_2 p vectors at most, chain a vector and a window of parts. Cost:
 * core/model/scan_way.h.
 */

#ifndef HWMC_OP_NET_SCAN_H_INCLUDED
#define HWMC_OP_NET_SCAN_H_INCLUDED

#include "../core/exchange/combine.h"
#include "../core/exchange/scan_plan.h"
#include "../core/model/scan_way.h"
#include "../shm/coll/operation.h"
#include "blocks_stage.h"

struct hwmc_net_scan_cfg {
    struct hwmc_engine *engine;
    struct hwmc_group *group;
    uint64_t withdraw_ns;
    const struct hwmc_shm_operation *operation;
    const void *in; /* this member's vector */
    /* Of the result: of the members before this one, not written to at member 0; and of these and
     * this one. NULL: it is not wanted. At most one is `in`. */
    void *before, *sum;
    uint64_t bytes;           /* whole elements; 1 or more */
    struct hwmc_scan_way way; /* alike on all members */
    uint32_t window;          /* parts of a round on the way, or not combined: 1 or more */
};

struct hwmc_net_scan {
    struct hwmc_op_stage stage;
    struct hwmc_blocks_stage blocks; /* of the piece under way */
    struct hwmc_net_scan_cfg cfg;
    uint64_t at;                 /* the piece begins there */
    uint32_t bytes;              /* of it */
    uint32_t part, slot;         /* bytes: of a part, and from one to the next where others' lie */
    struct hwmc_combine combine; /* a child for each round that brings something */
    uint32_t num_out;            /* rounds in which it sends something */
    /* What is combined after so many rounds, this member's vector last; NULL: nobody wants it. */
    unsigned char *sums[HWMC_SCAN_ROUNDS + 1];
    struct hwmc_block_in in[HWMC_SCAN_ROUNDS];
    struct hwmc_block_out out[HWMC_SCAN_ROUNDS];
    struct hwmc_block_place in_place[HWMC_SCAN_ROUNDS], out_place[HWMC_SCAN_ROUNDS];
    uint32_t here[HWMC_SCAN_ROUNDS], taken[HWMC_SCAN_ROUNDS], ready[HWMC_SCAN_ROUNDS];
    unsigned char *scratch; /* sums, and what others sent */
};

/* Begins it; without memory it has failed. It does not move until it is over. */
void hwmc_net_scan_begin(struct hwmc_net_scan *s, const struct hwmc_net_scan_cfg *cfg);

#endif /* HWMC_OP_NET_SCAN_H_INCLUDED */
