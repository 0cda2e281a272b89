/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The counters of the collective layer: those of the machines and the engine, by the names and
 * texts of core/base/counts.h and engine/wire/wires.h; why communicators use no multicast; and what
 * the upper floors count.
 */

#include "mpiimpl.h"
#include "counters.h"
#include "../core/model/model.h"
#include "../engine/engine.h"

#include <stdatomic.h>

#define OWN_COUNTS(X)                                                                              \
    X(calls, COUNTER, "broadcasts that hwmc ran")                                                  \
    X(call_bytes, COUNTER, "bytes of the broadcasts that hwmc ran")                                \
    X(left_to_mpich, COUNTER, "broadcasts left to MPICH's own algorithms")                         \
    X(spread_calls, COUNTER, "collectives over hosts that hwmc ran, other than broadcasts")        \
    X(spread_left, COUNTER,                                                                        \
      "those that were left to MPICH, as selection has it or as they cannot be hwmc's")            \
    X(trials, COUNTER, "trials that found out which way of a collective is the fastest")           \
    X(trials_changed, COUNTER, "those that found another way than the one before")                 \
    X(leaders_on, COUNTER, "leader groups that came into use beside a communicator's first")       \
    X(leaders_off, COUNTER,                                                                        \
      "leader groups that could not be set up beside a communicator's first")                      \
    X(root_itself, COUNTER,                                                                        \
      "broadcasts by hosts that this rank as their root handed to the network itself")             \
    X(root_by_another, COUNTER,                                                                    \
      "broadcasts by hosts of this rank that another one of its host handed to the network")       \
    X(latency_ns, LEVEL,                                                                           \
      "nanoseconds that selection takes a short message for, one way between hosts")               \
    X(site_latency_ns, LEVEL, "the same between sites")                                            \
    X(rail_mbit, LEVEL, "Mbit/s that selection takes the fastest rail for")                        \
    X(all_mbit, LEVEL, "Mbit/s that selection takes all rails together for")                       \
    X(loaded_ns, LEVEL,                                                                            \
      "the latency that selection reckons with while all hosts have a message on the way")         \
    X(loaded_mbit, LEVEL, "Mbit/s that selection takes a rail for while all hosts send")           \
    X(message_ns, LEVEL,                                                                           \
      "nanoseconds that selection takes a host to be busy with a short message of several")        \
    X(burst_bytes, LEVEL, "bytes that selection takes a rail to let through at first, unshaped")   \
    X(host, GENERIC,                                                                               \
      "the host that this process runs on: a number, the same for all that share it")              \
    X(rails_context, GENERIC,                                                                      \
      "the communicator, by its context id, that disabled or enabled rails last")                  \
    X(rails_from, GENERIC, "its first broadcast since then; 0: none has disabled any yet")         \
    X(rails_used, GENERIC, "rails on which it multicasts from there on, a bit each")               \
    X(rails_unused, GENERIC, "rails of its set-up on which it does not, a bit each")               \
    X(rails_rank, GENERIC, "its rank that was worst off on what it disabled")                      \
    X(rails_why, STATE, "why it disabled or enabled them")

struct own_counts {
#define X(field, kind, text) uint64_t field;
    OWN_COUNTS(X)
#undef X
};

