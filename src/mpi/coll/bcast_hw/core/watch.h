/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * watch: what a member makes of each rail, by the broadcasts that it consumed: how many fragments were due on
 * it, and how many came. It knows the rails of a broadcast, not which fragment went on which: what is missing of
 * one on several rails is blamed on those that brought nothing of it, or else on all of them.
 *
 * A rail is quiet while nothing comes on it that is due. One that has been for a while is suspected: it is not
 * waited for, until something comes on it. That is this rank's own affair; whether a rail is left is not
 * (epoch.h): for that it tells its losses, four bits a rail.
 */
#ifndef BCAST_HW_WATCH_H_INCLUDED
#define BCAST_HW_WATCH_H_INCLUDED

#include "msg.h"

#define BCAST_HW_WATCH_SUSPECT 2u /* fragments that were due on a quiet rail */
#define BCAST_HW_WATCH_SILENT 6u  /* the same, to be told */
#define BCAST_HW_WATCH_WINDOW 64u /* fragments due, for a share of losses to be told */

/* Losses: sixteenths, or nothing came at all. */
#define BCAST_HW_LOSS_BITS 4u
#define BCAST_HW_LOSS_ALL 15u

struct bcast_hw_watch {
    uint32_t due[BCAST_HW_RAIL_BITS];   /* older ones count half, a quarter, ... */
    uint32_t came[BCAST_HW_RAIL_BITS];  /* of these; <= due */
    uint32_t quiet[BCAST_HW_RAIL_BITS]; /* due since one came */
    uint8_t suspects;                   /* rails that are not waited for */
};

static inline uint32_t bcast_hw_loss_of(uint32_t losses, uint32_t rail)
{
    return losses >> BCAST_HW_LOSS_BITS * rail & BCAST_HW_LOSS_ALL;
}

/* A fragment came on this rail. */
static inline void bcast_hw_watch_heard(struct bcast_hw_watch *w, uint32_t rail)
{
    w->quiet[rail] = 0;
    w->suspects &= (uint8_t) ~(1u << rail);
}

/* All of a broadcast of `frags` fragments on `rails` is here; `heard` of them came on each. */
void bcast_hw_watch_over(struct bcast_hw_watch *w, uint8_t rails, uint32_t frags,
                         const uint16_t *heard);

/* What is to be told of `rails`: for each BCAST_HW_LOSS_BITS bits, 0 where nothing is wrong or too little known. */
uint32_t bcast_hw_watch_losses(struct bcast_hw_watch *w, uint8_t rails);

/* These rails begin anew. */
void bcast_hw_watch_forget(struct bcast_hw_watch *w, uint8_t rails);

#endif /* BCAST_HW_WATCH_H_INCLUDED */
