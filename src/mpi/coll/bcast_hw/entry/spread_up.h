/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_up: the first stage of collectives over hosts that combine: the vectors of the ranks of
 * each host come together at its leader (shm/coll/reduction).
 */

#ifndef HWMC_ENTRY_SPREAD_UP_H_INCLUDED
#define HWMC_ENTRY_SPREAD_UP_H_INCLUDED

#include "combination.h"
#include "spread.h"
#include "../op/shm_stage.h"

struct hwmc_spread_up {
    struct hwmc_shm_reduction reduction;
    struct hwmc_shm_stage stage;
    void *work; /* what another rank than the leader combines in; NULL */
};

/* Before the chain begins. */
static inline void hwmc_spread_up_init(struct hwmc_spread_up *u)
{
    u->work = NULL;
}

/* Begins it at `n`, the host of this rank, which is not alone there: of `bytes`, whole elements, at
 * x->operands.in, to `out` at the leader. `out` is not looked at elsewhere. */
struct hwmc_op_stage *hwmc_spread_up_begin(struct hwmc_spread_up *u, const struct hwmc_spread *s,
                                           struct hwmc_shm_host *n,
                                           const struct hwmc_combination *x, void *out,
                                           uint64_t bytes);

/* The chain is over. */
static inline void hwmc_spread_up_end(struct hwmc_spread_up *u)
{
    MPL_free(u->work);
    u->work = NULL;
}

#endif /* HWMC_ENTRY_SPREAD_UP_H_INCLUDED */
