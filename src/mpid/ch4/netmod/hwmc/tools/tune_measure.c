/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * How long the slowest rank takes: inside a host from the first one's beginning to the last one's
 * end, over hosts, whose clocks differ, the longest that a rank was in the call (tune_spans.h). A
 * sample is a number of calls each of which all ranks begin together, and as many in a row, where
 * some ranks may run ahead: programs have both, so a candidate's figure is the geometric mean of
 * the two. Candidates take turns, so that what else the host does hits all of them, and the median
 * of a candidate's samples counts. One that is far behind, in the best of its samples so far, gets
 * no further turn.
 */
#include "tune.h"
#include "tune_spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MAX 64
#define REPEATS_MAX 16
#define WARM 3 /* calls before a sample: the caches are full of another candidate's memory */
#define COLD (1 << 20)  /* bytes from which on a message is another one every time */
#define POOL (64 << 20) /* bytes of memory for them */
#define STAYS 1.03      /* a neighbour's choice that is no further behind is kept */
#define OUT_AT_ONCE 4.  /* as many times the best: out after the first turn */
#define OUT_LATER 1.5   /* after a later one */

struct runner {
    const struct tune_candidate *candidate;
    MPI_Comm comm;
    double figures[REPEATS_MAX]; /* seconds */
    int num;
    bool in; /* it is tried for this length, and not out */
};

struct trial {
    const struct tune_op *op;
    const struct tune_stage *stage;
    char *from, *to; /* memory */
    int bytes;
    int calls;   /* of half a sample */
    size_t room; /* of memory, bytes */
    size_t span; /* of it that a message takes */
    size_t next; /* calls so far */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double median(double *values, int num)
{
    qsort(values, (size_t) num, sizeof(*values), by_value);
    return num % 2 ? values[num / 2] : (values[num / 2 - 1] + values[num / 2]) / 2;
}

/* Where short messages lie is the same every time; long ones go round, so that they come from
 * memory. */
static void call(struct trial *t, MPI_Comm comm)
{
    size_t at = t->bytes < COLD ? 0 : t->next++ % (t->room / t->span) * t->span;

    t->op->call(comm, t->from + at, t->to + at, t->bytes, t->stage->ranks);
}

/* How long all ranks took for each of `num` spans, in `ends`; the same on all ranks. */
static void spread(const struct trial *t, double *begins, double *ends, int num)
{
    tune_spans_give(begins, ends, num, t->stage->hosts == 0);
    MPI_Allreduce(MPI_IN_PLACE, begins, num, MPI_DOUBLE, MPI_MAX, t->stage->comm);
    MPI_Allreduce(MPI_IN_PLACE, ends, num, MPI_DOUBLE, MPI_MAX, t->stage->comm);
    tune_spans_finish(begins, ends, num);
}

/* Seconds of a call, of those that are begun together and of those in a row. */
static double sample(struct trial *t, MPI_Comm comm)
{
    double begins[CALLS_MAX + 1], ends[CALLS_MAX + 1];

    for (int i = 0; i < WARM && i < t->calls; i++)
        call(t, comm);
    for (int i = 0; i < t->calls; i++) {
        MPI_Barrier(t->stage->comm);
        begins[i] = MPI_Wtime();
        call(t, comm);
        ends[i] = MPI_Wtime();
    }
    MPI_Barrier(t->stage->comm);
    begins[t->calls] = MPI_Wtime();
    for (int i = 0; i < t->calls; i++)
        call(t, comm);
    ends[t->calls] = MPI_Wtime();
    MPI_Barrier(t->stage->comm);
    spread(t, begins, ends, t->calls + 1);
    return sqrt(median(ends, t->calls) * ends[t->calls] / t->calls);
}

/* Calls that fill half a sample, by how long one takes; the first ones of a communicator set it
 * up. */
static int calls_for(struct trial *t, MPI_Comm comm, double seconds)
{
    double begin, took;

    for (int i = 0; i < WARM; i++)
        call(t, comm);
    begin = MPI_Wtime();
    for (int i = 0; i < WARM; i++)
        call(t, comm);
    took = (MPI_Wtime() - begin) / WARM;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, t->stage->comm);
    took = seconds / 2 / took;
    return took < 1 ? 1 : took > CALLS_MAX ? CALLS_MAX : (int) took;
}

static double least_of(const struct runner *r)
{
    double least = INFINITY;

    for (int i = 0; i < r->num; i++)
        least = r->figures[i] < least ? r->figures[i] : least;
    return least;
}

