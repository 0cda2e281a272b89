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

/* What a rank is through with in such a collective, a bit each. */
enum hwmc_shm_parts {
    HWMC_SHM_PARTS_GIVEN = 1, /* the others have what they get of it, or can have it without it */
    HWMC_SHM_PARTS_OWN = 2,   /* its own part is where it belongs */
    HWMC_SHM_PARTS_READ = 4,  /* so are those that it gets of others */
    HWMC_SHM_PARTS_ALL = 7
};

static inline struct hwmc_shm_range hwmc_shm_part_of(const struct hwmc_shm_vector *vector,
                                                     uint32_t rank)
{
    if (vector->each != NULL)
        return vector->each[rank];
    return (struct hwmc_shm_range){rank * vector->stride, vector->bytes};
}

#endif /* HWMC_SHM_COLL_VECTOR_H_INCLUDED */
