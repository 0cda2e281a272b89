/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Disjoint children of one split have the same context id, and broadcast at the same time: each
 * its own data, its own sizes and its own number of broadcasts. Nothing may cross over. */

#define BYTES 70000

static int at_once(void *buf, int parts)
{
    MPI_Comm comm;
    int errs = 0, rank, size, part;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    part = rank % parts;
    MPI_Comm_split(MPI_COMM_WORLD, part, rank, &comm);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < 25 * (part + 1); round++) {
        uint64_t state = (uint64_t) round * 100 + part;
        size_t bytes = hwtest_random(&state, BYTES);
        errs += hwtest_bcast(buf, bytes, round % size, comm, state, "split");
    }
    MPI_Comm_free(&comm);
    return errs;
}

/* The halves of the halves: children of communicators that already share an id. */
static int nested(void *buf)
{
    MPI_Comm half, quarter;
    int errs = 0, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(half, (rank / 2) % 2, rank, &quarter);
    MPI_Comm_size(quarter, &size);
    for (int round = 0; round < 30; round++) {
        MPI_Comm comm = round % 3 ? quarter : half;
        uint64_t key = (uint64_t) round * 100 + (round % 3 ? rank % 4 : rank % 2);
        errs += hwtest_bcast(buf, 3000 + round, 0, comm, key, "nested");
    }
    MPI_Comm_free(&quarter);
    MPI_Comm_free(&half);
    return errs;
}

int main(int argc, char **argv)
{
    int errs = 0;
    void *buf;

    MTest_Init(&argc, &argv);
    buf = hwtest_alloc(BYTES);
    for (int parts = 1; parts <= 3; parts++)
        errs += at_once(buf, parts);
    errs += nested(buf);
    free(buf);
    return hwtest_finish(errs);
}
