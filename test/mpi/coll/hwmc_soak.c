/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Broadcast after broadcast for some time: sizes of every order mixed, the root rotating, each
 * byte checked on every rank every time.
 *
 * -seconds=S for how long, -seed=N for other sizes, -max=BYTES for smaller ones, -verbose for a
 * line on stderr every five seconds. */

#define BATCH 32 /* broadcasts between two looks at the clock */

int main(int argc, char **argv)
{
    int errs = 0, rank, size;
    unsigned long long done = 0, carried = 0;
    double start, elapsed = 0, seconds, told = 0;
    uint64_t state;
    size_t max;
    void *buf;

    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seconds = hwtest_option(argc, argv, "-seconds", 60);
    state = (uint64_t) hwtest_option(argc, argv, "-seed", 1);
    max = (size_t) hwtest_option(argc, argv, "-max", 1 << 20);
    bool verbose = hwtest_flag(argc, argv, "-verbose");
    buf = hwtest_alloc(max);

    start = MPI_Wtime();
    while (elapsed < seconds) {
        for (int i = 0; i < BATCH; i++) {
            size_t bytes = hwtest_random_bytes(&state, max);
            errs += hwtest_bcast(buf, bytes, (int) (done % size), MPI_COMM_WORLD, state, "soak");
            done++;
            carried += bytes;
        }
        /* All must agree when to stop; this too is a broadcast under test. */
        elapsed = MPI_Wtime() - start;
        MPI_Bcast(&elapsed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (verbose && rank == 0 && elapsed - told >= 5) {
            told = elapsed;
            fprintf(stderr, "%4.0f s: %llu broadcasts, %llu MiB, %d errors here\n", elapsed, done,
                    carried >> 20, errs);
        }
    }

    free(buf);
    return hwtest_finish(errs);
}
