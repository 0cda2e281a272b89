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

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "group.h"
#include "slot.h"

enum fenced { NOT, ASKED, AGREED };

/* In the segment's header. */
struct common {
    struct hwmc_shm_wakeup anyone; /* of ranks that wait for several */
    _Atomic uint32_t fenced;       /* enum fenced; it only grows */
};

_Static_assert(HWMC_SHM_WAKEUP_AT + sizeof(struct common) <= HWMC_SHM_HEADER, "in the header");

static struct common *common_of(const struct hwmc_shm_group *g)
{
    return (struct common *) (g->segment->base + HWMC_SHM_WAKEUP_AT);
}

/* What ranks sleep on that wait for `rank`, or for ANYONE. */
static struct hwmc_shm_wakeup *wakeup_of(const struct hwmc_shm_group *g, uint32_t rank)
{
    return rank == HWMC_SHM_ANYONE ? &common_of(g)->anyone
                                   : &hwmc_shm_words(g->segment, rank)->wakeup;
}

void hwmc_shm_wakeup_register(void)
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
}

static void wake_sleepers(struct hwmc_shm_wakeup *w)
{
    if (atomic_load_explicit(&w->sleepers, memory_order_relaxed) == 0)
        return;
    atomic_fetch_add_explicit(&w->rings, 1, memory_order_release);
    syscall(SYS_futex, &w->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void hwmc_shm_wakeup_ring(struct hwmc_shm_group *g)
{
    const bool told = g->rung != g->told;

    if (!told && g->rung_finished == g->finished)
        return;
    g->rung = g->told;
    g->rung_finished = g->finished;
    /* The compiler's order; before anybody has slept, the first sleeper sees to the processor's. */
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&common_of(g)->fenced, memory_order_relaxed) != NOT)
        atomic_thread_fence(memory_order_seq_cst);
    if (told)
        wake_sleepers(wakeup_of(g, g->rank));
    wake_sleepers(wakeup_of(g, HWMC_SHM_ANYONE));
}

/* Whoever rings from now on has a fence before its look. */
static void agree_on_fences(struct common *c)
{
    uint32_t was = NOT;

    atomic_compare_exchange_strong(&c->fenced, &was, ASKED);
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    atomic_store_explicit(&c->fenced, AGREED, memory_order_release);
}

uint32_t hwmc_shm_wakeup_sleepers(const struct hwmc_shm_group *g, uint32_t rank)
{
    return atomic_load_explicit(&wakeup_of(g, rank)->sleepers, memory_order_relaxed);
}

uint32_t hwmc_shm_wakeup_listen(struct hwmc_shm_group *g)
{
    struct hwmc_shm_wakeup *w = wakeup_of(g, g->awaits);
    uint32_t heard;

    g->listens_to = g->awaits;
    atomic_fetch_add_explicit(&w->sleepers, 1, memory_order_acq_rel);
    heard = atomic_load_explicit(&w->rings, memory_order_acquire);
    if (atomic_load_explicit(&common_of(g)->fenced, memory_order_acquire) != AGREED)
        agree_on_fences(common_of(g));
    atomic_thread_fence(memory_order_seq_cst);
    return heard;
}

bool hwmc_shm_wakeup_sleep(struct hwmc_shm_group *g, uint32_t heard, uint64_t ns)
{
    const struct timespec most = {.tv_sec = (time_t) (ns / 1000000000u),
                                  .tv_nsec = (long) (ns % 1000000000u)};
    const long err =
        syscall(SYS_futex, &wakeup_of(g, g->listens_to)->rings, FUTEX_WAIT, heard, &most, NULL, 0);
    const bool rung = err == 0 || errno == EAGAIN;

    hwmc_shm_wakeup_leave(g);
    return rung;
}

void hwmc_shm_wakeup_leave(struct hwmc_shm_group *g)
{
    atomic_fetch_sub_explicit(&wakeup_of(g, g->listens_to)->sleepers, 1, memory_order_acq_rel);
}
