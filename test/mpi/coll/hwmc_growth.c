/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include "hwmc_proc.h"
#include <time.h>

/* The memory of a process does not grow with the number of its broadcasts, nor with that of the
 * communicators that it made and freed.
 *
 * 10,000 broadcasts of 8 bytes, 4 KiB, 100 KiB and 1 MiB, the root rotating; then 200 communicators
 * with broadcasts of the first three on each. What a process has after a tenth of them it may have
 * at the end, and a little more:
 *
 *   data (VmData), what it was given for its data: 320 KiB, for malloc takes memory in steps of 132
 *   to 148 KiB, and two of those are no leak. With communicators 1 MiB more, the channels of one:
 *   what is freed goes back when its last member is through, so one may be there still or not.
 *   resident (RssAnon), what of it has been touched: 1 MiB, for queues and channels that were there
 *   from the start are touched when there is first that much in them.
 *
 * So a leak shows from 36 bytes a broadcast and 8 KiB a communicator on. Where a busy machine kept
 * a process waiting, what was sent to it meanwhile waited in others, once: they may grow in two of
 * three such looks, but not in all.
 *
 * -count=N broadcasts, -rounds=N communicators, -verbose prints what each rank has. */

#define DATA_SLACK 320 /* KiB */
#define RESIDENT_SLACK 1024
#define CHANNELS 1024
#define LOOKS 3
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
    return (struct memory){hwtest_status_kib("VmData"), hwtest_status_kib("RssAnon")};
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

static int judge_one(const char *what, const char *of, int count, long before, long after,
                     long slack, bool last)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (verbose)
        fprintf(stderr, "rank %d: %s %ld KiB, %ld KiB after %d %s\n", rank, what, before, after,
                count, of);
    if (after <= before + slack)
        return 0;
    if (last) {
        printf("rank %d: %s memory grew from %ld KiB to %ld KiB after %d %s\n", rank, what, before,
               after, count, of);
        fflush(stdout);
    }
    return 1;
}

/* How often it grew by too much since *before, which becomes what there is now; told if it is the
 * last look. */
static int judge(const char *of, int count, struct memory *before, long data_slack, bool last)
{
    struct memory now = memory_settled(), then = *before;

    *before = now;
    return judge_one("data", of, count, then.data, now.data, data_slack, last) +
           judge_one("resident", of, count, then.resident, now.resident, RESIDENT_SLACK, last);
}

static int broadcasts(void *buf, int count)
{
    struct memory before = {0};
    int errs = 0, grew = 1, size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int look = 0, i = 0; look < LOOKS && grew > 0; look++) {
        for (; i < (look + 1) * count; i++) {
            if (i == count / 10)
                before = memory_settled();
            errs +=
                hwtest_bcast(buf, bytes_of(i), i % size, MPI_COMM_WORLD, (uint64_t) i, "growth");
        }
        grew = judge("broadcasts", i, &before, DATA_SLACK, look == LOOKS - 1);
        MPI_Allreduce(MPI_IN_PLACE, &grew, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    return errs + grew;
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
    return errs + judge("communicators", rounds, &before, DATA_SLACK + CHANNELS, true);
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
