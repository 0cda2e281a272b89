/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <unistd.h>
#include "hwmc_util.h"

/* Ranks that come late: a receiver, the root, a rank that computes for a while between two
 * broadcasts while the others run ahead as far as they are let.
 *
 * -ms=N is how late. */

#define BYTES 100000
#define AHEAD 64 /* broadcasts that the others may do meanwhile */

static int one_late(void *buf, int late, int root, unsigned ms, size_t bytes, uint64_t key)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == late)
        usleep(ms * 1000);
    return hwtest_bcast(buf, bytes, root, MPI_COMM_WORLD, key, root == late ? "root late" : "late");
}

static int run_ahead(void *buf, int away, int root, unsigned ms)
{
    int errs = 0, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < AHEAD; round++) {
        if (round == 1 && rank == away)
            hwtest_compute(ms / 1000.0);
        errs += hwtest_bcast(buf, round % 8 == 7 ? 9000 : 64, root, MPI_COMM_WORLD,
                             (uint64_t) away * 1000 + round, "run ahead");
    }
    return errs;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 4, 1500, BYTES};
    int errs = 0, size;
    uint64_t state = 1;
    unsigned ms;
    void *buf;

    MTest_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ms = (unsigned) hwtest_option(argc, argv, "-ms", 200);
    buf = hwtest_alloc(BYTES);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int late = (int) hwtest_random(&state, size);
        int root = (int) hwtest_random(&state, size);
        errs += one_late(buf, late, (late + 1) % size, ms, sizes[i], 100 + i);
        errs += one_late(buf, root, root, ms, sizes[i], 200 + i);
    }
    for (int away = 0; away < size && away < 3; away++) {
        errs += run_ahead(buf, away, (away + 1) % size, ms);
        errs += run_ahead(buf, away, away, ms);
    }
    free(buf);
    return hwtest_finish(errs);
}
