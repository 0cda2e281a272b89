/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * spare: rails that the set-ups of a process leave out for a while. A set-up in which no probe came
 * on a rail has waited long for it, and the next one would again. So the next one leaves that rail
 * out; after a second such, the next two, then four, up to 64, whichever communicators they are of.
 * A probe that comes resets this.
 *
 * Example: multicast never passes. Of 20 set-ups the 1st, 3rd, 6th and 11th wait for probes, and
 * then the 20th.
 */
#ifndef HWMC_CORE_NEGOTIATION_SPARE_H_INCLUDED
#define HWMC_CORE_NEGOTIATION_SPARE_H_INCLUDED

#include <stdint.h>

#include "../base/msg.h"

struct hwmc_spare {
    uint8_t silent[HWMC_RAIL_BITS]; /* times in a row that none came, as far as they matter */
    uint8_t left[HWMC_RAIL_BITS];   /* set-ups that are still to do without the rail */
};

/* A set-up begins, where `rails` are there, a bit each: those that it is to use. All 0 is the
 * start. */
uint32_t hwmc_spare_offer(struct hwmc_spare *s, uint32_t rails);

/* It is over: rails on which a probe came, and others on which it was waited for to the end. */
void hwmc_spare_on_outcome(struct hwmc_spare *s, uint32_t came, uint32_t missed);

#endif /* HWMC_CORE_NEGOTIATION_SPARE_H_INCLUDED */
