/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include <unistd.h>

/* An allgatherv whose ranks count the same bytes in elements of different types, with a selection
 * file that sends short ones another way: all ranks have to take the same one, and the data has to
 * be right. Each communicator is set up at once. */

#define RANKS_MOST 64
#define ROUNDS 20

static const char rules[] = "{\"between=hosts\": {\"collective=allgather\": {"
                            "\"avg_msg_size<=2\": {\"algorithm=mpich\": {}}, "
                            "\"avg_msg_size=any\": {\"algorithm=hw\": {}}}}}\n";

/* The file is read in MPI_Init, and gone after it. */
static const char *write_rules(char *path)
{
    const int fd = mkstemp(path);

    if (fd < 0 || write(fd, rules, sizeof(rules) - 1) != (ssize_t) sizeof(rules) - 1 ||
        close(fd) != 0) {
        perror(path);
        exit(1);
    }
    setenv("MPIR_CVAR_HWMC_SELECTION", path, 1);
    return path;
}

/* Two ints of each rank but rank 1, which has none: in all not a whole number of pairs for each. */
static int gather_once(int round, int rank, int size, MPI_Datatype type, int unit)
{
    int counts[RANKS_MOST], displs[RANKS_MOST], got[2 * RANKS_MOST], own[2] = {rank, round},
                                                                     errs = 0;

    for (int i = 0; i < size; i++) {
        counts[i] = i == 1 ? 0 : 2 / unit;
        displs[i] = i * 2 / unit;
    }
    memset(got, 0xff, sizeof(got));
    MPI_Allgatherv(own, rank == 1 ? 0 : 2, MPI_INT, got, counts, displs, type, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        errs += i == 1 ? got[2 * i] != -1 : got[2 * i] != i || got[2 * i + 1] != round;
    return errs;
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/hwmc_counted.XXXXXX";
    const char *made = write_rules(path);
    int errs = 0, rank, size, provided, unit;
    unsigned long long ours;
    MPI_Datatype pair, type;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    unlink(made);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    unit = rank % 2 ? 2 : 1;
    type = rank % 2 ? pair : MPI_INT;
    for (int i = 0; i < ROUNDS; i++)
        errs += gather_once(i, rank, size, type, unit);
    MPI_Type_free(&pair);
    ours = hwtest_counter("hwmc_spread_calls");
    if (ours < ROUNDS / 2) {
        printf("rank %d: only %llu were hwmc's\n", rank, ours);
        errs++;
    }
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
