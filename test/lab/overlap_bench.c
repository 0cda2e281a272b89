/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * overlap_bench: how much of a broadcast hides behind computation.
 *
 *   overlap_bench [-repeats=N] [-sleeps] BYTES...
 *
 * For each length rank 0 prints a line NAME BYTES MICROSECONDS for the median over N of
 *
 *   bcast       MPI_Bcast
 *   ibcast      MPI_Ibcast and MPI_Wait
 *   persistent  MPI_Start and MPI_Wait of a request of MPI_Bcast_init
 *   computed    MPI_Ibcast, as much computation as `ibcast` takes, MPI_Wait
 *   tested      the same, with MPI_Test every 100 us of the computation
 *   alone       the computation by itself
 *
 * and HIDDEN BYTES PERCENT, HIDDEN_TESTED BYTES PERCENT: what of ibcast's time does not come on top
 * of the computation. The time of a repeat is that of the slowest rank; a barrier is before it. The
 * first three are measured in turn, and so are the others: where hosts share processors, how ranks
 * leave a barrier, one after the other or all at once, is a large part of a short broadcast's time,
 * and may change in mid-job.
 * -sleeps: the computation is a sleep, where hosts share processors.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEST_S 100e-6
#define REPEATS_MAX 1000

static int rank, sleeps, repeats = 51;
static char *buf;

enum { FORMS = 3 }; /* that are measured in turn */

struct form {
    const char *name;
    void (*run)(int bytes, double compute_s);
    double times[REPEATS_MAX];
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static void compute(double seconds)
{
    const double end = now_s() + seconds;

    if (sleeps && seconds > 0) {
        struct timespec t = {(time_t) seconds, (long) ((seconds - (time_t) seconds) * 1e9)};

        nanosleep(&t, NULL);
    }
    while (now_s() < end)
        ;
}

static void run_bcast(int bytes, double compute_s)
{
    (void) compute_s;
    MPI_Bcast(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void run_computed(int bytes, double compute_s)
{
    MPI_Request request;

    MPI_Ibcast(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    if (compute_s > 0)
        compute(compute_s);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void run_tested(int bytes, double compute_s)
{
    MPI_Request request;
    double end, left;
    int done;

    MPI_Ibcast(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    end = now_s() + compute_s; /* a sleep takes longer than it is asked for */
    while ((left = end - now_s()) > 0) {
        compute(left < TEST_S ? left : TEST_S);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4

#define HAS_PERSISTENT 1

static MPI_Request persistent;

static void persist_init(int bytes)
{
    MPI_Bcast_init(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
}

static void run_persistent(int bytes, double compute_s)
{
    (void) bytes;
    (void) compute_s;
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
}

static void persist_free(void)
{
    MPI_Request_free(&persistent);
}

#else

#define HAS_PERSISTENT 0

static void persist_init(int bytes)
{
    (void) bytes;
}

static void run_persistent(int bytes, double compute_s)
{
    run_bcast(bytes, compute_s);
}

static void persist_free(void)
{
}

#endif

static void run_alone(int bytes, double compute_s)
{
    (void) bytes;
    compute(compute_s);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* The slowest rank's time, in seconds, the same at all ranks. */
static double time_of(const struct form *f, int bytes, double compute_s)
{
    double begin, taken, slowest;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = now_s();
    f->run(bytes, compute_s);
    taken = now_s() - begin;
    MPI_Allreduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Runs the forms in turn. Their medians, in seconds, the same at all ranks. */
static void measure(struct form forms[FORMS], int bytes, double compute_s, double medians[FORMS])
{
    for (int i = -5; i < repeats; i++)
        for (int k = 0; k < FORMS; k++)
            forms[k].times[i < 0 ? 0 : i] = time_of(&forms[k], bytes, compute_s);
    for (int k = 0; k < FORMS; k++) {
        qsort(forms[k].times, (size_t) repeats, sizeof(double), compare);
        medians[k] = forms[k].times[repeats / 2];
    }
}

static void print(const char *name, int bytes, double value)
{
    if (rank == 0)
        printf("%s %d %.6g\n", name, bytes, value);
}

static void one_length(int bytes)
{
    static struct form whole[FORMS] = {{.name = "bcast", .run = run_bcast},
                                       {.name = "ibcast", .run = run_computed},
                                       {.name = "persistent", .run = run_persistent}};
    static struct form parts[FORMS] = {{.name = "computed", .run = run_computed},
                                       {.name = "tested", .run = run_tested},
                                       {.name = "alone", .run = run_alone}};
    double s[FORMS], with[FORMS];

    persist_init(bytes);
    measure(whole, bytes, 0, s);
    persist_free();
    measure(parts, bytes, s[1], with);
    for (int k = 0; k < FORMS; k++)
        if (whole[k].run != run_persistent || HAS_PERSISTENT)
            print(whole[k].name, bytes, s[k] * 1e6);
    for (int k = 0; k < FORMS; k++)
        print(parts[k].name, bytes, with[k] * 1e6);
    print("hidden", bytes, 100 * (1 - (with[0] - with[2]) / s[1]));
    print("hidden_tested", bytes, 100 * (1 - (with[1] - with[2]) / s[1]));
}

int main(int argc, char **argv)
{
    int most = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-repeats=", 9) == 0)
            repeats = atoi(argv[i] + 9);
        else if (strcmp(argv[i], "-sleeps") == 0)
            sleeps = 1;
        else if (atoi(argv[i]) > most)
            most = atoi(argv[i]);
    }
    if (repeats < 1 || repeats > REPEATS_MAX)
        repeats = REPEATS_MAX;
    buf = calloc((size_t) most, 1);
    for (int i = 0; i < 64; i++) /* set-up is over */
        MPI_Bcast(buf, most, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            one_length(atoi(argv[i]));
    free(buf);
    MPI_Finalize();
    return 0;
}
