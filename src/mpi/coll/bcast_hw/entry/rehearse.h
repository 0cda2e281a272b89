/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rehearse: a whole trial (comm/trials.h) beside one call of the program's: of a reduction whose
 * result may depend on the way it goes. Its runs read what the program's call reads, and their
 * results go to memory of their own.
 */

#ifndef HWMC_ENTRY_REHEARSE_H_INCLUDED
#define HWMC_ENTRY_REHEARSE_H_INCLUDED

#include "spread.h"

/* No longer message is rehearsed: its result needs as much memory. Bytes. */
#define HWMC_REHEARSE_MOST (16u << 20)

/* A call of a trial, of `s`, by hwmc or by MPICH: runs it. Returns MPICH's error code, and in
 * *agreed that of what ranks agree on after it. */
int hwmc_try_call(struct hwmc_spread *s, bool by_hwmc, int *agreed);

/* The trial that is under way for `s`, all of it; *by_hwmc: the first call goes by hwmc, not MPICH.
 * Then the trial is over, and *by_hwmc what it found. MPICH's error code where ranks could not
 * agree: the leader group is of no use then. */
int hwmc_rehearse(struct hwmc_spread *s, bool *by_hwmc);

#endif /* HWMC_ENTRY_REHEARSE_H_INCLUDED */
