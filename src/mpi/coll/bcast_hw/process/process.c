/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * process: see process.h.
 */

#include "process.h"
#include "../engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hwmc_engine *engine;
static bool registered;

/* Threads read these without the lock; a thread writes them before it leaves the lock. */
static atomic_bool active, by_lanes;

void hwmc_lock(void)
{
    pthread_mutex_lock(&lock);
}

/* Others read it again and again: it is written only if it has changed. */
static void publish(atomic_bool *hint, bool now)
{
    if (atomic_load_explicit(hint, memory_order_relaxed) != now)
        atomic_store_explicit(hint, now, memory_order_relaxed);
}

static void publish_hints(void)
{
    publish(&active, registered && hwmc_engine_active(engine));
    publish(&by_lanes, registered && hwmc_engine_by_lanes(engine));
}

void hwmc_unlock(void)
{
    publish_hints();
    pthread_mutex_unlock(&lock);
}

uint64_t hwmc_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

struct hwmc_engine *hwmc_process_open(struct hwmc_counts *counts,
                                      struct hwmc_engine_counts *engine_counts)
{
    if (!engine)
        engine = hwmc_engine_create(counts, engine_counts);
    return engine;
}

struct hwmc_engine *hwmc_process_engine(void)
{
    return engine;
}

void hwmc_process_register(const struct hwmc_wires_cfg *cfg)
{
    hwmc_engine_open(engine, cfg);
    registered = cfg->lane != NULL;
    publish_hints();
}

bool hwmc_registered(void)
{
    return registered;
}

bool hwmc_active(void)
{
    return atomic_load_explicit(&active, memory_order_relaxed);
}

bool hwmc_by_lanes(void)
{
    return atomic_load_explicit(&by_lanes, memory_order_relaxed);
}

int hwmc_progress(bool all)
{
    int events;

    if (!hwmc_active())
        return 0;
    hwmc_lock();
    events = all ? hwmc_engine_progress(engine, hwmc_now())
                 : hwmc_engine_wait_progress(engine, hwmc_now());
    hwmc_unlock();
    return events;
}

uint64_t hwmc_process_deadline(void)
{
    uint64_t at;

    if (!hwmc_active())
        return HWMC_NEVER;
    hwmc_lock();
    at = hwmc_engine_deadline(engine);
    hwmc_unlock();
    return at;
}

void hwmc_drain(void)
{
    if (!registered)
        return;
    hwmc_lock();
    hwmc_engine_drain(engine, hwmc_now());
    hwmc_unlock();
}

bool hwmc_drains(void)
{
    return registered && engine->draining;
}

bool hwmc_drained(void)
{
    bool drained;

    if (!registered)
        return true;
    hwmc_lock();
    drained = hwmc_engine_drained(engine);
    hwmc_unlock();
    return drained;
}

void hwmc_process_close(void)
{
    registered = false;
    publish_hints();
    hwmc_engine_close(engine);
}
