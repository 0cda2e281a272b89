/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * adapt: see adapt.h.
 */
#include "adapt.h"

#define LONG_NS UINT64_C(1000000000)

void bcast_hw_adapt_init(struct bcast_hw_adapt *a, bool repair, bool period, uint32_t channels)
{
    *a = (struct bcast_hw_adapt){
        .repair = repair,
        .period = period && channels >= 4,
        .channels = channels,
        .lasts = BCAST_HW_ADAPT_WHILE,
    };
}

static void begin_trial(struct bcast_hw_adapt *a)
{
    a->broadcasts = a->repaired = a->frags = 0;
}

void bcast_hw_adapt_enter(struct bcast_hw_adapt *a, const struct bcast_hw_manner *manner)
{
    if (manner->push != a->manner.push) {
        begin_trial(a);
        if (manner->push && a->tried)
            a->lasts = BCAST_HW_ADAPT_WHILE;
        a->tried = false;
        a->push = manner->push;
    }
    if (manner->period != a->manner.period) {
        a->wanted = manner->period;
        a->times = 0;
    }
    a->manner = *manner;
    a->at = 0;
}

/* By pull: whether push is worth its messages. The first trial after push says whether it was left
 * in vain. */
static void judge_pull(struct bcast_hw_adapt *a)
{
    bool brief = a->frags <= BCAST_HW_ADAPT_SHORT * a->broadcasts;

    if (a->broadcasts < BCAST_HW_ADAPT_TRIAL)
        return;
    a->push = brief && BCAST_HW_ADAPT_MANY * a->repaired >= a->broadcasts;
    if (!a->push)
        a->tried = true;
    begin_trial(a);
}

static void judge_push(struct bcast_hw_adapt *a)
{
    if (a->broadcasts < a->lasts)
        return;
    a->push = false;
    a->lasts = 2 * a->lasts < BCAST_HW_ADAPT_LONGEST ? 2 * a->lasts : BCAST_HW_ADAPT_LONGEST;
}

/* The longest period for which the floor comes before a channel is needed. */
static uint32_t in_time(const struct bcast_hw_adapt *a)
{
    uint32_t quarter = a->channels / 4;
    uint64_t meanwhile = a->sync / (a->gap > 0 ? a->gap : 1) + 1;

    for (uint32_t quarters = 3; quarters > 1; quarters--)
        if (quarters * quarter + meanwhile <= a->channels)
            return quarters * quarter;
    return quarter;
}

static void judge_period(struct bcast_hw_adapt *a, const struct bcast_hw_adapt_sample *sample)
{
    uint64_t gap = (sample->now - a->at) / (sample->floor - a->floor), period;

    gap = gap < LONG_NS ? gap : LONG_NS;
    a->gap = a->gap > 0 ? (3 * a->gap + gap) / 4 : gap;
    a->sync -= a->sync / 8;
    if (sample->sync_ns > a->sync)
        a->sync = sample->sync_ns < LONG_NS ? sample->sync_ns : LONG_NS;
    if (a->sync == 0)
        return;
    period = in_time(a);
    a->times = period == a->wanted ? a->times + 1 : 1;
    a->wanted = (uint32_t) period;
}

void bcast_hw_adapt_learn(struct bcast_hw_adapt *a, const struct bcast_hw_adapt_sample *sample)
{
    if (a->at > 0 && sample->floor > a->floor) {
        a->broadcasts += sample->floor - a->floor;
        a->repaired += sample->repaired;
        a->frags += sample->frags;
        if (a->manner.push)
            judge_push(a);
        else
            judge_pull(a);
        judge_period(a, sample);
    }
    a->at = sample->now;
    a->floor = sample->floor;
}

struct bcast_hw_manner bcast_hw_adapt_want(const struct bcast_hw_adapt *a)
{
    struct bcast_hw_manner want = a->manner;

    if (a->repair)
        want.push = a->push;
    if (a->period && a->times >= BCAST_HW_ADAPT_STEADY)
        want.period = a->wanted;
    return want;
}
