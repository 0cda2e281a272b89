/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * negotiation: see negotiation.h.
 */
#include "negotiation.h"

#include "../base/mask.h"
#include "../base/trace.h"

#include <assert.h>
#include <stddef.h>

/* Payloads to be tried where longer ones do not pass: usual MTUs less all headers that there may
 * be. */
static const uint32_t usual_payloads[] = {8900, 3996, 1944, 1400, 1350, 1300, 1180, 476};

/* The longest of them that is below `bytes`; 0: none. */
static uint32_t shorter_than(uint32_t bytes)
{
    for (size_t i = 0; i < sizeof(usual_payloads) / sizeof(usual_payloads[0]); i++)
        if (usual_payloads[i] < bytes)
            return usual_payloads[i];
    return 0;
}

static uint16_t all_children(const struct hwmc_negotiation *a)
{
    return hwmc_tree_all_children(a->rank, a->size, a->fanout);
}

/* Whether broadcasts can do without what failed. */
static bool lanes_do(const struct hwmc_negotiation *a, uint32_t reason)
{
    switch (reason) {
        case HWMC_REASON_FABRIC:
        case HWMC_REASON_MEMORY:
        case HWMC_REASON_JOIN:
        case HWMC_REASON_PROBE:
        case HWMC_REASON_RAILS:
            return a->by_lanes;
        default:
            return false;
    }
}

/* Of several reasons one that lanes do not help against counts, then the lowest rank's. */
static void note_objection(const struct hwmc_negotiation *a, struct hwmc_parameters *t,
                           uint32_t reason, uint32_t rank)
{
    bool before = lanes_do(a, t->reason) && !lanes_do(a, reason);
    bool after = !lanes_do(a, t->reason) && lanes_do(a, reason);

    if (reason == HWMC_REASON_NONE ||
        (t->reason != HWMC_REASON_NONE && !before && (after || rank >= t->rank)))
        return;
    t->reason = reason;
    t->rank = rank;
}

static void combine_parameters(const struct hwmc_negotiation *a, struct hwmc_parameters *t,
                               const struct hwmc_parameters *with)
{
    note_objection(a, t, with->reason, with->rank);
    t->rails &= with->rails;
    t->frag_bytes = with->frag_bytes < t->frag_bytes ? with->frag_bytes : t->frag_bytes;
    t->window = with->window < t->window ? with->window : t->window;
    t->from = with->from > t->from ? with->from : t->from;
}

static void stop_probing(struct hwmc_negotiation *a)
{
    a->deadline = a->probe_at = HWMC_NEVER;
    a->probe_due = 0;
}

/* No stage follows `phase`, as things are agreed. */
static bool is_last(const struct hwmc_negotiation *a)
{
    return a->phase == HWMC_NEGOTIATION_FIT ||
           (a->phase == HWMC_NEGOTIATION_PROBE &&
            (a->agreed.rails == 0 || a->agreed.frag_bytes == a->frag_bytes));
}

/* The subtree's part of the stage is known. */
static bool has_reported(const struct hwmc_negotiation *a)
{
    return a->part >= HWMC_NEGOTIATION_REPORT_DUE;
}

/* This rank's own part of the stage is known. */
static void note_answered(struct hwmc_negotiation *a)
{
    if (a->part == HWMC_NEGOTIATION_OPEN)
        a->part = HWMC_NEGOTIATION_ANSWERED;
}

/* This rank's part of the stage: it will broadcast nothing. */
static void object_as_it_leaves(struct hwmc_negotiation *a)
{
    note_objection(a, &a->mine, HWMC_REASON_CLOSED, a->rank);
    note_answered(a);
}

static const char *const phase_names[] = {
    [HWMC_NEGOTIATION_IDLE] = "IDLE",   [HWMC_NEGOTIATION_PROPOSE] = "PROPOSE",
    [HWMC_NEGOTIATION_JOIN] = "JOIN",   [HWMC_NEGOTIATION_PROBE] = "PROBE",
    [HWMC_NEGOTIATION_FIT] = "FIT",     [HWMC_NEGOTIATION_YES] = "YES",
    [HWMC_NEGOTIATION_LANES] = "LANES", [HWMC_NEGOTIATION_NO] = "NO",
};

