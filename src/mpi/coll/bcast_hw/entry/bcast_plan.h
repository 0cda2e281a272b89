/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_plan: the plan of a broadcast over several hosts, for the blocking call and for operations.
 */

#ifndef HWMC_ENTRY_BCAST_PLAN_H_INCLUDED
#define HWMC_ENTRY_BCAST_PLAN_H_INCLUDED

#include "mpiimpl.h"
#include "../comm/comm.h"
#include "../op/bcast.h"

/* The program's message, and the MPI error of packing or unpacking it. */
struct hwmc_typed {
    void *buffer;
    MPI_Aint count;
    MPI_Datatype datatype;
    int mpi_errno;
};

/* Which stages a broadcast of `bytes` has at this rank, by leader group `leader_group`, which is
 * ready; along trees, or as an epoch of the group says. `t` stays until it is over. MPI error code
 * of what is BROKEN; others of the host know of it then. */
int hwmc_bcast_plan(struct hwmc_comm *c, struct hwmc_typed *t, MPI_Aint bytes, int root,
                    MPIR_Comm *comm, uint32_t leader_group, bool along_trees,
                    struct hwmc_bcast_cfg *cfg);

/* The stages in the network alone, from member `root` of the leader group, at a member. Of *cfg,
 * net.along_trees and net.from_host are set. An MPI error if the leader group is BROKEN. */
int hwmc_bcast_plan_net(const struct hwmc_comm *c, uint32_t leader_group, uint32_t root,
                        bool is_root, struct hwmc_bcast_cfg *cfg);

#endif /* HWMC_ENTRY_BCAST_PLAN_H_INCLUDED */
