/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * fault: a fabric that spoils what another one receives, for tests and demonstrations. Rules are
 * one string, parts separated by commas:
 *
 *   drop=PCT          loses a datagram
 *   dup=PCT           delivers it twice
 *   corrupt=PCT       flips one bit of it
 *   reorder=PCT       delivers it after the one that follows it, or 1 ms late when none does
 *   delay=PCT:USEC    delivers it that much later
 *   after=N           spares the first N datagrams
 *   until=N           spares all from the Nth on (counted from 0)
 *   seed=N            other random choices
 *   rank=R            only in the process with this rank in MPI_COMM_WORLD
 *
 * PCT may have decimals. Each process counts the datagrams that it receives; what becomes of the
 * Nth is a function of seed, rank and N alone. "drop=100,after=5,until=6" loses just the sixth.
 */
#ifndef HWMC_NETMOD_FABRIC_FAULT_H_INCLUDED
#define HWMC_NETMOD_FABRIC_FAULT_H_INCLUDED

#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/fabric.h"

struct hwmc_fault_rules {
    uint32_t drop, dup, corrupt, reorder, delay; /* of a million */
    uint32_t delay_us;
    uint64_t after, until; /* datagrams [after, until) are acted on */
    uint64_t seed;
    int64_t rank; /* -1: every rank */
};

/* Reads `text`. ERR_INVAL: *wrong is the first part that makes no sense, *rules is untouched. */
int hwmc_fault_parse(const char *text, struct hwmc_fault_rules *rules, const char **wrong);

/* Wraps `inner`, which is the wrapper's from here on and closed with it; on failure (ERR_NOMEM) it
 * stays the caller's. `clock` gives the time in ns; NULL: CLOCK_MONOTONIC. */
int hwmc_fault_open(struct hwmc_fabric *inner, const struct hwmc_fault_rules *rules,
                    uint32_t world_rank, uint64_t (*clock)(void), struct hwmc_fabric **fabric);

#endif /* HWMC_NETMOD_FABRIC_FAULT_H_INCLUDED */
