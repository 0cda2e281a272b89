/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_choose: who runs a collective over hosts, other than a broadcast, and by which way: what
 * MPIR_CVAR_HWMC_ALGORITHMS says; else the selection file's part for hosts (spread_rules.h); else,
 * in resilient mode, hwmc, as MPICH's algorithms wait for a failed host for ever. Else nothing
 * is said, and the fastest way is found (entry/spread_select). The same on every rank.
 */

#ifndef HWMC_SELECT_SPREAD_CHOOSE_H_INCLUDED
#define HWMC_SELECT_SPREAD_CHOOSE_H_INCLUDED

#include "mpiimpl.h"
#include "../core/model/collective.h"

/* The control variable leaves it to MPICH, whatever its length. */
bool hwmc_spread_is_mpichs(enum hwmc_coll coll);

/* Variable, file or resilient mode say which way it goes, in *way; else false. */
bool hwmc_spread_is_said(const struct hwmc_coll_case *c, enum hwmc_way *way);

/* Where nothing is said: hwmc runs it rather than MPICH as it chooses. As the cost model has it,
 * but a gather or a scatter of a length that is not known is hwmc's. */
bool hwmc_spread_is_ours(const struct hwmc_coll_case *c);

/* Along which trees, where hwmc runs a reduction. `memo`: of the communicator. */
struct hwmc_reduce_way hwmc_spread_reduce_way(struct hwmc_reduce_memo *memo,
                                              const struct hwmc_coll_case *c);

/* Reads the selection file, once. MPICH's error code where it cannot be used. */
int hwmc_spread_open(void);
void hwmc_spread_close(void);

/* What the file says, as a text to compare. */
#define HWMC_SPREAD_TEXT 32
void hwmc_spread_print(char text[HWMC_SPREAD_TEXT]);

#endif /* HWMC_SELECT_SPREAD_CHOOSE_H_INCLUDED */
