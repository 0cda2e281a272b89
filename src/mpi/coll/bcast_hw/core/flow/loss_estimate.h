/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * loss_estimate: receive statistics and loss estimate of each rail at a member: how many fragments
 * were due on it, and how many came. The member knows the rails of a broadcast, not which fragment
 * used which rail. Missing fragments of a broadcast on several rails count against those that
 * brought nothing of it, or else against all of them.
 *
 * A rail is quiet while nothing comes on it that is due. A rail that has been quiet for a while
 * when a broadcast was consumed is suspected: this rank does not wait for it until something comes
 * on it. That affects this rank only. Whether a rail is disabled does not (epoch.h): for that the
 * rank reports its losses, four bits a rail. What a neighbour brought may still come by multicast,
 * and is not lost then. So losses are counted when the broadcast's channel goes to another, N
 * broadcasts later.
 */
#ifndef HWMC_CORE_FLOW_LOSS_ESTIMATE_H_INCLUDED
#define HWMC_CORE_FLOW_LOSS_ESTIMATE_H_INCLUDED

#include "../base/msg.h"

#define HWMC_LOSS_ESTIMATE_SUSPECT 2u  /* fragments that were due on a quiet rail */
#define HWMC_LOSS_ESTIMATE_SILENT 6u   /* broadcasts that brought nothing, to be told */
#define HWMC_LOSS_ESTIMATE_WINDOW 512u /* fragments due, for a share of losses to be told */
#define HWMC_LOSS_ESTIMATE_WINDOWS 3u  /* in a row, for too much to be told */

/* Losses: sixteenths, or nothing came at all. */
#define HWMC_LOSS_BITS 4u
#define HWMC_LOSS_ALL 15u
#define HWMC_LOSSY 4u /* more is too much */

struct hwmc_loss_estimate {
    uint32_t quiet[HWMC_RAIL_BITS];  /* due, of what was consumed, since one came */
    uint8_t suspects;                /* rails that are not waited for */
    uint32_t silent[HWMC_RAIL_BITS]; /* broadcasts that brought nothing, nor did a later one */
    uint32_t due[HWMC_RAIL_BITS];    /* in this window */
    uint32_t came[HWMC_RAIL_BITS];   /* of these; <= due */
    uint8_t lost[HWMC_RAIL_BITS];    /* sixteenths of the last window */
    uint32_t lossy[HWMC_RAIL_BITS];  /* windows up to now that lost too much */
};

static inline uint32_t hwmc_loss_of(uint32_t losses, uint32_t rail)
{
    return losses >> HWMC_LOSS_BITS * rail & HWMC_LOSS_ALL;
}

/* A fragment came on this rail. */
static inline void hwmc_loss_estimate_heard(struct hwmc_loss_estimate *w, uint32_t rail)
{
    w->quiet[rail] = w->silent[rail] = 0;
    w->suspects &= (uint8_t) ~(1u << rail);
}

/* What came by multicast of a broadcast. */
struct hwmc_loss_estimate_cast {
    uint8_t rails;         /* that were to bring it */
    uint32_t frags;        /* its fragments */
    const uint16_t *heard; /* how many came on each rail */
    uint8_t later;         /* rails that brought something of this one or a later one */
    uint8_t excused;       /* rails that have begun anew since: it says nothing of them */
};

/* All of a broadcast is here, by multicast as far as this says, and is about to be consumed. */
void hwmc_loss_estimate_here(struct hwmc_loss_estimate *w,
                             const struct hwmc_loss_estimate_cast *cast);

/* Nothing more of it can come. */
void hwmc_loss_estimate_over(struct hwmc_loss_estimate *w,
                             const struct hwmc_loss_estimate_cast *cast);

/* What is to be told of `rails`: for each HWMC_LOSS_BITS bits, 0 where nothing is wrong or too
 * little known. */
uint32_t hwmc_loss_estimate_losses(struct hwmc_loss_estimate *w, uint8_t rails);

/* These rails begin anew. */
void hwmc_loss_estimate_forget(struct hwmc_loss_estimate *w, uint8_t rails);

#endif /* HWMC_CORE_FLOW_LOSS_ESTIMATE_H_INCLUDED */