static const struct hwmc_counter own_list[] = {
#define X(field, kind, text)                                                                       \
    {"hwmc_" #field, text, HWMC_##kind, HWMC_##kind == HWMC_STATE ? hwmc_rail_reason_texts : NULL},
    OWN_COUNTS(X)
#undef X
};

static const struct hwmc_counter core_list[] = {
#define X(field, text) {"hwmc_" #field, text, HWMC_COUNTER, NULL},
    HWMC_CORE_COUNTS(X)
#undef X
};

static const struct hwmc_counter engine_list[] = {
#define X(field, text) {"hwmc_" #field, text, HWMC_COUNTER, NULL},
    HWMC_ENGINE_COUNTS(X)
#undef X
};

/* By enum hwmc_reason; the first, that there is none, is not told. */
static const struct hwmc_counter reason_list[HWMC_REASON_LIMIT] = {
#define X(name, lower, value, text)                                                                \
    [value] = {"hwmc_off_" #lower, "communicators without multicast: " text, HWMC_COUNTER, NULL},
    HWMC_REASONS(X)
#undef X
};

struct shm_counts {
    _Atomic uint64_t calls, left, segments, bytes;
    _Atomic uint64_t barriers[HWMC_SHM_BARRIER_NUM];
    _Atomic uint64_t bcasts[HWMC_SHM_BCAST_NUM];
    _Atomic uint64_t reductions[HWMC_SHM_REDUCTION_NUM];
};

#define CHOICE(what, name, text)                                                                   \
    {"hwmc_shm_" #what "_" #name, "times that inside a host the choice came to be: " text,         \
     HWMC_COUNTER, NULL},
static const struct hwmc_counter shm_list[] = {
    {"hwmc_shm_calls", "collectives that ran over memory that ranks of a host share", HWMC_COUNTER,
     NULL},
    {"hwmc_shm_left_to_mpich",
     "collectives inside a host that were left to MPICH, for want of a segment", HWMC_COUNTER,
     NULL},
    {"hwmc_shm_segments", "segments of shared memory in use", HWMC_LEVEL, NULL},
    {"hwmc_shm_bytes", "bytes of these segments", HWMC_LEVEL, NULL},
#define X(id, name, text) CHOICE(barrier, name, text)
    HWMC_SHM_BARRIERS(X)
#undef X
#define X(id, name, text) CHOICE(bcast, name, text)
        HWMC_SHM_BCASTS(X)
#undef X
#define X(id, name, text) CHOICE(reduce, name, text)
            HWMC_SHM_REDUCTIONS(X)
#undef X
};

/* In memory that nobody sees, until they are registered: with another netmod they are not. */
static struct own_counts *own = &(struct own_counts){0};
static struct shm_counts *shm = &(struct shm_counts){0};
static uint64_t *reasons = (uint64_t[HWMC_REASON_LIMIT]){0};

void hwmc_note_reason(uint32_t reason)
{
    MPIR_Assert(reason < HWMC_REASON_LIMIT);
    if (reason != HWMC_REASON_NONE)
        reasons[reason - 1]++;
}

void hwmc_note_call(bool taken, MPI_Aint bytes)
{
    if (taken) {
        own->calls++;
        own->call_bytes += (uint64_t) bytes;
    } else {
        own->left_to_mpich++;
    }
}

void hwmc_note_spread(bool taken)
{
    if (taken)
        own->spread_calls++;
    else
        own->spread_left++;
}

void hwmc_note_trial(bool changes)
{
    own->trials++;
    own->trials_changed += changes;
}

void hwmc_note_leader_group(bool on)
{
    if (on)
        own->leaders_on++;
    else
        own->leaders_off++;
}

void hwmc_note_root(bool itself)
{
    if (itself)
        own->root_itself++;
    else
        own->root_by_another++;
}

void hwmc_note_network(const struct hwmc_network *net)
{
    own->latency_ns = net->latency_ns;
    own->site_latency_ns = net->site_latency_ns;
    own->rail_mbit = net->mbit;
    own->all_mbit = net->mbit_all;
    own->loaded_ns = net->loaded_ns;
    own->loaded_mbit = net->loaded_mbit;
    own->message_ns = net->message_ns;
    own->burst_bytes = net->burst_bytes;
}

void hwmc_note_host(int host)
{
    own->host = (uint64_t) host;
}

void hwmc_note_rails(const struct hwmc_group *g)
{
    const struct hwmc_epoch *e = &g->stream.epoch;

    own->rails_context = g->cfg.context;
    own->rails_from = e->from;
    own->rails_used = e->now.rails;
    own->rails_unused = e->cfg.policy.first.rails & ~(uint32_t) e->now.rails;
    own->rails_rank = e->culprit;
    own->rails_why = e->reason;
}

/* Threads may count at the same time; what they tell need not be exact. */
static void add(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

void hwmc_shm_note_call(void)
{
    add(&shm->calls, 1);
}

void hwmc_shm_note_left(void)
{
    add(&shm->left, 1);
}

void hwmc_shm_note_segment(bool more, size_t bytes)
{
    atomic_fetch_add(&shm->segments, more ? 1 : UINT64_MAX);
    atomic_fetch_add(&shm->bytes, more ? bytes : -(uint64_t) bytes);
}

void hwmc_shm_note_choice(enum hwmc_shm_kind kind, const struct hwmc_shm_params *params)
{
    if (kind == HWMC_SHM_KIND_BARRIER)
        add(&shm->barriers[params->barrier], 1);
    else if (kind == HWMC_SHM_KIND_BCAST)
        add(&shm->bcasts[params->bcast], 1);
    else if (hwmc_shm_reduces(kind))
        add(&shm->reductions[params->reduction], 1);
}

size_t hwmc_shm_mapped(void)
{
    return (size_t) atomic_load(&shm->bytes);
}

void hwmc_add_counters(struct hwmc_counts **machines, struct hwmc_engine_counts **engine)
{
    HWMC_COUNTERS_ADD(own_list, own);
    HWMC_COUNTERS_ADD(core_list, *machines);
    HWMC_COUNTERS_ADD(engine_list, *engine);
    reasons = hwmc_counters_register(reason_list + 1, HWMC_REASON_LIMIT - 1);
    HWMC_COUNTERS_ADD(shm_list, shm);
}
