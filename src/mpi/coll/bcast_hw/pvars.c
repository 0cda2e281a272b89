/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The counters of the collective layer: those of the machines and the engine, by the names and
 * texts that core/counts.h and engine/engine.h give them, why communicators do without multicast,
 * and what the glue counts itself.
 */

#include "node_glue.h"

#include <stdatomic.h>

#define GLUE_COUNTS(X)                                                                             \
    X(calls, COUNTER, "broadcasts that hwmc ran")                                                  \
    X(call_bytes, COUNTER, "bytes of the broadcasts that hwmc ran")                                \
    X(left, COUNTER, "broadcasts left to MPICH's own algorithms")                                  \
    X(sides_on, COUNTER, "sides that came into use beside a communicator's first")                 \
    X(sides_off, COUNTER, "sides that could not be set up beside a communicator's first")          \
    X(root_itself, COUNTER,                                                                        \
      "broadcasts by hosts that this rank as their root handed to the network itself")             \
    X(root_by_another, COUNTER,                                                                    \
      "broadcasts by hosts of this rank that another one of its host handed to the network")       \
    X(in_parts, COUNTER,                                                                           \
      "broadcasts by hosts of this rank that went in parts, each by ranks near to its rail")       \
    X(latency_ns, LEVEL,                                                                           \
      "nanoseconds that selection takes a short message for, one way between hosts")               \
    X(site_latency_ns, LEVEL, "the same between sites")                                            \
    X(rail_mbit, LEVEL, "Mbit/s that selection takes the fastest rail for")                        \
    X(all_mbit, LEVEL, "Mbit/s that selection takes all rails together for")                       \
    X(rails_context, GENERIC,                                                                      \
      "the communicator, by its context id, that left rails or took them up last")                 \
    X(rails_from, GENERIC, "its first broadcast since then; 0: none has left any yet")             \
    X(rails_used, GENERIC, "rails on which it multicasts from there on, a bit each")               \
    X(rails_unused, GENERIC, "rails of its set-up on which it does not, a bit each")               \
    X(rails_rank, GENERIC, "its rank that was worst off on what it left")                          \
    X(rails_why, STATE, "why it left them or took them up")

