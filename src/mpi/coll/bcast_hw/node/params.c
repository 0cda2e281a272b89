/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * params: see params.h.
 */
#include "params.h"

#include <string.h>

#include "slot.h"

static const char *const barriers[] = {
#define X(id, name, text) #name,
    BCAST_HW_NODE_BARRIERS(X)
#undef X
};

static const char *const bcasts[] = {
#define X(id, name, text) #name,
    BCAST_HW_NODE_BCASTS(X)
#undef X
};

static const char *const reductions[] = {
#define X(id, name, text) #name,
    BCAST_HW_NODE_REDUCTIONS(X)
#undef X
};

static int named(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

struct bcast_hw_node_params bcast_hw_node_params_default(uint32_t chunk)
{
    return (struct bcast_hw_node_params){
        .barrier = BCAST_HW_NODE_BARRIER_DIS,
        .bcast = BCAST_HW_NODE_BCAST_TREE,
        .reduction = BCAST_HW_NODE_REDUCTION_TREE,
        .ways = 1,
        .chunk = chunk,
        .inline_max = BCAST_HW_NODE_INLINE,
        /* Between two cores on which a line took long, a copy by the kernel began to be faster than
         * two through buffers about here; where a line took a third of that, it never was. */
        .copy_min = 64 * 1024,
        .stream_min = UINT64_MAX,
        .copy_step = 1024 * 1024,
        .piece_min = 4096, /* the paper's: 2 to 4 KiB */
        .shift = 0,
    };
}

int bcast_hw_node_barrier_named(const char *name)
{
    return named(barriers, BCAST_HW_NODE_BARRIER_NUM, name);
}

int bcast_hw_node_bcast_named(const char *name)
{
    return named(bcasts, BCAST_HW_NODE_BCAST_NUM, name);
}

int bcast_hw_node_reduction_named(const char *name)
{
    return named(reductions, BCAST_HW_NODE_REDUCTION_NUM, name);
}

const char *bcast_hw_node_barrier_name(enum bcast_hw_node_barrier_algorithm algorithm)
{
    return barriers[algorithm];
}

const char *bcast_hw_node_bcast_name(enum bcast_hw_node_bcast_algorithm algorithm)
{
    return bcasts[algorithm];
}

const char *bcast_hw_node_reduction_name(enum bcast_hw_node_reduction_algorithm algorithm)
{
    return reductions[algorithm];
}
