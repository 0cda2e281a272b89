/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * least: minimum of figures of which some are unknown, or no limit.
 */
#ifndef HWMC_SHM_TOPO_LEAST_H_INCLUDED
#define HWMC_SHM_TOPO_LEAST_H_INCLUDED

#include <stdint.h>

/* The lower of two, of which 0 does not count; 0 if both are 0. */
static inline uint64_t hwmc_shm_least(uint64_t a, uint64_t b)
{
    return b == 0 || (a != 0 && a < b) ? a : b;
}

#endif /* HWMC_SHM_TOPO_LEAST_H_INCLUDED */
