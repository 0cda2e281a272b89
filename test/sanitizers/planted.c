/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * planted DEFECT: an MPI program in which rank 1 does what a sanitizer must find. Its exit status
 * is 0 where none looks.
 */

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void *count(void *arg)
{
    (void) arg;
    for (int i = 0; i < 1000; i++)
        shared++;
    return NULL;
}

static void race(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void leak(void)
{
    char *volatile p = malloc(100);

    p[0] = 1;
    p = NULL;
}

/* The library writes beyond what the program gave it. */
static void overflow(int rank)
{
    char *buf = calloc(rank == 1 ? 1000 : 1001, 1);

    MPI_Bcast(buf, 1001, MPI_BYTE, 0, MPI_COMM_WORLD);
    free(buf);
}

static void after_free(void)
{
    int *volatile p = malloc(sizeof(int));

    free(p);
    shared += *p;
}

static void undefined(int argc)
{
    volatile int most = INT_MAX;

    shared += most + argc;
}

int main(int argc, char **argv)
{
    const char *defect = argc > 1 ? argv[1] : "";
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && strcmp(defect, "race") == 0)
        race();
    if (strcmp(defect, "overflow") == 0)
        overflow(rank);
    if (rank == 1 && strcmp(defect, "leak") == 0)
        leak();
    if (rank == 1 && strcmp(defect, "use-after-free") == 0)
        after_free();
    if (rank == 1 && strcmp(defect, "undefined") == 0)
        undefined(argc);
    MPI_Finalize();
    return 0;
}
