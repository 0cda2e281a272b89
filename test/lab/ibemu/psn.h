/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Packet sequence numbers: 24 bits, compared on a circle (InfiniBand specification, 9.7.1).
 */
#ifndef HWMC_TEST_LAB_IBEMU_PSN_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_PSN_H_INCLUDED

#include <stdint.h>

#define EM_PSN_MASK 0xffffffu

/* a - b: negative if a is the older one. They are less than 2^23 apart. */
static inline int32_t em_psn_diff(uint32_t a, uint32_t b)
{
    uint32_t d = (a - b) & EM_PSN_MASK;

    return d & 0x800000u ? (int32_t) d - 0x1000000 : (int32_t) d;
}

static inline uint32_t em_psn_add(uint32_t a, uint32_t n)
{
    return (a + n) & EM_PSN_MASK;
}

#endif /* HWMC_TEST_LAB_IBEMU_PSN_H_INCLUDED */
