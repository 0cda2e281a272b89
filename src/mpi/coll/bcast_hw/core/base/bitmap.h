/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bitmap: which fragments of a broadcast, one bit each, in memory the caller owns. Bits at and
 * above the number of bits in use are always zero, so words compare and count without masking.
 */
#ifndef HWMC_CORE_BASE_BITMAP_H_INCLUDED
#define HWMC_CORE_BASE_BITMAP_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HWMC_BITMAP_NONE UINT32_MAX

static inline uint32_t hwmc_bitmap_words(uint32_t bits)
{
    return (bits + 63) / 64;
}

static inline void hwmc_bitmap_clear(uint64_t *map, uint32_t bits)
{
    memset(map, 0, hwmc_bitmap_words(bits) * sizeof(*map));
}

/* The bits of word `w` that exist in a map of `bits` bits. */
static inline uint64_t hwmc_bitmap_mask(uint32_t w, uint32_t bits)
{
    uint32_t below = bits - w * 64;

    return below >= 64 ? UINT64_MAX : (UINT64_C(1) << below) - 1;
}

static inline void hwmc_bitmap_fill(uint64_t *map, uint32_t bits)
{
    for (uint32_t w = 0; w < hwmc_bitmap_words(bits); w++)
        map[w] = hwmc_bitmap_mask(w, bits);
}

static inline bool hwmc_bitmap_test(const uint64_t *map, uint32_t i)
{
    return (map[i / 64] >> (i % 64)) & 1;
}

static inline void hwmc_bitmap_set(uint64_t *map, uint32_t i)
{
    map[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline uint32_t hwmc_bitmap_count(const uint64_t *map, uint32_t bits)
{
    uint32_t n = 0;

    for (uint32_t w = 0; w < hwmc_bitmap_words(bits); w++)
        n += (uint32_t) __builtin_popcountll(map[w]);
    return n;
}

/* The first bit of a word at position `w`, or NONE for an empty word. */
static inline uint32_t hwmc_bitmap_first_of(uint64_t word, uint32_t w)
{
    return word ? w * 64 + (uint32_t) __builtin_ctzll(word) : HWMC_BITMAP_NONE;
}

/* The first bit from `from` on that is not set; `bits`: there is none. */
static inline uint32_t hwmc_bitmap_clear_from(const uint64_t *map, uint32_t bits, uint32_t from)
{
    while (from < bits) {
        uint64_t open = ~map[from / 64] >> (from % 64);

        if (open) {
            from += (uint32_t) __builtin_ctzll(open);
            return from < bits ? from : bits;
        }
        from += 64 - from % 64;
    }
    return bits;
}

/* The first bit from `from` on that is set; `bits`: there is none. */
static inline uint32_t hwmc_bitmap_set_from(const uint64_t *map, uint32_t bits, uint32_t from)
{
    while (from < bits) {
        uint64_t set = map[from / 64] >> (from % 64);

        if (set)
            return from + (uint32_t) __builtin_ctzll(set);
        from += 64 - from % 64;
    }
    return bits;
}

#endif /* HWMC_CORE_BASE_BITMAP_H_INCLUDED */
