/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Barrier and broadcast over the memory that a host's ranks share. A message that lies in pieces,
 * or not in the host's memory, is packed and unpacked on the way.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "../comm/shm.h"
#include "../op/contiguous.h"
#include "../process/mpich.h"
#include "../shm/coll/barrier.h"
#include "../shm/coll/bcast.h"

static int barrier(struct hwmc_shm_host *n)
{
    const struct hwmc_shm_choice *choice = hwmc_shm_choose(n, HWMC_SHM_KIND_BARRIER, 0);
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, 0);
    struct hwmc_shm_barrier b;

    hwmc_shm_barrier_begin(&b, &n->group, &tree);
    return hwmc_shm_wait(n, &b.op);
}

bool MPIR_Hwmc_barrier(MPIR_Comm *comm, int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(BARRIER, comm, mpi_errno);

    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = barrier(n);
    return n != NULL;
}

/* `memory` holds the message at the root, and has room for it at others. */
static int bcast_memory(struct hwmc_shm_host *n, char *memory, MPI_Aint bytes, int root)
{
    const struct hwmc_shm_choice *choice = hwmc_shm_choose(n, HWMC_SHM_KIND_BCAST, bytes);
    struct hwmc_shm_tree tree = hwmc_shm_comm_tree(n, choice, (uint32_t) root);
    uint64_t here = n->group.rank == (uint32_t) root ? (uint64_t) bytes : 0;
    struct hwmc_shm_bcast b;

    hwmc_shm_bcast_begin(&b, &n->group, &tree, (uint32_t) root, memory, (uint64_t) bytes, here);
    return hwmc_shm_wait(n, &b.op);
}

/* Through a copy of the message in one piece. */
static int bcast_packed(struct hwmc_shm_host *n, void *buffer, MPI_Aint count,
                        MPI_Datatype datatype, MPI_Aint bytes, int root)
{
    int mpi_errno = MPI_SUCCESS;
    char *memory = MPL_malloc((size_t) bytes, MPL_MEM_BUFFER);
    MPI_Aint moved = bytes;
    bool is_root = n->group.rank == (uint32_t) root;

    MPIR_ERR_CHKANDJUMP(!memory, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (is_root)
        mpi_errno =
            MPIR_Typerep_pack(buffer, count, datatype, 0, memory, bytes, &moved HWMC_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = bcast_memory(n, memory, bytes, root);
    MPIR_ERR_CHECK(mpi_errno);
    if (!is_root)
        mpi_errno = MPIR_Typerep_unpack(memory, bytes, buffer, count, datatype, 0,
                                        &moved HWMC_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Assert(moved == bytes);

fn_exit:
    MPL_free(memory);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

static int bcast(struct hwmc_shm_host *n, void *buffer, MPI_Aint count, MPI_Datatype datatype,
                 int root)
{
    char *memory = hwmc_contiguous(buffer, datatype);
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    if (memory || count * size == 0)
        return bcast_memory(n, memory, size * count, root);
    return bcast_packed(n, buffer, count, datatype, size * count, root);
}

bool MPIR_Hwmc_bcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root, MPIR_Comm *comm,
                     int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(BCAST, comm, mpi_errno);

    if (n && *mpi_errno == MPI_SUCCESS)
        *mpi_errno = bcast(n, buffer, count, datatype, root);
    return n != NULL;
}
