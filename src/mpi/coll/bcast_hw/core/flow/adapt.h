/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * adapt: how broadcasts are repaired and how often they are synchronized, as member 0 chooses by
 * how they went. The papers leave both to the user. A change becomes an epoch (epoch.h).
 *
 * Repair. With pull a lost fragment costs each rank that lost it, and all that wait for it, the
 * time to find out; for the last fragment, a tail wait. With push it costs nothing, but every
 * fragment uses every lane of the ring. So push pays if broadcasts are short and many need a
 * repair: one of eight, of TRIAL broadcasts of SHORT fragments at most. With push one cannot see
 * what pull would have had to repair. So pull is tried again after a while, and the while doubles
 * each time that pull was no good.
 *
 * Period. A synchronization costs messages; a broadcast that finds no channel free costs a wait.
 * Member 0 chooses the longest period for which the next floor comes in time. With N channels, a
 * synchronization that takes s ns from member 0's own count on, and a broadcast each g ns, that
 * is the period p for which p + s / g < N. It uses quarters of N, and changes only after STEADY
 * equal results.
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

/* What a floor that member 0 publishes says of the broadcasts between the last one and it. */
struct hwmc_adapt_sample {
    uint64_t now;      /* ns */
    uint64_t floor;    /* of all members */
    uint64_t repaired; /* (member, broadcast) pairs that needed a repair */
    uint64_t frags;    /* fragments of these broadcasts, at member 0 */
    uint64_t sync_ns;  /* since member 0 itself had consumed as many; 0: not known */
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
