/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * barrier_impl: for the barrier's algorithms. The word `up` of a rank is a mark: the serial of the
 * barrier that it came to last, and the phase it has come to there. Marks only grow, so a rank that
 * shows a later one than is waited for has passed that too.
 */
#ifndef HWMC_SHM_COLL_BARRIER_IMPL_H_INCLUDED
#define HWMC_SHM_COLL_BARRIER_IMPL_H_INCLUDED

#include "barrier.h"
#include "../segment/slot.h"

/* Phases go to log2 of RANKS_MAX and one more. */
#define HWMC_SHM_PHASE_BITS 4

/* The steps, by algorithm. */
#define X(id, name, text) int hwmc_shm_barrier_##name(struct hwmc_shm_op *op);
HWMC_SHM_BARRIERS(X)
#undef X

static inline uint64_t hwmc_shm_barrier_mark(const struct hwmc_shm_barrier *b, uint32_t phase)
{
    return b->op.serial << HWMC_SHM_PHASE_BITS | phase;
}

static inline struct hwmc_shm_words *hwmc_shm_barrier_words(const struct hwmc_shm_barrier *b,
                                                            uint32_t rank)
{
    return hwmc_shm_words(b->op.group->segment, rank);
}

/* This rank has come to `phase`. */
static inline void hwmc_shm_barrier_show(const struct hwmc_shm_barrier *b, uint32_t phase)
{
    hwmc_shm_store(&hwmc_shm_barrier_words(b, b->op.group->rank)->up,
                   hwmc_shm_barrier_mark(b, phase));
    b->op.group->told++;
}

/* `rank` has come to `phase`. */
static inline bool hwmc_shm_barrier_seen(const struct hwmc_shm_barrier *b, uint32_t rank,
                                         uint32_t phase)
{
    return hwmc_shm_load(&hwmc_shm_barrier_words(b, rank)->up) >= hwmc_shm_barrier_mark(b, phase);
}

/* All have come, so all have finished what was before. OK. */
int hwmc_shm_barrier_end(struct hwmc_shm_barrier *b);

#endif /* HWMC_SHM_COLL_BARRIER_IMPL_H_INCLUDED */
