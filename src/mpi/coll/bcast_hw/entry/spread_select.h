/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_select: which way a collective goes over hosts, hwmc's, MPICH's or directly: as is said
 * (select/spread_choose.h), else as the model and trials have it; asked with the collective and its
 * length as MPI knows them. The same answer on all ranks.
 */

#ifndef HWMC_ENTRY_SPREAD_SELECT_H_INCLUDED
#define HWMC_ENTRY_SPREAD_SELECT_H_INCLUDED

#include "spread.h"
#include "../select/spread_choose.h"

/* What is known alike of `s`. The leader group is ready. */
struct hwmc_coll_case hwmc_spread_case(const struct hwmc_spread *s);

/* The way of a blocking one, which begins, as comm/trials.h has it: if s->c->trials.under_way is
 * set, the caller is to take its time. Counts it, whichever way it goes. Likewise. */
enum hwmc_way hwmc_spread_way(const struct hwmc_spread *s);

/* Of a nonblocking or persistent one: it can go over hosts, and hwmc is to run it. Counts it,
 * whoever does, and sets s->by_blocks. Likewise. */
bool hwmc_spread_goes(struct hwmc_spread *s);

/* Whether a persistent one gets a leader group of its own: hwmc is expected to run it, once that
 * group is ready. s->c is what its communicator carries; only the number of hosts is read of it.
 * Likewise. */
bool hwmc_spread_pays(const struct hwmc_spread *s);

/* That; NULL: no memory. All ranks of the communicator call it in the same order. */
struct hwmc_comm *hwmc_spread_twin(const struct hwmc_spread *s);

#endif /* HWMC_ENTRY_SPREAD_SELECT_H_INCLUDED */
