/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * export: counters, rails and communicators of a running process, for `hwmc_info --live`. They are
 * in a file without a name (memfd) among the descriptors of the process, and vanish with it,
 * however it ends. The kernel decides who may read it (ptrace, mode READ). A reader takes no lock
 * and stops nobody.
 *
 * One process writes, others read:
 *
 *   - fields before `rank` mean the same in all versions; only the same version reads the rest
 *   - a counter has one writer at a time, and is a word that is read whole; threads may lose a
 *     count
 *   - names and texts are there before num_counters, rails before num_rails counts them, and do not
 *     change
 *   - an entry of a communicator, of a group or of a lane begins with `turn`, which is odd while
 *     the entry is written: a reader checks `turn` before and after
 */
#ifndef HWMC_STATS_EXPORT_H_INCLUDED
#define HWMC_STATS_EXPORT_H_INCLUDED

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../core/flow/epoch.h"
#include "../core/path/lane_state.h"
#include "number.h"
#include "../port/rail.h"

#define HWMC_EXPORT_FILE "hwmc-live"
#define HWMC_EXPORT_MAGIC UINT64_C(0x6576696c636d7768) /* hwmclive */
#define HWMC_EXPORT_COUNTERS 256u
#define HWMC_EXPORT_COMMS 64u
#define HWMC_EXPORT_NAME 48u
#define HWMC_EXPORT_TEXTS 16384u
#define HWMC_EXPORT_CASTS 128u
#define HWMC_EXPORT_LANES 33u

struct hwmc_export_rail {
    uint32_t number; /* the job's */
    struct hwmc_rail port;
    char fabric[16]; /* what multicasts there; empty: nothing does */
};

struct hwmc_export_comm {
    _Atomic uint32_t turn;
    uint32_t context; /* MPI context id */
    uint32_t ranks;   /* 0: the place is free */
    uint32_t rank;
    char name[32];    /* as MPI_Comm_set_name gave it, the first bytes */
    char network[32]; /* how its broadcasts go over the network, in words */
    char host[32];    /* the same of its collectives inside a host */
};

/* How a group multicasts: a communicator's, or one side's of it (comm/leader_group.h). */
struct hwmc_export_cast {
    _Atomic uint32_t turn;
    uint32_t context;
    uint32_t part;  /* which of the communicator's leader groups */
    uint32_t ranks; /* members of the group; 0: the place is free */
    uint32_t rank;
    uint8_t agreed; /* rails on which all of them could multicast at set-up, a bit each */
    uint8_t rails;  /* on which broadcasts are multicast; 0: they go along trees */
    bool broken;    /* every broadcast is an error */
    uint32_t lost;  /* broken: the rank in MPI_COMM_WORLD that cannot be reached */
    struct hwmc_rail_state stand[HWMC_RAIL_BITS]; /* of those agreed on */
};

/* A lane of this process. */
struct hwmc_export_lane {
    _Atomic uint32_t turn;
    bool open;
    bool sessions;                /* streams move between it and others: `stand` is known */
    int32_t rail;                 /* the job's number; -1: whatever UCX takes */
    char kind[8];                 /* "ucx", "rc" */
    char carries[32];             /* without sessions: what goes by it, in words */
    struct hwmc_lane_state stand; /* sessions; peers are ranks in MPI_COMM_WORLD */
};

struct hwmc_export {
    uint64_t magic;
    char version[32]; /* of hwmc */
    uint64_t bytes;   /* of all this */

    uint32_t rank; /* in MPI_COMM_WORLD */
    uint32_t size;
    _Atomic uint32_t num_counters;
    _Atomic uint32_t num_rails;
    struct hwmc_export_rail rail[HWMC_RAILS_MAX]; /* that this host has, by number */
    char name[HWMC_EXPORT_COUNTERS][HWMC_EXPORT_NAME];
    uint8_t kind[HWMC_EXPORT_COUNTERS];  /* enum hwmc_export_number */
    uint16_t text[HWMC_EXPORT_COUNTERS]; /* where in `texts` its description begins */
    char texts[HWMC_EXPORT_TEXTS];
    uint64_t value[HWMC_EXPORT_COUNTERS];
    _Atomic uint32_t num_comms; /* that hwmc cares for; those without a place are not told of */
    struct hwmc_export_comm comm[HWMC_EXPORT_COMMS];
    _Atomic uint32_t num_casts; /* as num_comms */
    struct hwmc_export_cast cast[HWMC_EXPORT_CASTS];
    struct hwmc_export_lane lane[HWMC_EXPORT_LANES];
};

/* The writing side, in MPICH's library. */

struct hwmc_group;

/* Before any counter is added; `version` is hwmc's. False: another MPI_Init of this process has
 * done it, and added them. */
bool hwmc_export_open(const char *version);

/* What this process shows. */
const struct hwmc_export *hwmc_export_page(void);

/* A rail by the job's number, as this host has it, and what multicasts there; empty: nothing does.
 * Once a process for each that the host has. */
void hwmc_export_note_rail(uint32_t number, const struct hwmc_rail *port, const char *fabric);

/* Lane `number` (below HWMC_EXPORT_LANES) stands so now. One caller at a time. */
void hwmc_export_note_lane(uint32_t number, const struct hwmc_export_lane *lane);

/* Where a communicator is shown; zero to begin with. */
struct hwmc_export_place {
    struct hwmc_export_comm *at; /* NULL: it is not: there is no room, or not yet */
    bool counted;
};

/* Shows how the collectives of a communicator go from now on, but for `turn`; shows it no more. */
void hwmc_export_show(struct hwmc_export_place *place, const struct hwmc_export_comm *comm);
void hwmc_export_hide(struct hwmc_export_place *place);

/* The same of how a group multicasts; `first`: it is new. Under the lock. */
void hwmc_export_note_cast(struct hwmc_group *g, bool first);
void hwmc_export_forget(struct hwmc_group *g);

#endif /* HWMC_STATS_EXPORT_H_INCLUDED */
