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

/* Sets `o`, the operation as the node layer has it; false: it is left to MPICH, alike on all ranks. */
bool MPIR_Bcast_hw_node_combines(const struct bcast_hw_node_comm *n,
                                 struct MPIR_Bcast_hw_operation *o, MPI_Op op,
                                 MPI_Datatype datatype);

/* Waits for `op` and ends `a`; `result`: the program gets what is there. Returns MPICH's error code, also for what
 * the operation itself met. */
int MPIR_Bcast_hw_node_combine(struct bcast_hw_node_comm *n,
                               const struct MPIR_Bcast_hw_operation *o, struct bcast_hw_node_op *op,
                               struct MPIR_Bcast_hw_operands *a, bool result);

#endif /* BCAST_HW_NODE_REDUCE_H_INCLUDED */
