/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * adapt: what the leader makes of how broadcasts went: how they are to be repaired, and how often
 * synchronized. The papers leave both to the user. What it wants becomes an epoch (epoch.h).
 *
 * Repair. By pull a lost fragment costs whoever lost it, and all who wait for it, the time to find
 * out; where it is the last one, a tail wait. By push it costs nothing, but every fragment goes
 * over every lane of the ring. So push pays where broadcasts are short and many need a repair: one
 * of eight, of TRIAL broadcasts of SHORT fragments at most. By push one does not see what pull
 * would have had to repair; pull is tried again after a while, and a while twice as long each time
 * that it was no good.
 *
 * Period. A synchronization costs messages, and a broadcast that finds no channel free costs a
 * wait. The longest period is chosen for which the next floor comes in time: with N channels, a
 * synchronization that takes s ns from the leader's own count on, and a broadcast each g ns, the
 * period p for which p + s / g < N. Quarters of N, and only what was wanted STEADY times in a row.
 *
 * Example, N = 16: a broadcast each 10 us, a synchronization takes 25 us: 3 go meanwhile, 12 + 3 <
 * 16, period 12. With 60 us: 7 go meanwhile, period 8.
 */
#ifndef HWMC_CORE_FLOW_ADAPT_H_INCLUDED
#define HWMC_CORE_FLOW_ADAPT_H_INCLUDED

#include "../base/policy.h"

#define HWMC_ADAPT_TRIAL 64u      /* broadcasts by which repair is judged */
#define HWMC_ADAPT_SHORT 4u       /* fragments */
#define HWMC_ADAPT_MANY 8u        /* one broadcast of so many needs a repair: push */
#define HWMC_ADAPT_WHILE 256u     /* broadcasts of push before pull is tried again; doubles, ... */
#define HWMC_ADAPT_LONGEST 65536u /* ... to so many */
#define HWMC_ADAPT_STEADY 4u

/* What a floor that the leader publishes says of the broadcasts between the last one and it. */
struct hwmc_adapt_sample {
    uint64_t now;      /* ns */
    uint64_t floor;    /* of all members */
    uint64_t repaired; /* (member, broadcast) pairs that needed a repair */
    uint64_t frags;    /* fragments of these broadcasts, at the leader */
    uint64_t sync_ns;  /* since the leader itself had consumed as many; 0: not known */
};

struct hwmc_adapt {
    bool repair;       /* that is adapted */
    bool period;       /* that is adapted */
    uint32_t channels; /* N */
    struct hwmc_policy policy;
    /* since repair was changed, or judged */
    uint64_t broadcasts;
    uint64_t repaired;
    uint64_t frags;
    bool push;          /* wanted */
    bool tried;         /* pull was judged since push was left */
    uint64_t lasts;     /* broadcasts that push lasts for */
    uint64_t at, floor; /* of the last sample; at 0: there is none */
    uint64_t gap;       /* ns between broadcasts, smoothed */
    uint64_t sync;      /* ns, the longest of late */
    uint32_t wanted;    /* period, by the last sample */
    uint32_t times;     /* in a row */
};

void hwmc_adapt_init(struct hwmc_adapt *a, bool repair, bool period, uint32_t channels);

/* Broadcasts go in this policy from the first sample on that is learned. */
void hwmc_adapt_enter(struct hwmc_adapt *a, const struct hwmc_policy *policy);

void hwmc_adapt_learn(struct hwmc_adapt *a, const struct hwmc_adapt_sample *sample);

/* How broadcasts should go; the rails are left as they are. */
struct hwmc_policy hwmc_adapt_want(const struct hwmc_adapt *a);

#endif /* HWMC_CORE_FLOW_ADAPT_H_INCLUDED */
