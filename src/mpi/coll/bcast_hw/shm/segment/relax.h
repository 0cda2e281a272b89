/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * relax: what to do between two steps that had to wait, if there is nothing else to do. Spinning
 * sees the other rank's store first; it is of no use if that rank waits for this processor.
 */
#ifndef HWMC_SHM_SEGMENT_RELAX_H_INCLUDED
#define HWMC_SHM_SEGMENT_RELAX_H_INCLUDED

#include <sched.h>
#include <stdint.h>

#include "op.h"

#define HWMC_SHM_SPINS 1000u

struct hwmc_shm_relax_state {
    uint32_t max; /* spins before the core is given to others; 0: at once */
    uint32_t spins;
};

/* At the beginning of each wait. */
static inline struct hwmc_shm_relax_state hwmc_shm_relax_begin(uint32_t ranks, uint32_t cores)
{
    return (struct hwmc_shm_relax_state){.max = ranks > cores ? 0 : HWMC_SHM_SPINS, .spins = 0};
}

/* The processor is told that this is a loop which waits. */
static inline void hwmc_shm_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

static inline void hwmc_shm_relax_once(struct hwmc_shm_relax_state *w)
{
    if (w->spins < w->max) {
        w->spins++;
        hwmc_shm_relax();
    } else {
        sched_yield();
    }
}

/* Until it is done: OK, or what failed. */
static inline int hwmc_shm_relax_for(struct hwmc_shm_op *op, struct hwmc_shm_relax_state *w)
{
    int err;

    while ((err = hwmc_shm_op_step(op)) == HWMC_AGAIN) {
        if (op->moved)
            w->spins = 0;
        else
            hwmc_shm_relax_once(w);
    }
    return err;
}

#endif /* HWMC_SHM_SEGMENT_RELAX_H_INCLUDED */
