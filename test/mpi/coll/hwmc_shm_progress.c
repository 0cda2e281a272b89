/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* A collective inside a host makes progress for others, also where it need not wait: a program may
 * call nothing but collectives while a one-sided epoch of another rank needs it. Rank 0 has
 * completed its access before a barrier, so after that MPI_Win_test at rank 1 finds it so, at
 * once. */

#define ROUNDS 200
#define WINDOW 4096 /* of a few bytes UCX 1.13 maps others in their place */

static int rounds(MPI_Win win, int rank, int *word)
{
    int errs = 0;
    MPI_Group world, other;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){1 - rank}, &other);
    for (int i = 0; i < ROUNDS; i++) {
        int done = 1, value = i;

        if (rank == 0)
            MPI_Win_start(other, 0, win);
        else
            MPI_Win_post(other, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
            MPI_Win_complete(win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            MPI_Win_test(win, &done);
            errs += !done;
            if (!done)
                MPI_Win_wait(win);
            errs += *word != i;
        }
    }
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    return errs;
}

int main(int argc, char **argv)
{
    int errs = 0, rank, *word;
    MPI_Win win;

    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
    *word = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    errs = rounds(win, rank, word);
    if (errs)
        printf("rank %d: %d of %d epochs were not over, or their data not there\n", rank, errs,
               ROUNDS);
    MPI_Win_free(&win);
    return hwtest_finish(errs);
}
