/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * two_stage: see two_stage.h. Here: what all roles do to the state: the phase changes, the shape of
 * the message becomes known, requests are forgotten.
 */
#include "two_stage_impl.h"

#include <assert.h>

#include "../base/trace.h"

/* Which phase may follow which, a bit each. */
static const uint8_t legal_phases[] = {
    [HWMC_EMPTY] = 1u << HWMC_UNEXPECTED | 1u << HWMC_WAIT | 1u << HWMC_HOLD | 1u << HWMC_BYPASSED,
    [HWMC_UNEXPECTED] = 1u << HWMC_STORED | 1u << HWMC_WAIT | 1u << HWMC_HOLD | 1u << HWMC_BYPASSED,
    [HWMC_STORED] = 1u << HWMC_DONE | 1u << HWMC_HOLD | 1u << HWMC_BYPASSED,
    [HWMC_WAIT] = 1u << HWMC_DONE,
    [HWMC_HOLD] = 1u << HWMC_CAST,
    [HWMC_CAST] = 1u << HWMC_DONE,
    [HWMC_DONE] = 1u << HWMC_EMPTY,
    [HWMC_BYPASSED] = 1u << HWMC_EMPTY,
};

static const char *const phase_names[] = {
    [HWMC_EMPTY] = "EMPTY",   [HWMC_UNEXPECTED] = "UNEXPECTED",
    [HWMC_STORED] = "STORED", [HWMC_WAIT] = "WAIT",
    [HWMC_HOLD] = "HOLD",     [HWMC_CAST] = "CAST",
    [HWMC_DONE] = "DONE",     [HWMC_BYPASSED] = "BYPASSED",
};

void hwmc_two_stage_set_phase(struct hwmc_two_stage *m, enum hwmc_phase to)
{
    assert(legal_phases[m->phase] >> to & 1);
    hwmc_trace_change(HWMC_TRACE_BCAST, m->bid, phase_names, m->phase, to);
    m->phase = to;
}

void hwmc_two_stage_forget_askers(struct hwmc_two_stage *m, uint32_t max_frags)
{
    hwmc_bitmap_clear(m->given, max_frags);
    m->num_askers = 0;
    m->give_to = HWMC_NOBODY;
}

/* The shape of the message is known now: what the successor wants can be named. A root that had
 * been asked before it was called asked in turn: it wants nothing any more. Whoever asked for
 * everything before anything was known (`standing`: such requests hold) may have been too early, or
 * missed it all. */
void hwmc_two_stage_learn(struct hwmc_two_stage *m, uint32_t root, uint32_t frags, uint32_t bytes,
                          bool standing, const struct hwmc_ring *ring)
{
    m->root = root;
    m->frags = frags;
    m->bytes = bytes;
    if (!hwmc_two_stage_serves(m, ring))
        hwmc_bitmap_clear(m->wanted, ring->max_frags);
    else if ((m->unknown.want && (standing || m->unknown.want == HWMC_WANT_ALL_NO_MULTICAST)) ||
             m->push)
        hwmc_bitmap_fill(m->wanted, frags);
    if (m->unknown.ask == HWMC_ASK_ALL_OUT && standing)
        hwmc_bitmap_fill(m->asked, frags);
    if (m->unknown.ask && standing)
        m->ask_below = frags;
    m->unknown.ask = HWMC_ASK_ALL_NONE;
    m->unknown.want = HWMC_WANT_ALL_NONE;
}
