/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * errors: see errors.h.
 */

#include "mpiimpl.h"
#include "errors.h"

int hwmc_error_nomem(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
    return mpi_errno;
}

int hwmc_error_setup(void)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**hwmc_setup");
    return mpi_errno;
}

int hwmc_error_shm(const char *why)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SET1(mpi_errno, MPI_ERR_OTHER, "**hwmc_shm", "**hwmc_shm %s", why);
    return mpi_errno;
}

int hwmc_error_lengths(uint64_t theirs, uint64_t ours)
{
    int mpi_errno = MPI_SUCCESS;

    /* MPICH's message has room for ints. */
    MPIR_ERR_SET2(mpi_errno, MPI_ERR_OTHER, "**collective_size_mismatch",
                  "**collective_size_mismatch %d %d", (int) MPL_MIN(theirs, INT_MAX),
                  (int) MPL_MIN(ours, INT_MAX));
    return mpi_errno;
}

int hwmc_error_selection(const char *file, const char *why)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SET2(mpi_errno, MPI_ERR_OTHER, "**hwmc_shm_selection", "**hwmc_shm_selection %s %s",
                  file, why);
    return mpi_errno;
}

int hwmc_error_silent(int rank, const char *stage, const char *by, int ms)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SETANDJUMP4(mpi_errno, MPI_ERR_OTHER, "**hwmc_peer_failed",
                         "**hwmc_peer_failed %d %s %s %d", rank, stage, by, ms);

fn_fail:
    return mpi_errno;
}

int hwmc_error_told(int rank, const char *stage, int finder, const char *by)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SETANDJUMP4(mpi_errno, MPI_ERR_OTHER, "**hwmc_told", "**hwmc_told %d %s %d %s", rank,
                         stage, finder, by);

fn_fail:
    return mpi_errno;
}

int hwmc_error_left(int rank, const char *stage)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SETANDJUMP2(mpi_errno, MPI_ERR_OTHER, "**hwmc_left", "**hwmc_left %d %s", rank, stage);

fn_fail:
    return mpi_errno;
}

int hwmc_error_lane(int rank, const char *stage, const char *by)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_SETANDJUMP3(mpi_errno, MPI_ERR_OTHER, "**hwmc_lane", "**hwmc_lane %d %s %s", rank,
                         stage, by);

fn_fail:
    return mpi_errno;
}
