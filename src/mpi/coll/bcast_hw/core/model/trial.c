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

static uint32_t block_calls(const struct hwmc_trial *t, uint32_t round)
{
    const bool is_long = t->cost[t->used] >= product_of(t->agreement, HWMC_TRIAL_LONG);

    if (round > 0)
        return t->in_row ? HWMC_TRIAL_ROW : HWMC_TRIAL_WARM + HWMC_TRIAL_CALLS;
    return is_long && t->agreement > 0 ? 1 : 1 + HWMC_TRIAL_FEW;
}

/* Calls of a block in this round that count: the last ones. */
static uint32_t counted_calls(const struct hwmc_trial *t, uint32_t round)
{
    const uint32_t all = block_calls(t, round);

    if (hwmc_trial_settles(t) || all == 1)
        return all;
    return round > 0 ? HWMC_TRIAL_CALLS : HWMC_TRIAL_FEW;
}

/* Of several that count by themselves, the longest is left out. */
static bool leaves_longest_out(const struct hwmc_trial *t, uint32_t round)
{
    return !hwmc_trial_settles(t) && counted_calls(t, round) > 1;
}

static uint32_t summed_calls(const struct hwmc_trial *t, uint32_t round)
{
    return counted_calls(t, round) - leaves_longest_out(t, round);
}

/* What a call by way `w` takes: beside the program's with the barrier before it; of the first trial
 * that is made of the program's calls, longer than by the way in use. */
static uint64_t call_price(const struct hwmc_trial *t, uint32_t w)
{
    const uint64_t known = t->trials > 0 ? 0 : t->cost[t->used];

    if (t->kind == HWMC_TRIAL_BESIDE)
        return sum_of(t->cost[w], t->agreement);
    return t->cost[w] > known ? t->cost[w] - known : 0;
}

/* What calls must have taken before the next trial. */
static uint64_t trial_price(const struct hwmc_trial *t)
{
    const uint32_t calls = block_calls(t, 0) + block_calls(t, 1);
    const uint64_t agreeing = product_of(t->agreement, t->kind == HWMC_TRIAL_SETTLED ? 4 : 2);
    uint64_t price = 0;

    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        if (t->cost[w] != HWMC_TRIAL_NO_WAY)
            price = sum_of(price, sum_of(product_of(call_price(t, w), calls), agreeing));
    for (uint32_t i = 0; i < t->trials; i++)
        price = product_of(price, HWMC_TRIAL_DEARER);
    return price;
}

void hwmc_trial_init(struct hwmc_trial *t, const uint64_t cost[HWMC_TRIAL_WAYS], uint32_t used,
                     uint64_t agreement, enum hwmc_trial_kind kind)
{
    uint64_t least = HWMC_TRIAL_NO_WAY;

    assert(used < HWMC_TRIAL_WAYS && cost[used] != HWMC_TRIAL_NO_WAY);
    *t = (struct hwmc_trial){.used = used, .agreement = agreement, .kind = kind};
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

/* ns of a call: way `w` has no block in the next round if it took longer so far. */
static uint64_t most_for(const struct hwmc_trial *t, uint32_t round, uint32_t w)
{
    const bool once = block_calls(t, 0) == 1 && w != t->used;
    uint64_t best = HWMC_TRIAL_NO_WAY;

    for (uint32_t i = 0; i < HWMC_TRIAL_WAYS; i++)
        best = t->block[i] < best ? t->block[i] : best;
    if (round == 1)
        return once ? sum_of(best, best / 5 * 3) : product_of(best, 2);
    return sum_of(best, best / HWMC_TRIAL_NEAR);
}

/* The next block is of the first way from `from` on that has one in this round. False: none has. */
static bool begin_block(struct hwmc_trial *t, uint32_t from)
{
    for (t->way = from; t->way < HWMC_TRIAL_WAYS; t->way++)
        if (t->left >> t->way & 1) {
            t->call = 0;
            t->sum = t->longest = 0;
            return true;
        }
    return false;
}

/* False: there is nothing more to find out. */
static bool begin_round(struct hwmc_trial *t, uint32_t round)
{
    uint32_t left = 0;

    if (round == HWMC_TRIAL_ROUNDS)
        return false;
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++)
        if ((t->left >> w & 1) && t->block[w] <= most_for(t, round, w))
            left |= 1u << w;
    t->round = round;
    t->left = left;
    return (left & (left - 1)) != 0 && begin_block(t, 0);
}

