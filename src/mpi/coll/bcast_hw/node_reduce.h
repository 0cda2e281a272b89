/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * For the collectives inside a host that combine what ranks have.
 */

#ifndef BCAST_HW_NODE_REDUCE_H_INCLUDED
#define BCAST_HW_NODE_REDUCE_H_INCLUDED

#include "node_glue.h"
#include "node_types.h"

/* Sets `o`, the operation as the node layer has it. Returns n, what was admitted, or NULL: MPICH is
 * to run this collective, alike on all ranks. */
struct bcast_hw_node_comm *MPIR_Bcast_hw_node_admit_op(struct bcast_hw_node_comm *n,
                                                       struct MPIR_Bcast_hw_operation *o, MPI_Op op,
                                                       MPI_Datatype datatype, int mpi_errno);

/* Waits for `op` and ends `a`; `result`: the program gets what is there. Returns MPICH's error
 * code, also for what the operation itself met. */
int MPIR_Bcast_hw_node_combine(struct bcast_hw_node_comm *n,
                               const struct MPIR_Bcast_hw_operation *o, struct bcast_hw_node_op *op,
                               struct MPIR_Bcast_hw_operands *a, bool result);

#endif /* BCAST_HW_NODE_REDUCE_H_INCLUDED */
