/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * vbuf: see vbuf.h.
 */

#include "vbuf.h"
#include "../op/contiguous.h"
#include "../process/mpich.h"

static MPI_Aint count_of(const struct hwmc_vbuf *s, uint32_t part)
{
    return s->counts ? s->counts[part] : s->count;
}

MPI_Datatype hwmc_vbuf_type(const struct hwmc_vbuf *s, uint32_t part)
{
    return s->types ? s->types[part] : s->type;
}

uint64_t hwmc_vbuf_counted(const struct hwmc_vbuf *s, uint32_t part)
{
    const MPI_Aint count = count_of(s, part);
    MPI_Aint size;

    if (count == 0)
        return 0;
    MPIR_Datatype_get_size_macro(hwmc_vbuf_type(s, part), size);
    return (uint64_t) (count * size);
}

/* From the buffer's beginning to that of a part, in bytes. */
static MPI_Aint offset_of(const struct hwmc_vbuf *s, uint32_t part)
{
    MPI_Aint extent;

    if (s->types)
        return s->displs[part];
    MPIR_Datatype_get_extent_macro(s->type, extent);
    return (s->displs ? s->displs[part] : (MPI_Aint) part * s->count) * extent;
}

/* The buffer may be MPI_BOTTOM. */
void *hwmc_vbuf_user_part(const struct hwmc_vbuf *s, uint32_t part)
{
    return (void *) ((uintptr_t) s->buffer + (uintptr_t) offset_of(s, part));
}

/* No part has to be packed. */
static bool all_lie(const struct hwmc_vbuf *s)
{
    if (s->packs)
        return false;
    if (!s->types)
        return hwmc_contiguous(s->buffer, s->type) != NULL;
    for (uint32_t i = 0; i < s->num; i++)
        if (hwmc_vbuf_counted(s, i) > 0 && !hwmc_contiguous(hwmc_vbuf_user_part(s, i), s->types[i]))
            return false;
    return true;
}

/* Parts that are not alike: those that lie where they are count from the lowest of them, whose
 * address is s->memory. */
static void lay_out_each(struct hwmc_vbuf *s, bool lie, uint64_t *bytes)
{
    uintptr_t lowest = UINTPTR_MAX;

    for (uint32_t i = 0; i < s->num; i++) {
        s->each[i] = (struct hwmc_shm_range){.at = *bytes, .bytes = hwmc_vbuf_counted(s, i)};
        if (lie && s->each[i].bytes > 0) {
            s->each[i].at =
                (uintptr_t) hwmc_contiguous(hwmc_vbuf_user_part(s, i), hwmc_vbuf_type(s, i));
            lowest = MPL_MIN(lowest, s->each[i].at);
        }
        *bytes += s->each[i].bytes;
    }
    if (!lie)
        return;
    for (uint32_t i = 0; i < s->num; i++)
        s->each[i].at = s->each[i].bytes > 0 ? s->each[i].at - lowest : 0;
    s->memory = *bytes > 0 ? (char *) lowest : NULL;
}

/* Sets where the parts are: in the buffer, and then s->memory too, or one behind the other. *bytes:
 * of all parts. */
static int lay_out(struct hwmc_vbuf *s, bool lie, uint64_t *bytes)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint extent;

    *bytes = 0;
    if (!s->counts) {
        MPIR_Datatype_get_extent_macro(s->type, extent);
        s->vector.bytes = hwmc_vbuf_counted(s, 0);
        s->vector.stride = lie ? (uint64_t) (s->count * extent) : s->vector.bytes;
        *bytes = s->num * s->vector.bytes;
        s->memory = lie ? hwmc_contiguous(s->buffer, s->type) : NULL;
        goto fn_exit;
    }
    s->each = MPL_malloc(s->num * sizeof(*s->each), MPL_MEM_COLL);
    MPIR_ERR_CHKANDJUMP(!s->each, mpi_errno, MPI_ERR_OTHER, "**nomem");
    lay_out_each(s, lie, bytes);
    s->vector.each = s->each;

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* Between the buffer and `packed`: from there to here if `load`. */
static int pack(struct hwmc_vbuf *s, bool load)
{
    int mpi_errno = MPI_SUCCESS;

    for (uint32_t i = 0; i < s->num && mpi_errno == MPI_SUCCESS; i++) {
        MPI_Aint bytes = (MPI_Aint) hwmc_vbuf_bytes(s, i), moved = bytes;

        if (bytes > 0 && load)
            mpi_errno =
                MPIR_Typerep_pack(hwmc_vbuf_user_part(s, i), count_of(s, i), hwmc_vbuf_type(s, i),
                                  0, hwmc_vbuf_part(s, i), bytes, &moved HWMC_TYPEREP_FLAGS);
        else if (bytes > 0)
            mpi_errno = MPIR_Typerep_unpack(hwmc_vbuf_part(s, i), bytes, hwmc_vbuf_user_part(s, i),
                                            count_of(s, i), hwmc_vbuf_type(s, i), 0,
                                            &moved HWMC_TYPEREP_FLAGS);
        MPIR_Assert(mpi_errno != MPI_SUCCESS || moved == bytes);
    }
    return mpi_errno;
}

int hwmc_vbuf_begin(struct hwmc_vbuf *s, bool load)
{
    int mpi_errno = MPI_SUCCESS;
    const bool lie = all_lie(s);
    uint64_t bytes;

    s->memory = NULL;
    s->vector = (struct hwmc_shm_vector){0};
    s->each = NULL;
    s->packed = NULL;
    mpi_errno = lay_out(s, lie, &bytes);
    MPIR_ERR_CHECK(mpi_errno);
    if (lie || bytes == 0)
        goto fn_exit;
    s->memory = s->packed = MPL_malloc(bytes, MPL_MEM_BUFFER);
    MPIR_ERR_CHKANDJUMP(!s->packed, mpi_errno, MPI_ERR_OTHER, "**nomem");
    if (load)
        mpi_errno = pack(s, true);
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

    if (s->packed && store)
        mpi_errno = pack(s, false);
    MPL_free(s->packed);
    MPL_free(s->each);
    s->packed = NULL;
    s->each = NULL;
    return mpi_errno;
}
