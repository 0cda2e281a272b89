/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef BCAST_HW_H_INCLUDED
#define BCAST_HW_H_INCLUDED

/* The collective layer as MPICH and the netmod see it. Read before MPIR_Comm is complete.
 * MPIR_Bcast_intra_hw itself is declared by MPICH, from coll_algorithms.txt. */

#include <stdbool.h>
#include "compat.h"

/* Whether MPIR_Bcast_intra_hw shall run this broadcast: the same answer on every rank of COMM.
 * Where it is false MPICH's own selection goes on. */
bool MPIR_Bcast_hw_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm);

/* COMM is about to go: drop what hwmc holds for it. Local, and never waits for another rank. */
void MPIR_Bcast_hw_comm_free(MPIR_Comm *comm);

#endif /* BCAST_HW_H_INCLUDED */
