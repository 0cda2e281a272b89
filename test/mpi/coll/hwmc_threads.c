/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <pthread.h>
#include "hwmc_util.h"

/* MPI_THREAD_MULTIPLE: each of four threads broadcasts on a communicator of its own, all at the
 * same time; a barrier, point-to-point messages and other sizes keep them out of step. */

#define THREADS 4
#define ROUNDS 60
#define BYTES 40000

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int number;
    int errs;
};

static void *work(void *arg)
{
    struct worker *me = arg;
    uint64_t state = 1000 * (uint64_t) me->number; /* alike on all ranks */
    void *buf = hwtest_alloc(BYTES);
    int rank, size;

    MPI_Comm_rank(me->comm, &rank);
    MPI_Comm_size(me->comm, &size);
    for (int round = 0; round < ROUNDS; round++) {
        size_t bytes = hwtest_random(&state, round % 4 ? 2000 : BYTES);
        int root = (int) hwtest_random(&state, size);
        me->errs += hwtest_bcast(buf, bytes, root, me->comm, state, "threads");
        if (round % 16 == me->number) {
            int out = round, in = -1;
            MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, me->number, &in, 1, MPI_INT,
                         (rank + size - 1) % size, me->number, me->comm, MPI_STATUS_IGNORE);
            me->errs += in != round;
        }
        if (round % 20 == 5 * me->number)
            MPI_Barrier(me->comm);
    }
    free(buf);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[THREADS];
    int errs = 0, provided;

    MTest_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE) {
        for (int i = 0; i < THREADS; i++) {
            workers[i].number = i;
            workers[i].errs = 0;
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(workers[i].thread, NULL);
            errs += workers[i].errs;
        }
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_free(&workers[i].comm);
    }
    return hwtest_finish(errs);
}
