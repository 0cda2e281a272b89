/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * helper: a thread that answers for this process while its program computes. It runs the engine's
 * progress, under the engine's lock, and nothing of MPICH. So it sends repairs, synchronization,
 * acknowledgements of sessions, and the rest of broadcasts along trees.
 *
 * The program calls _in and _out around its own progress. The helper checks from time to time
 * whether it did so since the last check. While it does, the helper only goes on checking. If it
 * has not, the helper sleeps on the descriptors of fabrics and lanes until something comes or a
 * timer of the engine is due. So it does not disturb a program that communicates, and answers for
 * one that computes from the second check on. When the program has started an operation these
 * checks come soon, and less and less soon while the program goes on making progress.
 *
 * Between _in and _out of a program with one thread the helper does not touch the engine, except to
 * finish what it began before. Once the program has had the lock, it has all to itself, also
 * descriptors and lanes, for which it takes no lock.
 */

#ifndef HWMC_NETMOD_WAIT_HELPER_H_INCLUDED
#define HWMC_NETMOD_WAIT_HELPER_H_INCLUDED

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HWMC_HELPER_COUNTS(X)                                                                      \
    X(wakes, "times the helper thread looked after what came while the program computed")          \
    X(repairs, "fragments that it sent to members that had requested them")

struct hwmc_helper_counts {
#define X(field, text) uint64_t field;
    HWMC_HELPER_COUNTS(X)
#undef X
};

/* What the program tells the helper. */
struct hwmc_helper_told {
    bool on;           /* there is one */
    atomic_bool in;    /* the program makes progress now */
    atomic_uint polls; /* how often it began to */
    atomic_bool far;   /* by the helper: its next check is not soon */
};

extern struct hwmc_helper_told hwmc_helper_told;

static inline void hwmc_helper_in(void)
{
    struct hwmc_helper_told *t = &hwmc_helper_told;

    if (!t->on)
        return;
    atomic_store_explicit(&t->in, true, memory_order_relaxed);
    atomic_store_explicit(&t->polls, atomic_load_explicit(&t->polls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static inline void hwmc_helper_out(void)
{
    if (hwmc_helper_told.on)
        atomic_store_explicit(&hwmc_helper_told.in, false, memory_order_release);
}

/* The program has started an operation: the helper is to check soon. */
void hwmc_helper_hurry(void);

/* Whether the user wants one in this process. */
bool hwmc_helper_wanted(void);

/* Begins it, if it is wanted: once fabrics and lanes are registered. Returns MPICH's error code:
 * without a thread there is none. */
int hwmc_helper_start(void);

/* Ends it: before anything that it uses goes. */
void hwmc_helper_stop(void);

#endif /* HWMC_NETMOD_WAIT_HELPER_H_INCLUDED */
