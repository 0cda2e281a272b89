/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * parts: how a block is cut.
 */
#ifndef HWMC_CORE_EXCHANGE_PARTS_H_INCLUDED
#define HWMC_CORE_EXCHANGE_PARTS_H_INCLUDED

#include <stdint.h>

/* Parts of a block of `bytes` in parts of `part` bytes: 1 or more, the last one may be shorter, or
 * empty. */
static inline uint32_t hwmc_exchange_parts(uint32_t bytes, uint32_t part)
{
    return bytes > part ? (bytes - 1) / part + 1 : 1;
}

/* Bytes of part `index`. */
static inline uint32_t hwmc_exchange_part_len(uint32_t bytes, uint32_t part, uint32_t index)
{
    return bytes - index * part < part ? bytes - index * part : part;
}

#endif /* HWMC_CORE_EXCHANGE_PARTS_H_INCLUDED */
