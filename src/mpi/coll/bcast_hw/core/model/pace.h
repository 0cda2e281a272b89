/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * pace: how much of an exchange is on its way at a time (core/exchange/exchange.h): which blocks
 * are sent unasked, how long the parts of the others are, and how many of a block's parts a
 * receiver grants. Like the model it is a function of its arguments, in integers: members that know
 * the same cut their blocks into the same parts.
 *
 * A part is as long as a rail carries in HWMC_PACE_NS, and over one rail a block has one part on
 * its way: the connections to other members fill the line meanwhile. So a message goes to the line
 * as it is. Of what waits on a connection TCP makes one piece, up to 64 KiB. Where a line takes so
 * long a piece only as datagrams, as a shaped one does, a processor cuts it, and each hop and the
 * receiver have a datagram at a time. 8 hosts that share two processors, 1 Gbit/s, alltoall of 256
 * KiB: with parts of 4 KiB, 16 on the way, 38 ms, so 17; the line needs 15, MPICH takes 78.
 *
 * Longer parts, and more of them on the way, where that is too little:
 *
 *   many messages    a part is what a rail carries while a host handles PART_MESSAGES of them, so
 *                    that they take at most a fifth of a processor
 *   a long way       HWMC_PACE_MOST parts fill a rail for a round trip
 *   a slow line      a part has PART_SLOW bytes: messages of datagrams that are full
 *   a fast one       what it carries in HWMC_PACE_NS is several parts of PART_FAST bytes
 *   several rails    parts of a block go by all of them, four each; short ones, for a part goes by
 *                    one rail
 *
 * Of a block that is combined over one rail one part comes while another one is combined.
 */
#ifndef HWMC_CORE_MODEL_PACE_H_INCLUDED
#define HWMC_CORE_MODEL_PACE_H_INCLUDED

#include "model.h"

#define HWMC_PACE_NS UINT64_C(200000)
#define HWMC_PACE_MOST 16u    /* parts of a block on the way */
#define HWMC_PART_LEAST 4096u /* bytes of a part, where several follow each other */

/* A block that is sent unasked (PROTOCOL.md, section 14): bytes of the longest, which depend on
 * how many members there are, as all may send to one at once. */
#define HWMC_EAGER_LEAST 4096u
#define HWMC_EAGER_MOST 32768u
#define HWMC_EAGER_ALL (256u << 10) /* what a switch, and a member, can store */

static inline uint32_t hwmc_eager_bytes(uint32_t members)
{
    uint32_t bytes = HWMC_EAGER_MOST;

    while (bytes > HWMC_EAGER_LEAST && (uint64_t) bytes * members > HWMC_EAGER_ALL)
        bytes /= 2;
    return bytes;
}

/* A block of `bytes` in parts of `part` waits for its receiver's grant. */
static inline bool hwmc_block_waits(uint64_t bytes, uint32_t part, uint32_t members)
{
    return bytes > hwmc_eager_bytes(members) || bytes > part;
}

struct hwmc_pace {
    uint32_t part;     /* bytes, HWMC_PART_LEAST or more */
    uint32_t ahead;    /* parts of a block on the way, 1 to HWMC_PACE_MOST */
    uint32_t combined; /* the same where each is combined with others, 2 to HWMC_PACE_MOST / 2 */
};

struct hwmc_pace hwmc_pace_of(const struct hwmc_network *net);

/* Of `bytes` that members send, those that are slower while all hosts send. What a byte then takes
 * longer (hwmc_network.loaded_mbit) MPI_Init measures with messages in a row, and TCP joins these
 * into long pieces. It joins nothing where one part is on its way: then no byte is slower. */
static inline uint64_t hwmc_pace_loaded(const struct hwmc_network *net, uint64_t bytes)
{
    return hwmc_pace_of(net).ahead == 1 ? 0 : bytes;
}

/* Parts of a block on the way between so many members: where there are few, a line has nothing to
 * carry while a grant is on its way, or while its receiver waits for a processor. */
#define HWMC_PACE_FEW 3u
static inline uint32_t hwmc_pace_ahead(const struct hwmc_pace *p, uint32_t members)
{
    return p->ahead == 1 && members <= HWMC_PACE_FEW ? 2 : p->ahead;
}

/* Bytes of the longest block that needs no pace, where each of so many members has one for each:
 * one that is sent unasked, and over several rails is so short that by one of them it is as fast.
 */
uint32_t hwmc_pace_short(const struct hwmc_network *net, uint32_t members);

/* Bytes that a member grants all others together, without what is combined. */
static inline uint64_t hwmc_pace_budget(const struct hwmc_pace *p)
{
    return UINT64_C(4) * p->ahead * p->part;
}

#endif /* HWMC_CORE_MODEL_PACE_H_INCLUDED */
