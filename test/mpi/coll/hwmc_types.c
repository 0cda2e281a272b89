/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_layouts.h"

/* Derived datatypes: data with holes goes out and comes in packed right, the holes stay as they
 * were, and root and others may describe the same signature differently. */

#define INTS 20000 /* of data in the largest case */

/* Everyone uses the type. What memory must look like is the data unpacked into poison: that
 * shows a hole written to as well as a wrong datum. */
static int same_type(const struct hwtest_layout *c, int count, int root, uint64_t key)
{
    int rank, ints = count * c->per_element, errs = 0;
    int *data = malloc(ints * sizeof(int));
    struct hwtest_area area = hwtest_make_area(c->type, count),
                       expected = hwtest_make_area(c->type, count);

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hwtest_fill(data, ints * sizeof(int), key);
    hwtest_unpack(expected, c->type, count, data, ints);
    if (rank == root)
        hwtest_unpack(area, c->type, count, data, ints);
    MPI_Bcast(area.origin, count, c->type, root, MPI_COMM_WORLD);
    errs += hwtest_same_area(area, expected, c->name);
    free(area.memory);
    free(expected.memory);
    free(data);
    return errs;
}

/* The root and the odd ranks describe the data differently. */
static int other_type(const struct hwtest_layout *c, int count, int root, bool root_derived,
                      uint64_t key)
{
    int rank, ints = count * c->per_element, errs = 0;
    int *data = malloc(ints * sizeof(int));
    struct hwtest_area area = hwtest_make_area(c->type, count),
                       expected = hwtest_make_area(c->type, count);

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    hwtest_fill(data, ints * sizeof(int), key);
    hwtest_unpack(expected, c->type, count, data, ints);
    if ((rank == root) == root_derived) {
        if (rank == root)
            hwtest_unpack(area, c->type, count, data, ints);
        MPI_Bcast(area.origin, count, c->type, root, MPI_COMM_WORLD);
        errs += hwtest_same_area(area, expected, c->name);
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

/* The type alone says where the data are. */
static int absolute_type(int ints, int root, uint64_t key)
{
    size_t bytes = (size_t) ints * sizeof(int);
    int rank, errs;
    int *data = hwtest_alloc(bytes);
    MPI_Datatype type;
    MPI_Aint place;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_address(data, &place);
    MPI_Type_create_hindexed(1, &ints, &place, MPI_INT, &type);
    MPI_Type_commit(&type);
    hwtest_prepare(data, bytes, rank == root, key);
    MPI_Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD);
    hwtest_done++;
    errs = hwtest_verify(data, bytes, key, "absolute addresses");
    MPI_Type_free(&type);
    free(data);
    return errs;
}

int main(int argc, char **argv)
{
    struct hwtest_layout cases[HWTEST_LAYOUTS];
    int errs = 0, n, size, round = 0;

    MTest_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = hwtest_make_layouts(cases);
    for (int i = 0; i < n; i++) {
        int counts[] = {0, 1, 2, 59, 118, 1000, INTS / cases[i].per_element};
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++, round++) {
            errs += same_type(&cases[i], counts[k], round % size, round);
            errs += other_type(&cases[i], counts[k], round % size, true, round);
            errs += other_type(&cases[i], counts[k], round % size, false, round);
        }
    }
    for (int ints = 1; ints <= INTS; ints *= 3, round++)
        errs += absolute_type(ints, round % size, round);
    errs += absolute_type(INTS, round % size, round);
    hwtest_free_layouts(cases, n);
    return hwtest_finish(errs);
}
