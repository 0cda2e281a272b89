/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include "hwmc_proc.h"

/* MPI_Finalize where each thread has many thread-local variables, which take much of its stack.
 *
 * -limit   rank 0 gets no more memory before it ends, not enough for a thread's stack */

#define SPARE (MPICH_NUMVERSION >= 40200000 ? 1 << 20 : 0) /* what its PMI needs */

static __thread char local[1000000];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof(local); i++)
        ((volatile char *) local)[i] = (char) rank;
    if (rank == 0 && hwtest_flag(argc, argv, "-limit") && !hwtest_limit_memory(SPARE))
        MPI_Abort(MPI_COMM_WORLD, 77);
    MPI_Finalize();
    if (rank == 0)
        printf(" No Errors\n");
    return 0;
}
