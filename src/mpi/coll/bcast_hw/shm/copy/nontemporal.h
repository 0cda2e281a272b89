/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * nontemporal: copies past the caches. An ordinary store first reads the line and evicts another
 * one. Both are wasted for a message that the caches will not hold.
 */
#ifndef HWMC_SHM_COPY_NONTEMPORAL_H_INCLUDED
#define HWMC_SHM_COPY_NONTEMPORAL_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

#define HWMC_SHM_NONTEMPORAL_LINE 64u

/* Whole lines; `to` is aligned to them. When it returns, stores that follow are seen later. */
static inline void hwmc_shm_nontemporal_lines(unsigned char *to, const unsigned char *from,
                                              size_t bytes)
{
    for (size_t at = 0; at < bytes; at += HWMC_SHM_NONTEMPORAL_LINE)
        for (size_t i = at; i < at + HWMC_SHM_NONTEMPORAL_LINE; i += sizeof(__m128i))
            _mm_stream_si128((__m128i *) (void *) (to + i),
                             _mm_loadu_si128((const __m128i *) (const void *) (from + i)));
    _mm_sfence();
}

/* As memcpy. */
static inline void hwmc_shm_nontemporal_copy(unsigned char *to, const unsigned char *from,
                                             size_t bytes)
{
    size_t head = -(uintptr_t) to % HWMC_SHM_NONTEMPORAL_LINE, lines;

    if (bytes < head + HWMC_SHM_NONTEMPORAL_LINE) {
        memcpy(to, from, bytes);
        return;
    }
    lines = (bytes - head) / HWMC_SHM_NONTEMPORAL_LINE * HWMC_SHM_NONTEMPORAL_LINE;
    memcpy(to, from, head);
    hwmc_shm_nontemporal_lines(to + head, from + head, lines);
    memcpy(to + head + lines, from + head + lines, bytes - head - lines);
}
#else
static inline void hwmc_shm_nontemporal_copy(unsigned char *to, const unsigned char *from,
                                             size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif

/* Past the caches or as usual. */
static inline void hwmc_shm_nontemporal_or_copy(bool past, unsigned char *to,
                                                const unsigned char *from, size_t bytes)
{
    if (past)
        hwmc_shm_nontemporal_copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

#endif /* HWMC_SHM_COPY_NONTEMPORAL_H_INCLUDED */
