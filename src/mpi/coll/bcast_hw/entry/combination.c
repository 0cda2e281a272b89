/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * combination: see combination.h.
 */

#include "combination.h"

void hwmc_combination_init(struct hwmc_combination *x, const void *sendbuf, void *recvbuf,
                           MPI_Aint count, MPI_Datatype datatype, MPI_Op op)
{
    x->sendbuf = sendbuf;
    x->recvbuf = recvbuf;
    x->count = count;
    hwmc_operation_init(&x->operation, op, datatype);
}

enum hwmc_tries hwmc_combination_tries(const struct hwmc_combination *x)
{
    if (hwmc_operation_is_exact(&x->operation))
        return HWMC_TRIES_CALLS;
    return x->operation.kernel ? HWMC_TRIES_BESIDE : HWMC_TRIES_NOTHING;
}

int hwmc_combination_error(struct hwmc_combination *x)
{
    const int mpi_errno = x->operation.mpi_errno;

    x->operation.mpi_errno = MPI_SUCCESS;
    return mpi_errno;
}

int hwmc_combination_end(struct hwmc_combination *x, int mpi_errno, bool result)
{
    const int stored =
        hwmc_operands_end(&x->operands, &x->operation, result && mpi_errno == MPI_SUCCESS);
    const int met = hwmc_combination_error(x);

    return mpi_errno ? mpi_errno : met ? met : stored;
}
