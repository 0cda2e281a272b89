/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * barrier: no rank leaves before all have entered (Velamati et al. 2007, section 3.2). Two classes
 * of algorithms, by the paper's names:
 *
 *   gather, then broadcast (barrier_gather.c): OTA, SIG, TREE
 *   exchange (barrier_exchange.c): PE, DIS
 *
 * The paper's cores write a flag into each other's memory. Here each rank writes its progress into
 * a word of its own, which only grows, and others poll it. So no flag has to be reset, and a
 * barrier may begin while some ranks have not left the last one yet.
 *
 * Cost, l being the time in which a line goes from one cache to another, p ranks: OTA 2 l and p
 * lines through one core; TREE 2 l ceil(log_k p); PE l log2 p, and 2 l more if p is no power of 2;
 * DIS of w ways l ceil(log_(w+1) p).
 */
#ifndef HWMC_SHM_COLL_BARRIER_H_INCLUDED
#define HWMC_SHM_COLL_BARRIER_H_INCLUDED

#include "../segment/group.h"
#include "../segment/op.h"

struct hwmc_shm_barrier {
    struct hwmc_shm_op op;
    struct hwmc_shm_tree tree; /* of TREE */
    uint32_t phase;            /* of this rank, from 0; what it means is the algorithm's */
    /* gather: of those it waits for, the ones before this came; exchange: phase to show next. */
    uint32_t next;
    uint64_t distance; /* DIS: (ways + 1)^phase */
    uint32_t way;      /* DIS: of those it waits for in this phase, so many were seen */
};

/* Begins the group's next collective, a barrier by the algorithm of its parameters. `tree`: what
 * TREE goes along, its children the caller's until the barrier is done; others do not look at
 * it. */
void hwmc_shm_barrier_begin(struct hwmc_shm_barrier *b, struct hwmc_shm_group *g,
                            const struct hwmc_shm_tree *tree);

#endif /* HWMC_SHM_COLL_BARRIER_H_INCLUDED */
