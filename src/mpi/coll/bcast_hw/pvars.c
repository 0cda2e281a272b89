/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The PVARs of the collective layer: every counter of the machines and the engine, by the names and
 * texts that core/counts.h and engine/engine.h give them, and why communicators do without multicast.
 */

#include "node_glue.h"

#include <stdatomic.h>

static unsigned long long reasons[BCAST_HW_REASON_LIMIT];
static unsigned long long taken_calls, taken_bytes, left_calls;
static unsigned long long sides_on, sides_off, root_itself, root_by_another, in_parts;
static unsigned long long latency_ns, site_latency_ns, rail_mbit, all_mbit;

void MPIR_Bcast_hw_note_reason(uint32_t reason)
{
    MPIR_Assert(reason < BCAST_HW_REASON_LIMIT);
    reasons[reason]++;
}

void MPIR_Bcast_hw_note_call(bool taken, MPI_Aint bytes)
{
    if (taken) {
        taken_calls++;
        taken_bytes += (unsigned long long) bytes;
    } else {
        left_calls++;
    }
}

void MPIR_Bcast_hw_note_side(bool on)
{
    if (on)
        sides_on++;
    else
        sides_off++;
}

void MPIR_Bcast_hw_note_root(bool itself)
{
    if (itself)
        root_itself++;
    else
        root_by_another++;
}

void MPIR_Bcast_hw_note_parts(void)
{
    in_parts++;
}

void MPIR_Bcast_hw_note_network(const struct bcast_hw_network *net)
{
    latency_ns = net->latency_ns;
    site_latency_ns = net->site_latency_ns;
    rail_mbit = net->mbit;
    all_mbit = net->mbit_all;
}

static struct {
    _Atomic unsigned long long calls, left, segments, bytes;
    _Atomic unsigned long long barriers[BCAST_HW_NODE_BARRIER_NUM];
    _Atomic unsigned long long bcasts[BCAST_HW_NODE_BCAST_NUM];
    _Atomic unsigned long long reductions[BCAST_HW_NODE_REDUCTION_NUM];
} node;

/* Threads may count at the same time; what they tell need not be exact. */
static void add(_Atomic unsigned long long *counter, unsigned long long more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

void MPIR_Bcast_hw_node_note_call(void)
{
    add(&node.calls, 1);
}

void MPIR_Bcast_hw_node_note_left(void)
{
    add(&node.left, 1);
}

void MPIR_Bcast_hw_node_note_segment(bool more, size_t bytes)
{
    atomic_fetch_add(&node.segments, more ? 1 : -1ull);
    atomic_fetch_add(&node.bytes, more ? bytes : -(unsigned long long) bytes);
}

void MPIR_Bcast_hw_node_note_choice(enum bcast_hw_node_kind kind,
                                    const struct bcast_hw_node_params *params)
{
    if (kind == BCAST_HW_NODE_KIND_BARRIER)
        add(&node.barriers[params->barrier], 1);
    else if (kind == BCAST_HW_NODE_KIND_BCAST)
        add(&node.bcasts[params->bcast], 1);
    else if (MPIR_Bcast_hw_node_reduces(kind))
        add(&node.reductions[params->reduction], 1);
}

size_t MPIR_Bcast_hw_node_mapped(void)
{
    return (size_t) atomic_load(&node.bytes);
}

void MPIR_Bcast_hw_register_pvars(struct bcast_hw_engine *e)
{
    MPL_COMPILE_TIME_ASSERT(sizeof(unsigned long long) == sizeof(uint64_t));

    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_calls, &taken_calls, "broadcasts that hwmc ran");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_call_bytes, &taken_bytes,
                                   "bytes of the broadcasts that hwmc ran");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_left, &left_calls,
                                   "broadcasts left to MPICH's own algorithms");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_sides_on, &sides_on,
                                   "sides that came into use beside a communicator's first");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_sides_off, &sides_off,
                                   "sides that could not be set up beside a communicator's first");
    MPIR_BCAST_HW_REGISTER_COUNTER(
        bcast_hw_root_itself, &root_itself,
        "broadcasts by hosts that this rank as their root handed to the network itself");
    MPIR_BCAST_HW_REGISTER_COUNTER(
        bcast_hw_root_by_another, &root_by_another,
        "broadcasts by hosts of this rank that another one of its host handed to the network");
    MPIR_BCAST_HW_REGISTER_COUNTER(
        bcast_hw_in_parts, &in_parts,
        "broadcasts by hosts of this rank that went in parts, each by ranks near to its rail");
    MPIR_BCAST_HW_REGISTER_COUNTER(
        bcast_hw_latency_ns, &latency_ns,
        "nanoseconds that selection takes a short message for, one way between hosts");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_site_latency_ns, &site_latency_ns,
                                   "the same between sites");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_rail_mbit, &rail_mbit,
                                   "Mbit/s that selection takes the fastest rail for");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_all_mbit, &all_mbit,
                                   "Mbit/s that selection takes all rails together for");
#define X(field, text) MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_##field, &e->counts->field, text);
    BCAST_HW_CORE_COUNTS(X)
#undef X
#define X(field, text)                                                                             \
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_##field, &e->engine_counts->field, text);
    BCAST_HW_ENGINE_COUNTS(X)
#undef X
#define X(name, lower, value, text)                                                                \
    if (value != BCAST_HW_REASON_NONE)                                                             \
        MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_off_##lower, &reasons[value],                      \
                                       "communicators without multicast: " text);
    BCAST_HW_REASONS(X)
#undef X
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_node_calls, &node.calls,
                                   "collectives that ran over memory that ranks of a host share");
    MPIR_BCAST_HW_REGISTER_COUNTER(
        bcast_hw_node_left, &node.left,
        "collectives inside a host that were left to MPICH, for want of a segment");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_node_segments, &node.segments,
                                   "segments of shared memory in use");
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_node_bytes, &node.bytes, "bytes of these segments");
#define CHOSEN(what, name, counter, text)                                                          \
    MPIR_BCAST_HW_REGISTER_COUNTER(bcast_hw_node_##what##_##name, counter,                         \
                                   "times that inside a host the choice came to be: " text);
#define X(id, name, text) CHOSEN(barrier, name, &node.barriers[BCAST_HW_NODE_BARRIER_##id], text)
    BCAST_HW_NODE_BARRIERS(X)
#undef X
#define X(id, name, text) CHOSEN(bcast, name, &node.bcasts[BCAST_HW_NODE_BCAST_##id], text)
    BCAST_HW_NODE_BCASTS(X)
#undef X
#define X(id, name, text) CHOSEN(reduce, name, &node.reductions[BCAST_HW_NODE_REDUCTION_##id], text)
    BCAST_HW_NODE_REDUCTIONS(X)
#undef X
#undef CHOSEN
}
