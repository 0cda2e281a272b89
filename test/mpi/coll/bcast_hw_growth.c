/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "bcast_hw_util.h"
#include <time.h>

/* The memory of a process does not grow with the number of its broadcasts, nor with that of the
 * communicators that it made and freed.
 *
 * 10,000 broadcasts of 8 bytes, 4 KiB, 100 KiB and 1 MiB, the root rotating; then 200 communicators
 * with broadcasts of the first three on each. What a process has after a tenth of them it may have at
 * the end, and a little more:
 *
 *   data (VmData), what it was given for its data: 320 KiB, for malloc takes memory in steps of 132
 *   to 148 KiB, and two of those are no leak.  With communicators 1 MiB more, the channels of one: what
 *   is freed goes back when its last member is through, so one may be there still or not.
 *   resident (RssAnon), what of it has been touched: 1 MiB, for queues and channels that were there
 *   from the start are touched when there is first that much in them.
 *
 * So a leak shows from 36 bytes a broadcast and 8 KiB a communicator on.
 *
 * -count=N broadcasts, -rounds=N communicators, -verbose prints what each rank has. */

#define DATA_SLACK 320 /* KiB */
#define RESIDENT_SLACK 1024
#define CHANNELS 1024
#define SETTLE 20 /* looks at what a process has, of which the least counts */
#define SETTLE_NS 1000000
#define KIB ((size_t) 1024)

/* In KiB; 0 where the system does not tell. */
struct memory {
    long data, resident;
};

static bool verbose;

static struct memory memory_now(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    struct memory m = {0};
    char line[256];

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        sscanf(line, "VmData: %ld", &m.data);
        sscanf(line, "RssAnon: %ld", &m.resident);
    }
    if (f != NULL)
        fclose(f);
    return m;
}

/* The same when all ranks are through and what they still had to send has gone. */
static struct memory memory_settled(void)
{
    const struct timespec t = {.tv_nsec = SETTLE_NS};
    struct memory least = memory_now();

    for (int i = 0; i < SETTLE; i++) {
        struct memory m;

        MPI_Barrier(MPI_COMM_WORLD);
        nanosleep(&t, NULL);
        m = memory_now();
        least.data = m.data < least.data ? m.data : least.data;
        least.resident = m.resident < least.resident ? m.resident : least.resident;
    }
    return least;
}

/* Most are small; each size comes often enough to be known after a tenth of all. */
static size_t bytes_of(int i)
{
    if (i % 400 == 399)
        return 1024 * KIB;
    if (i % 16 == 15)
        return 100 * KIB;
    return i % 4 == 3 ? 4 * KIB : 8;
}

static int judge_one(const char *what, const char *of, int first, int last, long before, long after,
                     long slack)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (verbose)
        fprintf(stderr, "rank %d: %s %ld KiB after %d %s, %ld KiB after %d\n", rank, what, before,
                first, of, after, last);
    if (after <= before + slack)
        return 0;
    printf("rank %d: %s memory grew from %ld KiB after %d %s to %ld KiB after %d\n", rank, what,
           before, first, of, after, last);
    fflush(stdout);
    return 1;
}

static int judge(const char *of, int count, struct memory before, long data_slack)
{
    struct memory after = memory_settled();

    return judge_one("data", of, count / 10, count, before.data, after.data, data_slack) +
           judge_one("resident", of, count / 10, count, before.resident, after.resident,
                     RESIDENT_SLACK);
}

static int broadcasts(void *buf, int count)
{
    struct memory before = {0};
    int errs = 0, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < count; i++) {
        if (i == count / 10)
            before = memory_settled();
        errs += hwtest_bcast(buf, bytes_of(i), i % size, MPI_COMM_WORLD, (uint64_t) i, "growth");
    }
    return errs + judge("broadcasts", count, before, DATA_SLACK);
}

static int communicators(void *buf, int rounds)
{
    const size_t bytes[] = {8, 4 * KIB, 100 * KIB};
    struct memory before = {0};
    int errs = 0, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;

        if (round == rounds / 10)
            before = memory_settled();
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 6; i++)
            errs += hwtest_bcast(buf, bytes[i % 3], (round + i) % size, comm,
                                 (uint64_t) round * 8 + (uint64_t) i, "made and freed");
        MPI_Comm_free(&comm);
    }
    return errs + judge("communicators", rounds, before, DATA_SLACK + CHANNELS);
}

int main(int argc, char **argv)
{
    int errs = 0;
    void *buf;

    MTest_Init(&argc, &argv);
    verbose = hwtest_flag(argc, argv, "-verbose");
    buf = hwtest_alloc(1024 * KIB);
    hwtest_prepare(buf, 1024 * KIB, true, 0); /* touched */
    errs += broadcasts(buf, (int) hwtest_option(argc, argv, "-count", 10000));
    errs += communicators(buf, (int) hwtest_option(argc, argv, "-rounds", 200));
    free(buf);
    return hwtest_finish(errs);
}
