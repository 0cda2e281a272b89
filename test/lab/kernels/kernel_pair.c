/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "kernel.h"

/* Rank r and rank r + p / 2 send each other WINDOW messages of n KiB (64) a step, both ways at
 * once. HWTEST_PATHS of the environment has values of info key hwmc_path, with commas: each holds
 * for PHASE steps, and is set anew with the one after it. What a rank sends before the first timed
 * step of a phase moves its connections. Verified: all messages. Rank 0 prints "step VALUE S" for
 * each step, the seconds that the slowest rank's work took. Not of NAS: it shows migration by the
 * program's hand. Options: kernel.h. */

#define WINDOW 8
#define PHASE 8      /* steps of a value */
#define SETTLING 0.3 /* s from a value to the step that is timed first */

static unsigned char *out[WINDOW], *in[WINDOW];
static int bytes, partner;
static long step; /* that comes next */
static char *paths, *path;
static double elapsed;

static void open_pair(const struct kernel_job *j)
{
    const char *values = getenv("HWTEST_PATHS");

    bytes = j->n * 1024;
    partner = (j->rank + j->size / 2) % j->size;
    paths = strdup(values ? values : "default");
    for (int i = 0; i < WINDOW; i++) {
        out[i] = kernel_alloc((size_t) bytes);
        in[i] = kernel_alloc((size_t) bytes);
    }
}

static uint64_t key_of(const struct kernel_job *j, int rank, int i)
{
    return j->seed * 131 + (uint64_t) rank * WINDOW + (uint64_t) i;
}

static void exchange(void)
{
    MPI_Request all[2 * WINDOW];

    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(in[i], bytes, MPI_BYTE, partner, i, MPI_COMM_WORLD, &all[i]);
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(out[i], bytes, MPI_BYTE, partner, i, MPI_COMM_WORLD, &all[WINDOW + i]);
    MPI_Waitall(2 * WINDOW, all, MPI_STATUSES_IGNORE);
}

/* The next value of HWTEST_PATHS, if there is one. */
static void change_path(void)
{
    char *next = strtok(step == 0 ? paths : NULL, ",");
    double since = MPI_Wtime();
    int more = 1;
    MPI_Info info;

    path = next ? next : path;
    MPI_Info_create(&info);
    MPI_Info_set(info, "hwmc_path", path);
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    while (more) {
        exchange();
        more = MPI_Wtime() - since < SETTLING;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void prepare_pair(const struct kernel_job *j)
{
    for (int i = 0; i < WINDOW; i++)
        hwtest_fill(out[i], bytes, key_of(j, j->rank, i));
    if (step % PHASE == 0)
        change_path();
    step++;
    for (int i = 0; i < WINDOW; i++)
        hwtest_prepare(in[i], bytes, false, 0);
}

static void work_pair(const struct kernel_job *j)
{
    double began = MPI_Wtime();

    (void) j;
    exchange();
    elapsed = MPI_Wtime() - began;
}

static int verify_pair(const struct kernel_job *j)
{
    double most;
    int errs = 0;

    for (int i = 0; i < WINDOW; i++)
        errs += hwtest_verify(in[i], bytes, key_of(j, partner, i), "pair");
    MPI_Reduce(&elapsed, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (j->rank == 0)
        printf("step %s %.6f\n", path, most);
    return errs;
}

static void close_pair(void)
{
    for (int i = 0; i < WINDOW; i++) {
        free(out[i]);
        free(in[i]);
    }
    free(paths);
}

int main(int argc, char **argv)
{
    static const struct kernel pair = {64,        open_pair,   prepare_pair,
                                       work_pair, verify_pair, close_pair};

    return kernel_main(argc, argv, &pair);
}
