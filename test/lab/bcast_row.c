/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_row: how long a broadcast takes among others in a row.
 *
 *   bcast_row [-bytes=N] [-count=N] [-samples=N] [-warm=N]
 *
 * As Yu et al. 2005, section 6: `warm` broadcasts of rank 0, then samples of `count` broadcasts in
 * a row, each sample after a barrier. The clock is that of one machine, as in bcast_bench. The
 * data of the last broadcast of a sample is verified. Rank 0 prints
 *
 *   sample US       for each: from the first entry of any rank to the last exit, a broadcast
 *   rank R KIB      for each: the memory that it has (VmRSS) at the end
 *   NAME VALUE      of counters hwmc_stalls, hwmc_syncs, hwmc_repaired: the sum over ranks of what
 *                   samples added, where the library has them
 */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define NUM_COUNTERS 3

static const char *const names[NUM_COUNTERS] = {"hwmc_stalls", "hwmc_syncs", "hwmc_repaired"};

static int rank, size;
static MPI_T_pvar_session session;

static void fail(const char *what)
{
    fprintf(stderr, "bcast_row: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Of this rank; 0 for those that the library does not have. Once broadcasts were made. */
static void read_counters(int64_t *values)
{
    for (int c = 0; c < NUM_COUNTERS; c++) {
        unsigned long long value = 0;
        MPI_T_pvar_handle handle;
        int index, count;

        if (MPI_T_pvar_get_index(names[c], MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS &&
            MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS) {
            MPI_T_pvar_read(session, handle, &value);
            MPI_T_pvar_handle_free(session, &handle);
        }
        values[c] = (int64_t) value;
    }
}

static long resident_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kib;
}

/* us a broadcast, at rank 0. */
static double sample(unsigned char *buf, int bytes, int count, unsigned char key)
{
    int64_t mine[2], all[2]; /* minus the entry, so that the earliest is the maximum; the exit */

    MPI_Barrier(MPI_COMM_WORLD);
    mine[0] = -clock_now_ns();
    for (int i = 0; i < count; i++) {
        if (rank == 0 && bytes > 0)
            buf[bytes - 1] = (unsigned char) (key + i);
        MPI_Bcast(buf, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    mine[1] = clock_now_ns();
    if (bytes > 0 && buf[bytes - 1] != (unsigned char) (key + count - 1))
        fail("wrong data");
    MPI_Reduce(mine, all, 2, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    return rank == 0 ? (double) (all[0] + all[1]) / 1000 / count : 0;
}

static void report(const int64_t *before)
{
    int64_t after[NUM_COUNTERS], sum[NUM_COUNTERS];
    long kib = resident_kib(), *each = calloc((size_t) size, sizeof *each);

    read_counters(after);
    for (int c = 0; c < NUM_COUNTERS; c++)
        after[c] -= before[c];
    MPI_Reduce(after, sum, NUM_COUNTERS, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(&kib, 1, MPI_LONG, each, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < size; r++)
        printf("rank %d %ld\n", r, each[r]);
    for (int c = 0; rank == 0 && c < NUM_COUNTERS; c++)
        printf("%s %lld\n", names[c], (long long) sum[c]);
    free(each);
}

int main(int argc, char **argv)
{
    int bytes = 8, count = 1000, samples = 20, warm = 20, provided;
    int64_t before[NUM_COUNTERS];

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_pvar_session_create(&session);
    for (int i = 1; i < argc; i++)
        if (sscanf(argv[i], "-bytes=%d", &bytes) != 1 &&
            sscanf(argv[i], "-count=%d", &count) != 1 &&
            sscanf(argv[i], "-samples=%d", &samples) != 1 &&
            sscanf(argv[i], "-warm=%d", &warm) != 1)
            fail("usage: bcast_row [-bytes=N] [-count=N] [-samples=N] [-warm=N]");
    unsigned char *buf = calloc((size_t) bytes + 1, 1);
    if (buf == NULL || bytes < 0 || count < 1)
        fail("no memory, or no broadcasts");
    sample(buf, bytes, warm > 0 ? warm : 1, 1);
    read_counters(before);
    for (int s = 0; s < samples; s++) {
        double us = sample(buf, bytes, count, (unsigned char) (s * 17 + 5));

        if (rank == 0)
            printf("sample %.3f\n", us);
    }
    report(before);
    free(buf);
    MPI_Finalize();
    return 0;
}
