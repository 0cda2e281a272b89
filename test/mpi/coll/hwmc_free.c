/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* A communicator is freed right after its last broadcast, when others may still miss parts of it
 * that this rank has to give them. Run it with losses. -rounds=N communicators. */

#define BYTES 30000

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 1400, BYTES, 5000, 0};
    int errs = 0, size, rounds;
    void *buf;

    MTest_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 50);
    buf = hwtest_alloc(BYTES);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i <= round % 4; i++)
            errs += hwtest_bcast(buf, sizes[(round + i) % 5], (round + i) % size, comm,
                                 (uint64_t) round * 8 + i, "free");
        MPI_Comm_free(&comm);
    }
    free(buf);
    return hwtest_finish(errs);
}
