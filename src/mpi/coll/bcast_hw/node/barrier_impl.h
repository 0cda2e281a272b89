/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * barrier_impl: for the barrier's algorithms. The word `up` of a rank is a mark: the serial of the
 * barrier that it came to last, and the phase it has come to there. Marks only grow, so a rank that
 * shows a later one than is waited for has passed that too.
 */
#ifndef BCAST_HW_NODE_BARRIER_IMPL_H_INCLUDED
#define BCAST_HW_NODE_BARRIER_IMPL_H_INCLUDED

#include "barrier.h"
#include "slot.h"

/* Phases go to log2 of RANKS_MAX and one more. */
#define BCAST_HW_NODE_PHASE_BITS 4

/* The steps, by algorithm. */
#define X(id, name, text) int bcast_hw_node_barrier_##name(struct bcast_hw_node_op *op);
BCAST_HW_NODE_BARRIERS(X)
#undef X

static inline uint64_t bcast_hw_node_barrier_mark(const struct bcast_hw_node_barrier *b,
                                                  uint32_t phase)
{
    return b->op.serial << BCAST_HW_NODE_PHASE_BITS | phase;
}

static inline struct bcast_hw_node_words *
bcast_hw_node_barrier_words(const struct bcast_hw_node_barrier *b, uint32_t rank)
{
    return bcast_hw_node_words(b->op.group->segment, rank);
}

/* This rank has come to `phase`. */
static inline void bcast_hw_node_barrier_show(const struct bcast_hw_node_barrier *b, uint32_t phase)
{
    bcast_hw_node_store(&bcast_hw_node_barrier_words(b, b->op.group->rank)->up,
                        bcast_hw_node_barrier_mark(b, phase));
    b->op.group->told++;
}

/* `rank` has come to `phase`. */
static inline bool bcast_hw_node_barrier_seen(const struct bcast_hw_node_barrier *b, uint32_t rank,
                                              uint32_t phase)
{
    return bcast_hw_node_load(&bcast_hw_node_barrier_words(b, rank)->up) >=
           bcast_hw_node_barrier_mark(b, phase);
}

/* All have come, so all have finished what was before. OK. */
int bcast_hw_node_barrier_end(struct bcast_hw_node_barrier *b);

#endif /* BCAST_HW_NODE_BARRIER_IMPL_H_INCLUDED */
