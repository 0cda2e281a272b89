/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_LAYOUTS_H_INCLUDED
#define HWMC_TEST_MPI_LAYOUTS_H_INCLUDED

/* Derived datatypes of ints, with holes, and memory that shows what was written to. */

#include "hwmc_util.h"

#define HWTEST_LAYOUTS 8 /* room for those that are made */

struct hwtest_layout {
    const char *name;
    MPI_Datatype type;
    int per_element; /* ints of data in an element */
};

/* int, hole, int int, hole: a struct whose extent is larger than what is in it */
static inline MPI_Datatype hwtest_struct_with_holes(void)
{
    MPI_Datatype parts, type;
    int lengths[2] = {1, 2};
    MPI_Aint places[2] = {0, 3 * sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};

    MPI_Type_create_struct(2, lengths, places, types, &parts);
    MPI_Type_create_resized(parts, 0, 7 * sizeof(int), &type);
    MPI_Type_free(&parts);
    return type;
}

/* Each element descends: its last int is lowest in memory. */
static inline MPI_Datatype hwtest_negative_stride(void)
{
    MPI_Datatype parts, type;

    MPI_Type_create_hvector(4, 1, -2 * (MPI_Aint) sizeof(int), MPI_INT, &parts);
    MPI_Type_create_resized(parts, -6 * (MPI_Aint) sizeof(int), 8 * sizeof(int), &type);
    MPI_Type_free(&parts);
    return type;
}

static inline int hwtest_make_layouts(struct hwtest_layout *cases)
{
    int lengths[3] = {2, 1, 3};
    int places[3] = {7, 0, 2};
    int n = 0;

    cases[n].name = "contiguous";
    cases[n].per_element = 3;
    MPI_Type_contiguous(3, MPI_INT, &cases[n++].type);
    cases[n].name = "vector";
    cases[n].per_element = 6;
    MPI_Type_vector(3, 2, 5, MPI_INT, &cases[n++].type);
    cases[n].name = "indexed";
    cases[n].per_element = 6;
    MPI_Type_indexed(3, lengths, places, MPI_INT, &cases[n++].type);
    cases[n].name = "struct with holes";
    cases[n].per_element = 3;
    cases[n++].type = hwtest_struct_with_holes();
    cases[n].name = "negative stride";
    cases[n].per_element = 4;
    cases[n++].type = hwtest_negative_stride();
    for (int i = 0; i < n; i++)
        MPI_Type_commit(&cases[i].type);
    return n;
}

/* Memory for count elements, and where in it their origin is: a type may reach below it. */
struct hwtest_area {
    char *memory;
    void *origin;
    size_t bytes;
};

static inline struct hwtest_area hwtest_make_area(MPI_Datatype type, int count)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    struct hwtest_area area;

    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    area.bytes = (size_t) (extent * count + true_extent);
    area.memory = hwtest_alloc(area.bytes);
    area.origin = area.memory - (true_lower < 0 ? true_lower : 0);
    memset(area.memory, HWTEST_POISON, area.bytes);
    return area;
}

/* Put packed ints where the type says, or take them from there. */
static inline void hwtest_unpack(struct hwtest_area area, MPI_Datatype type, int count,
                                 const int *data, int ints)
{
    int position = 0;

    MPI_Unpack(data, ints * (int) sizeof(int), &position, area.origin, count, type, MPI_COMM_SELF);
}

static inline int hwtest_same_area(struct hwtest_area a, struct hwtest_area b, const char *what)
{
    if (memcmp(a.memory, b.memory, a.bytes) == 0)
        return 0;
    printf("%s: data or holes differ\n", what);
    fflush(stdout);
    return 1;
}

static inline void hwtest_free_layouts(struct hwtest_layout *cases, int n)
{
    for (int i = 0; i < n; i++)
        MPI_Type_free(&cases[i].type);
}

#endif /* HWMC_TEST_MPI_LAYOUTS_H_INCLUDED */
