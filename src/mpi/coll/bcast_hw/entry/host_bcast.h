/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Broadcast on a communicator whose ranks all run on one host, as a call.
 */

#ifndef HWMC_ENTRY_HOST_BCAST_H_INCLUDED
#define HWMC_ENTRY_HOST_BCAST_H_INCLUDED

#include "call.h"
#include "../shm/coll/bcast.h"

struct hwmc_bcast_call {
    struct hwmc_call call;
    void *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
    int root;

    /* From begin to end. */
    MPI_Aint bytes;
    char *packed; /* the message in one piece; NULL: it lies so in the program's memory */
    struct hwmc_shm_bcast bcast;
};

/* With the arguments of MPI_Bcast. */
void hwmc_bcast_call_init(struct hwmc_bcast_call *c, void *buffer, MPI_Aint count,
                          MPI_Datatype datatype, int root);

#endif /* HWMC_ENTRY_HOST_BCAST_H_INCLUDED */
