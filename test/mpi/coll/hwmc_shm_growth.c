/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "hwmc_families.h"
#include "hwmc_proc.h"

/* Communicators that are made, used and freed leave nothing: neither memory, nor descriptors, nor
 * mappings, nor files in /dev/shm. Each is used by several collectives, so that it has a segment
 * where there are any. Some live longer than others and are freed in another order. What a process
 * has after a tenth of them it may have at the end, and a little more, as MPICH and the C library
 * keep what they once took:
 *
 *   descriptors   none more
 *   mappings      8, for arenas of malloc
 *   KiB           2048 that were touched (RssAnon and RssShmem)
 *   files         none more in /dev/shm, told by rank 0 when all are through
 *
 * -rounds=N communicators, -verbose prints what each rank has. */

#define MAPPINGS_SLACK 8
#define KIB_SLACK 2048
#define ALIVE 7 /* communicators at a time */
#define CALLS 6 /* on each */
#define BYTES ((size_t) 40000)

struct has {
    long descriptors, mappings, kib, files;
};

static struct has look(void)
{
    struct has has = {
        .descriptors = hwtest_entries("/proc/self/fd"),
        .files = hwtest_entries("/dev/shm"),
        .kib = hwtest_status_kib("RssAnon") + hwtest_status_kib("RssShmem"),
    };
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        has.mappings++;
    if (maps != NULL)
        fclose(maps);
    return has;
}

/* The same when all ranks are through. */
static struct has look_together(void)
{
    struct has has;

    MPI_Barrier(MPI_COMM_WORLD);
    has = look();
    MPI_Barrier(MPI_COMM_WORLD);
    return has;
}

static int judge(const char *what, long before, long after, long slack)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (after <= before + slack)
        return 0;
    printf("rank %d: %s grew from %ld to %ld\n", rank, what, before, after);
    fflush(stdout);
    return 1;
}

static int compare(struct has before, struct has after)
{
    int errs = 0, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    errs += judge("descriptors", before.descriptors, after.descriptors, 0);
    errs += judge("mappings", before.mappings, after.mappings, MAPPINGS_SLACK);
    errs += judge("KiB", before.kib, after.kib, KIB_SLACK);
    errs += rank == 0 ? judge("files in /dev/shm", before.files, after.files, 0) : 0;
    return errs;
}

static void tell(int rounds, struct has has)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr,
            "rank %d, %d communicators: %ld descriptors, %ld mappings, %ld KiB, %ld files\n", rank,
            rounds, has.descriptors, has.mappings, has.kib, has.files);
}

/* A duplicate, the ranks in reverse, or those of one parity. */
static MPI_Comm make(int round)
{
    MPI_Comm comm;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (round % 3 == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, round % 3 == 1 ? 0 : rank % 2, -rank, &comm);
    return comm;
}

/* Makes communicators `from` to `to` - 1, and frees those that they take the places of. */
static int use(struct hwtest_call *c, MPI_Comm *alive, int from, int to)
{
    int errs = 0;

    for (int round = from; round < to; round++) {
        MPI_Comm *place = &alive[hwtest_mix((uint64_t) round) % ALIVE];
        uint64_t state = (uint64_t) round * 64;

        if (*place != MPI_COMM_NULL)
            MPI_Comm_free(place);
        *place = make(round);
        c->comm = *place;
        for (int i = 0; i < CALLS; i++)
            errs += hwtest_any_call(c, &state, round % 50 == 0 ? BYTES : 300);
    }
    return errs;
}

static void free_all(MPI_Comm *alive)
{
    for (int i = 0; i < ALIVE; i++) {
        if (alive[i] != MPI_COMM_NULL)
            MPI_Comm_free(&alive[i]);
    }
}

int main(int argc, char **argv)
{
    struct hwtest_call call;
    struct has before, after;
    MPI_Comm alive[ALIVE];
    int errs = 0, size, rounds;

    MTest_Init(&argc, &argv);
    rounds = (int) hwtest_option(argc, argv, "-rounds", 10000);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ALIVE; i++)
        alive[i] = MPI_COMM_NULL;
    hwtest_call_init(&call, MPI_COMM_WORLD, hwtest_families_room(BYTES, size));
    errs += use(&call, alive, 0, rounds / 10);
    free_all(alive);
    before = look_together();
    errs += use(&call, alive, rounds / 10, rounds);
    free_all(alive);
    after = look_together();
    if (hwtest_flag(argc, argv, "-verbose")) {
        tell(rounds / 10, before);
        tell(rounds, after);
    }
    errs += compare(before, after);
    hwtest_call_free(&call);
    return hwtest_finish(errs);
}
