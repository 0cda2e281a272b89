/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * split: see split.h.
 */

#include "split.h"

bool hwmc_split_begin(struct hwmc_split *x, const struct hwmc_vbuf *v, uint64_t most,
                      bool long_directly)
{
    x->direct = x->rest = *v;
    x->counts = MPL_malloc(2 * (size_t) v->num * sizeof(*x->counts), MPL_MEM_COLL);
    if (!x->counts)
        return false;
    for (uint32_t i = 0; i < v->num; i++) {
        const bool directly = (hwmc_vbuf_counted(v, i) > most) == long_directly;

        x->counts[i] = directly ? v->counts[i] : 0;
        x->counts[v->num + i] = directly ? 0 : v->counts[i];
    }
    x->direct.counts = x->counts;
    x->rest.counts = x->counts + v->num;
    return true;
}

void hwmc_split_end(struct hwmc_split *x)
{
    MPL_free(x->counts);
}
