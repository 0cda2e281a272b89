/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * split: a buffer of parts that are not alike as two: of its short parts, and of its long ones.
 * Where a part is short in the one it has no elements in the other. Both ends of a part know how
 * long it is, so they split alike, though no rank knows all parts.
 *
 * A blocking alltoallv or -w, not in place, goes so by default:
 *
 *   hosts of several ranks, over one rail that is fast   the short parts by way of leaders, all
 *       that two hosts have for each other in one message; the long ones from process to process
 *       (direct.h), for leaders would copy them. A part is short up to as many bytes as a host is
 *       busy with a message in ns. Trials compare that with MPICH's way (spread_select.c). 4 hosts
 *       of 4 ranks without a rate, on two processors: parts of 8 B by leaders 0.2 ms, each by
 *       itself 0.7 ms; of 256 KiB by leaders 107 ms, each by itself 15 ms.
 *   hosts of one rank, over slow lines   the short parts from process to process, which is MPICH's
 *       way; the long ones in hwmc's exchange, at its pace and by all rails (core/model/pace.h).
 *       Nothing is tried: at no length it loses more than what splitting takes. 8 hosts that share
 *       two processors, 1 Gbit/s: parts of 256 KiB 18 ms, by MPICH 85 ms.
 */

#ifndef HWMC_ENTRY_SPLIT_H_INCLUDED
#define HWMC_ENTRY_SPLIT_H_INCLUDED

#include "vbuf.h"

struct hwmc_split {
    struct hwmc_vbuf direct, rest; /* the parts that go directly, the others; before their begin */
    MPI_Aint *counts;
};

/* Parts longer than `most` bytes are long; these, or the short ones, go directly. `v` has counts,
 * and stays as long as the two are used. False: there is no memory, and nothing to end. */
bool hwmc_split_begin(struct hwmc_split *x, const struct hwmc_vbuf *v, uint64_t most,
                      bool long_directly);

void hwmc_split_end(struct hwmc_split *x);

#endif /* HWMC_ENTRY_SPLIT_H_INCLUDED */
