/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * gather: a part of each rank to the root, or to all of them. The parts may differ in length. The
 * rank that has a part chooses by its length how it moves, and says so in its line:
 *
 *   inline  in the slot                             up to inline_max
 *   chunks  through buffers of the segment          above; readers take a chunk of each rank in
 *                                                   turn
 *   direct  from memory to memory, by single copy   from copy_min on, if it can: to the root each
 *                                                   rank writes its part; to all, each reads
 *
 * Each reader begins with the rank after its own, so that not all read the same memory at once. No
 * rank waits for all at the end, except where others read or write its own memory.
 *
 * Cost for parts of M bytes, the rest as in bcast.h: inline l and p lines; chunks p M / b at each
 * reader; direct to the root 2 l + M / b, as far as memory lets p ranks write; to all l + p M / b.
 */
#ifndef HWMC_SHM_COLL_GATHER_H_INCLUDED
#define HWMC_SHM_COLL_GATHER_H_INCLUDED

#include "../segment/group.h"
#include "../segment/op.h"
#include "vector.h"

struct hwmc_shm_gather {
    struct hwmc_shm_op op;
    uint32_t root;
    bool to_all;
    const unsigned char *in; /* this rank's part; the caller's until it is done, as is `out` */
    uint64_t length;         /* of it, bytes */
    unsigned char *out;      /* of a reader */
    struct hwmc_shm_vector vector; /* in `out` */

    uint8_t done;                /* enum hwmc_shm_parts, a bit each; OWN, READ: of a reader */
    bool asked;                  /* direct to the root: `place` is known */
    struct hwmc_shm_range place; /* of the part in the root's memory */
    uint64_t moved; /* bytes of the part that are written there; of a reader's, to its own memory */
    uint64_t put;   /* chunks of the part that are in buffers and shown */
    uint32_t seen;  /* readers before this one, from this rank on, have taken enough */

    uint64_t round; /* of a reader: chunks below this one are taken of all ranks */
    uint32_t next;  /* in this round, from this rank on, those before this one are done with */
    uint64_t at;    /* direct: bytes read of the one that is next */
    bool more;      /* some rank has a chunk for the next round */
};

/* Begins the group's next collective: the part of each rank, `length` bytes at `in`, to `root`. At
 * the root `parts` says where in `out` each one belongs; elsewhere both are not looked at. `in`
 * NULL at the root: its own is there already. The last step answers ERR_INVAL at the root, where a
 * part has another length than it says, and perhaps at that rank; then the group is in step, and as
 * much is there as has room. */
void hwmc_shm_gather_begin(struct hwmc_shm_gather *w, struct hwmc_shm_group *g, uint32_t root,
                           const void *in, uint64_t length, void *out,
                           const struct hwmc_shm_vector *vector);

/* The same to all ranks, each of which has `out` and `parts`. Parts do not overlap. */
void hwmc_shm_gather_begin_to_all(struct hwmc_shm_gather *w, struct hwmc_shm_group *g,
                                  const void *in, uint64_t length, void *out,
                                  const struct hwmc_shm_vector *vector);

#endif /* HWMC_SHM_COLL_GATHER_H_INCLUDED */
