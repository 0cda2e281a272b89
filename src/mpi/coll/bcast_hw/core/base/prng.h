/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * prng: a pseudo-random function of a seed and a counter, the same on every rank and platform
 * (the splitmix64 finalizer). It spreads choices; it keeps no secrets.
 */
#ifndef HWMC_CORE_BASE_PRNG_H_INCLUDED
#define HWMC_CORE_BASE_PRNG_H_INCLUDED

#include <stdint.h>

static inline uint64_t hwmc_prng(uint64_t seed, uint64_t counter)
{
    uint64_t z = seed + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif /* HWMC_CORE_BASE_PRNG_H_INCLUDED */
