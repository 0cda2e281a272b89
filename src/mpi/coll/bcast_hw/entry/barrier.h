/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Barrier inside a host, as a call.
 */

#ifndef HWMC_ENTRY_BARRIER_H_INCLUDED
#define HWMC_ENTRY_BARRIER_H_INCLUDED

#include "call.h"
#include "../shm/coll/barrier.h"

struct hwmc_barrier_call {
    struct hwmc_call call;
    struct hwmc_shm_barrier barrier;
};

void hwmc_barrier_call_init(struct hwmc_barrier_call *c);

#endif /* HWMC_ENTRY_BARRIER_H_INCLUDED */
