/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <signal.h>
#include <unistd.h>
#include "hwmc_families.h"

/* A rank kills itself while the others are in a collective with it; for test/nodesuite.py, which
 * looks at what is left. Each rank prints its process id. Ends only by that.
 *
 * -rank=N   who; -call=N   before which call; -bytes=N   of each.
 * Communicators are made on the way. */

int main(int argc, char **argv)
{
    struct hwtest_call call;
    uint64_t state = 1;
    int rank, size, victim, last;
    size_t bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    victim = (int) hwtest_option(argc, argv, "-rank", 1);
    last = (int) hwtest_option(argc, argv, "-call", 100);
    bytes = (size_t) hwtest_option(argc, argv, "-bytes", 100000);
    printf("process %ld\n", (long) getpid());
    fflush(stdout);
    hwtest_call_init(&call, MPI_COMM_WORLD, hwtest_families_room(bytes, size));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0;; i++) {
        if (i == last && rank == victim)
            kill(getpid(), SIGKILL);
        if (i % 20 == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &call.comm);
        hwtest_any_call(&call, &state, bytes);
        if (i % 20 == 19)
            MPI_Comm_free(&call.comm);
    }
}
