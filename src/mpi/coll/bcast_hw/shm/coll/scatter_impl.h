/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scatter_impl: for the two sides of a scatter, what a line says. `addr` is not 0: direct, and
 * where the parts are is in the body. Else `ready` says: 0, wait; BODY or BUFFER: all is there; or
 * a mark, how far the rank is in chunks. `length`: that of all parts, or UNEVEN.
 *
 * A mark is a phase and chunks in it. It only grows, and is at least 1 << 32. `ready` is that of
 * what was put, `taken` that of what was read; a rank that is through with a phase has taken the
 * mark of the next with no chunks.
 *
 * Packed: all parts in the order of ranks; where they are uneven, the lengths of all before them.
 * Chunks: chunk i of phase k is in buffer (first + k + i) mod their number; before a part stands
 * its length, in HEAD bytes.
 */
#ifndef HWMC_SHM_COLL_SCATTER_IMPL_H_INCLUDED
#define HWMC_SHM_COLL_SCATTER_IMPL_H_INCLUDED

#include "vector_impl.h"
#include "scatter.h"

#define HWMC_SHM_SCATTER_UNEVEN UINT64_MAX
#define HWMC_SHM_SCATTER_HEAD 16u

/* Opens this rank's lines, with all its parts if they are packed. OK or AGAIN. */
int hwmc_shm_scatter_open(struct hwmc_shm_scatter *w);

/* Gives some of this rank's parts. OK: all are given; AGAIN. */
int hwmc_shm_scatter_give(struct hwmc_shm_scatter *w);

/* Reads some of the others' parts. OK: all are read; AGAIN; or as shm/copy/copy.h. */
int hwmc_shm_scatter_read(struct hwmc_shm_scatter *w);

static inline uint64_t hwmc_shm_scatter_mark(uint32_t phase, uint64_t chunks)
{
    return (uint64_t) phase << 32 | chunks;
}

/* Bytes in a buffer: with the head, some of the part at least. */
static inline uint64_t hwmc_shm_scatter_chunk(const struct hwmc_shm_scatter *w)
{
    uint64_t chunk = w->op.group->params.chunk;

    return chunk < 2 * HWMC_SHM_SCATTER_HEAD ? 2 * HWMC_SHM_SCATTER_HEAD : chunk;
}

/* Of chunk number `chunk` of a part of `bytes`: where in the part it begins; *n: how many bytes. */
static inline uint64_t hwmc_shm_scatter_range(const struct hwmc_shm_scatter *w, uint64_t chunk,
                                              uint64_t bytes, size_t *n)
{
    uint64_t most = hwmc_shm_scatter_chunk(w);
    uint64_t head = HWMC_SHM_SCATTER_HEAD;
    uint64_t at = chunk == 0 ? 0 : chunk * most - head;

    *n = hwmc_shm_vector_next(at, bytes, chunk == 0 ? most - head : most);
    return at;
}

/* Where that is in its buffer. */
static inline unsigned char *hwmc_shm_scatter_data(unsigned char *buffer, uint64_t chunk)
{
    return chunk == 0 ? buffer + HWMC_SHM_SCATTER_HEAD : buffer;
}

#endif /* HWMC_SHM_COLL_SCATTER_IMPL_H_INCLUDED */
