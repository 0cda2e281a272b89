/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wait: what to do between two steps that had to wait, where there is nothing else to do. Spinning
 * sees the other rank's store first; it is of no use where that rank waits for this core.
 */
#ifndef BCAST_HW_NODE_WAIT_H_INCLUDED
#define BCAST_HW_NODE_WAIT_H_INCLUDED

#include <sched.h>
#include <stdint.h>

#include "op.h"

#define BCAST_HW_NODE_SPINS 1000u

struct bcast_hw_node_wait {
    uint32_t max; /* spins before the core is given to others; 0: at once */
    uint32_t spins;
};

/* At the beginning of each wait. */
static inline struct bcast_hw_node_wait bcast_hw_node_wait_begin(uint32_t ranks, uint32_t cores)
{
    return (struct bcast_hw_node_wait){.max = ranks > cores ? 0 : BCAST_HW_NODE_SPINS, .spins = 0};
}

/* The processor is told that this is a loop which waits. */
static inline void bcast_hw_node_wait_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory");
#endif
}

static inline void bcast_hw_node_wait_once(struct bcast_hw_node_wait *w)
{
    if (w->spins < w->max) {
        w->spins++;
        bcast_hw_node_wait_relax();
    } else {
        sched_yield();
    }
}

/* Until it is done: OK, or what failed. */
static inline int bcast_hw_node_wait_for(struct bcast_hw_node_op *op, struct bcast_hw_node_wait *w)
{
    int err;

    while ((err = bcast_hw_node_op_step(op)) == BCAST_HW_AGAIN) {
        if (op->moved)
            w->spins = 0;
        else
            bcast_hw_node_wait_once(w);
    }
    return err;
}

#endif /* BCAST_HW_NODE_WAIT_H_INCLUDED */
