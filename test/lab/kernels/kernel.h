/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * kernel: what the kernels share. They are programs of our own with the communication of the NAS
 * Parallel Benchmarks of the same name, as Vishnu et al. 2007, section 4.3, ran them: work of a
 * given amount, whose result every step verifies. A step begins from new data; only its work is
 * timed, not the making of its data nor its verification.
 *
 *   -seed=N      other data (1)
 *   -steps=N     so many steps
 *   -seconds=S   without -steps: for so long (2)
 *   -n=N         of the problem: each kernel says what
 *   -report      rank 0 prints counters of lanes and collectives in the end
 *
 * Rank 0 prints "running" after the first step, "halfway" after half of -steps, and then (without
 * -steps after the first) waits for the file that HWTEST_GO names; in the end it prints "steps
 * N", "work S", the time of all steps' work in s, and "longest MS", of a step's work; then what
 * test/check-lab reads.
 */
#ifndef HWMC_TEST_KERNEL_H_INCLUDED
#define HWMC_TEST_KERNEL_H_INCLUDED

#ifndef HWTEST_WITHOUT_MTEST
#define HWTEST_WITHOUT_MTEST
#endif
#include <math.h>
#include <unistd.h>

#include "../../mpi/coll/hwmc_util.h"

struct kernel_job {
    int rank, size;
    int n;         /* of -n */
    uint64_t seed; /* of this step */
};

struct kernel {
    int n; /* of -n, without it */
    void (*open)(const struct kernel_job *j);
    void (*prepare)(const struct kernel_job *j);
    void (*work)(const struct kernel_job *j);  /* what is timed */
    int (*verify)(const struct kernel_job *j); /* errors that this rank has found */
    void (*close)(void);
};

static inline void *kernel_alloc(size_t bytes)
{
    return hwtest_alloc(bytes);
}

/* Of `total` things in `parts` nearly equal parts, where number `part` begins. */
static inline int kernel_begin(int total, int parts, int part)
{
    return (int) ((long) total * part / parts);
}

/* In [0, 1), alike for a key on all ranks. */
static inline double kernel_uniform(uint64_t key)
{
    return (double) (hwtest_mix(key) >> 11) * 0x1p-53;
}

/* Says that something is wrong, unless it is not; the number of errors. */
static inline int kernel_expect(bool right, const char *what, double found, double wanted)
{
    static int printed;

    if (right)
        return 0;
    if (printed++ < HWTEST_MAX_PRINTED) {
        printf("%s: %.17g, not %.17g\n", what, found, wanted);
        fflush(stdout);
    }
    return 1;
}

static inline double kernel_sum(double value, MPI_Comm comm)
{
    double sum;

    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    return sum;
}

static inline void kernel_say(const struct kernel_job *j, const char *line)
{
    if (j->rank == 0) {
        printf("%s\n", line);
        fflush(stdout);
    }
}

/* Rank 0 waits for the file HWTEST_GO of the environment, which is made when the network is as it
 * is to be for the other steps; the others wait for rank 0. */
static inline void kernel_hold(const struct kernel_job *j)
{
    const char *go = getenv("HWTEST_GO");

    while (j->rank == 0 && go != NULL && access(go, F_OK) != 0)
        usleep(5000);
}

static inline bool kernel_reports(const char *name)
{
    return strncmp(name, "hwmc_", 5) == 0;
}

static inline void kernel_times(const struct kernel_job *j, long steps, double work, double longest)
{
    double mine[2] = {work, longest}, most[2];

    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (j->rank == 0)
        printf("steps %ld\nwork %.6f\nlongest %.3f\n", steps, most[0], most[1] * 1000);
}

/* One step; the seconds that its work took. */
static inline double kernel_step(const struct kernel *k, const struct kernel_job *j, int *errs)
{
    double began, seconds;

    k->prepare(j);
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    k->work(j);
    seconds = MPI_Wtime() - began;
    *errs += k->verify(j);
    hwtest_done++;
    return seconds;
}

static inline int kernel_steps(const struct kernel *k, struct kernel_job *j, long steps,
                               double limit)
{
    double start = MPI_Wtime(), work = 0, longest = 0;
    long done = 0;
    int errs = 0, more = 1;

    while (more) {
        double seconds = kernel_step(k, j, &errs);

        work += seconds;
        longest = seconds > longest ? seconds : longest;
        done++;
        j->seed++;
        if (done == 1)
            kernel_say(j, "running");
        if (done == (steps + 1) / 2)
            kernel_say(j, "halfway");
        if (done == (steps + 1) / 2 || (steps == 0 && done == 1))
            kernel_hold(j);
        more = steps > 0 ? done < steps : MPI_Wtime() - start < limit;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    kernel_times(j, done, work, longest);
    return errs;
}

/* main of a kernel. */
static inline int kernel_main(int argc, char **argv, const struct kernel *k)
{
    struct kernel_job j;
    int errs, provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.size);
    j.n = (int) hwtest_option(argc, argv, "-n", k->n);
    j.seed = (uint64_t) hwtest_option(argc, argv, "-seed", 1) << 32;
    k->open(&j);
    errs = kernel_steps(k, &j, (long) hwtest_option(argc, argv, "-steps", 0),
                        hwtest_option(argc, argv, "-seconds", 2));
    k->close();
    if (hwtest_flag(argc, argv, "-report"))
        hwtest_print_counters(kernel_reports);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}

#endif /* HWMC_TEST_KERNEL_H_INCLUDED */
