/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#ifndef HWMC_TEST_MPI_FORMS_H_INCLUDED
#define HWMC_TEST_MPI_FORMS_H_INCLUDED

/* Other forms of the blocking collectives, for programs that verify these: with -nonblocking,
 * MPI_Allreduce of a program that includes this is MPI_Iallreduce and its completion; with
 * -persistent, MPI_Allreduce_init, a start, its completion and MPI_Request_free. */

#include "hwmc_util.h"

enum hwtest_form { HWTEST_BLOCKING, HWTEST_NONBLOCKING, HWTEST_PERSISTENT };

static enum hwtest_form hwtest_form;
static _Atomic unsigned long long hwtest_formed; /* calls on several ranks */

static inline void hwtest_forms_init(int argc, char **argv)
{
    if (hwtest_flag(argc, argv, "-nonblocking"))
        hwtest_form = HWTEST_NONBLOCKING;
    if (hwtest_flag(argc, argv, "-persistent"))
        hwtest_form = HWTEST_PERSISTENT;
}

/* Where HWTEST_NODE asks for it: most of the calls went through the memory of the host. */
static inline int hwtest_forms_check(void)
{
    const char *expected = getenv("HWTEST_NODE");
    unsigned long long calls;

    if (hwtest_form == HWTEST_BLOCKING || expected == NULL || strcmp(expected, "1") != 0)
        return 0;
    calls = hwtest_counter("hwmc_shm_calls");
    if (calls >= hwtest_formed * 3 / 4)
        return 0;
    printf("of %llu calls %llu went through the memory of the host\n",
           (unsigned long long) hwtest_formed, calls);
    fflush(stdout);
    return 1;
}

/* Completes the request: now by a wait, now by tests. */
static inline int hwtest_complete(int err, MPI_Request *request)
{
    int flag = 0;

    if (err != MPI_SUCCESS)
        return err;
    if (hwtest_formed % 2 == 0)
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    while (!flag && err == MPI_SUCCESS)
        err = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    return err;
}

static inline int hwtest_start_and_free(int err, MPI_Request *request)
{
    if (err == MPI_SUCCESS)
        err = hwtest_complete(MPI_Start(request), request);
    if (*request != MPI_REQUEST_NULL)
        MPI_Request_free(request);
    return err;
}

static inline void hwtest_count(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    hwtest_formed += size > 1;
}

/* Whether there are persistent collectives: since MPI 4. */
#if MPI_VERSION >= 4
#define HWTEST_START(Name, ...)                                                                    \
    hwtest_start_and_free(PMPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#else
#define HWTEST_START(Name, ...) PMPI_##Name(__VA_ARGS__)
#endif

#define HWTEST_FORMS(Name, name, parameters, ...)                                                  \
    int MPI_##Name parameters                                                                      \
    {                                                                                              \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
                                                                                                   \
        if (hwtest_form == HWTEST_BLOCKING)                                                        \
            return PMPI_##Name(__VA_ARGS__);                                                       \
        hwtest_count(comm);                                                                        \
        if (hwtest_form == HWTEST_PERSISTENT)                                                      \
            return HWTEST_START(Name, __VA_ARGS__);                                                \
        return hwtest_complete(PMPI_I##name(__VA_ARGS__, &request), &request);                     \
    }

HWTEST_FORMS(Barrier, barrier, (MPI_Comm comm), comm)
HWTEST_FORMS(Bcast, bcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm), buf,
             count, type, root, comm)
HWTEST_FORMS(Reduce, reduce,
             (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root,
              MPI_Comm comm),
             in, out, count, type, op, root, comm)
HWTEST_FORMS(Allreduce, allreduce,
             (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
             in, out, count, type, op, comm)
HWTEST_FORMS(Scan, scan,
             (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
             in, out, count, type, op, comm)
HWTEST_FORMS(Exscan, exscan,
             (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
             in, out, count, type, op, comm)
HWTEST_FORMS(Reduce_scatter, reduce_scatter,
             (const void *in, void *out, const int *counts, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm),
             in, out, counts, type, op, comm)
HWTEST_FORMS(Reduce_scatter_block, reduce_scatter_block,
             (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
             in, out, count, type, op, comm)
HWTEST_FORMS(Gather, gather,
             (const void *in, int n, MPI_Datatype t, void *out, int count, MPI_Datatype type,
              int root, MPI_Comm comm),
             in, n, t, out, count, type, root, comm)
HWTEST_FORMS(Gatherv, gatherv,
             (const void *in, int n, MPI_Datatype t, void *out, const int *counts, const int *at,
              MPI_Datatype type, int root, MPI_Comm comm),
             in, n, t, out, counts, at, type, root, comm)
HWTEST_FORMS(Scatter, scatter,
             (const void *in, int n, MPI_Datatype t, void *out, int count, MPI_Datatype type,
              int root, MPI_Comm comm),
             in, n, t, out, count, type, root, comm)
HWTEST_FORMS(Scatterv, scatterv,
             (const void *in, const int *counts, const int *at, MPI_Datatype t, void *out,
              int count, MPI_Datatype type, int root, MPI_Comm comm),
             in, counts, at, t, out, count, type, root, comm)
HWTEST_FORMS(Allgather, allgather,
             (const void *in, int n, MPI_Datatype t, void *out, int count, MPI_Datatype type,
              MPI_Comm comm),
             in, n, t, out, count, type, comm)
HWTEST_FORMS(Allgatherv, allgatherv,
             (const void *in, int n, MPI_Datatype t, void *out, const int *counts, const int *at,
              MPI_Datatype type, MPI_Comm comm),
             in, n, t, out, counts, at, type, comm)
HWTEST_FORMS(Alltoall, alltoall,
             (const void *in, int n, MPI_Datatype t, void *out, int count, MPI_Datatype type,
              MPI_Comm comm),
             in, n, t, out, count, type, comm)
HWTEST_FORMS(Alltoallv, alltoallv,
             (const void *in, const int *counts_in, const int *at_in, MPI_Datatype t, void *out,
              const int *counts, const int *at, MPI_Datatype type, MPI_Comm comm),
             in, counts_in, at_in, t, out, counts, at, type, comm)

#endif /* HWMC_TEST_MPI_FORMS_H_INCLUDED */
