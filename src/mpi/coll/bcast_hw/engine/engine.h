/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * engine: drives the groups of a process over its rails and one lane. It takes what came, hands it
 * to the group it names, sends what groups have to send, and fires their timers. All calls come
 * under one lock of the caller's; none blocks. Time is the caller's monotonic clock in ns.
 */
#ifndef HWMC_ENGINE_ENGINE_H_INCLUDED
#define HWMC_ENGINE_ENGINE_H_INCLUDED

#include "../core/model/measure.h"
#include "../core/wait/dry.h"
#include "group/group.h"
#include "group/groups.h"

/* From poll to poll of lanes that nothing goes by. A poll takes a few microseconds at most, and so
 * less than one percent of the time. */
#define HWMC_LANES_QUIET_NS UINT64_C(1000000)

/* Where messages come from: a look at each is a system call. */
#define HWMC_ENGINE_SOURCES (HWMC_RAIL_BITS + 1 + HWMC_LANES_MAX)

struct hwmc_engine {
    struct hwmc_wires wires;
    struct hwmc_groups groups;
    int events;        /* of the progress under way */
    bool draining;     /* no group follows; the lane is being flushed */
    bool measuring;    /* this process asks, or may be asked, how fast lanes are */
    bool alert;        /* this process looks for hosts that have failed */
    uint64_t lanes_at; /* ns: when quiet lanes of rails are polled again */
    struct hwmc_dry dry[HWMC_ENGINE_SOURCES]; /* rails, then the lane, then lanes of rails */
    uint64_t found; /* sources at which the progress under way found something, a bit each */
    struct hwmc_measure measure;
    uint32_t answered;      /* whoever was asked last: by which lanes it has answered, a bit each */
    struct hwmc_wire_in in; /* the message being handled */
    uint32_t high;          /* of its authentication code */
};

/* An engine without rails and lanes; NULL without memory. What it counts in outlives it. */
struct hwmc_engine *hwmc_engine_create(struct hwmc_counts *counts,
                                       struct hwmc_engine_counts *engine_counts);

/* Gives it what it runs on. Before the first group. */
void hwmc_engine_open(struct hwmc_engine *e, const struct hwmc_wires_cfg *cfg);

/* What the lane is to be opened with: pass `e` as its context. */
void hwmc_engine_on_lane(void *e, const void *head, size_t head_len, const void *body,
                         size_t body_len);
void hwmc_engine_on_lost(void *e, uint32_t peer);
void hwmc_engine_on_sent(void *e, uint64_t tag);

/* While `on`, this process takes part in measuring: progress answers who asks. */
void hwmc_engine_measuring(struct hwmc_engine *e, bool on);

/* While `on`, lanes for trees are polled though nothing goes along trees: others may say by any of
 * them what they have found. */
void hwmc_engine_alert(struct hwmc_engine *e, bool on);

/* Asks `peer` how fast the lanes to it are, one of each rail; measuring, on both. `brief`: 0, or
 * as hwmc_measure_start has it. The result is in e->measure once that is done. */
void hwmc_engine_measure(struct hwmc_engine *e, uint32_t peer, uint32_t brief, uint64_t now);

/* Asks `peer` on one lane of each rail whether anything comes; measuring, on both. By which lanes
 * it has answered is in e->answered. */
void hwmc_engine_ask(struct hwmc_engine *e, uint32_t peer);

/* Of the lanes' rails, a bit each by their index: these carry nothing. Alike on all processes; not
 * all. */
void hwmc_engine_silent(struct hwmc_engine *e, uint32_t rails);

/* What was measured of the lanes' rails, by their index, alike on all processes: by it segments are
 * dealt, and bursts are as long as a rail is fast. Where one lane serves: of the rails. */
void hwmc_engine_rates(struct hwmc_engine *e, const uint32_t *mbit);

/* Returns how much happened; 0: nothing. Lanes of rails are polled each time while anything goes by
 * them, else each HWMC_LANES_QUIET_NS: what a peer sends may need them, though no broadcast here
 * does. */
int hwmc_engine_progress(struct hwmc_engine *e, uint64_t now);

/* The same for a thread that does nothing but wait: it leaves out sources that are dry
 * (core/wait/dry). */
int hwmc_engine_wait_progress(struct hwmc_engine *e, uint64_t now);

/* Progress has something to do at this time though nothing comes: ns or NEVER. */
uint64_t hwmc_engine_deadline(const struct hwmc_engine *e);

/* Progress has something to care for. */
static inline bool hwmc_engine_active(const struct hwmc_engine *e)
{
    return e->groups.first != NULL || e->groups.declines.num > 0 || e->draining || e->measuring ||
           e->wires.unflushed;
}

/* Asserts what the heads of its parts say. */
void hwmc_engine_check(const struct hwmc_engine *e);

/* cfg.lanes are polled: a broadcast goes along trees here, or has left something in the lanes, or
 * anything else is expected there. */
bool hwmc_engine_by_lanes(const struct hwmc_engine *e);

/* No group follows: closes the ones that are left. */
void hwmc_engine_drain(struct hwmc_engine *e, uint64_t now);

/* The lane for control and repair is flushed. To be asked between calls of progress. */
bool hwmc_engine_told(struct hwmc_engine *e);

/* After drain: no group is left, and no decline. To be asked between calls of progress. */
bool hwmc_engine_drained(const struct hwmc_engine *e);

/* Frees the groups that are left and closes rails and lanes. */
void hwmc_engine_close(struct hwmc_engine *e);

/* Of a closed engine, or one never opened. */
void hwmc_engine_destroy(struct hwmc_engine *e);

/* Nobody waits any longer for the lanes that the group pins something to: they are cut, and it
 * pins nothing. */
void hwmc_engine_cut(struct hwmc_engine *e, const struct hwmc_group *g);

#endif /* HWMC_ENGINE_ENGINE_H_INCLUDED */
