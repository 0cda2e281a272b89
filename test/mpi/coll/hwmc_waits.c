/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A call that waits sleeps (the test sets MPIR_CVAR_HWMC_WAIT=block, so it does so soon): MPI_Recv,
 * MPI_Probe, MPI_Mprobe, MPI_Win_wait. Rank 1 sends to rank 0 when the kernel has counted that rank
 * 0 slept. A call that tests never sleeps, however closely one follows another: rank 0 counts its
 * own sleeps. */

#define SLEEPS 3
#define PATIENCE_MS 20000
#define TESTS 20000
#define FEW 100 /* sleeps of a process that does not wait: the kernel's */
#define WINDOW 4096

enum waits { BY_RECV, BY_PROBE, BY_MPROBE, BY_WIN_WAIT, NUM_WAITS };

static const char *const names[] = {"MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Win_wait"};
static MPI_Group other; /* the other rank */
static MPI_Win win;

static long own_sleeps(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

/* Of another process, as the kernel counts; -1: it does not say. */
static long sleeps_of(long pid)
{
    char line[256], path[64];
    long sleeps = -1;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    f = fopen(path, "r");
    while (f && sleeps < 0 && fgets(line, sizeof(line), f))
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps) == 1)
            break;
    if (f)
        fclose(f);
    return sleeps;
}

/* Rank 1: whether the process has slept SLEEPS times more than `before`, at last. */
static int sleeps_more(long pid, long before)
{
    const struct timespec ms = {.tv_nsec = 1000000};

    for (int i = 0; i < PATIENCE_MS; i++) {
        if (sleeps_of(pid) >= before + SLEEPS)
            return 1;
        nanosleep(&ms, NULL);
    }
    return 0;
}

static void wait_for_other(enum waits how)
{
    MPI_Message message;
    int word;

    switch (how) {
        case BY_PROBE:
            MPI_Probe(1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        case BY_MPROBE:
            MPI_Mprobe(1, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            return;
        case BY_WIN_WAIT:
            MPI_Win_post(other, 0, win);
            MPI_Win_wait(win);
            break;
        default:
            break;
    }
    MPI_Recv(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int one_wait(int rank, enum waits how)
{
    long who[2] = {(long) getpid(), own_sleeps()};
    int word = 0, slept;

    if (rank == 0) {
        MPI_Send(who, 2, MPI_LONG, 1, 1, MPI_COMM_WORLD);
        wait_for_other(how);
        return 0;
    }
    MPI_Recv(who, 2, MPI_LONG, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    slept = sleeps_more(who[0], who[1]);
    if (how == BY_WIN_WAIT) {
        MPI_Win_start(other, 0, win);
        MPI_Win_complete(win);
    }
    MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    if (!slept)
        printf("%s did not sleep\n", names[how]);
    return !slept;
}

static int tests(int rank)
{
    const long before = own_sleeps();
    long slept;
    int word = 0, flag = 0;
    MPI_Request request;

    if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        return 0;
    }
    MPI_Irecv(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
    for (int i = 0; i < TESTS; i++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Iprobe(1, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    slept = own_sleeps() - before;
    MPI_Send(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (slept > FEW)
        printf("a rank that tests slept %ld times in %d tests\n", slept, 2 * TESTS);
    return slept > FEW;
}

int main(int argc, char **argv)
{
    int errs = 0, rank;
    MPI_Group world;

    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){1 - rank}, &other);
    if (rank == 0 && sleeps_of((long) getpid()) < 0)
        printf("the kernel does not count who sleeps\n");
    errs += tests(rank);
    for (enum waits how = BY_RECV; how < NUM_WAITS; how++) {
        if (how == BY_WIN_WAIT) {
            void *memory;

            MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        }
        errs += one_wait(rank, how);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    return hwtest_finish(errs);
}