static void set_phase(struct hwmc_negotiation *a, enum hwmc_negotiation_phase to)
{
    hwmc_trace_change(HWMC_TRACE_SETUP, a->key & 0xffff, phase_names, a->phase, to);
    a->phase = to;
}

/* Enters the stage after the decision `agreed`, or the end. */
static void enter_stage(struct hwmc_negotiation *a)
{
    bool good = a->agreed.reason == HWMC_REASON_NONE;
    bool lanes = lanes_do(a, a->agreed.reason);

    a->decide = all_children(a);
    stop_probing(a);
    if (!(good || lanes) || is_last(a)) {
        set_phase(a, good    ? HWMC_NEGOTIATION_YES
                     : lanes ? HWMC_NEGOTIATION_LANES
                             : HWMC_NEGOTIATION_NO);
        a->invite = 0;
        return;
    }
    set_phase(a, (enum hwmc_negotiation_phase)(a->phase + 1));
    a->mine = a->agreed;
    a->mine.stage = a->phase;
    a->part = HWMC_NEGOTIATION_OPEN;
    a->heard = 0;
    if (a->leaves)
        object_as_it_leaves(a);
}

/* The rails on which a probe for payloads of `bytes` or more has come. */
static uint32_t probed_rails(const struct hwmc_negotiation *a, uint32_t bytes)
{
    uint32_t rails = 0;

    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++)
        rails |= a->probe_got[r] >= bytes ? 1u << r : 0;
    return rails;
}

/* One of full length has come on every rail. */
static bool all_probed(const struct hwmc_negotiation *a)
{
    return (a->agreed.rails & ~probed_rails(a, a->agreed.frag_bytes)) == 0;
}

static void enter_probe(struct hwmc_negotiation *a, uint64_t now)
{
    if (a->rank > 0) {
        a->deadline = now + a->probe_ns;
    } else if (a->agreed.rails) {
        a->probe_at = now;
        a->probe_gap = HWMC_PROBE_FIRST_NS;
    }
    if (a->rank == 0 || all_probed(a))
        note_answered(a);
}

/* This rank's answer: of the agreed rails only `rails` will do; if none, for this reason. */
static void answer_stage(struct hwmc_negotiation *a, uint32_t rails, uint32_t reason)
{
    a->mine.rails &= rails;
    if (a->agreed.rails != 0 && (a->agreed.rails & rails) == 0)
        note_objection(a, &a->mine, reason, a->rank);
    note_answered(a);
}

/* This rank's answer to the probes, when no more are waited for. */
static void answer_probes(struct hwmc_negotiation *a)
{
    const uint32_t rails = probed_rails(a, 1) & a->agreed.rails;

    FOR_EACH (r, rails)
        if (a->probe_got[r] < a->mine.frag_bytes)
            a->mine.frag_bytes = a->probe_got[r];
    answer_stage(a, rails, HWMC_REASON_PROBE);
}

/* This rank's part of PROBE is known, and goes out: how far it will go without the outcome. */
static void promise_bound(struct hwmc_negotiation *a)
{
    a->bound = a->entered > 0 ? a->entered + HWMC_NEGOTIATION_MARGIN : 0;
    a->mine.from = a->bound > a->mine.from ? a->bound : a->mine.from;
}

/* The subtree's part of this stage may be complete. */
static void advance_stage(struct hwmc_negotiation *a)
{
    if (hwmc_negotiation_over(a) || a->part != HWMC_NEGOTIATION_ANSWERED ||
        a->heard != all_children(a))
        return;
    /* Each rank had some, but not the same. */
    if (a->mine.rails == 0 && a->mine.reason == HWMC_REASON_NONE)
        note_objection(a, &a->mine, HWMC_REASON_RAILS, a->rank);
    if (a->phase == HWMC_NEGOTIATION_PROBE)
        promise_bound(a);
    if (a->rank == 0) {
        a->part = HWMC_NEGOTIATION_REPORTED;
        a->agreed = a->mine;
        if (a->mine.reason != HWMC_REASON_NONE)
            a->agreed.rails = 0;
        enter_stage(a);
    } else {
        a->part = HWMC_NEGOTIATION_REPORT_DUE;
    }
}

