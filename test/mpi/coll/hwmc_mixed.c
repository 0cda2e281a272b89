/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Broadcasts among other traffic on the same communicator: messages between neighbours that wait
 * unexpected or are under way, nonblocking broadcasts and barriers that are not complete, other
 * collectives between. */

#define ROUNDS 40
#define BYTES 70000

enum { NEIGHBOUR, FIRST, SECOND, BLOCKING, BUFFERS };

static size_t bytes_of(int round, int which)
{
    static const size_t sizes[] = {8, 1472, 20000, BYTES, 0, 300};
    return sizes[(round + which) % 6];
}

static int one_round(char **bufs, char *incoming, int round, MPI_Comm comm)
{
    MPI_Request requests[5];
    int errs = 0, rank, size, sum = 0;
    uint64_t key = (uint64_t) round * BUFFERS;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int root = round % size, left = (rank + size - 1) % size, right = (rank + 1) % size;
    size_t sent = bytes_of(round, NEIGHBOUR);

    hwtest_prepare(bufs[NEIGHBOUR], sent, true, key + 1000000 * (uint64_t) rank);
    hwtest_prepare(incoming, sent, false, 0);
    hwtest_prepare(bufs[FIRST], bytes_of(round, FIRST), rank == root, key + FIRST);
    hwtest_prepare(bufs[SECOND], bytes_of(round, SECOND), rank == root, key + SECOND);

    MPI_Isend(bufs[NEIGHBOUR], (int) sent, MPI_BYTE, right, round, comm, &requests[0]);
    MPI_Ibcast(bufs[FIRST], (int) bytes_of(round, FIRST), MPI_BYTE, root, comm, &requests[1]);
    errs += hwtest_bcast(bufs[BLOCKING], bytes_of(round, BLOCKING), (root + 1) % size, comm,
                         key + BLOCKING, "blocking among nonblocking");
    MPI_Ibarrier(comm, &requests[2]);
    MPI_Ibcast(bufs[SECOND], (int) bytes_of(round, SECOND), MPI_BYTE, root, comm, &requests[3]);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    errs += sum != size * (size - 1) / 2;
    errs += hwtest_bcast(bufs[BLOCKING], 16, root, comm, key + BLOCKING, "after allreduce");
    MPI_Irecv(incoming, (int) sent, MPI_BYTE, left, round, comm, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);

    errs += hwtest_verify(incoming, sent, key + 1000000 * (uint64_t) left, "neighbour");
    errs += hwtest_verify(bufs[FIRST], bytes_of(round, FIRST), key + FIRST, "first ibcast");
    errs += hwtest_verify(bufs[SECOND], bytes_of(round, SECOND), key + SECOND, "second ibcast");
    return errs;
}

int main(int argc, char **argv)
{
    char *bufs[BUFFERS], *incoming;
    int errs = 0;
    MPI_Comm comm;

    MTest_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < BUFFERS; i++)
        bufs[i] = hwtest_alloc(BYTES);
    incoming = hwtest_alloc(BYTES);
    for (int round = 0; round < ROUNDS; round++)
        errs += one_round(bufs, incoming, round, round % 2 ? comm : MPI_COMM_WORLD);
    for (int i = 0; i < BUFFERS; i++)
        free(bufs[i]);
    free(incoming);
    MPI_Comm_free(&comm);
    return hwtest_finish(errs);
}
