/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* Broadcast over an intercommunicator: the root's own group gets nothing, the other everything.
 * Not what multicast is for, but it must go on working where multicast is forced. */

static int from_to(void *buf, MPI_Comm inter, bool mine, int root, size_t bytes, uint64_t key)
{
    int rank, argument = root;
    bool is_root;

    MPI_Comm_rank(inter, &rank);
    is_root = mine && rank == root;
    if (mine)
        argument = is_root ? MPI_ROOT : MPI_PROC_NULL;
    hwtest_prepare(buf, bytes, is_root, key);
    MPI_Bcast(buf, (int) bytes, MPI_BYTE, argument, inter);
    if (mine && !is_root)
        return 0;
    return hwtest_verify(buf, bytes, key, "intercommunicator");
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 8, 1472, 70000};
    int errs = 0, rank, size;

    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size >= 2) {
        void *buf = hwtest_alloc(70000);
        MPI_Comm half, inter;
        int low = rank < size / 2, count[2] = {size - size / 2, size / 2};

        MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 0, &inter);
        for (int round = 0; round < 24; round++) {
            int sender = round % 2; /* the half that the root is in */
            int root = round % count[sender];
            errs += from_to(buf, inter, low == sender, root, sizes[round % 4], round);
            /* and inside the halves between, on the way to confusion */
            errs += hwtest_bcast(buf, 500, 0, half, 100 + round, "half");
        }
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
        free(buf);
    }
    return hwtest_finish(errs);
}
