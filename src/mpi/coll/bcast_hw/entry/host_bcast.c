/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Broadcast over the memory that a host's ranks share. A message that lies in pieces, or not in the
 * host's memory, is packed and unpacked on the way.
 */

#include "mpiimpl.h"
#include "hooks.h"
#include "host_bcast.h"
#include "../op/contiguous.h"
#include "../process/mpich.h"

static bool is_root(const struct hwmc_bcast_call *c)
{
    return c->call.host->group.rank == (uint32_t) c->root;
}

/* Makes a copy of the message in one piece; at others than the root, room for one. */
static int make_packed(struct hwmc_bcast_call *c)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint moved = c->bytes;

    c->packed = MPL_malloc((size_t) c->bytes, MPL_MEM_BUFFER);
    MPIR_ERR_CHKANDJUMP(!c->packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (is_root(c))
        mpi_errno = MPIR_Typerep_pack(c->buffer, c->count, c->datatype, 0, c->packed, c->bytes,
                                      &moved HWMC_TYPEREP_FLAGS);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Assert(moved == c->bytes);

fn_exit:
    return mpi_errno;
fn_fail:
    MPL_free(c->packed);
    c->packed = NULL;
    goto fn_exit;
}

static int unpack_message(const struct hwmc_bcast_call *c)
{
    MPI_Aint moved = c->bytes;
    int mpi_errno = MPIR_Typerep_unpack(c->packed, c->bytes, c->buffer, c->count, c->datatype, 0,
                                        &moved HWMC_TYPEREP_FLAGS);

    MPIR_Assert(mpi_errno || moved == c->bytes);
    return mpi_errno;
}

static inline int begin_bcast(struct hwmc_call *call)
{
    struct hwmc_bcast_call *c = (struct hwmc_bcast_call *) call;
    struct hwmc_shm_host *n = call->host;
    const uint32_t root = (uint32_t) c->root;
    char *memory = hwmc_contiguous(c->buffer, c->datatype);
    struct hwmc_shm_tree tree;
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(c->datatype, size);
    c->bytes = c->count * size;
    c->packed = NULL;
    if (!memory && c->bytes != 0) {
        int mpi_errno = make_packed(c);

        if (mpi_errno)
            return mpi_errno;
        memory = c->packed;
    }
    tree = hwmc_shm_comm_tree(n, hwmc_shm_choose(n, HWMC_SHM_KIND_BCAST, c->bytes), root);
    hwmc_shm_bcast_begin(&c->bcast, &n->group, &tree, root, memory, (uint64_t) c->bytes,
                         is_root(c) ? (uint64_t) c->bytes : 0);
    call->op = &c->bcast.op;
    return MPI_SUCCESS;
}

static inline int end_bcast(struct hwmc_call *call, int mpi_errno)
{
    struct hwmc_bcast_call *c = (struct hwmc_bcast_call *) call;

    if (!c->packed)
        return mpi_errno;
    if (mpi_errno == MPI_SUCCESS && !is_root(c))
        mpi_errno = unpack_message(c);
    MPL_free(c->packed);
    c->packed = NULL;
    return mpi_errno;
}

static const struct hwmc_call_ops bcast_ops = {.begin = begin_bcast, .end = end_bcast};

void hwmc_bcast_call_init(struct hwmc_bcast_call *c, void *buffer, MPI_Aint count,
                          MPI_Datatype datatype, int root)
{
    c->buffer = buffer;
    c->count = count;
    c->datatype = datatype;
    c->root = root;
    c->call.ops = &bcast_ops;
}

bool MPIR_Hwmc_bcast(void *buffer, MPI_Aint count, MPI_Datatype datatype, int root, MPIR_Comm *comm,
                     int *mpi_errno)
{
    struct hwmc_shm_host *n = HWMC_SHM_ADMIT(BCAST, comm, mpi_errno);
    struct hwmc_bcast_call c;

    if (!n || *mpi_errno)
        return n != NULL;
    hwmc_bcast_call_init(&c, buffer, count, datatype, root);
    return hwmc_call_take(&c.call, n, mpi_errno);
}
