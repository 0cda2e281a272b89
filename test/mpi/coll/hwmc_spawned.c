/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Ranks on several hosts spawn one process, which is alone in its MPI_COMM_WORLD: messages of many
 * lengths between it and each of them, which is right only if what one world's connections carry at
 * a time is no more than the other's take; then, on the communicator of all, collectives that wait
 * and collectives that do not, which hwmc has to leave to MPICH on both sides alike. */

#define LONGEST (3 << 20)
#define COLLECTIVES 24

static const int lengths[] = {1, 8000, 65000, 131000, 1 << 20, LONGEST};

#define NUM ((int) (sizeof(lengths) / sizeof(lengths[0])))

/* There and back. */
static int exchange(unsigned char *buf, MPI_Comm inter, bool is_child, int parents)
{
    int errs = 0, rank;

    MPI_Comm_rank(inter, &rank);
    for (int i = 0; i < NUM; i++) {
        for (int p = 0; is_child && p < parents; p++) {
            MPI_Recv(buf, lengths[i], MPI_BYTE, p, i, inter, MPI_STATUS_IGNORE);
            errs +=
                hwtest_check(buf, (size_t) lengths[i], (uint64_t) (i * 100 + p), "to the child");
            MPI_Send(buf, lengths[i], MPI_BYTE, p, i, inter);
        }
        if (is_child)
            continue;
        hwtest_fill(buf, (size_t) lengths[i], (uint64_t) (i * 100 + rank));
        MPI_Send(buf, lengths[i], MPI_BYTE, 0, i, inter);
        memset(buf, 0, (size_t) lengths[i]);
        MPI_Recv(buf, lengths[i], MPI_BYTE, 0, i, inter, MPI_STATUS_IGNORE);
        errs += hwtest_check(buf, (size_t) lengths[i], (uint64_t) (i * 100 + rank), "back");
    }
    return errs;
}

static int collectives(unsigned char *buf, MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int errs = 0, rank, size, sum, one = 1;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < COLLECTIVES; i++) {
        const size_t bytes = 1000 + (size_t) i * 5000;

        if (rank == i % size)
            hwtest_fill(buf, bytes, (uint64_t) i);
        MPI_Bcast(buf, (int) bytes, MPI_BYTE, i % size, comm);
        errs += hwtest_check(buf, bytes, (uint64_t) i, "broadcast");
        MPI_Barrier(comm);
        MPI_Ibarrier(comm, &requests[0]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        if (sum != size) {
            fprintf(stderr, "rank %d: the sum of ones is %d\n", rank, sum);
            errs++;
        }
    }
    return errs;
}

int main(int argc, char **argv)
{
    int errs = 0, size = 0, parents;
    MPI_Comm parent, inter, all;
    unsigned char *buf;

    MTest_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    inter = parent;
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    else
        MPI_Comm_remote_size(inter, &size);
    parents = size;
    buf = hwtest_alloc(LONGEST);
    errs += exchange(buf, inter, parent != MPI_COMM_NULL, parents);
    MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &all);
    errs += collectives(buf, all);
    MPI_Comm_free(&all);
    if (parent != MPI_COMM_NULL) {
        MPI_Send(&errs, 1, MPI_INT, 0, 0, parent);
    } else {
        int rank, theirs = 0;

        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0)
            MPI_Recv(&theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        errs += theirs;
    }
    MPI_Comm_disconnect(&inter);
    free(buf);
    if (parent != MPI_COMM_NULL) {
        MPI_Finalize();
        return errs > 0;
    }
    return hwtest_finish(errs);
}
