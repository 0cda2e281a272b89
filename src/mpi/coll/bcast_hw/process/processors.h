/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * processors: which processes share a thread's processor, how near this process is to rails, and
 * how the netmod waits for MPICH's messages.
 */

#ifndef HWMC_PROCESS_PROCESSORS_H_INCLUDED
#define HWMC_PROCESS_PROCESSORS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

/* Finds out whether the processes of the job on this host have a processor each, or more or less,
 * by their number, affinity masks and quotas. After hwmc_find_hosts; for waits. */
void hwmc_presume_processors(void);

/* This process may use more processors than the job has processes on this host. False where nobody
 * says. */
bool hwmc_has_processors_left(void);

/* What this thread knows of those who share its processor: core/wait/wait_policy.h. */
struct hwmc_wait_policy;
struct hwmc_wait;
struct hwmc_wait_policy *hwmc_processor_wait_policy(void);

/* Yields at `now` (ns), as that says, and notes what it found. Returns the time thereafter. */
uint64_t hwmc_processor_yield(struct hwmc_wait *w, uint64_t now);

/* Whether this thread's processor went to another one since it asked last, though it wanted to go
 * on. A system call; the first time false. */
bool hwmc_processor_was_taken(void);

/* `find` tells how far this process's processors are from each rail, by its number
 * (HWMC_RAIL_BITS of them): in the firmware's unit, in which 10 is near; negative: not known.
 * It is called once at most, when a communicator needs it. */
void hwmc_register_distances(void (*find)(int *distance));

/* What it tells, as far as it is known; INT_MAX: it is not. */
void hwmc_distances(int *distance);

/* How the layer's own waits wait for messages: between begin and end the thread waits for the
 * engine, and calls polled after each MPID_Progress_test that may have found nothing: whether it
 * found something, or slept. All take no time where something came. */
struct hwmc_waiter {
    void (*begin)(void);
    bool (*polled)(void);
    void (*end)(void);
    void (*started)(void); /* an operation, which is not over: a helper thread may step it */
};
void hwmc_register_waiter(const struct hwmc_waiter *w);

/* The netmod's hwmc_waiter; without one, polls always found something. */
void hwmc_wait_begins(void);
bool hwmc_wait_polled(void);
void hwmc_wait_ends(void);
void hwmc_wait_started(void);

#endif /* HWMC_PROCESS_PROCESSORS_H_INCLUDED */
