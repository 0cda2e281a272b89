/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * frags: a piece of a message, cut into fragments of equal length but the last.
 */
#ifndef HWMC_CORE_BASE_FRAGS_H_INCLUDED
#define HWMC_CORE_BASE_FRAGS_H_INCLUDED

#include <stdint.h>

/* Fragments of a message piece of `bytes` bytes; an empty message has one, empty. */
static inline uint32_t hwmc_frags_of(uint32_t bytes, uint32_t frag_bytes)
{
    return bytes == 0 ? 1 : (bytes - 1) / frag_bytes + 1;
}

/* Payload bytes of fragment `index` of a message piece of `bytes` bytes. */
static inline uint32_t hwmc_frag_len(uint32_t bytes, uint32_t frag_bytes, uint32_t index)
{
    uint32_t off = index * frag_bytes;

    return bytes - off < frag_bytes ? bytes - off : frag_bytes;
}

#endif /* HWMC_CORE_BASE_FRAGS_H_INCLUDED */
