/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * host_loss: why a host's shared memory is of no use any more. A rank that ends a collective as a
 * process on another host cannot be reached notes that process in the segment. The other ranks of
 * its host fail with it. Those that are members of other leader groups pass the loss on there, so
 * the error on every host names the process that is lost, not the one that left because of it.
 */

#ifndef HWMC_OP_HOST_LOSS_H_INCLUDED
#define HWMC_OP_HOST_LOSS_H_INCLUDED

#include "mpiimpl.h"
#include "stage.h"
#include "wait.h"

/* Before hwmc_shm_fail: this rank leaves as `g` is broken. */
void hwmc_host_loss_note(struct hwmc_shm_host *n, const struct hwmc_group *g);

/* The host has failed: `g` is BROKEN if that was noted, and a member is on the lost one's host.
 * Where that is this host, its member has lost the one on the finder's: they are apart. Under the
 * engine's lock. */
void hwmc_host_loss_pass(const struct hwmc_shm_host *n, struct hwmc_group *g);

/* The stage cannot go on, as its host has failed. NULL: for another reason. */
void hwmc_host_loss_fail(struct hwmc_op_stage *s, const struct hwmc_shm_host *n);

#endif /* HWMC_OP_HOST_LOSS_H_INCLUDED */
