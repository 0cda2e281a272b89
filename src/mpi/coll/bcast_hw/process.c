/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What hwmc has once a process: the engine, its lock and clock, registration, progress and the end.
 */

#include "relay.h"
#include "patience.h"
#include "core/roll.h"

#include <pthread.h>
#include <time.h>

#define TELL_NS UINT64_C(1000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bcast_hw_engine *engine;
static bool registered;

void MPIR_Bcast_hw_lock(void)
{
    pthread_mutex_lock(&lock);
}

void MPIR_Bcast_hw_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint64_t MPIR_Bcast_hw_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

struct bcast_hw_engine *MPIR_Bcast_hw_engine(void)
{
    static struct bcast_hw_counts *counts;
    static struct bcast_hw_engine_counts *engine_counts;

    if (!counts)
        MPIR_Bcast_hw_add_counters(&counts, &engine_counts);
    if (!engine)
        engine = bcast_hw_engine_create(counts, engine_counts);
    return engine;
}

void MPIR_Bcast_hw_register(struct bcast_hw_engine_cfg *cfg)
{
    cfg->memory = (size_t) MPIR_CVAR_BCAST_HW_MEMORY << 20;
    cfg->show = MPIR_Bcast_hw_show_group;
    bcast_hw_engine_open(engine, cfg);
    registered = cfg->lane != NULL;
}

bool MPIR_Bcast_hw_registered(void)
{
    return registered;
}

bool MPIR_Bcast_hw_active(void)
{
    return registered && bcast_hw_engine_active(engine);
}

bool MPIR_Bcast_hw_by_lanes(void)
{
    return registered && bcast_hw_engine_by_lanes(engine);
}

int MPIR_Bcast_hw_progress(void)
{
    int events;

    if (!MPIR_Bcast_hw_active())
        return 0;
    MPIR_Bcast_hw_lock();
    events = bcast_hw_engine_progress(engine, MPIR_Bcast_hw_now());
    MPIR_Bcast_hw_unlock();
    return events;
}

uint64_t MPIR_Bcast_hw_deadline(void)
{
    uint64_t at;

    if (!MPIR_Bcast_hw_active())
        return BCAST_HW_NEVER;
    MPIR_Bcast_hw_lock();
    at = bcast_hw_engine_deadline(engine);
    at = MPL_MIN(at, MPIR_Bcast_hw_patience_deadline());
    MPIR_Bcast_hw_unlock();
    return at;
}

/* What the broadcast under way has brought goes to others of this host, as far as they are ready
 * for it. */
static int go_on(struct bcast_hw_relay *relay)
{
    int mpi_errno = MPI_SUCCESS;
    bool busy;

    MPIR_Bcast_hw_relay_more(relay, relay->piece + relay->here);
    mpi_errno = MPIR_Bcast_hw_relay_step(relay, &busy);
    MPIR_Bcast_hw_node_watch(busy);
    return mpi_errno;
}

/* Under the lock, for who is about to return with an error: what is under way goes on for a
 * moment. */
static void give_way(void)
{
    MPIR_Bcast_hw_unlock();
    MPIR_Bcast_hw_wait_begins();
    MPID_Progress_test(NULL);
    MPIR_Bcast_hw_wait_polled();
    MPIR_Bcast_hw_wait_ends();
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Bcast_hw_lock();
}

/* Under the lock: others get to know that the group is broken, also over connections that are yet
 * to be made, for this rank may not come again. Not for long: what the lost member was sent is
 * never flushed. */
static void tell(const struct bcast_hw_group *g)
{
    while (MPIR_Bcast_hw_now() < g->loss.at + TELL_NS && !bcast_hw_engine_told(g->engine))
        give_way();
}

/* A child that is there takes what is on its way to it with its next call of MPI; one that is gone
 * never does. */
void MPIR_Bcast_hw_withdraw(struct bcast_hw_group *g)
{
    const uint64_t end =
        MPIR_Bcast_hw_now() + MPL_MAX(TELL_NS, MPIR_Bcast_hw_gone_ns() / BCAST_HW_ROLL_PARTS);

    bcast_hw_group_withdraw(g, MPIR_Bcast_hw_now());
    while (bcast_hw_group_lends(g) && MPIR_Bcast_hw_now() < end)
        give_way();
    bcast_hw_engine_cut(g->engine, g);
}

int MPIR_Bcast_hw_wait(struct bcast_hw_group *g, bool (*ready)(struct bcast_hw_group *g),
                       struct bcast_hw_relay *relay)
{
    int mpi_errno = MPI_SUCCESS;
    struct MPIR_Bcast_hw_patience patience = {0};

    MPIR_Bcast_hw_wait_begins();
    MPIR_Bcast_hw_lock();
    while (g->state != BCAST_HW_GROUP_BROKEN && !ready(g)) {
        if (relay && relay->listens)
            relay->here = bcast_hw_group_prefix(g, relay->here);
        MPIR_Bcast_hw_unlock();
        if (relay)
            mpi_errno = go_on(relay);
        if (mpi_errno == MPI_SUCCESS)
            mpi_errno = MPID_Progress_test(NULL);
        MPIR_Bcast_hw_wait_polled();
        MPIR_Bcast_hw_node_watch(false);
        /* Other threads of the program take their turn. */
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
        MPIR_Bcast_hw_lock();
        MPIR_ERR_CHECK(mpi_errno);
        if (g->engine->now >= patience.wake)
            MPIR_Bcast_hw_patience_step(&patience, g);
    }
    if (g->state == BCAST_HW_GROUP_BROKEN) {
        bcast_hw_group_pump(g, g->engine->now);
        tell(g);
        mpi_errno = MPIR_Bcast_hw_lost(g);
    }
    MPIR_ERR_CHECK(mpi_errno);

fn_exit:
    MPIR_Bcast_hw_wait_ends();
    MPIR_Bcast_hw_patience_end(&patience);
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIR_Bcast_hw_drain(void)
{
    if (!registered)
        return;
    MPIR_Bcast_hw_lock();
    bcast_hw_engine_drain(engine, MPIR_Bcast_hw_now());
    MPIR_Bcast_hw_unlock();
}

bool MPIR_Bcast_hw_drains(void)
{
    return registered && engine->draining;
}

bool MPIR_Bcast_hw_drained(void)
{
    bool drained;

    if (!registered)
        return true;
    MPIR_Bcast_hw_lock();
    drained = bcast_hw_engine_drained(engine);
    MPIR_Bcast_hw_unlock();
    return drained;
}

void MPIR_Bcast_hw_close(void)
{
    MPIR_Bcast_hw_node_shut();
    MPIR_Bcast_hw_forget_nodes();
    MPIR_Bcast_hw_forget_sites();
    if (!registered)
        return;
    MPIR_Bcast_hw_lock();
    MPIR_Bcast_hw_patience_close();
    registered = false;
    bcast_hw_engine_close(engine);
    MPIR_Bcast_hw_unlock();
    MPIR_Bcast_hw_forget_seen();
}
