/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trial: which of several ways of one collective, of one length, on one communicator, is the
 * fastest: found out from calls that the program makes. The cost model says which way the first
 * calls go, and what the others would take; where it errs, a trial corrects it.
 *
 *   USING     calls go by the way in use. What they take adds up.
 *   TRYING    calls go by each way in turn, in blocks, and so in rounds. The last calls of a block
 *             count; after it ranks agree on how long the slowest of them has been in these. Each
 *             leaves out its longest of several, for a rank that another program keeps off its
 *             processor once says nothing about the way.
 *
 *             In the first round, which all ways have, one call does not count and
 *             HWMC_TRIAL_FEW do; of calls as long as HWMC_TRIAL_LONG agreements there is a single
 *             one, for what a wrong way costs is then more than what chance adds. Its figures
 *             select the ways that have a second one: those that took at most twice as long as the
 *             fastest, of such long calls 1.6 times, but the one in use. There HWMC_TRIAL_WARM
 *             calls do not count, for a system that has served another way is slow at first
 *             (windows of TCP connections, caches, the heap: measured, the fourth call in a row of
 *             an all-to-all of 256 KiB took 0.65 of the first: hence 1.6), and HWMC_TRIAL_CALLS
 *             do. A third round like it is for the ways that took longer than the fastest in the
 *             second by at most a part in HWMC_TRIAL_NEAR. Of a way's blocks of the last two rounds
 *             the faster decides.
 *
 *             After collectives with a root ranks are ahead of others, as the leaves of a gather:
 *             they return at once, and in a row of calls their messages wait where they belong. No
 *             rank sees what such a call takes. So of these (SETTLED) all calls of a block count,
 *             and what ranks then wait for each other, in a barrier. 4 hosts of 4 ranks, 1 Gbit/s,
 *             gathers of 1 KiB in a row: directly 970 us, by leaders 105; a trial of calls alone
 *             had 8 us for the direct way.
 *
 *             Calls beside the program's begin after a barrier each, or in a row like SETTLED ones
 *             if the program's do: if on each rank more than half of them began sooner after the
 *             one before than one is predicted to take. In a row a block has HWMC_TRIAL_ROW calls
 *             from the second round on, for a tree whose leaves run ahead is slow at first: 8
 *             hosts, reduces of 1 KiB, 8 in a row directly 43 us each, by MPICH's tree more, and 20
 *             in a row 52 and 24.
 *
 *   USING -> TRYING   when the calls since the last trial have taken as long as a trial is expected
 *                     to cost, and HWMC_TRIAL_FIRST of them were made: whoever stops then has lost
 *                     at most as much again, as with the rent and the price of skis (Karlin,
 *                     Manasse, Rudolph, Sleator 1988). The next trial begins when calls have taken
 *                     HWMC_TRIAL_DEARER times as long as a whole trial, and each further one when
 *                     they have taken so many times as long as for the one before: loss and load
 *                     change, and who runs long finds out.
 *   TRYING -> USING   after the last block, or when a round has one way only: the fastest way is in
 *                     use, but the way before stays unless another one is faster by more than a
 *                     part in HWMC_TRIAL_ALIKE.
 *
 * A trial costs what its calls take longer by the other ways, and the agreements; SETTLED each has
 * a barrier with it, which takes as long. One whose calls are made beside the program's costs all
 * that they take, and a barrier before each; there is only one of these. What is paid for is two
 * rounds.
 *
 * Everything but `sum`, `longest` and `late` is alike on all ranks: they begin with the same
 * figures, and are told the same ones. So at the same call they are in the same state.
 */
#ifndef HWMC_CORE_MODEL_TRIAL_H_INCLUDED
#define HWMC_CORE_MODEL_TRIAL_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_TRIAL_WAYS 3u
#define HWMC_TRIAL_FEW 3u
#define HWMC_TRIAL_LONG 32u
#define HWMC_TRIAL_WARM 4u
#define HWMC_TRIAL_CALLS 4u
#define HWMC_TRIAL_ROW 32u
#define HWMC_TRIAL_NEAR 4u
#define HWMC_TRIAL_ROUNDS 3u
#define HWMC_TRIAL_FIRST 8u
#define HWMC_TRIAL_DEARER 16u
#define HWMC_TRIAL_ALIKE 16u
#define HWMC_TRIAL_FAR 8u /* a way that the model predicts so many times slower is no way */
#define HWMC_TRIAL_NO_WAY UINT64_MAX

