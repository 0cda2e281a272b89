/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * agree: see agree.h.
 */
#include "agree.h"

#include "mask.h"

#include <assert.h>
#include <stddef.h>

/* Payloads to be tried where longer ones do not pass: usual MTUs less all headers that there may
 * be. */
static const uint32_t usual[] = {8900, 3996, 1944, 1400, 1350, 1300, 1180, 476};

/* The longest of them that is below `bytes`; 0: none. */
static uint32_t shorter_than(uint32_t bytes)
{
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (usual[i] < bytes)
            return usual[i];
    return 0;
}

static uint16_t all_children(const struct bcast_hw_agree *a)
{
    return bcast_hw_tree_all_children(a->rank, a->size, a->fanout);
}

/* Whether broadcasts can do without what failed. */
static bool lanes_do(const struct bcast_hw_agree *a, uint32_t reason)
{
    switch (reason) {
        case BCAST_HW_REASON_FABRIC:
        case BCAST_HW_REASON_MEMORY:
        case BCAST_HW_REASON_JOIN:
        case BCAST_HW_REASON_PROBE:
        case BCAST_HW_REASON_RAILS:
            return a->by_lanes;
        default:
            return false;
    }
}

/* Of several reasons one that lanes do not help against counts, then the lowest rank's. */
static void object(const struct bcast_hw_agree *a, struct bcast_hw_terms *t, uint32_t reason,
                   uint32_t rank)
{
    bool before = lanes_do(a, t->reason) && !lanes_do(a, reason);
    bool after = !lanes_do(a, t->reason) && lanes_do(a, reason);

    if (reason == BCAST_HW_REASON_NONE ||
        (t->reason != BCAST_HW_REASON_NONE && !before && (after || rank >= t->rank)))
        return;
    t->reason = reason;
    t->rank = rank;
}

static void combine(const struct bcast_hw_agree *a, struct bcast_hw_terms *t,
                    const struct bcast_hw_terms *with)
{
    object(a, t, with->reason, with->rank);
    t->rails &= with->rails;
    t->frag_bytes = with->frag_bytes < t->frag_bytes ? with->frag_bytes : t->frag_bytes;
    t->window = with->window < t->window ? with->window : t->window;
    t->from = with->from > t->from ? with->from : t->from;
}

static void stop_probing(struct bcast_hw_agree *a)
{
    a->deadline = a->probe_at = BCAST_HW_NEVER;
    a->probe_due = 0;
}

/* No stage follows `phase`, as things are agreed. */
static bool is_last(const struct bcast_hw_agree *a)
{
    return a->phase == BCAST_HW_AGREE_FIT ||
           (a->phase == BCAST_HW_AGREE_PROBE &&
            (a->agreed.rails == 0 || a->agreed.frag_bytes == a->frag_bytes));
}

/* This rank's part of the stage: it will broadcast nothing. */
static void object_as_it_leaves(struct bcast_hw_agree *a)
{
    object(a, &a->mine, BCAST_HW_REASON_CLOSED, a->rank);
    a->answered = true;
}

/* Enters the stage after the decision `agreed`, or the end. */
static void enter(struct bcast_hw_agree *a)
{
    bool good = a->agreed.reason == BCAST_HW_REASON_NONE;
    bool lanes = lanes_do(a, a->agreed.reason);

    a->decide = all_children(a);
    stop_probing(a);
    if (!(good || lanes) || is_last(a)) {
        a->phase = good ? BCAST_HW_AGREE_YES : lanes ? BCAST_HW_AGREE_LANES : BCAST_HW_AGREE_NO;
        a->invite = 0;
        return;
    }
    a->phase = (enum bcast_hw_agree_phase)(a->phase + 1);
    a->mine = a->agreed;
    a->mine.stage = a->phase;
    a->answered = a->reported = a->report_due = false;
    a->heard = 0;
    if (a->leaves)
        object_as_it_leaves(a);
}

/* The rails on which a probe for payloads of `bytes` or more has come. */
static uint32_t probed(const struct bcast_hw_agree *a, uint32_t bytes)
{
    uint32_t rails = 0;

    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++)
        rails |= a->probe_got[r] >= bytes ? 1u << r : 0;
    return rails;
}

/* One of full length has come on every rail. */
static bool all_probed(const struct bcast_hw_agree *a)
{
    return (a->agreed.rails & ~probed(a, a->agreed.frag_bytes)) == 0;
}

static void enter_probe(struct bcast_hw_agree *a, uint64_t now)
{
    a->deadline = now + a->probe_ns;
    if (a->rank == 0 && a->agreed.rails) {
        a->probe_at = now;
        a->probe_gap = BCAST_HW_PROBE_FIRST_NS;
    }
    a->answered = a->answered || a->rank == 0 || all_probed(a);
}

