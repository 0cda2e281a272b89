/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * params: see params.h.
 */
#include "params.h"

#include <string.h>

#include "slot.h"

static const char *const barrier_names[] = {
#define X(id, name, text) #name,
    HWMC_SHM_BARRIERS(X)
#undef X
};

static const char *const bcast_names[] = {
#define X(id, name, text) #name,
    HWMC_SHM_BCASTS(X)
#undef X
};

static const char *const reduction_names[] = {
#define X(id, name, text) #name,
    HWMC_SHM_REDUCTIONS(X)
#undef X
};

static int find_named(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

struct hwmc_shm_params hwmc_shm_params_default(uint32_t chunk)
{
    return (struct hwmc_shm_params){
        .barrier = HWMC_SHM_BARRIER_DIS,
        .bcast = HWMC_SHM_BCAST_TREE,
        .reduction = HWMC_SHM_REDUCTION_TREE,
        .ways = 1,
        .chunk = chunk,
        .inline_max = HWMC_SHM_INLINE,
        /* Between two cores on which a line took long, a copy by the kernel began to be faster than
         * two through buffers about here; where a line took a third of that, it never was. */
        .copy_min = 64 * 1024,
        .stream_min = UINT64_MAX,
        .copy_step = 1024 * 1024,
        .piece_min = 4096, /* the paper's: 2 to 4 KiB */
        .shift = 0,
    };
}

int hwmc_shm_barrier_named(const char *name)
{
    return find_named(barrier_names, HWMC_SHM_BARRIER_NUM, name);
}

int hwmc_shm_bcast_named(const char *name)
{
    return find_named(bcast_names, HWMC_SHM_BCAST_NUM, name);
}

int hwmc_shm_reduction_named(const char *name)
{
    return find_named(reduction_names, HWMC_SHM_REDUCTION_NUM, name);
}

const char *hwmc_shm_barrier_name(enum hwmc_shm_barrier_algorithm algorithm)
{
    return barrier_names[algorithm];
}

const char *hwmc_shm_bcast_name(enum hwmc_shm_bcast_algorithm algorithm)
{
    return bcast_names[algorithm];
}

const char *hwmc_shm_reduction_name(enum hwmc_shm_reduction_algorithm algorithm)
{
    return reduction_names[algorithm];
}