enum hwmc_trial_kind {
    HWMC_TRIAL_OF_CALLS, /* of the program's; none ends before all ranks have begun it, about */
    HWMC_TRIAL_SETTLED,  /* of the program's; those with a root */
    HWMC_TRIAL_BESIDE    /* calls are made beside the program's */
};

struct hwmc_trial {
    uint64_t cost[HWMC_TRIAL_WAYS]; /* ns of a call: predicted, then agreed; NO_WAY */
    uint64_t agreement;             /* ns that one takes, as predicted */
    uint64_t taken;                 /* ns: by the calls since the last trial */
    uint32_t calls;                 /* ... which were so many, or HWMC_TRIAL_FIRST */
    uint64_t price;                 /* ns: what they must have taken before the next trial */
    uint32_t trials;                /* that are over */
    uint32_t used;                  /* the way in use */
    enum hwmc_trial_kind kind;
    bool trying;
    /* BESIDE, of the program's calls until the trial begins: */
    uint32_t follow; /* so many came after another one ... */
    uint32_t late;   /* ... and of these so many, on this rank, not at once */
    bool in_row;     /* the trial's calls go like that, not each after a barrier */
    /* Of a trial: */
    uint32_t round, way, call;       /* the next call is this one of a block of that way */
    uint32_t left;                   /* ways that have a block in this round, a bit each */
    uint64_t sum;                    /* ns of this rank, in calls of the block that count ... */
    uint64_t longest;                /* ... without the one that took so long, if several count */
    uint64_t block[HWMC_TRIAL_WAYS]; /* ns of a call in the block that decides; NO_WAY: none yet */
};

/* `cost`: predicted ns of a call by each way; NO_WAY: it is none. `used`: one of the ways.
 * `agreement`: predicted ns. Alike on all ranks. */
void hwmc_trial_init(struct hwmc_trial *t, const uint64_t cost[HWMC_TRIAL_WAYS], uint32_t used,
                     uint64_t agreement, enum hwmc_trial_kind kind);

/* There is more than one way. */
bool hwmc_trial_has_choice(const struct hwmc_trial *t);

/* BESIDE, and its trial is still to come: it is to be told how calls follow each other. */
bool hwmc_trial_watches(const struct hwmc_trial *t);

/* A call comes so many ns after the end of the one before. */
void hwmc_trial_follows(struct hwmc_trial *t, uint64_t ns);

/* The trial has begun, or goes on after an error. `late`: the greatest t->late of all ranks. */
void hwmc_trial_late_agreed(struct hwmc_trial *t, uint64_t late);

/* A call begins: the way that it goes. */
uint32_t hwmc_trial_begin(struct hwmc_trial *t);

/* It is over, and took this rank so many ns, UINT64_MAX if it failed. True: it was the last one of
 * a block; ranks agree on the greatest t->sum of all before the next call. */
bool hwmc_trial_end(struct hwmc_trial *t, uint64_t ns);

/* SETTLED, or calls in a row: what ranks wait for each other after a block counts. */
static inline bool hwmc_trial_settles(const struct hwmc_trial *t)
{
    return t->kind == HWMC_TRIAL_SETTLED || t->in_row;
}

/* Then, before they agree: this rank was ahead of others by so many ns; UINT64_MAX: it cannot
 * tell. */
void hwmc_trial_settled(struct hwmc_trial *t, uint64_t ns);

/* They have: `sum`. True: the trial is over. */
bool hwmc_trial_agreed(struct hwmc_trial *t, uint64_t sum);

/* Asserts the invariants. */
void hwmc_trial_check(const struct hwmc_trial *t);

#endif /* HWMC_CORE_MODEL_TRIAL_H_INCLUDED */