/* This rank's answer: of the agreed rails only `rails` will do; if none, for this reason. */
static void answer(struct bcast_hw_agree *a, uint32_t rails, uint32_t reason)
{
    a->mine.rails &= rails;
    if (a->agreed.rails != 0 && (a->agreed.rails & rails) == 0)
        object(a, &a->mine, reason, a->rank);
    a->answered = true;
}

/* This rank's answer to the probes, when no more are waited for. */
static void answer_probes(struct bcast_hw_agree *a)
{
    const uint32_t rails = probed(a, 1) & a->agreed.rails;

    FOR_EACH (r, rails)
        if (a->probe_got[r] < a->mine.frag_bytes)
            a->mine.frag_bytes = a->probe_got[r];
    answer(a, rails, BCAST_HW_REASON_PROBE);
}

/* This rank's part of PROBE is known, and goes out: how far it will go without the outcome. */
static void promise(struct bcast_hw_agree *a)
{
    a->bound = a->entered > 0 ? a->entered + BCAST_HW_AGREE_MARGIN : 0;
    a->mine.from = a->bound > a->mine.from ? a->bound : a->mine.from;
}

/* The subtree's part of this stage may be complete. */
static void advance(struct bcast_hw_agree *a)
{
    if (bcast_hw_agree_over(a) || a->reported || !a->answered || a->heard != all_children(a))
        return;
    /* Each rank had some, but not the same. */
    if (a->mine.rails == 0 && a->mine.reason == BCAST_HW_REASON_NONE)
        object(a, &a->mine, BCAST_HW_REASON_RAILS, a->rank);
    if (a->phase == BCAST_HW_AGREE_PROBE)
        promise(a);
    a->reported = true;
    if (a->rank == 0) {
        a->agreed = a->mine;
        if (a->mine.reason != BCAST_HW_REASON_NONE)
            a->agreed.rails = 0;
        enter(a);
    } else {
        a->report_due = true;
    }
}

void bcast_hw_agree_start(struct bcast_hw_agree *a, uint32_t size, uint32_t rank, uint32_t fanout,
                          uint64_t key, const struct bcast_hw_terms *offer, bool by_lanes,
                          uint64_t probe_ns)
{
    assert(fanout >= 1 && fanout <= BCAST_HW_FANOUT_MAX && rank < size);
    *a = (struct bcast_hw_agree){
        .phase = BCAST_HW_AGREE_OFFER,
        .size = size,
        .rank = rank,
        .fanout = fanout,
        .key = key,
        .by_lanes = by_lanes,
        .probe_ns = probe_ns,
        .mine = *offer,
        .answered = true,
        .bound = BCAST_HW_AGREE_NOT_YET,
        .deadline = BCAST_HW_NEVER,
        .probe_at = BCAST_HW_NEVER,
    };
    a->mine.stage = BCAST_HW_AGREE_OFFER;
    a->mine.rank = rank;
    a->invite = all_children(a);
    advance(a);
}

void bcast_hw_agree_on_joined(struct bcast_hw_agree *a, bool able, uint32_t rails, uint64_t now)
{
    assert(bcast_hw_agree_wants_join(a));
    answer(a, rails, BCAST_HW_REASON_JOIN);
    if (!able)
        object(a, &a->mine, BCAST_HW_REASON_NOMEM, a->rank);
    a->frag_bytes = a->agreed.frag_bytes;
    advance(a);
    if (a->phase == BCAST_HW_AGREE_PROBE) { /* the leader has decided */
        enter_probe(a, now);
        advance(a);
    }
}

void bcast_hw_agree_on_fitted(struct bcast_hw_agree *a, bool able)
{
    assert(bcast_hw_agree_wants_fit(a));
    if (!able)
        object(a, &a->mine, BCAST_HW_REASON_NOMEM, a->rank);
    a->frag_bytes = a->agreed.frag_bytes;
    a->answered = true;
    advance(a);
}

uint32_t bcast_hw_agree_probed(const struct bcast_hw_agree *a)
{
    return probed(a, 1);
}

enum bcast_hw_agree_turn bcast_hw_agree_enter(struct bcast_hw_agree *a, uint32_t number)
{
    assert(!a->leaves && (number >= a->entered || bcast_hw_agree_over(a)));
    if (a->phase == BCAST_HW_AGREE_NO)
        return BCAST_HW_AGREE_TAKE;
    if (bcast_hw_agree_over(a))
        return number >= a->agreed.from ? BCAST_HW_AGREE_TAKE : BCAST_HW_AGREE_PASS;
    if (number >= a->bound)
        return BCAST_HW_AGREE_AWAIT;
    a->entered = number + 1;
    return BCAST_HW_AGREE_PASS;
}

