/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * network: see network.h.
 */

#include "network.h"

static struct hwmc_network now;

const struct hwmc_network *hwmc_network_now(void)
{
    return &now;
}

void hwmc_network_set(const struct hwmc_network *network)
{
    now = *network;
}
