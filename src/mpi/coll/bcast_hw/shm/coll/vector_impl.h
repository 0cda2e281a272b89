/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * vector_impl: shared by the collectives in which each rank has a part of its own.
 */
#ifndef HWMC_SHM_COLL_VECTOR_IMPL_H_INCLUDED
#define HWMC_SHM_COLL_VECTOR_IMPL_H_INCLUDED

#include <string.h>

#include "../segment/lines_impl.h"
#include "vector.h"

/* Whether so many bytes go by single copy. */
static inline bool hwmc_shm_vector_direct(const struct hwmc_shm_group *g, uint64_t bytes)
{
    return g->copy != NULL && bytes >= g->params.copy_min && bytes > g->params.inline_max;
}

/* Those parts, told in a line's body to ranks that have a way to this one's memory. */
static inline void hwmc_shm_vector_tell(const struct hwmc_shm_vector *vector, unsigned char *body)
{
    _Static_assert(sizeof(*vector) <= HWMC_SHM_INLINE, "fits");
    memcpy(body, vector, sizeof(*vector));
}

/* This rank's part of those that `peer` told: OK, or as shm/copy/copy.h. */
static inline int hwmc_shm_vector_ask(const struct hwmc_shm_op *op, uint32_t peer,
                                      struct hwmc_shm_range *part)
{
    const struct hwmc_shm_group *g = op->group;
    struct hwmc_shm_vector vector;

    memcpy(&vector, hwmc_shm_lines(op, peer)->out.body, sizeof(vector));
    if (vector.each != NULL)
        return hwmc_shm_group_get(g, peer, part, (uintptr_t) (vector.each + g->rank),
                                  sizeof(*part));
    *part = hwmc_shm_part_of(&vector, g->rank);
    return HWMC_OK;
}

/* The two ends of a part: how many bytes go; where they disagree, that is the verdict. */
static inline uint64_t hwmc_shm_vector_agree(struct hwmc_shm_op *op, uint64_t a, uint64_t b)
{
    if (a != b)
        op->verdict = HWMC_ERR_INVAL;
    return hwmc_shm_min(a, b);
}

/* Of a range that is moved `step` bytes at a time, the bytes from `at` on that are within `end`. */
static inline size_t hwmc_shm_vector_next(uint64_t at, uint64_t end, uint64_t step)
{
    return at < end ? hwmc_shm_min(end - at, step) : 0;
}

/* This rank's own part, `bytes` from where it is to where it belongs, some of it; *at: how much
 * was. OK: all is there. */
static inline int hwmc_shm_vector_own(struct hwmc_shm_op *op, unsigned char *to,
                                      const unsigned char *from, uint64_t bytes, uint64_t *at)
{
    size_t n = hwmc_shm_vector_next(*at, bytes, op->group->params.copy_step);

    if (n == 0 || from == to)
        return HWMC_OK;
    memcpy(to + *at, from + *at, n);
    *at += n;
    op->moved = bytes > op->group->params.inline_max;
    return *at < bytes ? HWMC_AGAIN : HWMC_OK;
}

#endif /* HWMC_SHM_COLL_VECTOR_IMPL_H_INCLUDED */