struct glue_counts {
#define X(field, kind, text) uint64_t field;
    GLUE_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter glue_list[] = {
#define X(field, kind, text)                                                                       \
    {"bcast_hw_" #field, text, MPIR_BCAST_HW_##kind,                                               \
     MPIR_BCAST_HW_##kind == MPIR_BCAST_HW_STATE ? bcast_hw_cause_texts : NULL},
    GLUE_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter core_list[] = {
#define X(field, text) {"bcast_hw_" #field, text, MPIR_BCAST_HW_COUNTER, NULL},
    BCAST_HW_CORE_COUNTS(X)
#undef X
};

static const struct MPIR_Bcast_hw_counter engine_list[] = {
#define X(field, text) {"bcast_hw_" #field, text, MPIR_BCAST_HW_COUNTER, NULL},
    BCAST_HW_ENGINE_COUNTS(X)
#undef X
};

/* By enum bcast_hw_reason; the first, that there is none, is not told. */
static const struct MPIR_Bcast_hw_counter reason_list[BCAST_HW_REASON_LIMIT] = {
#define X(name, lower, value, text)                                                                \
    [value] = {"bcast_hw_off_" #lower, "communicators without multicast: " text,                   \
               MPIR_BCAST_HW_COUNTER, NULL},
    BCAST_HW_REASONS(X)
#undef X
};

struct node_counts {
    _Atomic uint64_t calls, left, segments, bytes;
    _Atomic uint64_t barriers[BCAST_HW_NODE_BARRIER_NUM];
    _Atomic uint64_t bcasts[BCAST_HW_NODE_BCAST_NUM];
    _Atomic uint64_t reductions[BCAST_HW_NODE_REDUCTION_NUM];
};

#define CHOICE(what, name, text)                                                                   \
    {"bcast_hw_node_" #what "_" #name, "times that inside a host the choice came to be: " text,    \
     MPIR_BCAST_HW_COUNTER, NULL},
static const struct MPIR_Bcast_hw_counter node_list[] = {
    {"bcast_hw_node_calls", "collectives that ran over memory that ranks of a host share",
     MPIR_BCAST_HW_COUNTER, NULL},
    {"bcast_hw_node_left",
     "collectives inside a host that were left to MPICH, for want of a segment",
     MPIR_BCAST_HW_COUNTER, NULL},
    {"bcast_hw_node_segments", "segments of shared memory in use", MPIR_BCAST_HW_LEVEL, NULL},
    {"bcast_hw_node_bytes", "bytes of these segments", MPIR_BCAST_HW_LEVEL, NULL},
#define X(id, name, text) CHOICE(barrier, name, text)
    BCAST_HW_NODE_BARRIERS(X)
#undef X
#define X(id, name, text) CHOICE(bcast, name, text)
        BCAST_HW_NODE_BCASTS(X)
#undef X
#define X(id, name, text) CHOICE(reduce, name, text)
            BCAST_HW_NODE_REDUCTIONS(X)
#undef X
};

/* In memory that nobody sees, until they are registered: with another netmod they are not. */
static struct glue_counts *glue = &(struct glue_counts){0};
static struct node_counts *node = &(struct node_counts){0};
static uint64_t *reasons = (uint64_t[BCAST_HW_REASON_LIMIT]){0};

void MPIR_Bcast_hw_note_reason(uint32_t reason)
{
    MPIR_Assert(reason < BCAST_HW_REASON_LIMIT);
    if (reason != BCAST_HW_REASON_NONE)
        reasons[reason - 1]++;
}

void MPIR_Bcast_hw_note_call(bool taken, MPI_Aint bytes)
{
    if (taken) {
        glue->calls++;
        glue->call_bytes += (uint64_t) bytes;
    } else {
        glue->left++;
    }
}

void MPIR_Bcast_hw_note_side(bool on)
{
    if (on)
        glue->sides_on++;
    else
        glue->sides_off++;
}

void MPIR_Bcast_hw_note_root(bool itself)
{
    if (itself)
        glue->root_itself++;
    else
        glue->root_by_another++;
}

void MPIR_Bcast_hw_note_parts(void)
{
    glue->in_parts++;
}

void MPIR_Bcast_hw_note_network(const struct bcast_hw_network *net)
{
    glue->latency_ns = net->latency_ns;
    glue->site_latency_ns = net->site_latency_ns;
    glue->rail_mbit = net->mbit;
    glue->all_mbit = net->mbit_all;
}

void MPIR_Bcast_hw_note_rails(const struct bcast_hw_group *g)
{
    const struct bcast_hw_epoch *e = &g->stream.epoch;

    glue->rails_context = g->cfg.context;
    glue->rails_from = e->from;
    glue->rails_used = e->now.rails;
    glue->rails_unused = e->cfg.first.rails & ~(uint32_t) e->now.rails;
    glue->rails_rank = e->culprit;
    glue->rails_why = e->cause;
}

/* Threads may count at the same time; what they tell need not be exact. */
static void add(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

void MPIR_Bcast_hw_node_note_call(void)
{
    add(&node->calls, 1);
}

void MPIR_Bcast_hw_node_note_left(void)
{
    add(&node->left, 1);
}

void MPIR_Bcast_hw_node_note_segment(bool more, size_t bytes)
{
    atomic_fetch_add(&node->segments, more ? 1 : UINT64_MAX);
    atomic_fetch_add(&node->bytes, more ? bytes : -(uint64_t) bytes);
}

void MPIR_Bcast_hw_node_note_choice(enum bcast_hw_node_kind kind,
                                    const struct bcast_hw_node_params *params)
{
    if (kind == BCAST_HW_NODE_KIND_BARRIER)
        add(&node->barriers[params->barrier], 1);
    else if (kind == BCAST_HW_NODE_KIND_BCAST)
        add(&node->bcasts[params->bcast], 1);
    else if (MPIR_Bcast_hw_node_reduces(kind))
        add(&node->reductions[params->reduction], 1);
}

size_t MPIR_Bcast_hw_node_mapped(void)
{
    return (size_t) atomic_load(&node->bytes);
}

void MPIR_Bcast_hw_add_counters(struct bcast_hw_counts **machines,
                                struct bcast_hw_engine_counts **engine)
{
    MPIR_BCAST_HW_COUNTERS_ADD(glue_list, glue);
    MPIR_BCAST_HW_COUNTERS_ADD(core_list, *machines);
    MPIR_BCAST_HW_COUNTERS_ADD(engine_list, *engine);
    reasons = MPIR_Bcast_hw_counters_add(reason_list + 1, BCAST_HW_REASON_LIMIT - 1);
    MPIR_BCAST_HW_COUNTERS_ADD(node_list, node);
}
