/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include <unistd.h>

/* Messages come in the order in which they were sent, also while a communicator is deleted by the
 * completion of its last message: rank 0 sends each other rank a long message over a communicator
 * of its own, and frees both request and communicator; the others send rank 0 numbered messages
 * meanwhile. */

#define ROUNDS 20
#define NUMBERED 200
#define LONG 100000
#define TAG 3

static unsigned char bytes[LONG];

static void lend(MPI_Comm *comm, int to)
{
    MPI_Request req;

    MPI_Isend(bytes, LONG, MPI_BYTE, to, TAG, *comm, &req);
    MPI_Request_free(&req);
    MPI_Comm_free(comm);
}

static int take_numbered(int round, int size)
{
    int errs = 0, *next = calloc((size_t) size, sizeof(*next));

    usleep(2000); /* so that much is there when this process looks */
    for (int i = 0; i < (size - 1) * NUMBERED; i++) {
        MPI_Status status;
        int n;

        MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        if (n != next[status.MPI_SOURCE] && errs++ == 0)
            printf("round %d: number %d of rank %d came after %d\n", round, n, status.MPI_SOURCE,
                   next[status.MPI_SOURCE] - 1);
        next[status.MPI_SOURCE] = n + 1;
    }
    free(next);
    return errs;
}

/* Sends numbers before the long message is here and after. */
static void send_numbered(MPI_Comm *comm)
{
    MPI_Request req;
    int here = 0;

    MPI_Irecv(bytes, LONG, MPI_BYTE, 0, TAG, *comm, &req);
    for (int i = 0; i < NUMBERED; i++) {
        MPI_Send(&i, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        if (!here)
            MPI_Test(&req, &here, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Comm_free(comm);
}

static int one_round(int round, int rank, int size, MPI_Comm *comms)
{
    int errs = 0;

    for (int i = 1; i < size; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 1; i < size; i++)
        if (rank == 0)
            lend(&comms[i], i);
        else if (rank != i)
            MPI_Comm_free(&comms[i]);
    if (rank == 0)
        errs = take_numbered(round, size);
    else
        send_numbered(&comms[rank]);
    return errs;
}

int main(int argc, char **argv)
{
    int errs = 0, rank, size;
    MPI_Comm *comms;

    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    comms = malloc((size_t) size * sizeof(MPI_Comm));
    for (int round = 0; round < ROUNDS; round++)
        errs += one_round(round, rank, size, comms);
    free(comms);
    return hwtest_finish(errs);
}
