/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * parts: where in a rank's memory the parts for, or of, each rank are. The regular collectives have
 * parts alike at a stride; those with a v have each one's place and length.
 */
#ifndef BCAST_HW_NODE_PARTS_H_INCLUDED
#define BCAST_HW_NODE_PARTS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

struct bcast_hw_node_range {
    uint64_t at; /* bytes from the start of the memory */
    uint64_t bytes;
};

struct bcast_hw_node_parts {
    /* By rank, the caller's until the collective is done; NULL: rank i's is at i * stride. */
    const struct bcast_hw_node_range *each;
    uint64_t stride; /* bytes; no less than `bytes` */
    uint64_t bytes;  /* of each part, where they are alike */
};

static inline struct bcast_hw_node_range
bcast_hw_node_part_of(const struct bcast_hw_node_parts *parts, uint32_t rank)
{
    if (parts->each != NULL)
        return parts->each[rank];
    return (struct bcast_hw_node_range){rank * parts->stride, parts->bytes};
}

#endif /* BCAST_HW_NODE_PARTS_H_INCLUDED */
