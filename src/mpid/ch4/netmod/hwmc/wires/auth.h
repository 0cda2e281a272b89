/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The secret of a job with MPIR_CVAR_HWMC_INTEGRITY=keyed: how all processes get it, and which
 * lanes and datagrams it authenticates (engine/wire/auth.h, lane/auth_lane.h).
 */

#ifndef HWMC_NETMOD_WIRES_AUTH_H_INCLUDED
#define HWMC_NETMOD_WIRES_AUTH_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/engine/wire/auth.h"
#include "../../../../../mpi/coll/bcast_hw/port/lane.h"

/* Random bytes, not to be guessed. */
int hwmc_mpi_random(void *bytes, size_t len);

/* Of the first process: draws the secret and puts it into the process manager's key-value space. */
int hwmc_auth_secret_put(void);

/* Gets it from there, and authenticates messages from now on. */
int hwmc_auth_secret_get(void);

/* NULL: the job has none. */
struct hwmc_auth *hwmc_process_auth(void);

/* Where the job has a secret: puts an authenticating lane of this number in the place of *lane,
 * whose callbacks are `to`, and leads these there. False: no memory, nothing changed. */
bool hwmc_process_auth_lane(struct hwmc_lane **lane, uint32_t number, struct hwmc_lane_params *to);

/* After all that use it are closed. */
void hwmc_auth_secret_close(void);

#endif /* HWMC_NETMOD_WIRES_AUTH_H_INCLUDED */