/* Puts out who is far behind. Other load makes samples longer, never shorter. */
static void cut(struct runner *runners, int num, int turn)
{
    double best = INFINITY;

    for (int i = 0; i < num; i++)
        if (runners[i].in && least_of(&runners[i]) < best)
            best = least_of(&runners[i]);
    for (int i = 0; i < num; i++)
        if (least_of(&runners[i]) > best * (turn == 0 ? OUT_AT_ONCE : OUT_LATER))
            runners[i].in = false;
}

static void race(struct trial *t, struct runner *runners, int num, const struct tune_plan *plan)
{
    t->calls = 0;
    for (int i = 0; i < num; i++) {
        runners[i].num = 0;
        runners[i].in = tune_fits(t->op, runners[i].candidate, t->bytes);
    }
    for (int turn = 0; turn < plan->repeats; turn++) {
        for (int k = 0; k < num; k++) {
            struct runner *r = &runners[(k + turn) % num];

            if (!r->in)
                continue;
            tune_apply(t->op, r->candidate);
            if (t->calls == 0)
                t->calls = calls_for(t, r->comm, plan->sample);
            r->figures[r->num++] = sample(t, r->comm);
        }
        cut(runners, num, turn);
    }
}

static double figure_of(struct runner *r)
{
    return r->in && r->num > 0 ? median(r->figures, r->num) : INFINITY;
}

/* Whose figure is least, or who was chosen for the length before, if that is hardly worse. */
static int pick(struct runner *runners, int num, int before)
{
    int best = 0;

    for (int i = 1; i < num; i++)
        if (figure_of(&runners[i]) < figure_of(&runners[best]))
            best = i;
    return before >= 0 && figure_of(&runners[before]) <= STAYS * figure_of(&runners[best]) ? before
                                                                                           : best;
}

static void tell(const struct trial *t, const struct tune_candidate *c, double seconds)
{
    int rank;

    MPI_Comm_rank(t->stage->comm, &rank);
    if (rank != 0)
        return;
    if (t->stage->hosts > 0)
        fprintf(stderr, "%3d hosts  ", t->stage->hosts);
    else
        fprintf(stderr, "%3d ranks  ", t->stage->ranks);
    fprintf(stderr, "%-14s %9d  %10.2f us  %s", t->op->name, t->bytes, seconds * 1e6, c->algorithm);
    if (c->degree > 0)
        fprintf(stderr, " %s %d", c->binary ? "knomial" : "kary", c->degree);
    if (c->chunk > 0)
        fprintf(stderr, " chunks of %d", c->chunk);
    fprintf(stderr, "%s\n", c->direct ? " single copy" : "");
}

static void *memory(size_t bytes)
{
    void *m = NULL;

    if (posix_memalign(&m, 4096, bytes) != 0)
        tune_fail("no memory");
    memset(m, 0, bytes);
    return m;
}

void tune_measure(const struct tune_op *op, const struct tune_stage *stage,
                  const struct tune_plan *plan, struct tune_found *found)
{
    struct tune_candidate candidates[TUNE_CANDIDATES_MAX];
    struct runner runners[TUNE_CANDIDATES_MAX];
    struct trial t = {.op = op, .stage = stage};
    const int num = tune_candidates(op, stage->ranks, candidates);
    const int64_t longest = plan->bytes[plan->num_sizes - 1];
    const size_t blocks = (size_t) (op->blocks ? stage->ranks : 1);
    const size_t most = (size_t) ((longest < op->most ? longest : op->most) + 64) * blocks;
    int before = -1;

    t.room = most > POOL || longest < COLD ? most : POOL;
    t.from = memory(t.room);
    t.to = memory(t.room);
    for (int i = 0; i < num; i++) {
        runners[i].candidate = &candidates[i];
        /* Inside a host a communicator keeps its last choice. */
        runners[i].comm = stage->comm;
        if (!op->over_hosts)
            MPI_Comm_dup(stage->comm, &runners[i].comm);
    }
    found->num = 0;
    for (int i = 0; i < (op->most > 0 ? plan->num_sizes : 1); i++) {
        if (op->most > 0 && plan->bytes[i] > op->most)
            break;
        t.bytes = op->most > 0 ? (int) plan->bytes[i] : 0;
        t.span = (size_t) (t.bytes + 64) * blocks;
        race(&t, runners, num, plan);
        before = pick(runners, num, before);
        found->bytes[found->num] = t.bytes;
        found->direct_wins[found->num] = candidates[before].direct;
        found->choice[found->num++] = candidates[before];
        tell(&t, &candidates[before], figure_of(&runners[before]));
    }
    tune_reset();
    for (int i = 0; i < num && !op->over_hosts; i++)
        MPI_Comm_free(&runners[i].comm);
    free(t.from);
    free(t.to);
}
