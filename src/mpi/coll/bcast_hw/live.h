/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * live: what a process shows of itself while it runs: its counters. They lie in a file without a name (memfd), which
 * is found among the descriptors of the process and goes with it, however it ends; who may look is the kernel's to
 * say (ptrace, mode READ). Who looks takes no lock and stops nobody.
 *
 * One process writes, others read:
 *
 *   - what stands before `rank` means the same in all versions; the rest is read by the same version only
 *   - a counter has one writer at a time, and is a word that is read whole; threads may lose a count
 *   - names are there before num_counters tells of them, and do not change
 */
#ifndef BCAST_HW_LIVE_H_INCLUDED
#define BCAST_HW_LIVE_H_INCLUDED

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BCAST_HW_LIVE_FILE "hwmc-live"
#define BCAST_HW_LIVE_MAGIC UINT64_C(0x6576696c636d7768) /* hwmclive */
#define BCAST_HW_LIVE_COUNTERS 256u
#define BCAST_HW_LIVE_NAME 48u

struct bcast_hw_live {
    uint64_t magic;
    char version[32]; /* of hwmc */
    uint64_t bytes;   /* of all this */

    uint32_t rank; /* in MPI_COMM_WORLD */
    uint32_t size;
    _Atomic uint32_t num_counters;
    char name[BCAST_HW_LIVE_COUNTERS][BCAST_HW_LIVE_NAME];
    bool level[BCAST_HW_LIVE_COUNTERS]; /* it falls as well; else it counts */
    uint64_t value[BCAST_HW_LIVE_COUNTERS];
};

#endif /* BCAST_HW_LIVE_H_INCLUDED */
