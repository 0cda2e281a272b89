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

/* How the blocks of an exchange are cut. */
struct hwmc_cut {
    uint32_t part;  /* bytes */
    uint32_t whole; /* a block of at most so many bytes is one part, though longer than `part` */
};

static inline uint32_t hwmc_cut_parts(const struct hwmc_cut *c, uint32_t bytes)
{
    return bytes <= c->whole ? 1 : hwmc_exchange_parts(bytes, c->part);
}

static inline uint32_t hwmc_cut_len(const struct hwmc_cut *c, uint32_t bytes, uint32_t index)
{
    return bytes <= c->whole ? bytes : hwmc_exchange_part_len(bytes, c->part, index);
}

#endif /* HWMC_CORE_EXCHANGE_PARTS_H_INCLUDED */
