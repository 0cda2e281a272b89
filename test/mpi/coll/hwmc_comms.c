/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Many communicators: duplicates and sub-communicators used by turns, and communicators that are
 * made and freed over and over, so that context ids come back. A broadcast must not take what
 * belongs to another communicator, living or dead.
 *
 * -rounds=N is how many are made and freed. */

#define BYTES 20000
#define KEPT 4

static int interleaved(void *buf)
{
    MPI_Comm comms[KEPT + 1];
    int errs = 0, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < KEPT; i++)
        MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : comms[i - 1], &comms[i]);
    /* the same ranks, numbered the other way round */
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[KEPT]);

    for (int round = 0; round < 60; round++) {
        MPI_Comm comm = comms[(round * 7) % (KEPT + 1)];
        size_t bytes = (size_t) (round * 337) % BYTES;
        errs += hwtest_bcast(buf, bytes, round % size, comm, round, "interleaved");
    }
    for (int i = 0; i <= KEPT; i++)
        MPI_Comm_free(&comms[i]);
    return errs;
}

/* All ranks, all but one, the lower half, a pair, one alone: by round. */
static bool takes_part(int rank, int size, int round)
{
    switch (round % 5) {
        case 0:
            return true;
        case 1:
            return rank != round % size || size == 1;
        case 2:
            return rank <= size / 2;
        case 3:
            return rank == round % size || rank == (round + 1) % size;
        default:
            return rank == round % size;
    }
}

static int made_and_freed(void *buf, int rounds)
{
    int errs = 0, rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        int comm_size;
        int color = takes_part(rank, size, round) ? 0 : MPI_UNDEFINED;

        MPI_Comm_split(MPI_COMM_WORLD, color, rank, &comm);
        if (comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_size(comm, &comm_size);
        for (int i = 0; i < 3; i++) {
            size_t bytes = i == 1 ? 5000 : 8;
            errs += hwtest_bcast(buf, bytes, (round + i) % comm_size, comm,
                                 (uint64_t) round * 16 + i, "made and freed");
        }
        MPI_Comm_free(&comm);
    }
    return errs;
}

int main(int argc, char **argv)
{
    int errs = 0;
    void *buf;

    MTest_Init(&argc, &argv);
    buf = hwtest_alloc(BYTES);
    errs += interleaved(buf);
    errs += made_and_freed(buf, (int) hwtest_option(argc, argv, "-rounds", 200));
    /* What was made first must still work. */
    errs += hwtest_bcast(buf, BYTES, 0, MPI_COMM_WORLD, 1, "world");
    free(buf);
    return hwtest_finish(errs);
}
