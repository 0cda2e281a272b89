/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <pthread.h>
#include "hwmc_families.h"
#include "hwmc_forms.h"

/* MPI_THREAD_MULTIPLE: each of some threads runs collectives on communicators of its own, all at
 * the same time: a duplicate, and children of it that are made and freed on the way.
 *
 * -threads=N, -rounds=N of each */

#define MOST_THREADS 16
#define BYTES 100000

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int number, rounds;
    int errs;
};

/* Some calls on odd and even ranks apart. */
static int on_halves(struct hwtest_call *c, MPI_Comm comm, uint64_t key)
{
    int errs = 0, rank;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split(comm, rank % 2, rank, &c->comm);
    for (int i = 0; i < 8; i++)
        errs += hwtest_any_call(c, &key, 5000);
    MPI_Comm_free(&c->comm);
    c->comm = comm;
    return errs;
}

static void *work(void *arg)
{
    struct worker *me = arg;
    uint64_t state = 1000 * (uint64_t) me->number; /* alike on all ranks */
    struct hwtest_call call;
    int size;

    MPI_Comm_size(me->comm, &size);
    hwtest_call_init(&call, me->comm, hwtest_families_room(BYTES, size));
    for (int round = 0; round < me->rounds; round++) {
        me->errs += hwtest_any_call(&call, &state, BYTES);
        if (round % 40 == 10 * me->number)
            me->errs += on_halves(&call, me->comm, state);
    }
    hwtest_call_free(&call);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[MOST_THREADS] = {{0}};
    int errs = 0, provided, threads, rounds;

    MTest_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    hwtest_forms_init(argc, argv);
    threads = (int) hwtest_option(argc, argv, "-threads", 4);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 150);
    if (provided == MPI_THREAD_MULTIPLE && threads <= MOST_THREADS) {
        for (int i = 0; i < threads; i++) {
            workers[i].number = i;
            workers[i].rounds = rounds;
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        }
        for (int i = 0; i < threads; i++)
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        for (int i = 0; i < threads; i++) {
            pthread_join(workers[i].thread, NULL);
            errs += workers[i].errs;
        }
        for (int i = 0; i < threads; i++)
            MPI_Comm_free(&workers[i].comm);
    }
    return hwtest_finish(errs + hwtest_forms_check());
}