void bcast_hw_agree_leave(struct bcast_hw_agree *a)
{
    a->leaves = true;
    if (bcast_hw_agree_over(a) || a->reported)
        return;
    object_as_it_leaves(a);
    advance(a);
}

/* Who can multicast says in what pieces. */
static bool is_formed(const struct bcast_hw_terms *t)
{
    return t->reason < BCAST_HW_REASON_LIMIT && (t->rails == 0 || t->frag_bytes > 0);
}

/* A decision is no more than what was reported here, and after the first one only rails and reason
 * change, and by probes the payload. */
static bool is_possible(const struct bcast_hw_agree *a, const struct bcast_hw_terms *t)
{
    bool good = t->reason == BCAST_HW_REASON_NONE;

    if (!is_formed(t) || good != (t->rails != 0) || (t->rails & ~a->mine.rails) != 0 ||
        t->frag_bytes > a->mine.frag_bytes || t->window > a->mine.window || t->from < a->mine.from)
        return false;
    return a->phase == BCAST_HW_AGREE_OFFER ||
           ((t->frag_bytes == a->agreed.frag_bytes || a->phase == BCAST_HW_AGREE_PROBE) &&
            t->window == a->agreed.window && t->generation == a->agreed.generation &&
            t->group == a->agreed.group && t->seed == a->agreed.seed);
}

static enum bcast_hw_verdict on_report(struct bcast_hw_agree *a, const struct bcast_hw_msg *msg,
                                       uint64_t now)
{
    enum bcast_hw_agree_phase before = a->phase;
    uint32_t i = bcast_hw_tree_child_number(a->rank, msg->peer, a->size, a->fanout);

    if (i == a->fanout || !msg->terms || !is_formed(msg->terms))
        return BCAST_HW_BAD;
    if (bcast_hw_agree_over(a) || msg->terms->stage < (uint32_t) a->phase)
        return BCAST_HW_STALE;
    if (msg->terms->stage > (uint32_t) a->phase)
        return BCAST_HW_BAD;
    if (a->heard >> i & 1)
        return BCAST_HW_DUP;
    a->heard |= (uint16_t) (1u << i);
    a->invite &= (uint16_t) ~(1u << i);
    combine(a, &a->mine, msg->terms);
    advance(a);
    if (a->phase == BCAST_HW_AGREE_PROBE && before == BCAST_HW_AGREE_JOIN) { /* the leader */
        enter_probe(a, now);
        advance(a);
    }
    return BCAST_HW_TAKEN;
}

static enum bcast_hw_verdict on_decide(struct bcast_hw_agree *a, const struct bcast_hw_msg *msg,
                                       uint64_t now)
{
    if (a->rank == 0 || msg->peer != bcast_hw_tree_parent(a->rank, a->fanout) || !msg->terms)
        return BCAST_HW_BAD;
    if (bcast_hw_agree_over(a) || msg->terms->stage != (uint32_t) a->phase || !a->reported)
        return BCAST_HW_STALE;
    if (!is_possible(a, msg->terms))
        return BCAST_HW_BAD;
    a->agreed = *msg->terms;
    enter(a);
    if (a->phase == BCAST_HW_AGREE_PROBE)
        enter_probe(a, now);
    advance(a);
    return BCAST_HW_TAKEN;
}

static enum bcast_hw_verdict on_probe(struct bcast_hw_agree *a, const struct bcast_hw_msg *msg)
{
    if (!msg->multicast || a->rank == 0 || msg->peer != 0 || msg->rail >= BCAST_HW_RAIL_BITS ||
        msg->bytes == 0)
        return BCAST_HW_BAD;
    if (a->phase > BCAST_HW_AGREE_PROBE)
        return BCAST_HW_STALE;
    if (msg->bytes <= a->probe_got[msg->rail])
        return BCAST_HW_DUP;
    a->probe_got[msg->rail] = msg->bytes;
    if (a->phase == BCAST_HW_AGREE_PROBE && all_probed(a)) {
        a->answered = true;
        advance(a);
    }
    return BCAST_HW_TAKEN;
}

