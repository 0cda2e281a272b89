/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_traffic.h"
#include <time.h>

/* All kinds of MPI traffic for some time, round after round (hwmc_traffic.h), each byte
 * checked. While it runs the network may be cut: what must not happen is a wrong byte, an error or
 * a hang.
 *
 *   -seconds=S  for how long after the first round, by the clock of rank 0
 *   -max=BYTES  the longest message (1 MiB)
 *   -steps=FILE rank 0 writes a line for each step of a round when it ends: the round, the step,
 *               when it began in seconds of CLOCK_MONOTONIC, and how many ms it took
 *   -report     rank 0 prints "running" after the first round and, at the end, how long rounds
 *               took, those that stalled, and the counters of lanes, links and connections */

#define STALLED 5 /* times the median: a round that took longer has stalled */

struct round_time {
    double began; /* s, CLOCK_MONOTONIC */
    double ms;
};

static struct round_time *times; /* of rank 0 */
static size_t num_times, room;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static void note_round(double began, double ms)
{
    if (num_times == room) {
        room = room == 0 ? 1024 : room * 2;
        times = realloc(times, room * sizeof(*times));
        if (times == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    times[num_times].began = began;
    times[num_times++].ms = ms;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return x < y ? -1 : x > y;
}

static void report_times(void)
{
    double *sorted = malloc(num_times * sizeof(*sorted)), median;
    int stalled = 0;

    if (sorted == NULL)
        return;
    for (size_t i = 0; i < num_times; i++)
        sorted[i] = times[i].ms;
    qsort(sorted, num_times, sizeof(*sorted), by_value);
    median = sorted[num_times / 2];
    for (size_t i = 0; i < num_times; i++) {
        if (times[i].ms <= STALLED * median)
            continue;
        stalled++;
        printf("round %zu, at %.1f s, stalled for %.0f ms\n", i, times[i].began - times[0].began,
               times[i].ms);
    }
    printf("%zu rounds, p50 %.1f ms, p99 %.1f ms, max %.1f ms, %d stalled\n", num_times, median,
           sorted[num_times * 99 / 100], sorted[num_times - 1], stalled);
    free(sorted);
}

/* A counter of lanes, sessions, MPICH's messages over them, or reliable connections. */
static bool is_of_lanes(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0 && (strstr(name, "lane") || strstr(name, "session") ||
                                              strstr(name, "_am_") || strstr(name, "_rc_"));
}

/* The file that -steps=FILE names, for rank 0; NULL without one. */
static FILE *open_steps(int argc, char **argv, int rank)
{
    static const char name[] = "-steps=";
    FILE *file = NULL;

    for (int i = 1; i < argc && rank == 0; i++) {
        if (strncmp(argv[i], name, sizeof(name) - 1) != 0)
            continue;
        file = fopen(argv[i] + sizeof(name) - 1, "w");
        if (file == NULL) {
            perror(argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    return file;
}

static int run_round(struct traffic *t, unsigned long long round, FILE *file)
{
    int errs = 0;

    traffic_begin(t, round);
    for (size_t i = 0; i < TRAFFIC_STEPS; i++) {
        double began = now();

        errs += traffic_steps[i](t);
        if (file != NULL) {
            fprintf(file, "%llu %zu %.6f %.3f\n", round, i, began, (now() - began) * 1000);
            fflush(file);
        }
    }
    return errs;
}

/* Rounds until the time is over, which begins after the first: so where all is slow, too, what
 * happens to the network meets messages. Returns the errors that this rank has seen. */
static int run_rounds(struct traffic *t, double seconds, bool report, FILE *file)
{
    double start = now(), elapsed = 0;
    int errs = 0;

    for (unsigned long long round = 0; elapsed < seconds; round++) {
        double began = now();

        errs += run_round(t, round, file);
        if (round == 0)
            start = now();
        elapsed = now() - start;
        MPI_Bcast(&elapsed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (t->rank == 0)
            note_round(began, (now() - began) * 1000);
        if (t->rank == 0 && report && round == 0) {
            printf("running\n");
            fflush(stdout);
        }
    }
    return errs;
}

int main(int argc, char **argv)
{
    struct traffic t;
    int errs, provided;
    bool report = hwtest_flag(argc, argv, "-report");
    FILE *file;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    traffic_init(&t, (size_t) hwtest_option(argc, argv, "-max", 1 << 20));
    file = open_steps(argc, argv, t.rank);
    errs = run_rounds(&t, hwtest_option(argc, argv, "-seconds", 10), report, file);
    traffic_fini(&t);

    if (report)
        hwtest_print_counters(is_of_lanes);
    if (report && t.rank == 0)
        report_times();
    if (file != NULL)
        fclose(file);
    free(times);
    /* The last to leave the tools interface: some MPICH cannot be entered a second time. */
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