void hwmc_negotiation_start(struct hwmc_negotiation *a, uint32_t size, uint32_t rank,
                            uint32_t fanout, uint64_t key, const struct hwmc_parameters *proposal,
                            bool by_lanes, uint64_t probe_ns)
{
    assert(fanout >= 1 && fanout <= HWMC_FANOUT_MAX && rank < size);
    *a = (struct hwmc_negotiation){
        .phase = HWMC_NEGOTIATION_PROPOSE,
        .size = size,
        .rank = rank,
        .fanout = fanout,
        .key = key,
        .by_lanes = by_lanes,
        .probe_ns = probe_ns,
        .mine = *proposal,
        .part = HWMC_NEGOTIATION_ANSWERED,
        .bound = HWMC_NEGOTIATION_NOT_YET,
        .deadline = HWMC_NEVER,
        .probe_at = HWMC_NEVER,
    };
    a->mine.stage = HWMC_NEGOTIATION_PROPOSE;
    a->mine.rank = rank;
    a->invite = all_children(a);
    advance_stage(a);
}

void hwmc_negotiation_on_joined(struct hwmc_negotiation *a, bool able, uint32_t rails, uint64_t now)
{
    assert(hwmc_negotiation_wants_join(a));
    answer_stage(a, rails, HWMC_REASON_JOIN);
    if (!able)
        note_objection(a, &a->mine, HWMC_REASON_NOMEM, a->rank);
    a->frag_bytes = a->agreed.frag_bytes;
    advance_stage(a);
    if (a->phase == HWMC_NEGOTIATION_PROBE) { /* the leader has decided */
        enter_probe(a, now);
        advance_stage(a);
    }
}

void hwmc_negotiation_on_fitted(struct hwmc_negotiation *a, bool able)
{
    assert(hwmc_negotiation_wants_fit(a));
    if (!able)
        note_objection(a, &a->mine, HWMC_REASON_NOMEM, a->rank);
    a->frag_bytes = a->agreed.frag_bytes;
    note_answered(a);
    advance_stage(a);
}

uint32_t hwmc_negotiation_probed(const struct hwmc_negotiation *a)
{
    return probed_rails(a, 1);
}

enum hwmc_negotiation_turn hwmc_negotiation_enter(struct hwmc_negotiation *a, uint32_t number)
{
    assert(!a->leaves && (number >= a->entered || hwmc_negotiation_over(a)));
    if (a->phase == HWMC_NEGOTIATION_NO)
        return HWMC_NEGOTIATION_TAKE;
    if (hwmc_negotiation_over(a))
        return number >= a->agreed.from ? HWMC_NEGOTIATION_TAKE : HWMC_NEGOTIATION_PASS;
    if (number >= a->bound)
        return HWMC_NEGOTIATION_AWAIT;
    a->entered = number + 1;
    return HWMC_NEGOTIATION_PASS;
}

void hwmc_negotiation_leave(struct hwmc_negotiation *a)
{
    a->leaves = true;
    if (hwmc_negotiation_over(a) || has_reported(a))
        return;
    object_as_it_leaves(a);
    advance_stage(a);
}

/* Who can multicast says in what pieces. */
static bool is_formed(const struct hwmc_parameters *t)
{
    return t->reason < HWMC_REASON_LIMIT && (t->rails == 0 || t->frag_bytes > 0);
}

/* A decision is no more than what was reported here, and after the first one only rails and reason
 * change, and by probes the payload. */
static bool is_possible(const struct hwmc_negotiation *a, const struct hwmc_parameters *t)
{
    bool good = t->reason == HWMC_REASON_NONE;

    if (!is_formed(t) || good != (t->rails != 0) || (t->rails & ~a->mine.rails) != 0 ||
        t->frag_bytes > a->mine.frag_bytes || t->window > a->mine.window || t->from < a->mine.from)
        return false;
    return a->phase == HWMC_NEGOTIATION_PROPOSE ||
           ((t->frag_bytes == a->agreed.frag_bytes || a->phase == HWMC_NEGOTIATION_PROBE) &&
            t->window == a->agreed.window && t->generation == a->agreed.generation &&
            t->group == a->agreed.group && t->seed == a->agreed.seed);
}

