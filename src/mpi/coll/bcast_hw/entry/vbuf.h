/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * vbuf: the buffer of a collective in which each rank has a part, as MPI gives it and as the
 * collectives inside hosts want it (shm/coll/vector.h). Parts that lie in pieces, or not in the
 * host's memory, are packed into memory of their own, one behind the other; if one is, all are.
 */

#ifndef HWMC_ENTRY_VBUF_H_INCLUDED
#define HWMC_ENTRY_VBUF_H_INCLUDED

#include "../comm/shm.h"
#include "../shm/coll/vector.h"

struct hwmc_vbuf {
    /* As MPI gives it. Parts are alike, `count` elements each, one behind the other; or part i has
     * counts[i], from element displs[i] on; or these are of types[i], from byte displs[i] on. */
    void *buffer;
    MPI_Datatype type;
    MPI_Aint count;
    const MPI_Aint *counts, *displs;
    const MPI_Datatype *types; /* looked at where counts[i] > 0 */
    uint32_t num;              /* parts */
    bool unlike;               /* they may differ, though this rank may not know how */
    bool packs;                /* wherever they lie they are packed */

    /* From begin to end. */
    char *memory;
    struct hwmc_shm_vector vector;
    struct hwmc_shm_range *each; /* made here, as `packed`; NULL: it is not needed */
    char *packed;
};

/* A buffer of `num` parts of `count` elements each. */
static inline struct hwmc_vbuf hwmc_vbuf_of(const void *buffer, MPI_Aint count, MPI_Datatype type,
                                            int num)
{
    return (struct hwmc_vbuf){
        .buffer = (void *) buffer, .type = type, .count = count, .num = (uint32_t) num};
}

/* One of parts that are not alike. */
static inline struct hwmc_vbuf hwmc_vbuf_v(const void *buffer, const MPI_Aint *counts,
                                           const MPI_Aint *displs, MPI_Datatype type, int num)
{
    return (struct hwmc_vbuf){.buffer = (void *) buffer,
                              .type = type,
                              .counts = counts,
                              .displs = displs,
                              .num = (uint32_t) num,
                              .unlike = true};
}

/* One of parts that are of a type each. */
static inline struct hwmc_vbuf hwmc_vbuf_w(const void *buffer, const MPI_Aint *counts,
                                           const MPI_Aint *displs, const MPI_Datatype *types,
                                           int num)
{
    struct hwmc_vbuf s = hwmc_vbuf_v(buffer, counts, displs, MPI_DATATYPE_NULL, num);

    s.types = types;
    return s;
}

/* Of a part, at any time: its bytes, the type of its elements, and where it is in the program's
 * buffer, as MPI counts. */
uint64_t hwmc_vbuf_counted(const struct hwmc_vbuf *s, uint32_t part);
MPI_Datatype hwmc_vbuf_type(const struct hwmc_vbuf *s, uint32_t part);
void *hwmc_vbuf_user_part(const struct hwmc_vbuf *s, uint32_t part);

/* Sets parts and memory; `load`: what the buffer has is wanted. Returns MPICH's error code, and on
 * error there is nothing to end. */
int hwmc_vbuf_begin(struct hwmc_vbuf *s, bool load);

/* Frees what was made; `store`: the buffer is to have what is in memory now. Returns MPICH's error
 * code. */
int hwmc_vbuf_end(struct hwmc_vbuf *s, bool store);

/* Bytes of a part. */
static inline uint64_t hwmc_vbuf_bytes(const struct hwmc_vbuf *s, uint32_t part)
{
    return hwmc_shm_part_of(&s->vector, part).bytes;
}

/* Where it is. */
static inline char *hwmc_vbuf_part(const struct hwmc_vbuf *s, uint32_t part)
{
    return s->memory + hwmc_shm_part_of(&s->vector, part).at;
}

#endif /* HWMC_ENTRY_VBUF_H_INCLUDED */
