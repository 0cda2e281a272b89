/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpiimpl.h"
#include "bcast_hw.h"

bool MPIR_Bcast_hw_takes(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    return false;
}

int MPIR_Bcast_intra_hw(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root,
                        MPIR_Comm *comm, MPIR_BCAST_HW_TAIL_T MPIR_BCAST_HW_TAIL)
{
    return MPIR_Bcast_intra_binomial(buffer, count, datatype, root, comm, MPIR_BCAST_HW_TAIL);
}

void MPIR_Bcast_hw_comm_free(MPIR_Comm *comm)
{
}