static enum hwmc_verdict on_report(struct hwmc_negotiation *a, const struct hwmc_msg *msg,
                                   uint64_t now)
{
    enum hwmc_negotiation_phase before = a->phase;
    uint32_t i = hwmc_tree_child_number(a->rank, msg->peer, a->size, a->fanout);

    if (i == a->fanout || !msg->parameters || !is_formed(msg->parameters))
        return HWMC_BAD;
    if (hwmc_negotiation_over(a) || msg->parameters->stage < (uint32_t) a->phase)
        return HWMC_STALE;
    if (msg->parameters->stage > (uint32_t) a->phase)
        return HWMC_BAD;
    if (a->heard >> i & 1)
        return HWMC_DUP;
    a->heard |= (uint16_t) (1u << i);
    a->invite &= (uint16_t) ~(1u << i);
    combine_parameters(a, &a->mine, msg->parameters);
    advance_stage(a);
    if (a->phase == HWMC_NEGOTIATION_PROBE && before == HWMC_NEGOTIATION_JOIN) { /* the leader */
        enter_probe(a, now);
        advance_stage(a);
    }
    return HWMC_TAKEN;
}

static enum hwmc_verdict on_decide(struct hwmc_negotiation *a, const struct hwmc_msg *msg,
                                   uint64_t now)
{
    if (a->rank == 0 || msg->peer != hwmc_tree_parent(a->rank, a->fanout) || !msg->parameters)
        return HWMC_BAD;
    if (hwmc_negotiation_over(a) || msg->parameters->stage != (uint32_t) a->phase ||
        !has_reported(a))
        return HWMC_STALE;
    if (!is_possible(a, msg->parameters))
        return HWMC_BAD;
    a->agreed = *msg->parameters;
    enter_stage(a);
    if (a->phase == HWMC_NEGOTIATION_PROBE)
        enter_probe(a, now);
    advance_stage(a);
    return HWMC_TAKEN;
}

static enum hwmc_verdict on_probe(struct hwmc_negotiation *a, const struct hwmc_msg *msg)
{
    if (!msg->multicast || a->rank == 0 || msg->peer != 0 || msg->rail >= HWMC_RAIL_BITS ||
        msg->probe.bytes == 0)
        return HWMC_BAD;
    if (a->phase > HWMC_NEGOTIATION_PROBE)
        return HWMC_STALE;
    if (msg->probe.bytes <= a->probe_got[msg->rail])
        return HWMC_DUP;
    a->probe_got[msg->rail] = msg->probe.bytes;
    if (a->phase == HWMC_NEGOTIATION_PROBE && all_probed(a)) {
        note_answered(a);
        advance_stage(a);
    }
    return HWMC_TAKEN;
}

enum hwmc_verdict hwmc_negotiation_on_recv(struct hwmc_negotiation *a, const struct hwmc_msg *msg,
                                           uint64_t now)
{
    if (msg->type == HWMC_MSG_PROBE)
        return on_probe(a, msg);
    if (msg->multicast)
        return HWMC_BAD;
    switch (msg->type) {
        case HWMC_MSG_INVITE:
            if (a->rank == 0 || msg->peer != hwmc_tree_parent(a->rank, a->fanout))
                return HWMC_BAD;
            if (a->phase == HWMC_NEGOTIATION_PROPOSE && has_reported(a))
                a->part = HWMC_NEGOTIATION_REPORT_DUE;
            return HWMC_TAKEN;
        case HWMC_MSG_REPORT:
            return on_report(a, msg, now);
        case HWMC_MSG_DECIDE:
            return on_decide(a, msg, now);
        default:
            return HWMC_BAD;
    }
}

void hwmc_negotiation_on_timer(struct hwmc_negotiation *a, uint64_t now)
{
    if (a->deadline <= now && a->phase == HWMC_NEGOTIATION_PROBE) {
        a->deadline = HWMC_NEVER;
        if (a->part == HWMC_NEGOTIATION_OPEN) {
            a->missed = (uint8_t) (a->agreed.rails & ~probed_rails(a, 1));
            answer_probes(a);
            advance_stage(a);
        }
    }
}

