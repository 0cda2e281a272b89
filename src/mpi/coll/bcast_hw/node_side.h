/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * side: the buffer of a collective in which each rank has a part, as MPI gives it and as the node
 * layer wants it (node/parts.h). Parts that lie in pieces, or not in the host's memory, are packed
 * into memory of their own, one behind the other.
 */

#ifndef BCAST_HW_NODE_SIDE_H_INCLUDED
#define BCAST_HW_NODE_SIDE_H_INCLUDED

#include "node_glue.h"
#include "node/parts.h"

struct bcast_hw_node_side {
    /* As MPI gives it. Parts are alike, `count` elements each, one behind the other; or part i has
     * counts[i], from element displs[i] on. */
    void *buffer;
    MPI_Datatype type;
    MPI_Aint count;
    const MPI_Aint *counts, *displs;
    uint32_t num; /* parts */

    /* From begin to end. */
    char *memory;
    struct bcast_hw_node_parts parts;
    struct bcast_hw_node_range *each; /* made here, as `packed`; NULL: it is not needed */
    char *packed;
};

/* A buffer of `num` parts of `count` elements each. */
static inline struct bcast_hw_node_side MPIR_Bcast_hw_node_side(const void *buffer, MPI_Aint count,
                                                                MPI_Datatype type, int num)
{
    return (struct bcast_hw_node_side){
        .buffer = (void *) buffer, .type = type, .count = count, .num = (uint32_t) num};
}

/* One of parts that are not alike. */
static inline struct bcast_hw_node_side MPIR_Bcast_hw_node_side_v(const void *buffer,
                                                                  const MPI_Aint *counts,
                                                                  const MPI_Aint *displs,
                                                                  MPI_Datatype type, int num)
{
    return (struct bcast_hw_node_side){.buffer = (void *) buffer,
                                       .type = type,
                                       .counts = counts,
                                       .displs = displs,
                                       .num = (uint32_t) num};
}

/* Sets parts and memory; `load`: what the buffer has is wanted. Returns MPICH's error code, and on
 * error there is nothing to end. */
int MPIR_Bcast_hw_node_side_begin(struct bcast_hw_node_side *s, bool load);

/* Frees what was made; `store`: the buffer is to have what is in memory now. Returns MPICH's error
 * code. */
int MPIR_Bcast_hw_node_side_end(struct bcast_hw_node_side *s, bool store);

/* Bytes of a part. */
static inline uint64_t MPIR_Bcast_hw_node_side_bytes(const struct bcast_hw_node_side *s,
                                                     uint32_t part)
{
    return bcast_hw_node_part_of(&s->parts, part).bytes;
}

/* Where it is. */
static inline char *MPIR_Bcast_hw_node_side_part(const struct bcast_hw_node_side *s, uint32_t part)
{
    return s->memory + bcast_hw_node_part_of(&s->parts, part).at;
}

#endif /* BCAST_HW_NODE_SIDE_H_INCLUDED */
