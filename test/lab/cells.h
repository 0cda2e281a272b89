/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cells: how coll_bench and bare time an operation of several processes, alike for every
 * library and without messages of their own. A cell is an operation and a length. Jobs work in turn
 * (turns.h); in its turn a job does a cell's operation some times.
 *
 *   -turns=FILE:K:N        this is job K of N; FILE is 4096 zeros, more than 64 * (N + 1)
 *   -cells=[!]OP:BYTES,... what to do, the same in all jobs; with ! this job lets its turns pass
 *   -ms=MS                 an operation's time in a turn, all of them together (40)
 *   -cell-ms=MS            how long all jobs together stay with a cell (2000)
 *   -rounds=LEAST:MOST     turns of each job in a cell (3:7)
 *   -gap=US                between the last rank's coming and the operation's beginning (400)
 *   -row=N                 an operation is N calls, one straight after the other (1)
 *   -out=FILE              rank 0 writes there
 *
 * All hosts of a lab are one machine: FILE is mapped by all ranks of all jobs, and CLOCK_MONOTONIC
 * is one clock. An operation:
 *
 *   1. Every rank comes to a meeting in FILE and sleeps. The last one to come sets the time T, one
 *      gap from then, and all sleep until T.
 *   2. entry; operation; exit.
 *   3. A rank that is through sleeps until all are, and every PROBE_NS does what its library has to
 *      do for the others (MPI_Iprobe).
 *
 * The time is the longest that any rank spent between its entry and its exit; of calls in a row
 * the mean of a call, as what they took of a processor. A turn begins with operations that are not
 * counted: in the first turn of a cell WARM of them, or as many as take
 * WARM_NS, as a library sets up what it needs for collectives in the first of them; later COLD. The
 * data of a turn's first one are verified. Lines of the output, one an operation that counts, in
 * ns; spread is how long after the first rank the last one entered; root and other are what the
 * process of rank 0, and the busiest of the others, took of a processor:
 *
 *   op bytes round time spread root other
 *   # end
 */
#ifndef HWMC_TEST_LAB_CELLS_H_INCLUDED
#define HWMC_TEST_LAB_CELLS_H_INCLUDED

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "turns.h"

#define CELLS_MAX 256
#define CELLS_WARM 200 /* more than hwmc's trials of short calls take */
#define CELLS_WARM_NS 200000000
#define CELLS_COLD 2
#define CELLS_TIMED 10 /* of a turn, at most */
#define CELLS_PROBE_NS 200000

/* What a program does; rank and size are those of the process in its job. */
struct cells_work {
    int rank, size;
    void (*begin)(const char *op, size_t bytes); /* memory for a cell */
    void (*poison)(void);                        /* what the next operation must write */
    void (*once)(void);
    void (*verify)(void); /* ends the program if the data are wrong */
    void (*probe)(void);
    void (*end)(void);
};

enum cells_command { CELLS_NOT_COUNTED, CELLS_COUNTED, CELLS_LAST };

/* Of a job; 64 bytes of FILE. Times in ns. */
struct cells_meeting {
    _Atomic unsigned came, round; /* ranks; meetings that were complete */
    _Atomic unsigned through;     /* exits from operations */
    _Atomic unsigned command;     /* of rank 0, before it comes to a meeting */
    _Atomic int64_t start;
    _Atomic int64_t slowest, first, last; /* time, and entries */
    _Atomic int64_t root, other;          /* processor time of rank 0; of another, the most */
};

/* What FILE begins with; `cell` and `over`, 1 the first, are set by job 0. */
struct cells_shared {
    struct turns_shared turns;
    _Atomic unsigned unused, cell, over; /* that is under way; that has had its time */
    char fill[64 - sizeof(struct turns_shared) - 3 * sizeof(unsigned)];
    struct cells_meeting meeting[];
};

_Static_assert(sizeof(struct cells_meeting) == 64 && sizeof(struct cells_shared) == 64,
               "test/lab/bench_collectives reads them");

struct cells_cell {
    char op[32];
    size_t bytes;
    int skip;
};

struct cells {
    struct turns turns;
    struct cells_shared *shared;
    struct cells_meeting *meeting; /* of this job */
    unsigned operations;           /* done */
    int job, num;
    struct cells_cell cell[CELLS_MAX];
    int64_t turn_ns, cell_ns, gap;
    unsigned least, most; /* rounds */
    int row;              /* calls of an operation */
    const char *name;
    FILE *out; /* rank 0 */
    struct cells_work work;
};

