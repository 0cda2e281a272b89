/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * usage: mpi_bench [-seconds=S] [-only=NAME] [-comms=N]
 *
 * What a program does besides collectives: messages, tests, one-sided epochs. Works with any MPI.
 * For each case and size rank 0 prints a line
 *
 *   NAME BYTES MEAN MEDIAN P99 UNIT SAMPLES
 *
 * in us (less is better) or in MB/s or 1/ms (more is better). A case takes about S seconds (0.2).
 * Ranks work in pairs (0 and 1, 2 and 3, ...), one that is left over waits in MPI_Recv; one-sided
 * cases go to the next rank. With -comms=N there are N duplicates of MPI_COMM_WORLD on which a few
 * broadcasts were made before.
 *
 * The last lines: "init" is the time in MPI_Init, "memory" what this process has of its own (KiB).
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLES_MAX 200000
#define WINDOW 64
#define BYTES_MAX (4 << 20)

static int rank, size, peer; /* peer: MPI_PROC_NULL where this rank is left over */
static double seconds = 0.2;
static const char *only = "";
static char *out, *in; /* BYTES_MAX * 2 each */
static MPI_Win win;
static double samples[SAMPLES_MAX];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* One sample of a case, at every rank; what rank 0 returns counts. */
struct bench {
    const char *name;
    double (*once)(int bytes);
    const char *unit;
    int sizes[8]; /* up to a negative one */
};

static bool is_first(void)
{
    return rank % 2 == 0;
}

