/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"

/* A selection file of the user's: hwmc serves the lengths for which it names hwmc, and no others.
 * Other collectives, for which the file says what MPICH would do without it, work.
 *
 * -above=BYTES   hwmc serves messages that are longer, from the first on (none); otherwise nothing
 *                is asked of the counters */

struct counters {
    unsigned long long calls, left, ways;
};

static struct counters read_counters(void)
{
    return (struct counters){
        .calls = hwtest_counter("hwmc_calls"),
        .left = hwtest_counter("hwmc_left_to_mpich"),
        .ways = hwtest_counter("hwmc_two_stage") + hwtest_counter("hwmc_multilane"),
    };
}

/* One broadcast; what the counters made of it is as the file says. */
static int served(void *buf, size_t bytes, int root, uint64_t key, double above)
{
    struct counters before = read_counters(), after;
    int errs = hwtest_bcast(buf, bytes, root, MPI_COMM_WORLD, key, "file");
    bool ours = (double) bytes > above;

    after = read_counters();
    if (above < 0 || (after.calls - before.calls == ours && after.left == before.left &&
                      (after.ways > before.ways) == ours))
        return errs;
    printf("%zu bytes: %s; hwmc ran %llu broadcasts, left %llu to MPICH\n", bytes,
           ours ? "hwmc's by the file" : "MPICH's by the file", after.calls - before.calls,
           after.left - before.left);
    fflush(stdout);
    return errs + 1;
}

static int other_collectives(int round)
{
    int errs = 0, rank, size, sum, mine, *all;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank + round;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    errs += sum != size * (size - 1) / 2 + size * round;
    MPI_Barrier(MPI_COMM_WORLD);
    all = calloc((size_t) size, sizeof(*all));
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, round % size, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == round % size; i++)
        errs += all[i] != i + round;
    free(all);
    if (errs > 0)
        printf("round %d: a wrong sum, or wrong numbers gathered\n", round);
    return errs;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1,     1024,  8192,  16384,  16385,  32768,
                                   32769, 65536, 65537, 300000, 1 << 20};
    enum { SIZES = sizeof(sizes) / sizeof(*sizes), ROUNDS = 4 };
    int errs = 0, size, provided;
    double above;
    void *buf;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    above = hwtest_option(argc, argv, "-above", -1);
    buf = hwtest_alloc(sizes[SIZES - 1]);
    for (int i = 0; i < SIZES * ROUNDS; i++) {
        errs += served(buf, sizes[i % SIZES], i % size, (uint64_t) i, above);
        errs += other_collectives(i);
    }
    free(buf);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
