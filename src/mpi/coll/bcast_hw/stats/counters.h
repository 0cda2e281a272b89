/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * counters: what this process counts, and how. Needs mpiimpl.h.
 */

#ifndef HWMC_STATS_COUNTERS_H_INCLUDED
#define HWMC_STATS_COUNTERS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "number.h"
#include "../shm/segment/params.h"

struct hwmc_counts;
struct hwmc_engine_counts;
struct hwmc_group;
struct hwmc_network;

/* A number that this process tells of itself: a PVAR of this name (unsigned, 64 bits, of no object;
 * a state: an int, with an enumeration), a row of the summary, a line of `hwmc_info --live`. */
struct hwmc_counter {
    const char *name, *text; /* that last as long as the program */
    enum hwmc_export_number kind;
    const char *const *states; /* STATE: the names of 0, 1, ..., then NULL */
};

/* Registers them, alike on all processes of a job; where they are, in this order, as long as the
 * program runs. Whoever counts adds to memory and does nothing else. */
uint64_t *hwmc_counters_register(const struct hwmc_counter *list, uint32_t num);

/* The same of an array `list`, which names each word of the struct that `counts` is to point to. */
#define HWMC_COUNTERS_ADD(list, counts)                                                            \
    do {                                                                                           \
        MPL_COMPILE_TIME_ASSERT(sizeof(list) / sizeof((list)[0]) ==                                \
                                sizeof(*(counts)) / sizeof(uint64_t));                             \
        (counts) = (void *) hwmc_counters_register(list, sizeof(list) / sizeof((list)[0]));        \
    } while (0)

/* Registers the counters of the collective layer; where the machines and the engine count. */
void hwmc_add_counters(struct hwmc_counts **machines, struct hwmc_engine_counts **engine);

/* A communicator does not use multicast for `reason`. */
void hwmc_note_reason(uint32_t reason);

/* A broadcast of `bytes` ran over hwmc, or was left to MPICH. */
void hwmc_note_call(bool taken, MPI_Aint bytes);

/* A collective over hosts, other than a broadcast, is hwmc's, or left to MPICH. */
void hwmc_note_spread(bool taken);

/* A trial is over; `changes`: another way is the fastest than the one before. */
void hwmc_note_trial(bool changes);

/* A leader group other than a communicator's first was set up, or could not be. */
void hwmc_note_leader_group(bool on);

/* Over hosts, at the root: it handed its broadcast to the network itself, or to another one of its
 * host. */
void hwmc_note_root(bool itself);

/* What algorithm selection goes by. */
void hwmc_note_network(const struct hwmc_network *net);

/* Where this process runs: hwmc_host_of. */
void hwmc_note_host(int host);

/* Which rail the group disabled or enabled last. Under the lock. */
void hwmc_note_rails(const struct hwmc_group *g);

/* Inside a host: a collective ran, or could have but for a segment; a segment came, or went; a
 * choice was made that is not the one before. */
void hwmc_shm_note_call(void);
void hwmc_shm_note_left(void);
void hwmc_shm_note_segment(bool more, size_t bytes);
void hwmc_shm_note_choice(enum hwmc_shm_kind kind, const struct hwmc_shm_params *params);

/* Bytes of the segments that this process has. */
size_t hwmc_shm_mapped(void);

#endif /* HWMC_STATS_COUNTERS_H_INCLUDED */
