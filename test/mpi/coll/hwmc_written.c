/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Control variables of text that a program writes by MPI_T, the default among what it writes, go
 * before the environment, and communicators made from then on follow them. Until then the
 * environment's text holds, and is what MPI_T reads; also where it is longer than MPI_T's. What is
 * written before MPI_Init holds in it, but for a default. */

#define BARRIERS "MPIR_CVAR_HWMC_BARRIER_ALGORITHM"
#define SELECTION "MPIR_CVAR_HWMC_SELECTION"
#define TUNE "MPIR_CVAR_HWMC_TUNE"
#define TEXT_MAX 1024 /* longer than what MPI_T holds of a variable */

static MPI_T_cvar_handle handle_of(const char *name)
{
    MPI_T_cvar_handle handle;
    int index, count;

    MPI_T_cvar_get_index(name, &index);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    return handle;
}

static void write_text(const char *name, const char *text)
{
    MPI_T_cvar_handle handle = handle_of(name);

    MPI_T_cvar_write(handle, text);
    MPI_T_cvar_handle_free(&handle);
}

/* MPI_T has `text`, or as much of its beginning as it holds. */
static int reads(const char *name, const char *text)
{
    MPI_T_cvar_handle handle = handle_of(name);
    char now[TEXT_MAX] = "";
    int wrong;

    MPI_T_cvar_read(handle, now);
    MPI_T_cvar_handle_free(&handle);
    wrong = strlen(text) < 300 ? strcmp(now, text) != 0 : strncmp(now, text, 300) != 0;
    if (wrong)
        printf("%s is %s, not %s\n", name, now, text);
    return wrong;
}

/* Whether a new communicator's barrier is of that algorithm in memory of the host. */
static int goes_by(const char *counter, bool wanted)
{
    unsigned long long before = hwtest_counter(counter);
    bool went;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    went = hwtest_counter(counter) > before;
    if (went != wanted)
        printf("%s: %s\n", counter, went ? "chosen" : "not chosen");
    fflush(stdout);
    return went != wanted;
}

static int algorithm_written(void)
{
    int errs = reads(BARRIERS, "pe") + goes_by("hwmc_shm_barrier_pe", true);

    write_text(BARRIERS, "sig");
    errs += reads(BARRIERS, "sig") + goes_by("hwmc_shm_barrier_sig", true);
    write_text(BARRIERS, "auto"); /* the default */
    errs += reads(BARRIERS, "auto") + goes_by("hwmc_shm_barrier_pe", false);
    errs += goes_by("hwmc_shm_barrier_dis", true);
    write_text(BARRIERS, "pe"); /* what the environment has */
    return errs + goes_by("hwmc_shm_barrier_pe", true);
}

/* By default memory is shared after the fourth collective; by the environment's long text at once,
 * which is what its end says. */
static int keys_written(const char *text)
{
    int errs = reads(TUNE, text);

    write_text(TUNE, ""); /* the default */
    errs += reads(TUNE, "") + goes_by("hwmc_shm_barrier_pe", false);
    write_text(TUNE, "shm_after=0");
    return errs + goes_by("hwmc_shm_barrier_pe", true);
}

int main(int argc, char **argv)
{
    char text[TEXT_MAX] = "";
    int errs = 0, provided, index;
    bool has_any;

    while (strlen(text) < 600)
        strcat(text, "shm_after=1000,");
    strcat(text, "shm_after=0");
    setenv(BARRIERS, "pe", 1);
    setenv(TUNE, text, 1);
    setenv(SELECTION, "/nowhere/selection.json", 1);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    has_any = MPI_T_cvar_get_index(BARRIERS, &index) == MPI_SUCCESS;
    if (has_any)
        write_text(SELECTION, "none");
    MTest_Init(&argc, &argv);
    if (has_any) {
        errs += reads(SELECTION, "none");
        errs += algorithm_written();
        errs += keys_written(text);
    }
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
