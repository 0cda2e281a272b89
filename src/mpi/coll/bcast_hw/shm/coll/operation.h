/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * operation: what reductions and scans combine elements with.
 */
#ifndef HWMC_SHM_COLL_OPERATION_H_INCLUDED
#define HWMC_SHM_COLL_OPERATION_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The same on all ranks. out[i] = a[i] op b[i] for i < count: what is in `a` comes from ranks
 * before those in `b`, unless it is commutative. `out` may be `b`; else no two overlap. They are
 * aligned as the program's memory is, or to 16 bytes. */
struct hwmc_shm_operation {
    void (*combine)(void *ctx, void *out, const void *a, const void *b, size_t count);
    void *ctx;
    uint32_t element; /* bytes, 1 or more; at most half a buffer of the segment */
    bool commutative;
};

/* out = a op b, of so many bytes, whole elements. */
static inline void hwmc_shm_operation_combine(const struct hwmc_shm_operation *o, void *out,
                                              const void *a, const void *b, size_t bytes)
{
    o->combine(o->ctx, out, a, b, bytes / o->element);
}

#endif /* HWMC_SHM_COLL_OPERATION_H_INCLUDED */
