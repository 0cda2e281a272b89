/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trial: see trial.h.
 */

#include "trial.h"

#include <assert.h>

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t product_of(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Calls of a block, and those of them that count. */
static uint32_t counted_calls(const struct hwmc_trial *t)
{
    const bool is_long = t->cost[t->used] >= product_of(t->agreement, HWMC_TRIAL_LONG);

    return is_long && t->agreement > 0 ? 1 : HWMC_TRIAL_CALLS;
}

static uint32_t block_calls(const struct hwmc_trial *t)
{
    return counted_calls(t) > 1 ? 1 + HWMC_TRIAL_CALLS : 1;
}

/* What a call by way `w` takes: beside the program's with the barrier before it; of the first trial
 * that is made of the program's calls, longer than by the way in use. */
static uint64_t call_price(const struct hwmc_trial *t, uint32_t w)
{
    const uint64_t known = t->trials > 0 ? 0 : t->cost[t->used];

    if (t->beside)
        return sum_of(t->cost[w], t->agreement);
    return t->cost[w] > known ? t->cost[w] - known : 0;
}

/* What calls must have taken before the next trial. */
static uint64_t trial_price(const struct hwmc_trial *t)
{
    uint64_t price = 0;

    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        if (t->cost[w] != HWMC_TRIAL_NO_WAY)
            price =
                sum_of(price, sum_of(product_of(call_price(t, w), block_calls(t)), t->agreement));
    price = product_of(price, HWMC_TRIAL_ROUNDS);
    for (uint32_t i = 0; i < t->trials; i++)
        price = product_of(price, HWMC_TRIAL_DEARER);
    return price;
}

void hwmc_trial_init(struct hwmc_trial *t, const uint64_t cost[HWMC_TRIAL_WAYS], uint32_t used,
                     uint64_t agreement, bool beside)
{
    uint64_t least = HWMC_TRIAL_NO_WAY;

    assert(used < HWMC_TRIAL_WAYS && cost[used] != HWMC_TRIAL_NO_WAY);
    *t = (struct hwmc_trial){.used = used, .agreement = agreement, .beside = beside};
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        least = cost[w] < least ? cost[w] : least;
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        t->cost[w] =
            w == used || cost[w] <= product_of(least, HWMC_TRIAL_FAR) ? cost[w] : HWMC_TRIAL_NO_WAY;
    t->price = trial_price(t);
    hwmc_trial_check(t);
}

bool hwmc_trial_has_choice(const struct hwmc_trial *t)
{
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        if (w != t->used && t->cost[w] != HWMC_TRIAL_NO_WAY)
            return true;
    return false;
}

/* The first way from `from` on that has a block in this round; HWMC_TRIAL_WAYS: none. */
static uint32_t next_way(const struct hwmc_trial *t, uint32_t from)
{
    uint64_t least = HWMC_TRIAL_NO_WAY;
    uint32_t w = from;

    for (uint32_t i = 0; i < HWMC_TRIAL_WAYS; i++)
        least = t->block[i] < least ? t->block[i] : least;
    while (w < HWMC_TRIAL_WAYS && (t->cost[w] == HWMC_TRIAL_NO_WAY ||
                                   (t->round > 0 && t->block[w] > product_of(least, 2))))
        w++;
    return w;
}

static void begin_block(struct hwmc_trial *t, uint32_t way)
{
    t->way = way;
    t->call = 0;
    t->sum = 0;
}

static void begin_trial(struct hwmc_trial *t)
{
    t->trying = true;
    t->round = 0;
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        t->block[w] = HWMC_TRIAL_NO_WAY;
    begin_block(t, next_way(t, 0));
}

uint32_t hwmc_trial_begin(struct hwmc_trial *t)
{
    const bool may = !t->trying && !(t->beside && t->trials > 0) && hwmc_trial_has_choice(t);

    if (may && t->calls >= HWMC_TRIAL_FIRST && t->taken >= t->price)
        begin_trial(t);
    return t->trying ? t->way : t->used;
}

bool hwmc_trial_end(struct hwmc_trial *t, uint64_t ns)
{
    if (!t->trying) {
        t->taken = sum_of(t->taken, t->cost[t->used]);
        t->calls += t->calls < HWMC_TRIAL_FIRST;
        return false;
    }
    if (t->call > 0 || block_calls(t) == 1 || ns == UINT64_MAX)
        t->sum = sum_of(t->sum, ns);
    return ++t->call == block_calls(t);
}

static void end_trial(struct hwmc_trial *t)
{
    uint32_t best = t->used;

    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        if (t->block[w] < t->block[best] &&
            (best != t->used || t->block[w] < t->block[best] - t->block[best] / HWMC_TRIAL_ALIKE))
            best = w;
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        if (t->block[w] != HWMC_TRIAL_NO_WAY)
            t->cost[w] = t->block[w];
    t->used = best;
    t->trying = false;
    t->trials++;
    t->taken = 0;
    t->calls = 0;
    t->price = trial_price(t);
}

bool hwmc_trial_agreed(struct hwmc_trial *t, uint64_t sum)
{
    const uint64_t ns = sum == UINT64_MAX ? UINT64_MAX - 1 : sum / counted_calls(t);
    uint32_t way;

    assert(t->trying && t->call == block_calls(t));
    if (ns < t->block[t->way])
        t->block[t->way] = ns;
    way = next_way(t, t->way + 1);
    if (way == HWMC_TRIAL_WAYS) {
        t->round++;
        way = next_way(t, 0);
        if (t->round == HWMC_TRIAL_ROUNDS || next_way(t, way + 1) == HWMC_TRIAL_WAYS) {
            end_trial(t);
            hwmc_trial_check(t);
            return true;
        }
    }
    begin_block(t, way);
    hwmc_trial_check(t);
    return false;
}

void hwmc_trial_check(const struct hwmc_trial *t)
{
    assert(t->used < HWMC_TRIAL_WAYS);
    assert(t->calls <= HWMC_TRIAL_FIRST);
    if (!t->trying)
        return;
    assert(t->round < HWMC_TRIAL_ROUNDS && t->way < HWMC_TRIAL_WAYS && t->call <= block_calls(t));
    assert(t->cost[t->way] != HWMC_TRIAL_NO_WAY);
}
