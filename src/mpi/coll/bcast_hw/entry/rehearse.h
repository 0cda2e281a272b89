/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rehearse: a whole trial (comm/trials.h) beside one call of the program's: of a reduction whose
 * result may depend on the way it goes. Its runs read what the program's call reads, and their
 * results go to memory of their own. Where the program's calls follow each other at once, so do
 * the runs of a block. Else there is a barrier before each, for without one ranks that only send
 * would be several calls ahead, and what is timed would be how many calls pass in a row, not how
 * long one takes: 8 hosts that share two processors, 32 KiB: 28 us in a row where ranks that begin
 * together are through after 180. Before a run of hwmc's it is MPICH's barrier, and the other way
 * round: neither is timed while its code is in the caches, as it is not where a program computes
 * between its calls (3 hosts, allreduce of 8 B after hwmc's barrier: hwmc's was taken for the
 * faster one, and took 61 us where MPICH's took 44).
 */

#ifndef HWMC_ENTRY_REHEARSE_H_INCLUDED
#define HWMC_ENTRY_REHEARSE_H_INCLUDED

#include "spread.h"

/* No longer message is rehearsed: its result needs as much memory. Bytes. */
#define HWMC_REHEARSE_MOST (16u << 20)

/* Runs `s` that way; by MPICH as if hwmc were not there. MPICH's error code. */
int hwmc_run_way(struct hwmc_spread *s, enum hwmc_way way);

/* A call of a trial, of `s`, by that way: runs it. Returns MPICH's error code, and in *agreed that
 * of what ranks agree on after it. */
int hwmc_try_call(struct hwmc_spread *s, enum hwmc_way way, int *agreed);

/* The trial that is under way for `s`, all of it, from *way on. Then the trial is over, and *way
 * what it found: hwmc's without memory, and the leader group BROKEN, so that it ends with an error
 * on all ranks. MPICH's error code where ranks could not agree: the leader group is of no use
 * then. */
int hwmc_rehearse(struct hwmc_spread *s, enum hwmc_way *way);

#endif /* HWMC_ENTRY_REHEARSE_H_INCLUDED */
