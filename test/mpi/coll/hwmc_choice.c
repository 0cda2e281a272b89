/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_util.h"
#include <unistd.h>

/* Every rank takes the same algorithm for a broadcast, whatever differs between them: ranks come
 * late at random, lose different datagrams, and all but rank 0 are told other figures of the
 * network. Each notes for each broadcast whether multicast, trees or MPICH served it, by what the
 * counters grew; at the end the notes are compared, and the figures that selection goes by.
 *
 * -rounds=N      rounds through sizes and roots on each communicator (3)
 * -max=BYTES     the largest message (8388608)
 * -cast, -trees, -mpich   fail if no broadcast at all was served that way
 * -verbose       rank 0 prints its notes */

#define MAX_NOTES 1024
#define COMMS 4

enum way { CAST = 'c', TREES = 't', OTHER = 'm', BOTH = '?' };

struct notes {
    char way[MAX_NOTES];
    int num;
};

static uint64_t own; /* random numbers that differ between the ranks */
static bool seen[256];

/* Before MPI reads the environment: what rank 0 has is right, and what the others have is not. */
static void differ(void)
{
    const char *text = getenv("PMI_RANK");
    int rank = text ? atoi(text) : 0;
    char fault[64];

    if (rank == 0)
        return;
    setenv("MPIR_CVAR_HWMC_NETWORK",
           rank % 2 ? "latency_us=1,mbit=40000" : "latency_us=900000,mbit=1,loss_ppm=1000000", 1);
    snprintf(fault, sizeof(fault), "fault=[drop=%d,seed=%d]", rank % 5 * 3, rank);
    setenv("MPIR_CVAR_HWMC_DEBUG", fault, 1);
}

static enum way served(unsigned long long cast, unsigned long long trees)
{
    bool by_cast = hwtest_counter("hwmc_two_stage") > cast;
    bool by_trees = hwtest_counter("hwmc_multilane") > trees;

    if (by_cast && by_trees)
        return BOTH;
    return by_cast ? CAST : by_trees ? TREES : OTHER;
}

static int noted_bcast(void *buf, size_t bytes, int root, MPI_Comm comm, uint64_t key,
                       struct notes *notes)
{
    unsigned long long cast = hwtest_counter("hwmc_two_stage");
    unsigned long long trees = hwtest_counter("hwmc_multilane");
    int errs = hwtest_bcast(buf, bytes, root, comm, key, "choice");
    enum way way = served(cast, trees);

    if (notes->num < MAX_NOTES)
        notes->way[notes->num++] = (char) way;
    seen[(unsigned char) way] = true;
    if (hwtest_random(&own, 8) == 0)
        usleep((useconds_t) hwtest_random(&own, 20000));
    return errs;
}

/* All ranks get all notes, as what is noted of the exchange itself is of no interest. */
static int compare(const struct notes *notes, MPI_Comm comm)
{
    int errs = 0, rank, size;
    char *all;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    all = malloc((size_t) size * MAX_NOTES);
    MPI_Allgather(notes->way, MAX_NOTES, MPI_CHAR, all, MAX_NOTES, MPI_CHAR, comm);
    for (int i = 0; i < notes->num; i++) {
        errs += notes->way[i] == BOTH;
        for (int r = 0; r < size && rank == 0; r++) {
            if (all[r * MAX_NOTES + i] == notes->way[i])
                continue;
            printf("%d ranks, broadcast %d: rank 0 notes %c, rank %d %c\n", size, i, notes->way[i],
                   r, all[r * MAX_NOTES + i]);
            fflush(stdout);
            errs++;
        }
    }
    free(all);
    return errs;
}

static int one_comm(void *buf, size_t max, int rounds, MPI_Comm comm, bool verbose)
{
    static const size_t sizes[] = {1,     8,     700,    1472,   3000,    9000,
                                   30000, 65536, 100000, 400000, 1 << 20, 8 << 20};
    struct notes notes = {.num = 0};
    int errs = 0, size, rank, count = 0;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++, count++)
            if (sizes[i] <= max)
                errs += noted_bcast(buf, sizes[i], (count + round) % size, comm, (uint64_t) count,
                                    &notes);
    }
    errs += compare(&notes, comm);
    if (verbose && rank == 0)
        fprintf(stderr, "%d ranks: %.*s\n", size, notes.num, notes.way);
    return errs;
}

/* The figures are rank 0's on all ranks. */
static int compare_figures(void)
{
    static const char *const names[] = {
        "hwmc_latency_ns", "hwmc_site_latency_ns", "hwmc_rail_mbit",  "hwmc_all_mbit",
        "hwmc_loaded_ns",  "hwmc_loaded_mbit",     "hwmc_message_ns", "hwmc_burst_bytes"};
    unsigned long long least, most, value;
    int errs = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        value = hwtest_counter(names[i]);
        MPI_Allreduce(&value, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&value, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
        if (least == most)
            continue;
        printf("%s is %llu here; %llu to %llu\n", names[i], value, least, most);
        fflush(stdout);
        errs++;
    }
    return errs;
}

/* With `option`, some rank saw a broadcast served `way`. */
static int expect(int argc, char **argv, const char *option, enum way way)
{
    int here = seen[way], any, rank;

    if (!hwtest_flag(argc, argv, option))
        return 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&here, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any)
        return 0;
    if (rank == 0)
        printf("%s: no broadcast was served that way\n", option);
    fflush(stdout);
    return 1;
}

/* All ranks; the other way round; all but rank 0; the last four. */
static void make(MPI_Comm *comms)
{
    int rank, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 0 : MPI_UNDEFINED, rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank >= size - 4 ? 0 : MPI_UNDEFINED, rank, &comms[3]);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    int errs = 0, rank, rounds, provided;
    size_t max;
    void *buf;

    differ();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MTest_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    own = hwtest_mix((uint64_t) rank + 1);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 3);
    max = (size_t) hwtest_option(argc, argv, "-max", 8 << 20);
    buf = hwtest_alloc(max);
    make(comms);
    for (int i = 0; i < COMMS; i++)
        if (comms[i] != MPI_COMM_NULL)
            errs += one_comm(buf, max, rounds, comms[i], hwtest_flag(argc, argv, "-verbose"));
    errs += compare_figures();
    errs += expect(argc, argv, "-cast", CAST);
    errs += expect(argc, argv, "-trees", TREES);
    errs += expect(argc, argv, "-mpich", OTHER);
    for (int i = 0; i < COMMS; i++)
        if (comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i]);
    free(buf);
    errs = hwtest_finish(errs);
    MPI_T_finalize();
    return errs;
}
