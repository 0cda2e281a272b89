/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * barrier_exchange: ranks look at each other's marks, a phase for each doubling of those that are
 * known to have come (Velamati et al. 2007, section 3.2).
 *
 *   PE   m is the largest power of 2 up to p. Rank r >= m has r - m come for it, and waits for that
 *        rank's end. Ranks below m exchange with r xor 2^i in phase i.
 *   DIS  in phase i rank r waits for r - j (w + 1)^i mod p, j from 1 to w. With one way, w = 1,
 *        that is the paper's r - 2^i; with p - 1 of them there is one phase, in which each looks at
 *        all: n-way dissemination (Hoefler et al. 2006), for a line goes to several caches at a
 *        time, and ranks that share processors wait long for a phase.
 *
 * A rank that shows phase i has done all before it. Example, PE, p = 6, m = 4: 4 and 5 show phase
 * 0; 0 and 1 see them. Phase 0: 0 with 1, 2 with 3. Phase 1: 0 with 2, 1 with 3. Then 0 and 1 show
 * phase 2, which 4 and 5 see. DIS, p = 3, w = 1: phase 0: 0 waits for 2, 1 for 0, 2 for 1; phase
 * 1: 0 waits for 1, 1 for 2, 2 for 0. With w = 2: phase 0: 0 waits for 2 and 1, and so on.
 */
#include "barrier_impl.h"

/* This rank is in phase b->phase, which it shows once. */
static void show_once(struct hwmc_shm_barrier *b)
{
    if (b->next == b->phase) {
        hwmc_shm_barrier_show(b, b->phase);
        b->next++;
    }
}

/* ... and `rank` is whom it waits for there. */
static bool meet_rank(struct hwmc_shm_barrier *b, uint32_t rank)
{
    show_once(b);
    if (!hwmc_shm_barrier_seen(b, rank, b->phase))
        return false;
    b->phase++;
    return true;
}

/* ceil(log2 n) */
static uint32_t log2_up(uint32_t n)
{
    uint32_t log = 0;

    while ((UINT32_C(1) << log) < n)
        log++;
    return log;
}

/* A rank from m on: `base` comes for it. */
static int stand_by(struct hwmc_shm_barrier *b, uint32_t base, uint32_t phases)
{
    if (b->next == 0) {
        hwmc_shm_barrier_show(b, 0);
        b->next = 1;
    }
    if (!hwmc_shm_barrier_seen(b, base, phases))
        return hwmc_shm_group_await(b->op.group, base);
    return hwmc_shm_barrier_end(b);
}

int hwmc_shm_barrier_pe(struct hwmc_shm_op *op)
{
    struct hwmc_shm_barrier *b = (struct hwmc_shm_barrier *) op;
    uint32_t size = op->group->size, rank = op->group->rank;
    uint32_t phases = log2_up(size / 2 + 1), m = UINT32_C(1) << phases;

    if (rank >= m)
        return stand_by(b, rank - m, phases);
    if (b->phase == 0 && rank + m < size && !hwmc_shm_barrier_seen(b, rank + m, 0))
        return hwmc_shm_group_await(op->group, rank + m);
    while (b->phase < phases)
        if (!meet_rank(b, rank ^ (UINT32_C(1) << b->phase)))
            return hwmc_shm_group_await(op->group, rank ^ (UINT32_C(1) << b->phase));
    if (rank + m < size)
        hwmc_shm_barrier_show(b, phases);
    return hwmc_shm_barrier_end(b);
}

int hwmc_shm_barrier_dis(struct hwmc_shm_op *op)
{
    struct hwmc_shm_barrier *b = (struct hwmc_shm_barrier *) op;
    struct hwmc_shm_group *g = op->group;
    const uint64_t ways = g->params.ways;

    for (; b->distance < g->size; b->distance *= ways + 1, b->phase++, b->way = 0) {
        show_once(b);
        for (; b->way < ways && b->distance * (b->way + 1) < g->size; b->way++) {
            uint32_t from = g->ring[g->rank + g->size - b->distance * (b->way + 1)];

            if (!hwmc_shm_barrier_seen(b, from, b->phase))
                return hwmc_shm_group_await(g, from);
        }
    }
    return hwmc_shm_barrier_end(b);
}
