/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include "hwmc_proc.h"

/* What was sent before MPI_Finalize comes, however late it is asked for: rank 0 broadcasts, sends
 * short messages and a long one to the last rank, which sleeps meanwhile, and is in MPI_Finalize
 * when that one asks for the first of it.
 *
 * They go over a communicator that is freed before, so that the last of them deletes it.
 *
 * -ms=N   how long it sleeps
 * -limit  rank 0 gets no more memory before it ends, not enough for a thread's stack
 * -world  over MPI_COMM_WORLD instead, but for MPICH 4.2 and later, which complain of that */

#define BCASTS 20
#define MESSAGES 100
#define SHORT 4000
#define LONG 1000000
#define SPARE (MPICH_NUMVERSION >= 40200000 ? 1 << 20 : 0) /* what its PMI needs */

static MPI_Comm comm = MPI_COMM_WORLD;

static int bcasts(void *buf)
{
    static const size_t sizes[] = {8, 1000, 50000};
    int errs = 0;

    for (int i = 0; i < BCASTS; i++)
        errs += hwtest_bcast(buf, sizes[i % 3], 0, comm, (uint64_t) i, "before the end");
    return errs;
}

/* The bytes of message i are its own until it is delivered. */
static void send_all(unsigned char *bytes, int to)
{
    MPI_Request request;

    for (int i = 0; i <= MESSAGES; i++) {
        int count = i < MESSAGES ? SHORT : LONG;

        memset(bytes, i, (size_t) count);
        MPI_Isend(bytes, count, MPI_CHAR, to, i, comm, &request);
        MPI_Request_free(&request);
        bytes += count;
    }
}

static int recv_all(unsigned char *bytes)
{
    int errs = 0;

    for (int i = 0; i <= MESSAGES; i++) {
        int count = i < MESSAGES ? SHORT : LONG;

        MPI_Recv(bytes, count, MPI_CHAR, 0, i, comm, MPI_STATUS_IGNORE);
        for (int k = 0; k < count; k++)
            errs += bytes[k] != (unsigned char) i;
    }
    return errs;
}

int main(int argc, char **argv)
{
    int errs, rank, size;
    unsigned char *buf;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buf = hwtest_alloc(MESSAGES * SHORT + LONG);
    if (MPICH_NUMVERSION >= 40200000 || !hwtest_flag(argc, argv, "-world"))
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    errs = bcasts(buf);
    if (rank == size - 1)
        usleep((useconds_t) hwtest_option(argc, argv, "-ms", 300) * 1000);
    errs += bcasts(buf);
    if (rank == 0)
        send_all(buf, size - 1);
    if (rank == size - 1)
        errs += recv_all(buf);
    if (errs > 0) /* nobody waits for anybody here */
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    if (rank == size - 1)
        printf(" No Errors\n");
    if (rank == 0 && hwtest_flag(argc, argv, "-limit") && !hwtest_limit_memory(SPARE))
        MPI_Abort(MPI_COMM_WORLD, 77);
    MPI_Finalize();
    free(buf);
    return 0;
}
