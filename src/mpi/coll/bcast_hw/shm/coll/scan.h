/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scan: each rank gets the vectors of the ranks up to it, combined element by element in the order
 * of ranks; exclusive: of the ranks before it. Two ways, chosen by the message's length alone, so
 * alike on all ranks:
 *
 *   inline  all put theirs into the slot, and each combines those before its own: l + p lines
 *   chunks  a chain in the order of ranks, through buffers: each combines a chunk with that of the
 *           rank before it and gives it on: (M / c + p) (l + c / b)
 *
 * Single copy would save nothing: each rank combines what it takes with its own, and can do so from
 * the other's buffer as from its memory.
 *
 * No rank waits for all at the end.
 */
#ifndef HWMC_SHM_COLL_SCAN_H_INCLUDED
#define HWMC_SHM_COLL_SCAN_H_INCLUDED

#include "reduction.h"

struct hwmc_shm_scan {
    struct hwmc_shm_op op;
    struct hwmc_shm_operation operation;
    bool exclusive;
    const unsigned char *in; /* the caller's until it is done, as is `out` */
    unsigned char *out;      /* may be `in` */
    uint64_t length;         /* bytes, of all elements */
    uint32_t chunk;          /* bytes that are combined at a time; whole elements */
    uint64_t at;             /* what is below this is in `out`, and put for the next rank */
    uint32_t turn;           /* inline: ranks before this one that are combined */
};

/* Begins the group's next collective, a scan of `count` elements, alike on all ranks. `in`: what
 * this rank adds. `out`: of the result, `in` itself for in place; exclusive, it is not touched at
 * rank 0. ERR_LIMIT: an element is too long, and nothing has begun. Steps answer ERR_INVAL where a
 * rank has another length than one that it takes from; then the group is of no use any more. */
int hwmc_shm_scan_begin(struct hwmc_shm_scan *s, struct hwmc_shm_group *g,
                        const struct hwmc_shm_operation *operation, bool exclusive, const void *in,
                        void *out, uint64_t count);

#endif /* HWMC_SHM_COLL_SCAN_H_INCLUDED */
