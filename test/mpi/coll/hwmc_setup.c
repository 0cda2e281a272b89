/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <pthread.h>
#include <unistd.h>
#include "hwmc_util.h"

/* Broadcasts while communicators are set up: few, of all lengths, from all roots, on communicators
 * that are new, and gone before or just after their ranks have agreed; by ranks of which some are
 * late. Each must be right, and with -few=N those of N bytes and more must all have gone by hwmc,
 * from the first on a new communicator on.
 *
 * Without -few=N that part is left out, with -whole it is on communicators of all ranks only;
 * -rounds=N is how many communicators are made and freed; -threads has threads do so at the same
 * time. */

#define BYTES 20000
#define FEW 5
#define THREADS 3

/* Few long ones, from different roots. Returns errors; that not all were hwmc's is one. */
static int few(size_t bytes, MPI_Comm comm, const char *what)
{
    void *buf = hwtest_alloc(bytes);
    unsigned long long before = hwtest_counter("hwmc_calls"), after;
    int errs = 0, size;

    MPI_Comm_size(comm, &size);
    for (int i = 0; i < FEW; i++)
        errs += hwtest_bcast(buf, bytes, i * 2 % size, comm, 100 + i, what);
    after = hwtest_counter("hwmc_calls");
    if (after - before < FEW) {
        printf("%s: %llu of %d broadcasts of %zu bytes were hwmc's\n", what, after - before, FEW,
               bytes);
        errs++;
    }
    free(buf);
    return errs;
}

static int few_on_each(size_t bytes, bool whole_only)
{
    MPI_Comm whole, half;
    int errs, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    errs = few(bytes, MPI_COMM_WORLD, "few on MPI_COMM_WORLD");
    MPI_Comm_dup(MPI_COMM_WORLD, &whole);
    errs += few(bytes, whole, "few on a duplicate");
    if (whole_only)
        goto fn_exit;
    MPI_Comm_split(whole, rank % 2, -rank, &half);
    errs += few(bytes, half, "few on every second");
    MPI_Comm_free(&half);

fn_exit:
    MPI_Comm_free(&whole);
    return errs;
}

/* 0 to 11 broadcasts on a new communicator of some or all ranks, short or up to BYTES. */
static int made_and_freed(MPI_Comm all, uint64_t *state, void *buf)
{
    int errs = 0, rank, size;
    MPI_Comm comm;
    const uint64_t kind = hwtest_random(state, 3), calls = hwtest_random(state, 12);
    const uint64_t most = hwtest_random(state, 2) ? 16 : BYTES, late = hwtest_random(state, 8);
    const bool meet = hwtest_random(state, 2);

    MPI_Comm_rank(all, &rank);
    MPI_Comm_split(all, kind == 0 ? rank % 2 : kind == 1 && rank == 0, kind == 2 ? -rank : rank,
                   &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (uint64_t i = 0; i < calls; i++) {
        size_t bytes = (size_t) hwtest_random(state, most);
        int root = kind == 0 ? 0 : (int) hwtest_random(state, 1000) % size;

        if (late == i && rank == size - 1)
            usleep(2000);
        errs += hwtest_bcast(buf, bytes, root, comm, *state, "made and freed");
    }
    /* Some wait for each other before it is freed, by messages; others do not. */
    if (size > 1 && meet && rank < 2) {
        int out = 1, in = 0;

        MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 7, &in, 1, MPI_INT, 1 - rank, 7, comm,
                     MPI_STATUS_IGNORE);
        errs += in != 1;
    }
    MPI_Comm_free(&comm);
    return errs;
}

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int number, rounds, errs;
};

static void *work(void *arg)
{
    struct worker *me = arg;
    uint64_t state = 1000 * (uint64_t) me->number; /* alike on all ranks */
    void *buf = hwtest_alloc(BYTES);

    for (int i = 0; i < me->rounds; i++)
        me->errs += made_and_freed(me->comm, &state, buf);
    free(buf);
    return NULL;
}

static int in_threads(int rounds)
{
    struct worker workers[THREADS];
    int errs = 0;

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i + 1, .rounds = rounds / THREADS};
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
    return errs;
}

int main(int argc, char **argv)
{
    const bool threads = hwtest_flag(argc, argv, "-threads");
    const int rounds = (int) hwtest_option(argc, argv, "-rounds", 150);
    const size_t bytes = (size_t) hwtest_option(argc, argv, "-few", 0);
    struct worker alone = {.rounds = rounds, .comm = MPI_COMM_WORLD};
    int errs = 0, provided, tools;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &tools); /* for good: counters are read more than once */
    MTest_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (bytes > 0)
        errs += few_on_each(bytes, hwtest_flag(argc, argv, "-whole"));
    if (threads && provided == MPI_THREAD_MULTIPLE)
        errs += in_threads(rounds);
    else
        work(&alone);
    return hwtest_finish(errs + alone.errs);
}
