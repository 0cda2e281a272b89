/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <mpi.h>
#include "hwmc_proc.h"

/* A process that gets no more memory when a message needs a buffer; for test/livesuite.py. Ranks 0
 * and 2 read nothing; rank 1 sends to rank 0 until what UCX sends from is stuck, gets no more
 * memory, says which process it is, and sends to rank 2. That takes another buffer, and with
 * UCX_TLS=tcp, large segments and UCX_TCP_TX_BUFS_GROW=1 memory. Then it says that it went on. The
 * job is ended from outside, or by hwmc. Three ranks. */

#define BYTES 4096
#define TESTS 100

static char message[BYTES];

/* Small messages until one is not taken at once. */
static void fill(int peer)
{
    for (int taken = 1; taken;) {
        MPI_Request request;

        MPI_Isend(message, BYTES, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
        taken = 0;
        for (int i = 0; i < TESTS && !taken; i++)
            MPI_Test(&request, &taken, MPI_STATUS_IGNORE);
        if (!taken)
            MPI_Request_free(&request);
    }
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int peer = 0; peer < size; peer++) /* all are connected */
        if (peer != rank)
            MPI_Sendrecv(message, BYTES, MPI_CHAR, peer, 0, message, BYTES, MPI_CHAR, peer, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 1)
        for (;;)
            pause();
    fill(0);
    if (!hwtest_limit_memory(0))
        MPI_Abort(MPI_COMM_WORLD, 77);
    printf("process %ld\n", (long) getpid());
    fflush(stdout);
    fill(2);
    printf("went on\n");
    fflush(stdout);
    for (;;) { /* if what seemed stuck was only slow */
        fill(0);
        fill(2);
    }
}
