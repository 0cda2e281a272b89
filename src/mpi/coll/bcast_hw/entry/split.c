/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * split: see split.h.
 */

#include "split.h"

bool hwmc_split_begin(struct hwmc_split *x, const struct hwmc_vbuf *v, uint64_t most)
{
    x->small = x->large = *v;
    x->counts = MPL_malloc(2 * (size_t) v->num * sizeof(*x->counts), MPL_MEM_COLL);
    if (!x->counts)
        return false;
    for (uint32_t i = 0; i < v->num; i++) {
        const bool is_short = hwmc_vbuf_counted(v, i) <= most;

        x->counts[i] = is_short ? v->counts[i] : 0;
        x->counts[v->num + i] = is_short ? 0 : v->counts[i];
    }
    x->small.counts = x->counts;
    x->large.counts = x->counts + v->num;
    return true;
}

void hwmc_split_end(struct hwmc_split *x)
{
    MPL_free(x->counts);
}
