/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * vector: where in a rank's memory the parts for, or of, each rank are. Regular collectives have
 * equal parts at a stride; those with a v have a place and length for each.
 */
#ifndef HWMC_SHM_COLL_VECTOR_H_INCLUDED
#define HWMC_SHM_COLL_VECTOR_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

struct hwmc_shm_range {
    uint64_t at; /* bytes from the start of the memory */
    uint64_t bytes;
};

struct hwmc_shm_vector {
    /* By rank, the caller's until the collective is done; NULL: rank i's is at i * stride. */
    const struct hwmc_shm_range *each;
    uint64_t stride; /* bytes; no less than `bytes` */
    uint64_t bytes;  /* of each part, where they are alike */
};

static inline struct hwmc_shm_range hwmc_shm_part_of(const struct hwmc_shm_vector *vector,
                                                     uint32_t rank)
{
    if (vector->each != NULL)
        return vector->each[rank];
    return (struct hwmc_shm_range){rank * vector->stride, vector->bytes};
}

#endif /* HWMC_SHM_COLL_VECTOR_H_INCLUDED */
