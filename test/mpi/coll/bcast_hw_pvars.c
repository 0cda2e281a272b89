/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "bcast_hw_util.h"

/* The performance variables bcast_hw_*: each can be read, counters do not fall, and after
 * broadcasts that were forced to multicast the one that counts them has risen on every rank.
 * Where the library has none there is nothing to test. -verbose prints them. */

#define MAX_VARS 64
#define NAME 128

struct variable {
    char name[NAME];
    int class;
    MPI_T_pvar_handle handle;
    unsigned long long before;
};

static struct variable vars[MAX_VARS];
static int num_vars;
static MPI_T_pvar_session session;

/* Returns false for what is not an unsigned counter or level without an object. */
static bool add_variable(int index)
{
    struct variable *v = &vars[num_vars];
    int name_length = NAME, desc_length = 0, verbosity, bind, readonly, continuous, atomic, count;
    MPI_Datatype type;
    MPI_T_enum enumeration;

    if (MPI_T_pvar_get_info(index, v->name, &name_length, &verbosity, &v->class, &type,
                            &enumeration, NULL, &desc_length, &bind, &readonly, &continuous,
                            &atomic) != MPI_SUCCESS)
        return false;
    if (strncmp(v->name, "bcast_hw_", 9) != 0 || bind != MPI_T_BIND_NO_OBJECT ||
        type != MPI_UNSIGNED_LONG_LONG)
        return false;
    MPI_T_pvar_handle_alloc(session, index, NULL, &v->handle, &count);
    if (!continuous)
        MPI_T_pvar_start(session, v->handle);
    return count == 1;
}

static int read_variable(const struct variable *v, unsigned long long *value)
{
    unsigned long long values[1] = {0};
    int code = MPI_T_pvar_read(session, v->handle, values);

    *value = values[0];
    if (code == MPI_SUCCESS)
        return 0;
    printf("%s cannot be read: %d\n", v->name, code);
    return 1;
}

int main(int argc, char **argv)
{
    int errs = 0, provided, num, rank, size;
    const char *algorithm = getenv("MPIR_CVAR_BCAST_INTRA_ALGORITHM");
    bool forced = algorithm != NULL && strcmp(algorithm, "hw") == 0;
    bool counted = false;
    void *buf;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool verbose = hwtest_flag(argc, argv, "-verbose") && rank == 0;

    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num && num_vars < MAX_VARS; i++)
        num_vars += add_variable(i);
    for (int i = 0; i < num_vars; i++)
        errs += read_variable(&vars[i], &vars[i].before);

    buf = hwtest_alloc(20000);
    for (int round = 0; round < 50; round++)
        errs +=
            hwtest_bcast(buf, 400 * (size_t) round, round % size, MPI_COMM_WORLD, round, "pvars");
    free(buf);

    for (int i = 0; i < num_vars; i++) {
        struct variable *v = &vars[i];
        unsigned long long after;

        errs += read_variable(v, &after);
        if (verbose)
            fprintf(stderr, "%-40s %llu\n", v->name, after);
        if (v->class == MPI_T_PVAR_CLASS_COUNTER && after < v->before) {
            printf("%s fell from %llu to %llu\n", v->name, v->before, after);
            errs++;
        }
        if (strcmp(v->name, "bcast_hw_two_stage") == 0)
            counted = after > v->before;
        MPI_T_pvar_handle_free(session, &v->handle);
    }
    if (forced && size > 1 && !counted) {
        printf("rank %d: broadcasts were forced to multicast; bcast_hw_two_stage did not rise\n",
               rank);
        errs++;
    }
    MPI_T_pvar_session_free(&session);
    /* The last to leave the tools interface: some MPICH cannot be entered a second time. */
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
