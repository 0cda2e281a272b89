/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bcast_bench: how long a broadcast takes, seen from one clock.
 *
 *   bcast_bench -out=FILE [-sizes=BYTES:ITERS,...] [-warm=N] [-gap=US] [-rotate] [-pin]
 *               [-turns=FILE:K:N] [-counter=NAME] [-late=US]
 *
 * All hosts of a lab are one machine, so CLOCK_MONOTONIC is the same clock on every rank and times
 * of different ranks may be subtracted.  An iteration:
 *
 *   1. A dissemination barrier of MPI_Sendrecv, whose messages carry the latest time at which any
 *      rank entered it.  So all ranks leave it with the same T = that time + gap.
 *   2. Every rank sleeps until T, the root a little longer: the others are to be waiting for it.
 *   3. entry; MPI_Bcast; exit.
 *   4. A rank that is through sleeps for the length of the gap, or twice its own time if that is
 *      longer, and calls MPI now and then: the hosts of a lab share processors, and what a rank
 *      does next is not to delay those that are still in the broadcast.
 *   5. The data is verified, and what the iteration cost in repairs is read from the performance
 *      variables hwmc_*, where the library has them.
 *
 * The iteration's time is the latest exit of any rank minus the root's entry.  The gap is to be so
 * long that nearly all ranks have left the barrier by T (late, below, tells) and no longer: what
 * the processors' caches forget in the meantime counts as the broadcast's.
 *
 * Ranks sleep rather than give way in 2 and 4, for Linux remembers who gave way often and makes it
 * wait later, which would be counted as the broadcast's too.
 *
 * With -pin each rank keeps to one processor, rank by rank in turn: jobs that are compared with
 * each other then do not differ in where Linux put their ranks. With -turns this is job K of N that
 * work in turn (turns.h), BLOCK iterations each, after COLD that are not counted.
 *
 * With -late the root is early: every other rank comes up to so much after it, by a random number
 * of rank and iteration. What the broadcast takes is then time - late.
 *
 * Samples are kept in memory and gathered when all iterations of a size are done; rank 0 writes one
 * line an iteration, and one at the end:
 *
 *   bytes iteration time local late cast repaired tail recovery exit[0] ... exit[p-1]
 *   # end ranks N gap_ns N pvars 0|1
 *
 * Times are in ns.  local: the longest that any rank spent in MPI_Bcast.  late: how long after
 * the root the last rank entered, 0 if all were there before.  Then what hwmc_two_stage (or the
 * counter that is named), hwmc_repaired, hwmc_lost_tail and hwmc_recovery_ns have grown
 * by: cast the minimum over ranks, repaired and tail the sum, recovery the maximum.  exit[r]: after
 * the root's entry, of the rank r places after the root.
 */

#define _GNU_SOURCE /* sched_setaffinity */

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "turns.h"

#define MAX_SIZES 64
#define BLOCK 10        /* iterations of a turn */
#define COLD 3          /* of a turn, before those */
#define LEAD_NS 20000   /* how long before the root the others enter, for each rank */
#define PROBE_NS 200000 /* between two calls of MPI by a rank that is through */

enum pvar { CAST, REPAIRED, TAIL, RECOVERY, NUM_PVARS };

static const char *pvar_names[NUM_PVARS] = {"hwmc_two_stage", "hwmc_repaired", "hwmc_lost_tail",
                                            "hwmc_recovery_ns"};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle pvars[NUM_PVARS];

/* What a rank keeps of an iteration. */
struct sample {
    int64_t entry, exit;
    int64_t delta[NUM_PVARS];
};

#define SAMPLE_WORDS ((int) (sizeof(struct sample) / sizeof(int64_t)))

struct plan {
    const char *out;
    int num_sizes;
    int bytes[MAX_SIZES];
    int iters[MAX_SIZES];
    int warm;
    int64_t gap;
    int64_t late; /* ns: the most by which a rank comes after the root; 0: all before it */
    int rotate;
    int pin;
    struct turns turns;
};

static int rank, size;

