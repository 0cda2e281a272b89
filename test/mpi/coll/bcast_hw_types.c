/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "bcast_hw_util.h"

/* Derived datatypes: data with holes goes out and comes in packed right, the holes stay as they
 * were, and root and others may describe the same signature differently. */

#define INTS 20000 /* of data in the largest case */

struct type_case {
    const char *name;
    MPI_Datatype type;
    int per_element; /* ints of data in an element */
};

/* int, hole, int int, hole: a struct whose extent is larger than what is in it */
static MPI_Datatype struct_with_holes(void)
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
static MPI_Datatype negative_stride(void)
{
    MPI_Datatype parts, type;

    MPI_Type_create_hvector(4, 1, -2 * (MPI_Aint) sizeof(int), MPI_INT, &parts);
    MPI_Type_create_resized(parts, -6 * (MPI_Aint) sizeof(int), 8 * sizeof(int), &type);
    MPI_Type_free(&parts);
    return type;
}

static int make_types(struct type_case *cases)
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
    cases[n++].type = struct_with_holes();
    cases[n].name = "negative stride";
    cases[n].per_element = 4;
    cases[n++].type = negative_stride();
    for (int i = 0; i < n; i++)
        MPI_Type_commit(&cases[i].type);
    return n;
}

/* Memory for count elements, and where in it their origin is: a type may reach below it. */
struct area {
    char *memory;
    void *origin;
    size_t bytes;
};

static struct area make_area(MPI_Datatype type, int count)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    struct area area;

    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    area.bytes = (size_t) (extent * count + true_extent);
    area.memory = hwtest_alloc(area.bytes);
    area.origin = area.memory - (true_lower < 0 ? true_lower : 0);
    memset(area.memory, HWTEST_POISON, area.bytes);
    return area;
}

/* Put packed ints where the type says, or take them from there. */
static void unpack(struct area area, MPI_Datatype type, int count, const int *data, int ints)
{
    int position = 0;

    MPI_Unpack(data, ints * (int) sizeof(int), &position, area.origin, count, type, MPI_COMM_SELF);
}

static int same_bytes(struct area a, struct area b, const char *what)
{
    if (memcmp(a.memory, b.memory, a.bytes) == 0)
        return 0;
    printf("%s: data or holes differ\n", what);
    fflush(stdout);
    return 1;
}

/* Everyone uses the type. What memory must look like is the data unpacked into poison: that
 * shows a hole written to as well as a wrong datum. */
static int same_type(const struct type_case *c, int count, int root, uint64_t key)
{
    int rank, ints = count * c->per_element, errs = 0;
    int *data = malloc(ints * sizeof(int));
    struct area area = make_area(c->type, count), expected = make_area(c->type, count);

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hwtest_fill(data, ints * sizeof(int), key);
    unpack(expected, c->type, count, data, ints);
    if (rank == root)
        unpack(area, c->type, count, data, ints);
    MPI_Bcast(area.origin, count, c->type, root, MPI_COMM_WORLD);
    errs += same_bytes(area, expected, c->name);
    free(area.memory);
    free(expected.memory);
    free(data);
    return errs;
}

/* The root and the odd ranks describe the data differently. */
static int other_type(const struct type_case *c, int count, int root, bool root_derived,
                      uint64_t key)
{
    int rank, ints = count * c->per_element, errs = 0;
    int *data = malloc(ints * sizeof(int));
    struct area area = make_area(c->type, count), expected = make_area(c->type, count);

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hwtest_fill(data, ints * sizeof(int), key);
    unpack(expected, c->type, count, data, ints);
    if ((rank == root) == root_derived) {
        if (rank == root)
            unpack(area, c->type, count, data, ints);
        MPI_Bcast(area.origin, count, c->type, root, MPI_COMM_WORLD);
        errs += same_bytes(area, expected, c->name);
    } else {
        if (rank != root)
            memset(data, HWTEST_POISON, ints * sizeof(int));
        MPI_Bcast(data, ints, MPI_INT, root, MPI_COMM_WORLD);
        errs += hwtest_check(data, ints * sizeof(int), key, c->name);
    }
    free(area.memory);
    free(expected.memory);
    free(data);
    return errs;
}

int main(int argc, char **argv)
{
    struct type_case cases[8];
    int errs = 0, n, size, round = 0;

    MTest_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = make_types(cases);
    for (int i = 0; i < n; i++) {
        int counts[] = {0, 1, 2, 59, 118, 1000, INTS / cases[i].per_element};
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++, round++) {
            errs += same_type(&cases[i], counts[k], round % size, round);
            errs += other_type(&cases[i], counts[k], round % size, true, round);
            errs += other_type(&cases[i], counts[k], round % size, false, round);
        }
    }
    for (int i = 0; i < n; i++)
        MPI_Type_free(&cases[i].type);
    return hwtest_finish(errs);
}
