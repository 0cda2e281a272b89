/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * message: what one MPI_Bcast of this rank moves, and its way over a group of the network.
 */

#ifndef HWMC_OP_MESSAGE_H_INCLUDED
#define HWMC_OP_MESSAGE_H_INCLUDED

#include "pipeline.h"

struct hwmc_message {
    char *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
    MPI_Aint bytes;
    char *pinned; /* the whole message as it lies in memory, NULL: it is packed */
    struct hwmc_pipeline
        *pipeline;  /* that others of this host get it by; NULL: each gets it by itself */
    bool from_mate; /* the root is not the one of its host that is in the network's broadcast */
};

/* Over the network, from `root` of the group. What does not go along trees from the start
 * does so from the broadcast on that is not multicast, if the group's rails stopped working.
 * An MPI error code; this name is short because MPICH's error stacks are cut at 512 characters. */
int hwmc_move(struct hwmc_group *g, bool along_trees, struct hwmc_message *m, int root,
              bool is_root);

#endif /* HWMC_OP_MESSAGE_H_INCLUDED */