static void begin_trial(struct hwmc_trial *t)
{
    t->trying = true;
    t->left = 0;
    for (uint32_t w = 0; w < HWMC_TRIAL_WAYS; w++) {
        t->block[w] = HWMC_TRIAL_NO_WAY;
        if (t->cost[w] != HWMC_TRIAL_NO_WAY)
            t->left |= 1u << w;
    }
    begin_round(t, 0);
}

/* A trial may still begin. */
static bool may_begin(const struct hwmc_trial *t)
{
    const bool had_its_only_one = t->kind == HWMC_TRIAL_BESIDE && t->trials > 0;

    return !t->trying && !had_its_only_one && hwmc_trial_has_choice(t);
}

bool hwmc_trial_watches(const struct hwmc_trial *t)
{
    return t->kind == HWMC_TRIAL_BESIDE && may_begin(t);
}

void hwmc_trial_follows(struct hwmc_trial *t, uint64_t ns)
{
    if (t->follow == UINT32_MAX)
        return;
    t->follow++;
    t->late += ns >= t->cost[t->used];
}

void hwmc_trial_late_agreed(struct hwmc_trial *t, uint64_t late)
{
    assert(t->kind == HWMC_TRIAL_BESIDE && t->trying);
    if (t->round == 0 && t->call == 0)
        t->in_row = late < t->follow - t->follow / 2;
}

uint32_t hwmc_trial_begin(struct hwmc_trial *t)
{
    if (t->calls >= HWMC_TRIAL_FIRST && t->taken >= t->price && may_begin(t))
        begin_trial(t);
    return t->trying ? t->way : t->used;
}

/* A call that counts took so long: all but the longest are summed, or the only one. */
static void count_call(struct hwmc_trial *t, uint64_t ns)
{
    uint64_t less = ns;

    if (ns != UINT64_MAX && leaves_longest_out(t, t->round)) {
        less = ns < t->longest ? ns : t->longest;
        t->longest = ns < t->longest ? t->longest : ns;
    }
    t->sum = sum_of(t->sum, less);
}

bool hwmc_trial_end(struct hwmc_trial *t, uint64_t ns)
{
    if (!t->trying) {
        t->taken = sum_of(t->taken, t->cost[t->used]);
        t->calls += t->calls < HWMC_TRIAL_FIRST;
        return false;
    }
    if (t->call >= block_calls(t, t->round) - counted_calls(t, t->round) || ns == UINT64_MAX)
        count_call(t, ns);
    return ++t->call == block_calls(t, t->round);
}

void hwmc_trial_settled(struct hwmc_trial *t, uint64_t ns)
{
    assert(t->trying && hwmc_trial_settles(t) && t->call == block_calls(t, t->round));
    t->sum = sum_of(t->sum, ns);
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

/* What was found in the first round no longer counts when there is something better. */
static void note_block(struct hwmc_trial *t, uint64_t ns)
{
    if (t->round < 2 || ns < t->block[t->way])
        t->block[t->way] = ns;
}

bool hwmc_trial_agreed(struct hwmc_trial *t, uint64_t sum)
{
    assert(t->trying && t->call == block_calls(t, t->round));
    note_block(t, sum == UINT64_MAX ? UINT64_MAX - 1 : sum / summed_calls(t, t->round));
    if (!begin_block(t, t->way + 1) && !begin_round(t, t->round + 1))
        end_trial(t);
    hwmc_trial_check(t);
    return !t->trying;
}

void hwmc_trial_check(const struct hwmc_trial *t)
{
    assert(t->used < HWMC_TRIAL_WAYS);
    assert(t->calls <= HWMC_TRIAL_FIRST);
    if (!t->trying)
        return;
    assert(t->round < HWMC_TRIAL_ROUNDS && t->way < HWMC_TRIAL_WAYS);
    assert(t->call <= block_calls(t, t->round));
    assert((t->left >> t->way & 1) && t->cost[t->way] != HWMC_TRIAL_NO_WAY);
}
