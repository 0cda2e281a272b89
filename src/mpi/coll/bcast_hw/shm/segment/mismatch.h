/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mismatch: finds out whether ranks of a group wait for each other for ever, because lengths that
 * disagree chose different algorithms or trees. The answer is certain, and needs no clock.
 *
 * A step is a function of what its rank knows and of the words of all blocks (slot.h). So once a
 * number of steps have done nothing, further ones do nothing until another rank stores to those
 * words. A rank that waits long counts its looks; between two of them it has made that many steps
 * without effect. It notes the words of all ranks that have not finished its collective, and then
 * their looks. If all of them have looked twice since, and the words are unchanged after that, each
 * made such steps while nobody stored: nobody ever will.
 *
 * A rank that computes, or waits for anything else, does not look, so there is no verdict while it
 * may still come. Nor may a rank look whose message still comes from elsewhere
 * (hwmc_shm_bcast_more). Two cases are not found: a rank that never comes, as its lengths needed
 * fewer collectives; and one that takes another collective's line for one of its own and has much
 * to copy by it.
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