enum bcast_hw_verdict bcast_hw_agree_on_recv(struct bcast_hw_agree *a,
                                             const struct bcast_hw_msg *msg, uint64_t now)
{
    if (msg->type == BCAST_HW_MSG_PROBE)
        return on_probe(a, msg);
    if (msg->multicast)
        return BCAST_HW_BAD;
    switch (msg->type) {
        case BCAST_HW_MSG_INVITE:
            if (a->rank == 0 || msg->peer != bcast_hw_tree_parent(a->rank, a->fanout))
                return BCAST_HW_BAD;
            if (a->phase == BCAST_HW_AGREE_OFFER && a->reported)
                a->report_due = true;
            return BCAST_HW_TAKEN;
        case BCAST_HW_MSG_REPORT:
            return on_report(a, msg, now);
        case BCAST_HW_MSG_DECIDE:
            return on_decide(a, msg, now);
        default:
            return BCAST_HW_BAD;
    }
}

void bcast_hw_agree_on_timer(struct bcast_hw_agree *a, uint64_t now)
{
    if (a->deadline <= now && a->phase == BCAST_HW_AGREE_PROBE) {
        stop_probing(a);
        if (!a->answered) {
            a->missed = (uint8_t) (a->agreed.rails & ~probed(a, 1));
            answer_probes(a);
            advance(a);
        }
    }
}

uint64_t bcast_hw_agree_next_timer(const struct bcast_hw_agree *a)
{
    return a->probe_at < a->deadline ? a->probe_at : a->deadline;
}

static int fill(const struct bcast_hw_agree *a, struct bcast_hw_msg *tx,
                enum bcast_hw_msg_type type, uint32_t peer, const struct bcast_hw_terms *terms)
{
    *tx = (struct bcast_hw_msg){.type = type, .peer = peer, .bid = a->key, .terms = terms};
    return 1;
}

static uint32_t take_child(const struct bcast_hw_agree *a, uint16_t *mask)
{
    return bcast_hw_tree_take_child(a->rank, mask, a->fanout);
}

/* It is time for probes. The first time those of full length do, as a rule. */
static void begin_probes(struct bcast_hw_agree *a, uint64_t now)
{
    a->probe_shorter = a->probe_gap > BCAST_HW_PROBE_FIRST_NS;
    a->probe_at = now + a->probe_gap;
    a->probe_gap *= 2;
    a->probe_due = (uint8_t) a->agreed.rails;
    a->probe_bytes = a->agreed.frag_bytes;
}

static int next_probe(struct bcast_hw_agree *a, struct bcast_hw_msg *tx)
{
    fill(a, tx, BCAST_HW_MSG_PROBE, a->rank, NULL);
    tx->multicast = true;
    tx->bytes = a->probe_bytes;
    tx->rail = (uint8_t) __builtin_ctz(a->probe_due);
    a->probe_due &= (uint8_t) (a->probe_due - 1);
    if (a->probe_due == 0 && a->probe_shorter) {
        a->probe_bytes = shorter_than(a->probe_bytes);
        a->probe_due = a->probe_bytes > 0 ? (uint8_t) a->agreed.rails : 0;
    }
    return 1;
}

int bcast_hw_agree_next_send(struct bcast_hw_agree *a, struct bcast_hw_msg *tx, uint64_t now)
{
    if (a->decide)
        return fill(a, tx, BCAST_HW_MSG_DECIDE, take_child(a, &a->decide), &a->agreed);
    if (a->report_due) {
        a->report_due = false;
        return fill(a, tx, BCAST_HW_MSG_REPORT, bcast_hw_tree_parent(a->rank, a->fanout), &a->mine);
    }
    if (a->invite)
        return fill(a, tx, BCAST_HW_MSG_INVITE, take_child(a, &a->invite), NULL);
    if (a->probe_at <= now)
        begin_probes(a, now);
    return a->probe_due ? next_probe(a, tx) : 0;
}

void bcast_hw_agree_check(const struct bcast_hw_agree *a)
{
    assert(a->phase <= BCAST_HW_AGREE_NO);
    assert(a->phase != BCAST_HW_AGREE_LANES || lanes_do(a, a->agreed.reason));
    assert(!(a->heard & ~all_children(a)));
    if (a->reported && !bcast_hw_agree_over(a))
        assert(a->answered && a->heard == all_children(a));
    assert(a->phase != BCAST_HW_AGREE_YES || a->agreed.reason == BCAST_HW_REASON_NONE);
    assert(a->phase != BCAST_HW_AGREE_YES || a->agreed.frag_bytes == a->frag_bytes);
    if (a->bound != BCAST_HW_AGREE_NOT_YET) {
        assert(a->entered <= a->bound && a->bound <= a->mine.from);
        assert(!bcast_hw_agree_over(a) || a->bound <= a->agreed.from);
    }
    assert(a->phase != BCAST_HW_AGREE_NO || a->agreed.reason != BCAST_HW_REASON_NONE);
}
