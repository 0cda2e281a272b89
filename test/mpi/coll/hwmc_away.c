/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "hwmc_util.h"

/* The root, rank 0, and rank 1 leave MPI after each broadcast: rank 2, whose predecessor in repair
 * rank 1 is, gets what it has lost from somebody else, or from a thread of theirs.
 *
 * -away=N    for N ms
 * -pipe      until rank 2 has the broadcast: they read a pipe each that it writes to. A rank 2 that
 *            waits for them never gets there. Where no thread helps, rank 3 has to have all of it,
 *            so the broadcast fits into a socket's buffer (-bytes): on a busy host, too, nothing is
 *            lost but what the test drops.
 * -found     it is an error if no fragment came from a member that was asked further
 * -helped    ... from a helper thread
 * -times, -report   prints how long broadcasts took on each rank, and all counters */

#define AWAY_MAX 2

static int pipes[AWAY_MAX] = {-1, -1}; /* each rank that is away has its own end, rank 2 both */

static bool is_away(int rank)
{
    return rank < AWAY_MAX;
}

/* Named pipes, which all processes of this file system can open. */
static void open_pipes(int rank)
{
    char folder[] = "/tmp/hwmc_away.XXXXXX", name[64] = "";

    for (int i = 0; i < AWAY_MAX; i++) {
        if (rank == i) {
            if (mkdtemp(folder))
                snprintf(name, sizeof(name), "%s/pipe", folder);
            if (mkfifo(name, 0600) != 0) {
                perror(folder);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            MPI_Send(name, sizeof(name), MPI_CHAR, AWAY_MAX, 0, MPI_COMM_WORLD);
            pipes[i] = open(name, O_RDONLY);
            unlink(name);
            rmdir(folder);
        } else if (rank == AWAY_MAX) {
            MPI_Recv(name, sizeof(name), MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            pipes[i] = open(name, O_WRONLY);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 2 has the broadcast; the others, away, wait for that. */
static int meet_by_pipe(int rank)
{
    char c = 'x';
    int errs = 0;

    for (int i = 0; i < AWAY_MAX; i++)
        if (rank == AWAY_MAX)
            errs += write(pipes[i], &c, 1) != 1;
        else if (rank == i)
            errs += read(pipes[i], &c, 1) != 1;
    return errs;
}

static int expect(const char *counter)
{
    unsigned long long mine = hwtest_counter(counter), all;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("%s is 0 on all ranks\n", counter);
    return rank == 0 && all == 0;
}

static bool is_ours(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0;
}

int main(int argc, char **argv)
{
    int errs = 0, rank, size, provided;
    double longest = 0;
    int long_ones = 0;
    size_t bytes;
    bool by_pipe;
    void *buf;

    MTest_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bytes = (size_t) hwtest_option(argc, argv, "-bytes", 200000);
    by_pipe = hwtest_flag(argc, argv, "-pipe") && size > AWAY_MAX;
    buf = hwtest_alloc(bytes);
    /* Set-up is over, and nothing is owed. */
    for (int i = 0; i < 40; i++)
        errs += hwtest_bcast(buf, 1000, i % size, MPI_COMM_WORLD, (uint64_t) i, "before");
    if (by_pipe)
        open_pipes(rank);
    for (int i = 0; i < (int) hwtest_option(argc, argv, "-count", 20); i++) {
        double start = MPI_Wtime(), took;

        errs += hwtest_bcast(buf, bytes, 0, MPI_COMM_WORLD, 1000 + (uint64_t) i, "away");
        took = MPI_Wtime() - start;
        longest = took > longest ? took : longest;
        long_ones += took > 0.05;
        if (by_pipe)
            errs += meet_by_pipe(rank);
        else if (is_away(rank))
            usleep((unsigned) hwtest_option(argc, argv, "-away", 300) * 1000);
        MPI_Barrier(MPI_COMM_WORLD); /* the others wait in MPI */
    }
    if (hwtest_flag(argc, argv, "-times"))
        printf("rank %d: longest %.1f ms, %d took more than 50 ms\n", rank, longest * 1e3,
               long_ones);
    if (hwtest_flag(argc, argv, "-found"))
        errs += expect("hwmc_found");
    if (hwtest_flag(argc, argv, "-helped"))
        errs += expect("hwmc_helper_repairs");
    if (hwtest_flag(argc, argv, "-report"))
        hwtest_print_counters(is_ours);
    free(buf);
    errs = hwtest_finish(errs);
    MPI_T_finalize(); /* it is not begun twice */
    return errs;
}