uint64_t hwmc_negotiation_next_timer(const struct hwmc_negotiation *a)
{
    return a->probe_at < a->deadline ? a->probe_at : a->deadline;
}

static int fill_msg(const struct hwmc_negotiation *a, struct hwmc_msg *tx, enum hwmc_msg_type type,
                    uint32_t peer)
{
    *tx = (struct hwmc_msg){.type = type, .peer = peer, .bid = a->key};
    return 1;
}

/* REPORT or DECIDE. */
static int fill_parameters(const struct hwmc_negotiation *a, struct hwmc_msg *tx,
                           enum hwmc_msg_type type, uint32_t peer,
                           const struct hwmc_parameters *parameters)
{
    fill_msg(a, tx, type, peer);
    tx->parameters = parameters;
    return 1;
}

static uint32_t take_child(const struct hwmc_negotiation *a, uint16_t *mask)
{
    return hwmc_tree_take_child(a->rank, mask, a->fanout);
}

/* It is time for probes. The first time those of full length do, as a rule. */
static void begin_probes(struct hwmc_negotiation *a, uint64_t now)
{
    a->probe_shorter = a->probe_gap > HWMC_PROBE_FIRST_NS;
    a->probe_at = now + a->probe_gap;
    a->probe_gap *= 2;
    a->probe_due = (uint8_t) a->agreed.rails;
    a->probe_bytes = a->agreed.frag_bytes;
}

static int next_probe(struct hwmc_negotiation *a, struct hwmc_msg *tx)
{
    fill_msg(a, tx, HWMC_MSG_PROBE, a->rank);
    tx->multicast = true;
    tx->probe.bytes = a->probe_bytes;
    tx->rail = (uint8_t) __builtin_ctz(a->probe_due);
    a->probe_due &= (uint8_t) (a->probe_due - 1);
    if (a->probe_due == 0 && a->probe_shorter) {
        a->probe_bytes = shorter_than(a->probe_bytes);
        a->probe_due = a->probe_bytes > 0 ? (uint8_t) a->agreed.rails : 0;
    }
    return 1;
}

int hwmc_negotiation_next_send(struct hwmc_negotiation *a, struct hwmc_msg *tx, uint64_t now)
{
    if (a->decide)
        return fill_parameters(a, tx, HWMC_MSG_DECIDE, take_child(a, &a->decide), &a->agreed);
    if (a->part == HWMC_NEGOTIATION_REPORT_DUE) {
        a->part = HWMC_NEGOTIATION_REPORTED;
        return fill_parameters(a, tx, HWMC_MSG_REPORT, hwmc_tree_parent(a->rank, a->fanout),
                               &a->mine);
    }
    if (a->invite)
        return fill_msg(a, tx, HWMC_MSG_INVITE, take_child(a, &a->invite));
    if (a->probe_at <= now)
        begin_probes(a, now);
    return a->probe_due ? next_probe(a, tx) : 0;
}

void hwmc_negotiation_check(const struct hwmc_negotiation *a)
{
    assert(a->phase <= HWMC_NEGOTIATION_NO);
    assert(a->phase != HWMC_NEGOTIATION_LANES || lanes_do(a, a->agreed.reason));
    assert(!(a->heard & ~all_children(a)));
    if (has_reported(a) && !hwmc_negotiation_over(a))
        assert(a->heard == all_children(a));
    assert(a->phase != HWMC_NEGOTIATION_YES || a->agreed.reason == HWMC_REASON_NONE);
    assert(a->phase != HWMC_NEGOTIATION_YES || a->agreed.frag_bytes == a->frag_bytes);
    if (a->bound != HWMC_NEGOTIATION_NOT_YET) {
        assert(a->entered <= a->bound && a->bound <= a->mine.from);
        assert(!hwmc_negotiation_over(a) || a->bound <= a->agreed.from);
    }
    assert(a->phase != HWMC_NEGOTIATION_NO || a->agreed.reason != HWMC_REASON_NONE);
}
