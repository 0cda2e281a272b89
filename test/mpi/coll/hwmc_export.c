/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWTEST_WITHOUT_MTEST
#define HWTEST_WITHOUT_MTEST
#endif
#include "hwmc_util.h"

#include <unistd.h>

/* A job that others look at, and what it says at its end; for test/livesuite.py.
 *
 * Does 40 broadcasts, barriers and allreduces on MPI_COMM_WORLD and on a copy named "another"; then
 * each rank prints "process ID". With -seconds=S it goes on with a broadcast every 10 ms so long.
 * -abort: ends by MPI_Abort. -accents: the copy's name is 16 times "e" with an acute. */

#define CALLS 40

static int work(MPI_Comm comm, int calls)
{
    int errs = 0, rank, size;
    void *buf = hwtest_alloc(5000);
    long one = 1, sum = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < calls; i++) {
        errs += hwtest_bcast(buf, 5000, i % size, comm, (uint64_t) i, "live");
        MPI_Barrier(comm);
        MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
        errs += sum != size;
    }
    free(buf);
    return errs;
}

int main(int argc, char **argv)
{
    int errs, provided;
    double end, now;
    MPI_Comm another;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &another);
    MPI_Comm_set_name(another, "another");
    if (hwtest_flag(argc, argv, "-accents")) /* 32 bytes; a page has room for 31 */
        MPI_Comm_set_name(another, "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
                                   "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9");
    errs = work(MPI_COMM_WORLD, CALLS) + work(another, CALLS);
    printf("process %ld\n", (long) getpid());
    fflush(stdout);
    end = MPI_Wtime() + hwtest_option(argc, argv, "-seconds", 0);
    do {
        errs += work(MPI_COMM_WORLD, 1);
        usleep(10000);
        now = MPI_Wtime();
        MPI_Bcast(&now, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } while (now < end);
    if (hwtest_flag(argc, argv, "-abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_free(&another);
    MPI_T_finalize(); /* control variables may go with it */
    MPI_Finalize();
    return errs > 0;
}
