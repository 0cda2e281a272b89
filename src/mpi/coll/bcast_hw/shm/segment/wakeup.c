/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * wakeup: see wakeup.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "wakeup.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "group.h"
#include "slot.h"

enum fenced { NOT, ASKED, AGREED };

struct wakeup {
    alignas(HWMC_SHM_LINE) _Atomic uint32_t sleepers;
    _Atomic uint32_t rings;
    _Atomic uint32_t fenced; /* enum fenced; it only grows */
};

_Static_assert(HWMC_SHM_WAKEUP_AT + sizeof(struct wakeup) <= HWMC_SHM_HEADER, "in the header");

static struct wakeup *wakeup_of(const struct hwmc_shm_group *g)
{
    return (struct wakeup *) (g->segment->base + HWMC_SHM_WAKEUP_AT);
}

void hwmc_shm_wakeup_register(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
}

void hwmc_shm_wakeup_ring(struct hwmc_shm_group *g)
{
    struct wakeup *b = wakeup_of(g);

    if (g->rung == g->told)
        return;
    g->rung = g->told;
    /* The compiler's order; until somebody sleeps, the processor's is the first sleeper's to see to. */
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&b->fenced, memory_order_relaxed) != NOT)
        atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&b->sleepers, memory_order_relaxed) == 0)
        return;
    atomic_fetch_add_explicit(&b->rings, 1, memory_order_release);
    syscall(SYS_futex, &b->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t hwmc_shm_wakeup_sleepers(const struct hwmc_shm_group *g)
{
    return atomic_load_explicit(&wakeup_of(g)->sleepers, memory_order_relaxed);
}

/* Whoever rings from now on has a fence before its look. */
static void agree_on_fences(struct wakeup *b)
{
    uint32_t was = NOT;

    atomic_compare_exchange_strong(&b->fenced, &was, ASKED);
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    atomic_store_explicit(&b->fenced, AGREED, memory_order_release);
}

uint32_t hwmc_shm_wakeup_listen(struct hwmc_shm_group *g)
{
    struct wakeup *b = wakeup_of(g);
    uint32_t heard;

    atomic_fetch_add_explicit(&b->sleepers, 1, memory_order_acq_rel);
    heard = atomic_load_explicit(&b->rings, memory_order_acquire);
    if (atomic_load_explicit(&b->fenced, memory_order_acquire) != AGREED)
        agree_on_fences(b);
    atomic_thread_fence(memory_order_seq_cst);
    return heard;
}

void hwmc_shm_wakeup_sleep(struct hwmc_shm_group *g, uint32_t heard, uint64_t ns)
{
    const struct timespec most = {.tv_sec = (time_t) (ns / 1000000000u),
                                  .tv_nsec = (long) (ns % 1000000000u)};

    syscall(SYS_futex, &wakeup_of(g)->rings, FUTEX_WAIT, heard, &most, NULL, 0);
    hwmc_shm_wakeup_leave(g);
}

void hwmc_shm_wakeup_leave(struct hwmc_shm_group *g)
{
    atomic_fetch_sub_explicit(&wakeup_of(g)->sleepers, 1, memory_order_acq_rel);
}
