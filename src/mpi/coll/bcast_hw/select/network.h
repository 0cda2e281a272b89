/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * network: the figures of the network that algorithm selection uses. The same on every process.
 */

#ifndef HWMC_SELECT_NETWORK_H_INCLUDED
#define HWMC_SELECT_NETWORK_H_INCLUDED

#include "../core/model/model.h"

/* Until it is set, nothing is known. */
const struct hwmc_network *hwmc_network_now(void);

/* More than one carries bytes at a time. */
static inline bool hwmc_network_has_rails(void)
{
    return hwmc_network_now()->mbit_all > hwmc_network_now()->mbit;
}

void hwmc_network_set(const struct hwmc_network *network);

#endif /* HWMC_SELECT_NETWORK_H_INCLUDED */
