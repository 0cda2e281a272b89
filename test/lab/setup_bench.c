/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * setup_bench: what it costs to begin.
 *
 *   setup_bench [-comms=N] [-bytes=B] [-few=N] [-steady=N]
 *
 * Rank 0 prints a line NAME VALUE for each of
 *
 *   init_us        MPI_Init, of the rank that took longest
 *   first_us       the first broadcast, of 8 bytes, on a new communicator: the median over N of
 *                  them of the time that the slowest rank was in it
 *   few_s          N broadcasts of B bytes on a new communicator, of the rank that took longest
 *   best_s         N times the quickest such broadcast on that communicator afterwards
 *   few_taken      of the few, how many were hwmc's, at the rank with the fewest
 *
 * A barrier is before everything that is timed.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static double option(int argc, char **argv, const char *name, double otherwise)
{
    size_t length = strlen(name);

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=')
            return atof(argv[i] + length + 1);
    return otherwise;
}

static void print(const char *name, double value)
{
    if (rank == 0)
        printf("%s %.6g\n", name, value);
}

static double slowest(double seconds)
{
    double most;

    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Broadcasts that hwmc ran; 0 where the library has no such variable. */
static unsigned long long taken(void)
{
    unsigned long long value[1] = {0};
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int index, count;

    if (MPI_T_pvar_get_index("hwmc_calls", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
        return 0;
    MPI_T_pvar_session_create(&session);
    if (MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_pvar_read(session, handle, value);
        MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_session_free(&session);
    return value[0];
}

static double broadcast(void *buf, int bytes, int root, MPI_Comm comm)
{
    double from;

    MPI_Barrier(MPI_COMM_WORLD);
    from = now_s();
    MPI_Bcast(buf, bytes, MPI_BYTE, root, comm);
    return now_s() - from;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void measure_first(int comms)
{
    double *took = malloc((size_t) comms * sizeof(*took));
    char buf[8] = "";

    for (int i = 0; i < comms; i++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        took[i] = slowest(broadcast(buf, sizeof(buf), 0, comm));
        MPI_Comm_free(&comm);
    }
    qsort(took, (size_t) comms, sizeof(*took), compare);
    print("first_us", took[comms / 2] * 1e6);
    free(took);
}

static void measure_few(int few, int steady, int bytes)
{
    char *buf = malloc((size_t) bytes);
    double from, best = 1e9;
    unsigned long long before, fewest;
    MPI_Comm comm;

    memset(buf, rank, (size_t) bytes);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = taken();
    MPI_Barrier(MPI_COMM_WORLD);
    from = now_s();
    for (int i = 0; i < few; i++)
        MPI_Bcast(buf, bytes, MPI_BYTE, 0, comm);
    print("few_s", slowest(now_s() - from));
    before = taken() - before;
    MPI_Allreduce(&before, &fewest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    print("few_taken", (double) fewest);
    for (int i = 0; i < steady; i++) {
        double took = slowest(broadcast(buf, bytes, 0, comm));

        best = took < best ? took : best;
    }
    if (steady > 0)
        print("best_s", best * few);
    MPI_Comm_free(&comm);
    free(buf);
}

int main(int argc, char **argv)
{
    double from = now_s(), took;
    int provided, comms, few;

    MPI_Init(&argc, &argv);
    took = now_s() - from;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    print("init_us", slowest(took) * 1e6);
    comms = (int) option(argc, argv, "-comms", 0);
    few = (int) option(argc, argv, "-few", 0);
    if (comms > 0)
        measure_first(comms);
    if (few > 0)
        measure_few(few, (int) option(argc, argv, "-steady", 3),
                    (int) option(argc, argv, "-bytes", 100e6));
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
