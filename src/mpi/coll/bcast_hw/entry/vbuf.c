/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "vbuf.h"
#include "../op/contiguous.h"
#include "../process/mpich.h"

static MPI_Aint count_of(const struct hwmc_vbuf *s, uint32_t part)
{
    return s->counts ? s->counts[part] : s->count;
}

/* From the buffer's beginning to that of a part, in elements. */
static MPI_Aint offset_of(const struct hwmc_vbuf *s, uint32_t part)
{
    return s->displs ? s->displs[part] : (MPI_Aint) part * s->count;
}

/* Sets `parts`, for elements of `size` bytes, `stride` bytes apart; 0: parts follow each other.
 * *bytes: of all parts. */
static int lay_out(struct hwmc_vbuf *s, MPI_Aint size, MPI_Aint stride, uint64_t *bytes)
{
    int mpi_errno = MPI_SUCCESS;
    bool follow = stride == 0;

    *bytes = 0;
    if (!s->counts) {
        s->vector.bytes = (uint64_t) (s->count * size);
        s->vector.stride = (uint64_t) (s->count * (follow ? size : stride));
        *bytes = s->num * s->vector.bytes;
        goto fn_exit;
    }
    s->each = MPL_malloc(s->num * sizeof(*s->each), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!s->each, mpi_errno, MPI_ERR_OTHER, "**nomem");
    for (uint32_t i = 0; i < s->num; i++) {
        s->each[i].bytes = (uint64_t) (s->counts[i] * size);
        s->each[i].at = follow ? *bytes : (uint64_t) (offset_of(s, i) * stride);
        *bytes += s->each[i].bytes;
    }
    s->vector.each = s->each;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Between the buffer and `packed`: from there to here if `load`. */
static int pack(struct hwmc_vbuf *s, MPI_Aint extent, bool load)
{
    int mpi_errno = MPI_SUCCESS;

    for (uint32_t i = 0; i < s->num && mpi_errno == MPI_SUCCESS; i++) {
        char *user = (char *) s->buffer + offset_of(s, i) * extent;
        MPI_Aint bytes = (MPI_Aint) hwmc_vbuf_bytes(s, i), moved = bytes;

        if (bytes > 0 && load)
            mpi_errno = MPIR_Typerep_pack(user, count_of(s, i), s->type, 0, hwmc_vbuf_part(s, i),
                                          bytes, &moved HWMC_TYPEREP_FLAGS);
        else if (bytes > 0)
            mpi_errno = MPIR_Typerep_unpack(hwmc_vbuf_part(s, i), bytes, user, count_of(s, i),
                                            s->type, 0, &moved HWMC_TYPEREP_FLAGS);
        MPIR_Assert(mpi_errno != MPI_SUCCESS || moved == bytes);
    }
    return mpi_errno;
}

int hwmc_vbuf_begin(struct hwmc_vbuf *s, bool load)
{
    int mpi_errno = MPI_SUCCESS;
    char *lies = hwmc_contiguous(s->buffer, s->type);
    MPI_Aint size, extent;
    uint64_t bytes;

    MPIR_Datatype_get_size_macro(s->type, size);
    MPIR_Datatype_get_extent_macro(s->type, extent);
    s->vector = (struct hwmc_shm_vector){0};
    s->each = NULL;
    s->packed = NULL;
    mpi_errno = lay_out(s, size, lies ? extent : 0, &bytes);
    MPIR_ERR_CHECK(mpi_errno);
    s->memory = lies;
    if (lies || bytes == 0)
        goto fn_exit;
    s->memory = s->packed = MPL_malloc(bytes, MPL_MEM_BUFFER);
    MPIR_ERR_CHKANDJUMP(!s->packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (load)
        mpi_errno = pack(s, extent, true);
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    return mpi_errno;
fn_fail:
    hwmc_vbuf_end(s, false);
    goto fn_exit;
}

int hwmc_vbuf_end(struct hwmc_vbuf *s, bool store)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint extent;

    MPIR_Datatype_get_extent_macro(s->type, extent);
    if (s->packed && store)
        mpi_errno = pack(s, extent, false);
    MPL_free(s->packed);
    MPL_free(s->each);
    s->packed = NULL;
    s->each = NULL;
    return mpi_errno;
}
