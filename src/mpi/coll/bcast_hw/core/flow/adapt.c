/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * adapt: see adapt.h.
 */
#include "adapt.h"

#define LONG_NS UINT64_C(1000000000)

void hwmc_adapt_init(struct hwmc_adapt *a, bool repair, bool period, uint32_t channels)
{
    *a = (struct hwmc_adapt){
        .repair = repair,
        .period = period && channels >= 4,
        .channels = channels,
        .lasts = HWMC_ADAPT_WHILE,
    };
}

static void begin_trial(struct hwmc_adapt *a)
{
    a->broadcasts = a->repaired = a->frags = 0;
}

void hwmc_adapt_enter(struct hwmc_adapt *a, const struct hwmc_policy *policy)
{
    if (policy->push != a->policy.push) {
        begin_trial(a);
        if (policy->push && a->tried)
            a->lasts = HWMC_ADAPT_WHILE;
        a->tried = false;
        a->push = policy->push;
    }
    if (policy->period != a->policy.period) {
        a->wanted = policy->period;
        a->times = 0;
    }
    a->policy = *policy;
    a->at = 0;
}

/* By pull: whether push is worth its messages. The first trial after push says whether it was left
 * in vain. */
static void judge_pull(struct hwmc_adapt *a)
{
    bool brief = a->frags <= HWMC_ADAPT_SHORT * a->broadcasts;

    if (a->broadcasts < HWMC_ADAPT_TRIAL)
        return;
    a->push = brief && HWMC_ADAPT_MANY * a->repaired >= a->broadcasts;
    if (!a->push)
        a->tried = true;
    begin_trial(a);
}

static void judge_push(struct hwmc_adapt *a)
{
    if (a->broadcasts < a->lasts)
        return;
    a->push = false;
    a->lasts = 2 * a->lasts < HWMC_ADAPT_LONGEST ? 2 * a->lasts : HWMC_ADAPT_LONGEST;
}

/* The longest period for which the floor comes before a channel is needed. */
static uint32_t in_time(const struct hwmc_adapt *a)
{
    uint32_t quarter = a->channels / 4;
    uint64_t meanwhile = a->sync / (a->gap > 0 ? a->gap : 1) + 1;

    for (uint32_t quarters = 3; quarters > 1; quarters--)
        if (quarters * quarter + meanwhile <= a->channels)
            return quarters * quarter;
    return quarter;
}

static void judge_period(struct hwmc_adapt *a, const struct hwmc_adapt_sample *sample)
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

void hwmc_adapt_learn(struct hwmc_adapt *a, const struct hwmc_adapt_sample *sample)
{
    if (a->at > 0 && sample->floor > a->floor) {
        a->broadcasts += sample->floor - a->floor;
        a->repaired += sample->repaired;
        a->frags += sample->frags;
        if (a->policy.push)
            judge_push(a);
        else
            judge_pull(a);
        judge_period(a, sample);
    }
    a->at = sample->now;
    a->floor = sample->floor;
}

struct hwmc_policy hwmc_adapt_want(const struct hwmc_adapt *a)
{
    struct hwmc_policy want = a->policy;

    if (a->repair)
        want.push = a->push;
    if (a->period && a->times >= HWMC_ADAPT_STEADY)
        want.period = a->wanted;
    return want;
}
