/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * blocks: a group's exchanges (core/exchange/exchange): where the bytes of blocks lie, and what
 * came of exchanges that are not begun here.
 *
 * A short block goes by the lane for control; longer ones by the lanes of rails, from where they
 * lie. One exchange of a group is under way at a time, beside its broadcasts.
 */
#ifndef HWMC_ENGINE_GROUP_BLOCKS_H_INCLUDED
#define HWMC_ENGINE_GROUP_BLOCKS_H_INCLUDED

#include "../../core/exchange/exchange.h"
#include "../../core/model/reduce_way.h"

struct hwmc_group;
struct hwmc_wire_in;

/* Where a block lies: part i begins at bytes + (i mod ring) * stride. */
struct hwmc_block_place {
    unsigned char *bytes;
    uint32_t stride; /* bytes from part to part */
    uint32_t ring;   /* parts that there is memory for; at least an incoming block's window */
};

/* An exchange as a collective wants it. All is the caller's, and the group's until it is over. */
struct hwmc_blocks_plan {
    struct hwmc_block_in *in;
    const struct hwmc_block_place *in_place; /* of each */
    uint32_t num_in;
    struct hwmc_block_out *out;
    const struct hwmc_block_place *out_place;
    uint32_t num_out;
    uint32_t part;   /* bytes, alike on all members, HWMC_PART_LEAST or more */
    uint64_t budget; /* bytes that come at a time, about: exchange.h */
};

struct hwmc_blocks_kept;

struct hwmc_blocks {
    struct hwmc_exchange exchange;
    struct hwmc_exchange_link *links; /* NULL: no exchange can be begun, and none comes */
    const struct hwmc_block_place *in_place, *out_place;
    struct hwmc_blocks_kept *kept; /* of exchanges that are not begun here, in the order in which
                                      they came */
};

/* Of a group that runs. False without memory. */
bool hwmc_blocks_open(struct hwmc_group *g);
void hwmc_blocks_close(struct hwmc_group *g);

/* Begins the next exchange. ON only; the last one is over. */
void hwmc_blocks_begin(struct hwmc_group *g, const struct hwmc_blocks_plan *plan, uint64_t now);

/* BLOCK, BLOCK_GRANT or BLOCK_CREDIT came; sends what is due. */
void hwmc_blocks_on_recv(struct hwmc_group *g, const struct hwmc_wire_in *in);
void hwmc_blocks_pump(struct hwmc_group *g);

/* Parts may be with the lanes of rails, or come by them. */
static inline bool hwmc_blocks_use_lanes(const struct hwmc_blocks *b)
{
    return b->links && b->exchange.running;
}

/* Tokens of lanes: those of blocks have this bit. */
#define HWMC_BLOCKS_TOKEN 0x8000u

#endif /* HWMC_ENGINE_GROUP_BLOCKS_H_INCLUDED */