static void fail(const char *what)
{
    fprintf(stderr, "bcast_bench: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Takes the performance variables that there are; the others stay without a handle. After the first
 * broadcast, for a library may make them when it first has something to count. */
static void find_pvars(void)
{
    int num = 0;

    if (pvars[CAST] != MPI_T_PVAR_HANDLE_NULL)
        return;
    MPI_T_pvar_get_num(&num);
    for (int i = 0; i < num; i++) {
        char name[128];
        int length = sizeof name, no_text = 0, verbosity, class, bind, count;
        int readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum enumeration;

        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &enumeration, NULL,
                                &no_text, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        for (int v = 0; v < NUM_PVARS; v++) {
            if (strcmp(name, pvar_names[v]) != 0 || bind != MPI_T_BIND_NO_OBJECT ||
                type != MPI_UNSIGNED_LONG_LONG)
                continue;
            if (MPI_T_pvar_handle_alloc(session, i, NULL, &pvars[v], &count) == MPI_SUCCESS &&
                !continuous)
                MPI_T_pvar_start(session, pvars[v]);
        }
    }
}

static void read_pvars(int64_t *values)
{
    for (int v = 0; v < NUM_PVARS; v++) {
        unsigned long long value = 0;

        if (pvars[v] != MPI_T_PVAR_HANDLE_NULL)
            MPI_T_pvar_read(session, pvars[v], &value);
        values[v] = (int64_t) value;
    }
}

/* Returns the latest time at which a rank came in: the same on all ranks. */
static int64_t barrier(void)
{
    int64_t latest = clock_now_ns();

    for (int step = 1; step < size; step *= 2) {
        int64_t theirs;

        MPI_Sendrecv(&latest, 1, MPI_INT64_T, (rank + step) % size, 7, &theirs, 1, MPI_INT64_T,
                     (rank + size - step) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (theirs > latest)
            latest = theirs;
    }
    return latest;
}

/* Bytes that differ from those of any other iteration, and from each other. */
static void fill(unsigned char *buf, int bytes, unsigned key)
{
    for (int i = 0; i < bytes; i++)
        buf[i] = (unsigned char) (key * 31 + (unsigned) i + ((unsigned) i >> 8) * 7);
}

static void sleep_until(int64_t time)
{
    const struct timespec t = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Leaves the processor to others until `until`, but does for them, now and then, what MPI has to
 * do. */
static void stand_aside(int64_t until)
{
    int found;

    for (int64_t now = clock_now_ns(); now < until; now = clock_now_ns()) {
        sleep_until(now + PROBE_NS < until ? now + PROBE_NS : until);
        MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
}

/* How long after the root this rank enters. */
static int64_t lateness(unsigned key, int64_t most)
{
    uint64_t x = ((uint64_t) key << 32 | (unsigned) rank) * 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (int64_t) ((x ^ x >> 27) % (uint64_t) most);
}

static void iterate(unsigned char *buf, unsigned char *want, int bytes, int root,
                    const struct plan *plan, struct sample *sample)
{
    static unsigned key;
    int64_t gap = plan->gap;
    int64_t before[NUM_PVARS], after[NUM_PVARS], start, took;

    fill(want, bytes, ++key);
    if (rank == root)
        memcpy(buf, want, (size_t) bytes);
    else
        memset(buf, 0x5a, (size_t) bytes);
    read_pvars(before);
    start = barrier() + gap;
    if (rank == root || plan->late > 0)
        start += LEAD_NS * size;
    if (rank != root && plan->late > 0)
        start += lateness(key, plan->late);
    sleep_until(start);

    sample->entry = clock_now_ns();
    MPI_Bcast(buf, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    sample->exit = clock_now_ns();
    took = sample->exit - sample->entry;
    stand_aside(sample->exit + (2 * took > gap ? 2 * took : gap));

    read_pvars(after);
    for (int v = 0; v < NUM_PVARS; v++)
        sample->delta[v] = after[v] - before[v];
    if (memcmp(buf, want, (size_t) bytes) != 0)
        fail("wrong data");
}

/* Rank 0: one line for each iteration. samples: those of rank 0, then those of rank 1, ... */
static void put(FILE *out, int bytes, int iters, int rotate, const struct sample *samples)
{
    for (int i = 0; i < iters; i++) {
        int root = rotate ? i % size : 0;
        int64_t entry = samples[root * iters + i].entry;
        int64_t time = 0, local = 0, late = 0, cast = INT64_MAX, repaired = 0, tail = 0,
                recovery = 0;

        for (int r = 0; r < size; r++) {
            const struct sample *s = &samples[r * iters + i];
            time = s->exit - entry > time ? s->exit - entry : time;
            local = s->exit - s->entry > local ? s->exit - s->entry : local;
            late = s->entry - entry > late ? s->entry - entry : late;
            cast = s->delta[CAST] < cast ? s->delta[CAST] : cast;
            repaired += s->delta[REPAIRED];
            tail += s->delta[TAIL];
            recovery = s->delta[RECOVERY] > recovery ? s->delta[RECOVERY] : recovery;
        }
        fprintf(out, "%d %d %lld %lld %lld %lld %lld %lld %lld", bytes, i, (long long) time,
                (long long) local, (long long) late, (long long) cast, (long long) repaired,
                (long long) tail, (long long) recovery);
        for (int r = 0; r < size; r++)
            fprintf(out, " %lld",
                    (long long) (samples[(root + r) % size * iters + i].exit - entry));
        fputc('\n', out);
    }
}

static void end_turn(struct plan *plan)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        turns_end(&plan->turns);
}

static void measure(struct plan *plan, int which, FILE *out)
{
    int bytes = plan->bytes[which], iters = plan->iters[which];
    unsigned char *buf = malloc((size_t) bytes + 1), *want = malloc((size_t) bytes + 1);
    struct sample *mine = calloc((size_t) iters + 1, sizeof *mine), *all = NULL;

    if (rank == 0)
        all = calloc((size_t) iters * (size_t) size + 1, sizeof *all);
    if (buf == NULL || want == NULL || mine == NULL || (rank == 0 && all == NULL))
        fail("no memory");
    for (int i = 0; i < plan->warm; i++)
        iterate(buf, want, bytes, plan->rotate ? i % size : 0, plan, &mine[0]);
    find_pvars();
    for (int i = 0; i < iters; i++) {
        if (plan->turns.shared && i % BLOCK == 0) {
            end_turn(plan);
            turns_begin(&plan->turns);
            for (int c = 0; c < COLD; c++)
                iterate(buf, want, bytes, plan->rotate ? i % size : 0, plan, &mine[i]);
        }
        iterate(buf, want, bytes, plan->rotate ? i % size : 0, plan, &mine[i]);
    }
    MPI_Gather(mine, iters * SAMPLE_WORDS, MPI_INT64_T, all, iters * SAMPLE_WORDS, MPI_INT64_T, 0,
               MPI_COMM_WORLD);
    if (rank == 0)
        put(out, bytes, iters, plan->rotate, all);
    free(all);
    free(mine);
    free(want);
    free(buf);
}

/* To one of the processors that it may use. */
static void keep_to_one_processor(void)
{
    cpu_set_t may, one;
    int nth = 0;

    if (sched_getaffinity(0, sizeof may, &may) != 0)
        fail("sched_getaffinity");
    nth = rank % CPU_COUNT(&may);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && nth-- == 0)
            CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        fail("sched_setaffinity");
}

/* BYTES:ITERS,... Returns 0 if that is not what it is. */
static int parse_sizes(struct plan *plan, const char *text)
{
    plan->num_sizes = 0;
    while (plan->num_sizes < MAX_SIZES) {
        int used = 0, bytes, iters;

        if (sscanf(text, "%d:%d%n", &bytes, &iters, &used) != 2 || bytes < 0 || iters < 1)
            return 0;
        plan->bytes[plan->num_sizes] = bytes;
        plan->iters[plan->num_sizes++] = iters;
        text += used;
        if (*text == '\0')
            return 1;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}

static int parse(struct plan *plan, int argc, char **argv)
{
    int good = parse_sizes(plan, "8:200");

    for (int i = 1; i < argc && good; i++) {
        if (strncmp(argv[i], "-out=", 5) == 0)
            plan->out = argv[i] + 5;
        else if (strncmp(argv[i], "-sizes=", 7) == 0)
            good = parse_sizes(plan, argv[i] + 7);
        else if (strncmp(argv[i], "-warm=", 6) == 0)
            plan->warm = atoi(argv[i] + 6);
        else if (strncmp(argv[i], "-gap=", 5) == 0)
            plan->gap = (int64_t) (atof(argv[i] + 5) * 1000);
        else if (strncmp(argv[i], "-late=", 6) == 0)
            plan->late = (int64_t) (atof(argv[i] + 6) * 1000);
        else if (strncmp(argv[i], "-counter=", 9) == 0)
            pvar_names[CAST] = argv[i] + 9;
        else if (strncmp(argv[i], "-turns=", 7) == 0)
            good = turns_open(&plan->turns, argv[i] + 7);
        else if (strcmp(argv[i], "-rotate") == 0)
            plan->rotate = 1;
        else if (strcmp(argv[i], "-pin") == 0)
            plan->pin = 1;
        else
            good = 0;
    }
    return good && plan->out != NULL;
}

int main(int argc, char **argv)
{
    struct plan plan = {.warm = 128, .gap = 800000};
    FILE *out = NULL;
    int provided;

    for (int v = 0; v < NUM_PVARS; v++)
        pvars[v] = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_pvar_session_create(&session);
    if (!parse(&plan, argc, argv))
        fail("usage: bcast_bench -out=FILE [-sizes=BYTES:ITERS,...] [-warm=N] [-gap=US] [-rotate] "
             "[-pin] [-turns=FILE:K:N] [-counter=NAME] [-late=US]");
    if (plan.pin)
        keep_to_one_processor();
    if (rank == 0) {
        out = fopen(plan.out, "w");
        if (out == NULL)
            fail("cannot write the file given as -out");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        turns_ready(&plan.turns);
    turns_begin(&plan.turns);
    for (int i = 0; i < plan.num_sizes; i++)
        measure(&plan, i, out);
    end_turn(&plan);
    if (rank == 0) {
        fprintf(out, "# end ranks %d gap_ns %lld pvars %d\n", size, (long long) plan.gap,
                pvars[CAST] != MPI_T_PVAR_HANDLE_NULL);
    }
    if (rank == 0 && fclose(out) != 0)
        fail("the file given as -out could not be written to its end");
    turns_done(&plan.turns, rank == 0);
    MPI_Finalize();
    return 0;
}
