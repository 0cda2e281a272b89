/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* castlog: the program of test/lab/bench_faults. Rank 0 broadcasts at even times, all check every
 * byte, and at the end rank 0 prints when each broadcast began, how long it took, and whether a
 * repair was in it.
 *
 *   -seconds=S  for how long (5)      -bytes=BYTES  each (1024)      -gap=US  between them (2000)
 *   -warm=N  so many before (200)     -look=N  from one look at the clock to the next (100)
 *
 * Output: "rtt US", half of whose samples of an empty message to rank 1 and back took less;
 * "running" when all is set up; a line "cast BEGIN LATENCY REPAIRED" for each broadcast, BEGIN in s
 * of CLOCK_MONOTONIC, which all hosts of a lab share, LATENCY in us to the last rank's return,
 * REPAIRED 1 if a rank got fragments by repair or asked for them; "errors N". */

#ifndef HWTEST_WITHOUT_MTEST
#define HWTEST_WITHOUT_MTEST
#endif
#include "../mpi/coll/hwmc_util.h"
#include <time.h>
#include <unistd.h>

#define PINGS 201

struct cast {
    double begin, end; /* s; begin: of rank 0 */
    double repaired;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Between ranks 0 and 1, at rank 0: the median, us. */
static double round_trip(int rank)
{
    double sample[PINGS];

    for (int i = 0; i < PINGS && rank < 2; i++) {
        sample[i] = now();
        if (rank == 0)
            MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        sample[i] = now() - sample[i];
    }
    if (rank == 0)
        qsort(sample, PINGS, sizeof(*sample), by_value);
    return rank == 0 ? sample[PINGS / 2] * 1e6 : 0;
}

/* What tells of repair: "repaired" of the rank that got fragments so, "asked" of one that asked for
 * them. */
static const char *const names[] = {"hwmc_repaired", "hwmc_nacks_sent"};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[2];

static void open_counters(void)
{
    int index, count;

    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < 2; i++)
        if (MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS)
            MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count);
}

static unsigned long long repairs(void)
{
    unsigned long long sum = 0;

    for (int i = 0; i < 2; i++) {
        unsigned long long value = 0;

        if (handles[i])
            MPI_T_pvar_read(session, handles[i], &value);
        sum += value;
    }
    return sum;
}

static void close_counters(void)
{
    for (int i = 0; i < 2; i++)
        if (handles[i])
            MPI_T_pvar_handle_free(session, &handles[i]);
    MPI_T_pvar_session_free(&session);
}

int main(int argc, char **argv)
{
    struct cast *log;
    double seconds, gap, rtt, start;
    double *last;
    int provided, rank, warm, more = 1, errors = 0, all_errors = 0;
    size_t bytes, room, look, n = 0;
    void *buf;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    open_counters();
    seconds = hwtest_option(argc, argv, "-seconds", 5);
    gap = hwtest_option(argc, argv, "-gap", 2000) * 1e-6;
    bytes = (size_t) hwtest_option(argc, argv, "-bytes", 1024);
    warm = (int) hwtest_option(argc, argv, "-warm", 200);
    look = (size_t) hwtest_option(argc, argv, "-look", 100);
    room = (size_t) (seconds / gap) + 1;
    log = calloc(room, sizeof(*log));
    buf = hwtest_alloc(bytes);
    for (int i = 0; i < warm; i++)
        errors += hwtest_bcast(buf, bytes, 0, MPI_COMM_WORLD, (uint64_t) i, "castlog");
    rtt = round_trip(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("rtt %.1f\nrunning\n", rtt);
        fflush(stdout);
    }

    start = now();
    for (; more && n < room; n++) {
        unsigned long long before = repairs();

        hwtest_prepare(buf, bytes, rank == 0, n);
        while (rank == 0 && now() < start + (double) n * gap)
            usleep(50);
        log[n].begin = now();
        MPI_Bcast(buf, (int) bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        log[n].end = now();
        log[n].repaired = repairs() > before;
        errors += hwtest_verify(buf, bytes, n, "castlog");
        if (n % look == look - 1) {
            more = now() - start < seconds;
            MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }

    last = calloc(2 * n, sizeof(*last));
    for (size_t i = 0; i < n; i++) {
        double mine[2] = {log[i].end, log[i].repaired};

        MPI_Reduce(mine, &last[2 * i], 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
    MPI_Reduce(&errors, &all_errors, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < n && rank == 0; i++)
        printf("cast %.6f %.1f %.0f\n", log[i].begin, (last[2 * i] - log[i].begin) * 1e6,
               last[2 * i + 1]);
    if (rank == 0)
        printf("errors %d\n", all_errors);
    free(last);
    free(log);
    free(buf);
    close_counters();
    MPI_T_finalize();
    MPI_Finalize();
    return errors > 0;
}