static double ping_pong(int bytes)
{
    const double begin = now();

    if (is_first()) {
        MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
    return (now() - begin) / 2;
}

/* The same, waiting by tests. */
static void receive_by_test(int bytes)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static double test_loop(int bytes)
{
    const double begin = now();

    if (!is_first())
        receive_by_test(bytes);
    MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    if (is_first())
        receive_by_test(bytes);
    return (now() - begin) / 2;
}

static void receive_by_probe(int bytes)
{
    int there = 0;

    while (!there)
        MPI_Iprobe(peer, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double probe_loop(int bytes)
{
    const double begin = now();

    if (!is_first())
        receive_by_probe(bytes);
    MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    if (is_first())
        receive_by_probe(bytes);
    return (now() - begin) / 2;
}

/* The time of a window of messages one way, and of the answer to it. */
static double one_way(int bytes)
{
    MPI_Request requests[WINDOW];
    const double begin = now();
    char answer = 0;

    for (int i = 0; i < WINDOW; i++)
        if (is_first())
            MPI_Isend(out, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(in, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (is_first())
        MPI_Recv(&answer, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&answer, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
    return now() - begin;
}

static double rate_one_way(int bytes)
{
    return (double) bytes * WINDOW / one_way(bytes);
}

static double messages(int bytes)
{
    return WINDOW * 1e3 / one_way(bytes);
}

static double rate_both_ways(int bytes)
{
    MPI_Request requests[2 * WINDOW];
    const double begin = now();

    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(in, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(out, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[WINDOW + i]);
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    return 2.0 * bytes * WINDOW / (now() - begin);
}

static int next(void)
{
    return (rank + 1) % size;
}

static double fence_put(int bytes)
{
    const double begin = now();

    MPI_Put(out, bytes, MPI_BYTE, next(), 0, bytes, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    return now() - begin;
}

static double fence_accumulate(int bytes)
{
    const double begin = now();

    MPI_Accumulate(out, bytes / 8, MPI_LONG_LONG, next(), 0, bytes / 8, MPI_LONG_LONG, MPI_SUM,
                   win);
    MPI_Win_fence(0, win);
    return now() - begin;
}

static double post_start(int bytes)
{
    const double begin = now();
    const int to = next(), from = (rank + size - 1) % size;
    MPI_Group all, targets, origins;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &to, &targets);
    MPI_Group_incl(all, 1, &from, &origins);
    MPI_Win_post(origins, 0, win);
    MPI_Win_start(targets, 0, win);
    MPI_Put(out, bytes, MPI_BYTE, to, 0, bytes, MPI_BYTE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
    MPI_Group_free(&all);
    return now() - begin;
}

static double lock_put(int bytes)
{
    const double begin = now();

    MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, win);
    MPI_Put(out, bytes, MPI_BYTE, next(), 0, bytes, MPI_BYTE, win);
    MPI_Win_unlock(next(), win);
    return now() - begin;
}

static double lock_all_flush(int bytes)
{
    double begin;

    MPI_Win_lock_all(0, win);
    begin = now();
    MPI_Put(out, bytes, MPI_BYTE, next(), 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(next(), win);
    begin = now() - begin;
    MPI_Win_unlock_all(win);
    return begin;
}

static double sendrecv_ring(int bytes)
{
    const double begin = now();

    MPI_Sendrecv(out, bytes, MPI_BYTE, next(), 4, in, bytes, MPI_BYTE, (rank + size - 1) % size, 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return now() - begin;
}

static const struct bench in_pairs[] = {
    {"pingpong", ping_pong, "us", {0, 8, 1024, 8192, 65536, 1 << 20, 4 << 20, -1}},
    {"testloop", test_loop, "us", {8, 8192, -1}},
    {"probeloop", probe_loop, "us", {8, -1}},
    {"oneway", rate_one_way, "MB/s", {1024, 8192, 65536, 1 << 20, -1}},
    {"bothways", rate_both_ways, "MB/s", {8192, 65536, 1 << 20, -1}},
    {"messages", messages, "1/ms", {8, -1}},
};
static const struct bench by_all[] = {
    {"ring", sendrecv_ring, "us", {8, 8192, -1}},  {"fenceput", fence_put, "us", {8, 8192, -1}},
    {"fenceacc", fence_accumulate, "us", {8, -1}}, {"pscw", post_start, "us", {8, -1}},
    {"lockput", lock_put, "us", {8, 8192, -1}},    {"lockflush", lock_all_flush, "us", {8, -1}},
};

/* How many samples take about `seconds`: rank 0 tries some. */
static int find_count(const struct bench *b, int bytes, bool takes_part)
{
    int n = 0;
    const double begin = now();

    for (int i = 0; takes_part && i < 20; i++)
        b->once(bytes);
    if (rank == 0) {
        const double each = (now() - begin) / 20;

        n = (int) (seconds * 1e6 / (each > 0.01 ? each : 0.01));
        n = n < 20 ? 20 : n > SAMPLES_MAX ? SAMPLES_MAX : n;
    }
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return n;
}

static void report(const struct bench *b, int bytes, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += samples[i];
    qsort(samples, (size_t) n, sizeof(samples[0]), ascending);
    printf("%s %d %.4f %.4f %.4f %s %d\n", b->name, bytes, sum / n, samples[n / 2],
           strcmp(b->unit, "us") == 0 ? samples[n - 1 - n / 100] : samples[n / 100], b->unit, n);
    fflush(stdout);
}

/* Rank 0 tells who waited meanwhile. */
static void leftover_waits(bool takes_part)
{
    char over = 0;

    if (!takes_part)
        MPI_Recv(&over, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 0 && size % 2 == 1)
        MPI_Send(&over, 1, MPI_BYTE, size - 1, 9, MPI_COMM_WORLD);
}

static void run(const struct bench *b, bool pairs)
{
    const bool takes_part = !pairs || peer != MPI_PROC_NULL;

    if (*only && strcmp(only, b->name) != 0)
        return;
    for (int i = 0; b->sizes[i] >= 0; i++) {
        const int bytes = b->sizes[i];
        const int n = find_count(b, bytes, takes_part);

        if (takes_part)
            for (int k = 0; k < n; k++)
                samples[k] = b->once(bytes);
        if (pairs)
            leftover_waits(takes_part);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            report(b, bytes, n);
    }
}

static void make_comms(int comms)
{
    MPI_Comm comm;
    int word = 0;

    for (int i = 0; i < comms; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int k = 0; k < 24; k++)
            MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    }
}

/* Memory that is this process's alone, in KiB. */
static long own_memory(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = 0, part;

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "Private_Clean: %ld", &part) == 1 ||
            sscanf(line, "Private_Dirty: %ld", &part) == 1)
            kib += part;
    if (f)
        fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    double begin = now(), init;
    int comms = 0;
    long kib;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-seconds=", 9) == 0)
            seconds = atof(argv[i] + 9);
        else if (strncmp(argv[i], "-only=", 6) == 0)
            only = argv[i] + 6;
        else if (strncmp(argv[i], "-comms=", 7) == 0)
            comms = atoi(argv[i] + 7);
        else
            return fprintf(stderr, "mpi_bench: unknown argument %s\n", argv[i]), 1;
    }
    MPI_Init(NULL, NULL);
    init = now() - begin;
    kib = own_memory();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = (rank ^ 1) < size ? rank ^ 1 : MPI_PROC_NULL;
    out = calloc(1, 2 * BYTES_MAX);
    in = calloc(1, 2 * BYTES_MAX);
    make_comms(comms);
    for (size_t i = 0; i < sizeof(in_pairs) / sizeof(in_pairs[0]); i++)
        run(&in_pairs[i], true);
    MPI_Win_create(in, BYTES_MAX, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (size_t i = 0; i < sizeof(by_all) / sizeof(by_all[0]); i++)
        run(&by_all[i], false);
    MPI_Win_free(&win);
    if (rank == 0) {
        printf("init 0 %.4f %.4f %.4f us 1\n", init, init, init);
        printf("memory 0 %ld %ld %ld KiB 1\n", kib, kib, kib);
    }
    free(out);
    free(in);
    begin = now();
    MPI_Finalize();
    if (rank == 0)
        printf("end 0 %.4f %.4f %.4f us 1\n", now() - begin, now() - begin, now() - begin);
    return 0;
}
