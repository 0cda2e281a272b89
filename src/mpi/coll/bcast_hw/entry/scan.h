/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Scan and exscan inside a host, as a call.
 */

#ifndef HWMC_ENTRY_SCAN_H_INCLUDED
#define HWMC_ENTRY_SCAN_H_INCLUDED

#include "reduce.h"
#include "../shm/coll/scan.h"

struct hwmc_scan_call {
    struct hwmc_call call;
    struct hwmc_combination x;
    bool exclusive;
    struct hwmc_shm_scan scan;
};

/* With the arguments of MPI_Scan. */
void hwmc_scan_call_init(struct hwmc_scan_call *c, const void *sendbuf, void *recvbuf,
                         MPI_Aint count, MPI_Datatype datatype, MPI_Op op);

/* With those of MPI_Exscan. */
void hwmc_exscan_call_init(struct hwmc_scan_call *c, const void *sendbuf, void *recvbuf,
                           MPI_Aint count, MPI_Datatype datatype, MPI_Op op);

#endif /* HWMC_ENTRY_SCAN_H_INCLUDED */
