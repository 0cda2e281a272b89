/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * pipeline: a broadcast inside the host while it comes over the network, or on its way there. One
 * rank of a host takes part in the network's broadcast, the one in its leader group
 * (comm/leader_group.h); what it has of the message it gives to the others as it comes. On the
 * root's host all have it from the root; where that is not in the leader group, the one that is
 * sends it on as far as it has it.
 *
 *   the root, a leader      has it all; others take it while it is sent
 *   the root                 has it all; others take it
 *   another of its host      from the root, chunk by chunk; a leader sends each piece then
 *   a leader of another host more is here each time that the network has brought some
 *   the others               take it chunk by chunk
 */

#ifndef HWMC_OP_PIPELINE_H_INCLUDED
#define HWMC_OP_PIPELINE_H_INCLUDED

#include "wait.h"
#include "../shm/coll/bcast.h"

struct hwmc_pipeline {
    struct hwmc_shm_host *n;
    struct hwmc_shm_bcast b;
    bool over;      /* inside the host nothing is left for this rank to do */
    MPI_Aint piece; /* the network's broadcast under way begins here in the message */
    bool listens;   /* it is under way, and brings the message here */
    uint32_t here;  /* listens: bytes of it, from its first on, that are in the program's memory */
};

/* The message of `bytes` at `memory`, from the host's rank `from` to all of its ranks. `here`:
 * bytes that are there. */
void hwmc_pipeline_begin(struct hwmc_pipeline *r, struct hwmc_shm_host *n, uint32_t from,
                         void *memory, MPI_Aint bytes, MPI_Aint here);

/* Its first `bytes` are there now. */
void hwmc_pipeline_more(struct hwmc_pipeline *r, MPI_Aint bytes);

/* Does what can be done. Returns MPICH's error code. Sets *busy: there is more to do as soon as
 * others are ready. */
int hwmc_pipeline_step(struct hwmc_pipeline *r, bool *busy);

/* Waits until the first `bytes` are here. */
int hwmc_pipeline_wait(struct hwmc_pipeline *r, MPI_Aint bytes);

/* Waits until it is over. `failed`: the message will not come; the others get an error. */
int hwmc_pipeline_end(struct hwmc_pipeline *r, bool failed);

#endif /* HWMC_OP_PIPELINE_H_INCLUDED */
