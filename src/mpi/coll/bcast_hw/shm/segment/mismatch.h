/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mismatch: whether ranks of a group wait for each other for ever, as lengths that disagree chose
 * different algorithms or trees for them. It is known for sure, and without a clock.
 *
 * A step is a function of what its rank knows and of the words of all blocks (slot.h); so once a
 * number of steps have done nothing, further ones do nothing until another rank stores to those
 * words. A rank that waits long counts its looks: between two of them it has made that many steps
 * which did nothing. It notes the words of all that have not finished its collective, and then
 * their looks; if all of them have looked twice since, and after that the words are as they were,
 * each made such steps while nobody stored: nobody ever will.
 *
 * A rank that computes, or waits for anything else, does not look; so nothing is said while it may
 * still come. Nor may one look whose message still comes from elsewhere (hwmc_shm_bcast_more).
 * Not found is a rank that never comes, as its lengths needed fewer collectives, nor one that takes
 * another collective's line for one of its own and has much to copy by it.
 */
#ifndef HWMC_SHM_SEGMENT_MISMATCH_H_INCLUDED
#define HWMC_SHM_SEGMENT_MISMATCH_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* Steps from look to look, at least. Those of a collective that store nothing and move nothing, and
 * yet bring it further, are fewer. */
#define HWMC_SHM_MISMATCH_STEPS 64u

struct hwmc_shm_mismatch {
    uint64_t looks;  /* of this rank */
    uint64_t serial; /* the collective in which the rest was noted; 0: none */
    uint64_t words;  /* digest */
    uint64_t *noted; /* looks, by rank; the group's */
};

struct hwmc_shm_group;

/* A look, in the collective under way. True: no rank that is in it, or in an earlier one, will ever
 * get further. */
bool hwmc_shm_mismatch_look(struct hwmc_shm_group *g);

#endif /* HWMC_SHM_SEGMENT_MISMATCH_H_INCLUDED */
