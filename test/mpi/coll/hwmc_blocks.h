/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_BLOCKS_H_INCLUDED
#define HWMC_TEST_MPI_BLOCKS_H_INCLUDED

/* Blocks of typed data in memory that shows what was written to: what a rank gives to a collective
 * that moves data, or gets from it. A block's data follow from a key; the sender may describe them
 * with another datatype than the receiver. */

#include "hwmc_layouts.h"

#define HWTEST_BLOCKS 64   /* of a side, at most */
#define HWTEST_BETWEEN 64  /* bytes between blocks of several kinds */
#define HWTEST_MARGIN 1024 /* bytes before and behind what is laid out */

/* A datatype, and the basic one that it is made of. */
struct hwtest_kind {
    const char *name;
    MPI_Datatype type, basic;
    int per_element; /* basic ones in an element */
    MPI_Aint extent;
    int size; /* bytes of data in an element */
};

#define HWTEST_KINDS (HWTEST_LAYOUTS + 4)

struct hwtest_kinds {
    struct hwtest_kind kind[HWTEST_KINDS];
    int num;
    struct hwtest_layout layouts[HWTEST_LAYOUTS];
    int num_layouts;
    struct hwtest_kind flat; /* MPI_INT, which the layouts are made of */
};

static inline struct hwtest_kind hwtest_make_kind(const char *name, MPI_Datatype type,
                                                  MPI_Datatype basic, int per_element)
{
    struct hwtest_kind k = {name, type, basic, per_element, 0, 0};
    MPI_Aint lower;

    MPI_Type_get_extent(type, &lower, &k.extent);
    MPI_Type_size(type, &k.size);
    return k;
}

static inline void hwtest_make_kinds(struct hwtest_kinds *all)
{
    all->num = 0;
    all->flat = hwtest_make_kind("int", MPI_INT, MPI_INT, 1);
    all->kind[all->num++] = all->flat;
    all->kind[all->num++] = hwtest_make_kind("byte", MPI_BYTE, MPI_BYTE, 1);
    all->kind[all->num++] = hwtest_make_kind("double", MPI_DOUBLE, MPI_DOUBLE, 1);
    all->kind[all->num++] = hwtest_make_kind("short", MPI_SHORT, MPI_SHORT, 1);
    all->num_layouts = hwtest_make_layouts(all->layouts);
    for (int i = 0; i < all->num_layouts; i++) {
        const struct hwtest_layout *l = &all->layouts[i];

        all->kind[all->num++] = hwtest_make_kind(l->name, l->type, MPI_INT, l->per_element);
    }
}

static inline void hwtest_free_kinds(struct hwtest_kinds *all)
{
    hwtest_free_layouts(all->layouts, all->num_layouts);
}

/* Memory, and the address that MPI gets. */
struct hwtest_memory {
    unsigned char *base, *origin;
    size_t bytes;
};

static inline struct hwtest_memory hwtest_new_memory(size_t span)
{
    struct hwtest_memory m = {.bytes = span + 2 * HWTEST_MARGIN};

    m.base = hwtest_alloc(m.bytes);
    m.origin = m.base + HWTEST_MARGIN;
    memset(m.base, HWTEST_POISON, m.bytes);
    return m;
}

/* Where they differ, in bytes from the origin; false if they do not. */
static inline bool hwtest_find_difference(const struct hwtest_memory *a,
                                          const struct hwtest_memory *b, long *where)
{
    size_t at = 0;

    if (memcmp(a->base, b->base, a->bytes) == 0)
        return false;
    while (a->base[at] == b->base[at])
        at++;
    *where = (long) at - HWTEST_MARGIN;
    return true;
}

/* What a rank gives, or gets: block i has counts[i] elements of kinds[i], `at[i]` bytes from the
 * origin, which are `places[i]` elements where all blocks have one kind. */
struct hwtest_side {
    int num;
    const struct hwtest_kind *kinds[HWTEST_BLOCKS];
    int counts[HWTEST_BLOCKS], places[HWTEST_BLOCKS], at[HWTEST_BLOCKS];
    size_t span;
    struct hwtest_memory memory;
};

/* Lays out the blocks whose counts and kinds are set: in ascending order without gaps, or in
 * descending order with an element between each two. Where kinds differ, one may reach below its
 * first byte: then more is left between. */
static inline void hwtest_lay_out_side(struct hwtest_side *s, bool apart, bool mixed)
{
    MPI_Aint at = 0;

    for (int n = 0; n < s->num; n++) {
        const int i = apart ? s->num - 1 - n : n;
        const MPI_Aint extent = s->kinds[i]->extent;

        at += mixed ? HWTEST_BETWEEN : 0;
        s->at[i] = (int) at;
        s->places[i] = (int) (at / extent);
        at += extent * (s->counts[i] + apart);
    }
    s->span = (size_t) at;
}

/* Writes the data of a block where they belong in `m`. */
static inline void hwtest_write_block(const struct hwtest_side *s, int i, struct hwtest_memory *m,
                                      uint64_t key)
{
    const struct hwtest_kind *k = s->kinds[i];
    const size_t bytes = (size_t) s->counts[i] * (size_t) k->size;
    unsigned char *packed = hwtest_alloc(bytes);
    int position = 0;

    hwtest_fill(packed, bytes, key);
    MPI_Unpack(packed, (int) bytes, &position, m->origin + s->at[i], s->counts[i], k->type,
               MPI_COMM_SELF);
    free(packed);
}

/* The element of a block that a byte belongs to; -1: none, but a gap. */
static inline long hwtest_element_at(const struct hwtest_side *s, long where, int *block)
{
    for (int i = 0; i < s->num; i++) {
        const long from = where - s->at[i], extent = (long) s->kinds[i]->extent;

        *block = i;
        if (from >= 0 && from < extent * s->counts[i])
            return from / extent;
    }
    *block = -1;
    return -1;
}

#endif /* HWMC_TEST_MPI_BLOCKS_H_INCLUDED */
