/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What hwmc has once a process: the engine, its lock and clock, registration, progress and the end.
 */

#include "../op/pipeline.h"
#include "../op/wait_failure.h"
#include "../core/failure/detector.h"

#include <pthread.h>
#include <time.h>

#define TELL_NS UINT64_C(1000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hwmc_engine *engine;
static bool registered;

void hwmc_lock(void)
{
    pthread_mutex_lock(&lock);
}

void hwmc_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint64_t hwmc_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

struct hwmc_engine *hwmc_process_engine(void)
{
    static struct hwmc_counts *counts;
    static struct hwmc_engine_counts *engine_counts;

    if (!counts)
        hwmc_add_counters(&counts, &engine_counts);
    if (!engine)
        engine = hwmc_engine_create(counts, engine_counts);
    return engine;
}

void hwmc_register(struct hwmc_engine_cfg *cfg)
{
    cfg->memory = (size_t) MPIR_CVAR_BCAST_HW_MEMORY << 20;
    cfg->show = hwmc_show_group;
    hwmc_engine_open(engine, cfg);
    registered = cfg->lane != NULL;
}

bool hwmc_registered(void)
{
    return registered;
}

bool hwmc_active(void)
{
    return registered && hwmc_engine_active(engine);
}

bool hwmc_by_lanes(void)
{
    return registered && hwmc_engine_by_lanes(engine);
}

int hwmc_progress(void)
{
    int events;

    if (!hwmc_active())
        return 0;
    hwmc_lock();
    events = hwmc_engine_progress(engine, hwmc_now());
    hwmc_unlock();
    return events;
}

uint64_t hwmc_deadline(void)
{
    uint64_t at;

    if (!hwmc_active())
        return HWMC_NEVER;
    hwmc_lock();
    at = hwmc_engine_deadline(engine);
    at = MPL_MIN(at, hwmc_wait_failure_deadline());
    hwmc_unlock();
    return at;
}

/* What the broadcast under way has brought goes to others of this host, as far as they are ready
 * for it. */
static int go_on(struct hwmc_pipeline *pipeline)
{
    int mpi_errno = MPI_SUCCESS;
    bool busy;

    hwmc_pipeline_more(pipeline, pipeline->piece + pipeline->here);
    mpi_errno = hwmc_pipeline_step(pipeline, &busy);
    hwmc_shm_watch(busy);
    return mpi_errno;
}

/* Under the lock, for who is about to return with an error: what is under way goes on for a
 * moment. */
static void give_way(void)
{
    hwmc_unlock();
    hwmc_wait_begins();
    MPID_Progress_test(NULL);
    hwmc_wait_polled();
    hwmc_wait_ends();
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    hwmc_lock();
}

/* Under the lock: others get to know that the group is broken, also over connections that are yet
 * to be made, for this rank may not come again. Not for long: what the lost member was sent is
 * never flushed. */
static void tell(const struct hwmc_group *g)
{
    while (hwmc_now() < g->loss.at + TELL_NS && !hwmc_engine_told(g->engine))
        give_way();
}

/* A child that is there takes what is on its way to it with its next call of MPI; one that is gone
 * never does. */
void hwmc_withdraw(struct hwmc_group *g)
{
    const uint64_t end =
        hwmc_now() + MPL_MAX(TELL_NS, hwmc_peer_timeout_ns() / HWMC_DETECTOR_PARTS);

    hwmc_group_withdraw(g, hwmc_now());
    while (hwmc_group_pins(g) && hwmc_now() < end)
        give_way();
    hwmc_engine_cut(g->engine, g);
}

int hwmc_wait_group(struct hwmc_group *g, bool (*ready)(struct hwmc_group *g),
                    struct hwmc_pipeline *pipeline)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_wait_failure failure = {0};

    hwmc_wait_begins();
    hwmc_lock();
    while (g->state != HWMC_GROUP_BROKEN && !ready(g)) {
        if (pipeline && pipeline->listens)
            pipeline->here = hwmc_group_prefix(g, pipeline->here);
        hwmc_unlock();
        if (pipeline)
            mpi_errno = go_on(pipeline);
        if (mpi_errno == MPI_SUCCESS)
            mpi_errno = MPID_Progress_test(NULL);
        hwmc_wait_polled();
        hwmc_shm_watch(false);
        /* Other threads of the program take their turn. */
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
        hwmc_lock();
        MPIR_ERR_CHECK(mpi_errno);
        if (g->engine->now >= failure.wake)
            hwmc_wait_failure_step(&failure, g);
    }
    if (g->state == HWMC_GROUP_BROKEN) {
        hwmc_group_pump(g, g->engine->now);
        tell(g);
        mpi_errno = hwmc_failure_error(g);
    }
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    hwmc_wait_ends();
    hwmc_wait_failure_end(&failure);
    return mpi_errno;
fn_fail:
    goto fn_exit;
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

void hwmc_close(void)
{
    hwmc_shm_shut();
    hwmc_forget_hosts();
    hwmc_forget_sites();
    if (!registered)
        return;
    hwmc_lock();
    hwmc_wait_failure_close();
    registered = false;
    hwmc_engine_close(engine);
    hwmc_unlock();
    hwmc_forget_seen();
}