/* Of this process. */
static inline int64_t cells_processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void cells_sleep_until(int64_t time)
{
    const struct timespec t = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* [!]OP:BYTES,... Returns 0 if that is not what it is. */
static inline int cells_parse_list(struct cells *c, const char *text)
{
    for (c->num = 0; c->num < CELLS_MAX; c->num++) {
        struct cells_cell *cell = &c->cell[c->num];
        int used = 0;

        cell->skip = *text == '!';
        text += cell->skip;
        if (sscanf(text, "%31[a-z_]:%zu%n", cell->op, &cell->bytes, &used) != 2 || used == 0)
            return 0;
        text += used;
        if (*text == '\0')
            return ++c->num;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}

/* Waits until it is this job's turn to initialize its library. */
static inline void cells_before(int argc, char **argv)
{
    struct turns turns = {.shared = NULL};

    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-turns=", 7) == 0 && turns_open(&turns, argv[i] + 7))
            turns_before(&turns);
}

/* Takes the options that it knows; returns 0 if any is unknown or wrong, or one is missing. */
static inline int cells_parse(struct cells *c, int argc, char **argv)
{
    int good = 1;

    c->turn_ns = 40000000;
    c->cell_ns = 2000000000;
    c->gap = 400000;
    c->least = 3;
    c->most = 7;
    c->row = 1;
    for (int i = 1; i < argc && good; i++) {
        if (strncmp(argv[i], "-turns=", 7) == 0)
            good = turns_open(&c->turns, argv[i] + 7);
        else if (strncmp(argv[i], "-cells=", 7) == 0)
            good = cells_parse_list(c, argv[i] + 7);
        else if (strncmp(argv[i], "-ms=", 4) == 0)
            c->turn_ns = (int64_t) (atof(argv[i] + 4) * 1e6);
        else if (strncmp(argv[i], "-cell-ms=", 9) == 0)
            c->cell_ns = (int64_t) (atof(argv[i] + 9) * 1e6);
        else if (strncmp(argv[i], "-rounds=", 8) == 0)
            good = sscanf(argv[i] + 8, "%u:%u", &c->least, &c->most) == 2;
        else if (strncmp(argv[i], "-gap=", 5) == 0)
            c->gap = (int64_t) (atof(argv[i] + 5) * 1000);
        else if (strncmp(argv[i], "-row=", 5) == 0)
            good = (c->row = atoi(argv[i] + 5)) > 0;
        else if (strncmp(argv[i], "-out=", 5) == 0)
            c->name = argv[i] + 5;
        else
            good = 0;
    }
    c->job = (int) c->turns.mine;
    c->shared = (struct cells_shared *) (void *) c->turns.shared;
    return good && c->shared != NULL && c->num > 0 && c->name != NULL;
}

/* Until all ranks have come. Returns T. */
static inline int64_t cells_meet(struct cells *c)
{
    struct cells_meeting *m = c->meeting;
    unsigned round = atomic_load(&m->round);

    if (atomic_fetch_add(&m->came, 1) + 1 == (unsigned) c->work.size) {
        atomic_store(&m->came, 0);
        atomic_store(&m->start, clock_now_ns() + c->gap);
        turns_add(&m->round);
    } else {
        while (atomic_load(&m->round) == round)
            turns_sleep(&m->round, round, NULL);
    }
    return atomic_load(&m->start);
}

static inline void cells_raise(_Atomic int64_t *word, int64_t value)
{
    int64_t old = atomic_load(word);

    while (old < value && !atomic_compare_exchange_weak(word, &old, value))
        ;
}

static inline void cells_lower(_Atomic int64_t *word, int64_t value)
{
    int64_t old = atomic_load(word);

    while (old > value && !atomic_compare_exchange_weak(word, &old, value))
        ;
}

/* Until all ranks are through. */
static inline void cells_stand_aside(struct cells *c)
{
    const struct timespec nap = {.tv_nsec = CELLS_PROBE_NS};
    _Atomic unsigned *through = &c->meeting->through;
    unsigned all = ++c->operations * (unsigned) c->work.size, now;

    if (atomic_fetch_add(through, 1) + 1 == all)
        turns_wake(through);
    while ((int) ((now = atomic_load(through)) - all) < 0) {
        turns_sleep(through, now, &nap);
        c->work.probe();
    }
}

/* One operation, at T; rank 0 says before what it is. Returns what rank 0 has said. */
static inline enum cells_command cells_operate(struct cells *c, enum cells_command command)
{
    struct cells_meeting *m = c->meeting;
    int64_t entry, left, busy;

    if (c->work.rank == 0) {
        atomic_store(&m->command, command);
        atomic_store(&m->slowest, 0);
        atomic_store(&m->first, INT64_MAX);
        atomic_store(&m->last, 0);
        atomic_store(&m->other, 0);
    }
    cells_sleep_until(cells_meet(c));
    command = (enum cells_command) atomic_load(&m->command);
    busy = cells_processor_time();
    entry = clock_now_ns();
    for (int i = 0; i < c->row; i++)
        c->work.once();
    left = clock_now_ns();
    busy = cells_processor_time() - busy;
    if (c->work.rank == 0)
        atomic_store(&m->root, busy);
    else
        cells_raise(&m->other, busy);
    cells_raise(&m->slowest, left - entry);
    cells_lower(&m->first, entry);
    cells_raise(&m->last, entry);
    cells_stand_aside(c);
    return command;
}

/* What the next operation of a turn is, by those before: rank 0's decision. The first `most_cold`
 * are not counted. */
static inline enum cells_command cells_decide(const struct cells *c, int most_cold, int cold,
                                              int64_t cold_ns, int timed, int64_t timed_ns)
{
    int64_t last = atomic_load(&c->meeting->slowest);

    if (cold == 0 ||
        (cold < most_cold && cold_ns < (most_cold > CELLS_COLD ? CELLS_WARM_NS : c->turn_ns)))
        return CELLS_NOT_COUNTED;
    return timed + 1 >= CELLS_TIMED || timed_ns + 2 * last > c->turn_ns ? CELLS_LAST
                                                                        : CELLS_COUNTED;
}

static inline void cells_turn(struct cells *c, const struct cells_cell *cell, unsigned round)
{
    struct cells_meeting *m = c->meeting;
    const int most_cold = round > 0 ? CELLS_COLD : CELLS_WARM;
    enum cells_command command = CELLS_NOT_COUNTED;
    int64_t cold_ns = 0, timed_ns = 0;
    int cold = 0, timed = 0;

    while (command != CELLS_LAST) {
        if (cold == 0)
            c->work.poison();
        if (c->work.rank == 0)
            command = cells_decide(c, most_cold, cold, cold_ns, timed, timed_ns);
        command = cells_operate(c, command);
        if (cold == 0)
            c->work.verify();
        cold += command == CELLS_NOT_COUNTED;
        if (c->work.rank != 0)
            continue;
        if (command == CELLS_NOT_COUNTED) {
            cold_ns += atomic_load(&m->slowest);
        } else {
            timed++;
            timed_ns += atomic_load(&m->slowest);
            fprintf(c->out, "%s %zu %u %lld %lld %lld %lld\n", cell->op, cell->bytes, round,
                    (long long) atomic_load(&m->slowest) / c->row,
                    (long long) (atomic_load(&m->last) - atomic_load(&m->first)),
                    (long long) atomic_load(&m->root) / c->row,
                    (long long) atomic_load(&m->other) / c->row);
        }
    }
    if (c->work.rank == 0)
        fflush(c->out);
}

/* All turns of this job in a cell; 1: the first one. */
static inline void cells_cell_run(struct cells *c, unsigned number)
{
    const struct cells_cell *cell = &c->cell[number - 1];
    const int decides = c->job == 0 && c->work.rank == 0;
    const int64_t began = clock_now_ns();
    int over = 0;

    for (unsigned round = 0; round < c->most && !over; round++) {
        turns_begin(&c->turns);
        if (decides && round == 0)
            atomic_store(&c->shared->cell, number);
        if (decides && round >= c->least && clock_now_ns() - began > c->cell_ns)
            atomic_store(&c->shared->over, number);
        cells_meet(c);
        over = atomic_load(&c->shared->over) == number;
        if (!cell->skip && round == 0)
            c->work.begin(cell->op, cell->bytes);
        if (!cell->skip && !over)
            cells_turn(c, cell, round);
        if (!cell->skip && (over || round + 1 == c->most))
            c->work.end();
        cells_meet(c); /* all have read `over`, which job 0 may set in its next turn */
        if (c->work.rank == 0)
            turns_end(&c->turns);
    }
}

/* All cells; 0, or -1 where the file cannot be written. */
static inline int cells_run(struct cells *c, const struct cells_work *work)
{
    c->work = *work;
    c->meeting = &c->shared->meeting[c->job];
    if (work->rank == 0 && !(c->out = fopen(c->name, "w")))
        return -1;
    cells_meet(c);
    if (work->rank == 0)
        turns_ready(&c->turns);
    for (int i = 0; i < c->num; i++)
        cells_cell_run(c, (unsigned) i + 1);
    turns_done(&c->turns, work->rank == 0);
    if (work->rank == 0 && (fputs("# end\n", c->out) < 0 || fclose(c->out) != 0))
        return -1;
    return 0;
}

#endif /* HWMC_TEST_LAB_CELLS_H_INCLUDED */
