/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What parts of the collective layer use of MPICH, in place of MPICH's headers. Datatypes: MPI_BYTE
 * is builtin, of the others the test has the fields that are looked at.
 */

#ifndef HWMC_TEST_UNIT_FAKE_MPICH_MPI_MPIIMPL_H_INCLUDED
#define HWMC_TEST_UNIT_FAKE_MPICH_MPI_MPIIMPL_H_INCLUDED

#include "mpidimpl.h"

#define MPI_BOTTOM ((void *) 0)

struct MPIR_Datatype {
    int is_contig;
    MPI_Aint true_lb;
};

MPIR_Datatype *fake_datatype(MPI_Datatype datatype);

#define HANDLE_IS_BUILTIN(datatype) ((datatype) == MPI_BYTE)
#define MPIR_Datatype_get_ptr(datatype, ptr) ((ptr) = fake_datatype(datatype))

#endif /* HWMC_TEST_UNIT_FAKE_MPICH_MPI_MPIIMPL_H_INCLUDED */
