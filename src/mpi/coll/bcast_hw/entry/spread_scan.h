/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spread_scan: scan and exscan over several hosts whose ranks follow each other (hwmc_spread_in_
 * order).
 *
 *   up       the ranks of each host but the last combine at its leader (shm/coll/reduction)
 *   inside   the ranks of each host scan among themselves (shm/coll/scan)
 *   across   each leader gets what the hosts before its own have (op/net_scan)
 *   down     the ranks of its host get that too, and combine it with what they have from inside
 *
 * A rank that is alone on its host takes part across only. Memory: a vector of each rank and one
 * more of a leader, besides op/net_scan.
 */

#ifndef HWMC_ENTRY_SPREAD_SCAN_H_INCLUDED
#define HWMC_ENTRY_SPREAD_SCAN_H_INCLUDED

#include "call.h"
#include "spread.h"
#include "spread_up.h"
#include "../op/bcast.h"
#include "../op/net_scan.h"
#include "../shm/coll/scan.h"

struct hwmc_spread_scan {
    struct hwmc_spread spread;
    struct hwmc_combination x;
    bool exclusive;
    uint64_t bytes;
    unsigned char *memory; /* of the next two; NULL: this rank is alone on its host */
    unsigned char *before; /* what the hosts before this one have */
    unsigned char *host;   /* a leader: what its host has */
    struct hwmc_spread_up up;
    struct hwmc_shm_scan inside;
    struct hwmc_shm_stage inside_stage;
    struct hwmc_net_scan across;
    struct hwmc_bcast down;
};

/* With the arguments of calls inside hosts: as struct hwmc_host_kind (host_request.h). */
MPI_Aint hwmc_spread_of_scan(const struct hwmc_call *c, const MPIR_Comm *comm,
                             struct hwmc_spread *s);

/* MPI_Scan; MPI_Exscan if `exclusive`. Runs it if it is hwmc's: as hwmc_spread_take. */
bool hwmc_spread_scan(const void *sendbuf, void *recvbuf, MPI_Aint count, MPI_Datatype datatype,
                      MPI_Op op, bool exclusive, MPIR_Comm *comm, int *mpi_errno);

#endif /* HWMC_ENTRY_SPREAD_SCAN_H_INCLUDED */
