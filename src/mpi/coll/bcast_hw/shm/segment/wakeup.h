/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wakeup: ranks that share processors sleep while they wait, and the rank that has stored
 * something wakes them. A rank whose step waits for one other rank alone (group.h, awaits) sleeps
 * on a word of that rank's block, all others on one in the segment's header. With each word stands
 * how many sleep there or are about to. So an arrival at a barrier wakes the rank that counts
 * arrivals, and not those that have arrived and wait for its answer.
 *
 * A rank that has stored rings before it waits itself, and at the end of a collective. It reads
 * the `sleepers` of both, and goes on if there are none. Where no rank ever slept this costs
 * nothing: no fence, no line that changes hands. A rank that wants to sleep adds itself to
 * `sleepers`, makes STEPS further steps behind a fence, and sleeps if none found anything. A
 * ringing rank has a fence between its store and its look, so one of the two sees what the other
 * did. A ring between the steps and the sleep has changed the count of rings, and the sleep ends
 * at once. There are several steps, since some find nothing and yet advance a collective.
 *
 * `fenced` says whether ringing ranks have that fence. The first rank that wants to sleep sets it
 * to ASKED, has every process of the group pass a barrier (membarrier), and sets it to AGREED. A
 * ring before the barrier is seen by the steps, one after it has the fence. Only a rank that does
 * not find AGREED needs the barrier, which interrupts every processor on which the group runs. If
 * the kernel has no such barrier, a rank may miss one that fell asleep at the same moment the
 * first time; that one sleeps to the end of its time.
 *
 * A rank that died asleep stays in `sleepers`; then rings are made for nothing. A sleeping rank
 * wakes after a time in any case, since MPICH's messages do not ring.
 */
#ifndef HWMC_SHM_SEGMENT_WAKEUP_H_INCLUDED
#define HWMC_SHM_SEGMENT_WAKEUP_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "group.h"

#define HWMC_SHM_WAKEUP_STEPS HWMC_SHM_MISMATCH_STEPS

/* For a group's beginning: from now on this process passes the barriers of those who go to
 * sleep. */
void hwmc_shm_wakeup_register(void);

/* Wakes who sleeps, if this rank has stored anything for others since its last call. */
void hwmc_shm_wakeup_ring(struct hwmc_shm_group *g);

/* This rank is about to sleep until whom its last step awaits has stored. The count to sleep on,
 * after STEPS further steps. */
uint32_t hwmc_shm_wakeup_listen(struct hwmc_shm_group *g);

/* Sleeps until somebody rings, or has since listen; for `ns` at most. It listens no more. Whether
 * somebody rang. */
bool hwmc_shm_wakeup_sleep(struct hwmc_shm_group *g, uint32_t heard, uint64_t ns);

/* The last step waits for another rank than the one that this one listens to: it is to leave. */
static inline bool hwmc_shm_wakeup_elsewhere(const struct hwmc_shm_group *g)
{
    return g->awaits != g->listens_to;
}

/* How many ranks sleep, or are about to, that wait for `rank`, or for ANYONE. */
uint32_t hwmc_shm_wakeup_sleepers(const struct hwmc_shm_group *g, uint32_t rank);

/* It does not sleep after all. */
void hwmc_shm_wakeup_leave(struct hwmc_shm_group *g);

#endif /* HWMC_SHM_SEGMENT_WAKEUP_H_INCLUDED */
