/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * minmax: the smaller and the larger of two numbers of one type.
 */
#ifndef HWMC_CORE_BASE_MINMAX_H_INCLUDED
#define HWMC_CORE_BASE_MINMAX_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

static inline uint32_t hwmc_min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t hwmc_max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t hwmc_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t hwmc_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline size_t hwmc_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif /* HWMC_CORE_BASE_MINMAX_H_INCLUDED */
