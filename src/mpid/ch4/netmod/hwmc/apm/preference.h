/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * preference: which alternate paths a user wants, as text: the user's part of alternate path
 * specification (Vishnu et al. 2007, section 3.1.1), where the ports of the other end are not known
 * yet. Each end says which of its own ports may be used, and both choose alike from that
 * (specify.h). So the DLID of a path is the other end's preference.
 *
 *     auto                     another port of the device, else another LID of the same one
 *     port=2                   that port, or no alternate path
 *     port=same                the rail's own port, by another of its LIDs
 *     bits=3                   the LID is the port's first plus 3, as far as its LMC goes
 *     port=same,bits=3         both
 */
#ifndef HWMC_NETMOD_APM_PREFERENCE_H_INCLUDED
#define HWMC_NETMOD_APM_PREFERENCE_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

struct hwmc_apm_preference {
    uint8_t port; /* 0: any other one */
    bool same;    /* none but the rail's own */
    uint8_t bits; /* 0..127; 0: hwmc's choice */
};

/* False: `words` are none of these. */
bool hwmc_apm_preference_parse(const char *words, struct hwmc_apm_preference *preference);

/* Whether `port` of a device may be the alternate one to another of its ports. */
bool hwmc_apm_preference_allows(const struct hwmc_apm_preference *preference, uint8_t port);

#endif /* HWMC_NETMOD_APM_PREFERENCE_H_INCLUDED */
