/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scatter: a part for each rank from the root, or from each of them (alltoall). The parts may
 * differ in length. The rank that has them chooses how they move, and says so in its line:
 *
 *   packed  all of them in the slot, if they fit, or in one buffer of the segment
 *   chunks  through buffers, one part after the other, where they do not
 *   direct  from memory to memory, by single copy, where the longest has copy_min bytes, if it can
 *
 * Parts move in phases: in phase k = 1 to p - 1 rank r gives one to rank r + k, and reads that of
 * rank r - k, so that not all read from the same rank at once. A rank gives and reads in this
 * order, but its giving and its reading may be in different phases, and ranks do not wait for each
 * other between phases.
 *
 * No rank waits for all at the end, except where others read its own memory.
 *
 * Cost for parts of M bytes, the rest as in bcast.h: packed l + 2 p M / b, without an
 * acknowledgement; chunks p (l + M / b); direct 2 l + M / b from the root, as far as memory lets p
 * ranks read; of all l + p M / b.
 */
#ifndef HWMC_SHM_COLL_SCATTER_H_INCLUDED
#define HWMC_SHM_COLL_SCATTER_H_INCLUDED

#include "../segment/group.h"
#include "../segment/op.h"
#include "vector.h"

/* How this rank's parts go. */
enum hwmc_shm_scatter_form {
    HWMC_SHM_SCATTER_NONE, /* it has none */
    HWMC_SHM_SCATTER_BODY,
    HWMC_SHM_SCATTER_BUFFER,
    HWMC_SHM_SCATTER_CHUNKS,
    HWMC_SHM_SCATTER_DIRECT,
};

struct hwmc_shm_scatter {
    struct hwmc_shm_op op;
    uint32_t root;
    bool of_all;
    const unsigned char *in;           /* the caller's until it is done, as is `out` */
    unsigned char *out;                /* NULL: the own part stays where it is */
    struct hwmc_shm_vector in_vector;  /* of a rank that has some */
    struct hwmc_shm_vector out_vector; /* of_all */
    uint64_t length;                   /* else: of the part at `out`, bytes */

    uint8_t done;   /* enum hwmc_shm_parts, a bit each */
    uint64_t moved; /* bytes of its own part that are there */

    enum hwmc_shm_scatter_form form;
    uint32_t to;  /* giving: the phase; direct: those before it have been read */
    uint64_t put; /* chunks of it that are in buffers and shown */
    uint64_t held[HWMC_SHM_BUFFERS_MAX]; /* by buffer: the mark of what is in it; 0: old things */

    uint32_t from;               /* reading: the phase */
    uint32_t last;               /* the last phase in which it reads */
    uint64_t taken;              /* chunks of it */
    uint64_t at;                 /* bytes of it that are read */
    bool asked;                  /* direct: `place` is known */
    struct hwmc_shm_range place; /* of the part in the other's memory; chunks: its length */
};

/* Begins the group's next collective: of the root's memory `in` to each rank its part, of `length`
 * bytes, at `out`. `in` and `parts` are looked at only at the root; there `out` may be NULL, then
 * its own part stays where it is. The last step answers ERR_INVAL at a rank whose part has another
 * length at the root; then the group is in step, and as much is there as has room. */
void hwmc_shm_scatter_begin(struct hwmc_shm_scatter *w, struct hwmc_shm_group *g, uint32_t root,
                            const void *in, const struct hwmc_shm_vector *vector, void *out,
                            uint64_t length);

/* The same of all ranks: alltoall. `in_parts`: for each rank; `out_parts`: of each rank. The two
 * memories do not overlap, nor do parts of `out`. */
void hwmc_shm_scatter_begin_of_all(struct hwmc_shm_scatter *w, struct hwmc_shm_group *g,
                                   const void *in, const struct hwmc_shm_vector *in_vector,
                                   void *out, const struct hwmc_shm_vector *out_vector);

#endif /* HWMC_SHM_COLL_SCATTER_H_INCLUDED */
