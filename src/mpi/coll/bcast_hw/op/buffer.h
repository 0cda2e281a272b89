/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * buffer: the message of a broadcast as the program has it. Bytes are counted as if it were packed.
 */

#ifndef HWMC_OP_BUFFER_H_INCLUDED
#define HWMC_OP_BUFFER_H_INCLUDED

#include <stdint.h>
#include <string.h>

#include "../port/err.h"

struct hwmc_buffer {
    char *memory; /* where all of it lies in one piece; NULL: it does not */
    uint64_t bytes;
    /* Where it does not: copy `n` bytes of it, from byte `at` on, to `to`, or from `from` to there.
     * HWMC_OK, or an error. `of`: their context. */
    int (*pack)(void *of, uint64_t at, void *to, uint64_t n);
    int (*unpack)(void *of, uint64_t at, const void *from, uint64_t n);
    void *of;
};

static inline int hwmc_buffer_pack(const struct hwmc_buffer *b, uint64_t at, void *to, uint64_t n)
{
    if (!b->memory)
        return b->pack(b->of, at, to, n);
    memcpy(to, b->memory + at, n);
    return HWMC_OK;
}

static inline int hwmc_buffer_unpack(const struct hwmc_buffer *b, uint64_t at, const void *from,
                                     uint64_t n)
{
    if (!b->memory)
        return b->unpack(b->of, at, from, n);
    memcpy(b->memory + at, from, n);
    return HWMC_OK;
}

#endif /* HWMC_OP_BUFFER_H_INCLUDED */
