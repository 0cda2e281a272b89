/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_memory: what a process has resident before and after broadcasts on communicators.
 *
 *   bcast_memory -out=FILE [-few=N] [-many=N]
 *
 * Each communicator gets broadcasts that use every channel that it may have, with every rank as
 * root. Rank 0 writes a line for each stage and rank, in KiB, and one at the end:
 *
 *   STAGE COMMUNICATORS RANK VmRSS VmHWM
 *   # end ranks N
 *
 * Stages: init (after MPI_Init and a first barrier), world (after broadcasts on MPI_COMM_WORLD),
 * few and many (with so many communicators beside it), freed (when those are gone again).
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../mpi/coll/hwmc_proc.h"

#define MAX_COMMS 1000
#define FILL_BYTES 65536 /* a channel's length by default */
#define FILLS 32         /* twice the channels by default */
#define SETTLE 10
#define SETTLE_NS 2000000

static int rank, size;
static char buf[FILL_BYTES];
static MPI_Comm comms[MAX_COMMS];
static int num_comms;

static void use(MPI_Comm comm)
{
    for (int i = 0; i < FILLS; i++) {
        memset(buf, rank == i % size ? i : 0x5a, sizeof(buf));
        MPI_Bcast(buf, sizeof(buf), MPI_BYTE, i % size, comm);
        if (buf[0] != i || buf[sizeof(buf) - 1] != i) {
            fprintf(stderr, "bcast_memory: rank %d: wrong data\n", rank);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

/* What was sent is to have arrived, and what was freed to have gone. */
static void settle(void)
{
    const struct timespec t = {.tv_nsec = SETTLE_NS};

    for (int i = 0; i < SETTLE; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        nanosleep(&t, NULL);
    }
}

static void tell(FILE *out, const char *stage)
{
    long mine[2], *all = malloc(2 * sizeof(long) * (size_t) size);

    settle();
    mine[0] = hwtest_status_kib("VmRSS");
    mine[1] = hwtest_status_kib("VmHWM");
    MPI_Gather(mine, 2, MPI_LONG, all, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < size; r++)
        fprintf(out, "%s %d %d %ld %ld\n", stage, num_comms, r, all[2 * r], all[2 * r + 1]);
    free(all);
}

static void have(int wanted)
{
    for (; num_comms < wanted; num_comms++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[num_comms]);
        use(comms[num_comms]);
    }
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    int few = 16, many = 80;
    FILE *out = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-out=", 5) == 0)
            path = argv[i] + 5;
        else if (strncmp(argv[i], "-few=", 5) == 0)
            few = atoi(argv[i] + 5);
        else if (strncmp(argv[i], "-many=", 6) == 0)
            many = atoi(argv[i] + 6);
    }
    if (rank == 0 && path != NULL)
        out = fopen(path, "w");
    if ((rank == 0 && out == NULL) || few < 1 || many < few || many > MAX_COMMS) {
        fprintf(stderr, "bcast_memory -out=FILE [-few=N] [-many=N]; 0 < few <= many <= 1000\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    tell(out, "init");
    use(MPI_COMM_WORLD);
    tell(out, "world");
    have(few);
    tell(out, "few");
    have(many);
    tell(out, "many");
    while (num_comms > 0)
        MPI_Comm_free(&comms[--num_comms]);
    tell(out, "freed");
    if (rank == 0) {
        fprintf(out, "# end ranks %d\n", size);
        fclose(out);
    }
    MPI_Finalize();
    return 0;
}
