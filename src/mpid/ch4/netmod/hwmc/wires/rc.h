/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The lanes of this process over reliable connections of verbs (lane/rc), one a rail where there is
 * an RDMA device behind it. They are connected by messages that a stream of sessions carries.
 */

#ifndef HWMC_NETMOD_WIRES_RC_H_INCLUDED
#define HWMC_NETMOD_WIRES_RC_H_INCLUDED

#include "rails.h"
#include "../session/sessions.h"

/* Lanes of this kind may be of use: MPIR_CVAR_HWMC_LANE. */
bool hwmc_rc_wanted(void);

/* The user asks for them by name. */
bool hwmc_rc_named(void);

/* Opens one over each of the rails that has a device which serves; fails only if a control variable
 * is not understood. Does nothing without verbs. */
int hwmc_rc_open(const struct hwmc_job_rails *rails);

/* have[i]: 1 if there is one for rail i of the job. To be combined by minimum over all
 * processes. */
void hwmc_rc_match(const struct hwmc_job_rails *rails, int *have);

/* Takes the one for rail i of the job, which is number `lane` of `sessions`; it is theirs to close.
 * NULL: no memory. */
struct hwmc_lane *hwmc_rc_take(const struct hwmc_job_rails *rails, int i,
                               struct hwmc_sessions *sessions, uint32_t lane);

/* From here on they are connected over `stream` of the sessions. Those not taken are closed. */
void hwmc_rc_exchange(struct hwmc_sessions *sessions, uint32_t stream);

/* Of those taken: on how many a dead path is left by hardware. */
int hwmc_rc_hardware(void);

/* What a program wants of the paths to a process: those that lanes begin with; the alternate ones;
 * these or those, by the two processes' ranks, so that half of all connections has each; or those
 * by one rail. */
enum hwmc_rc_want { HWMC_RC_DEFAULT, HWMC_RC_ALTERNATE, HWMC_RC_BALANCE, HWMC_RC_RAIL };

/* Of those taken on which hardware migrates: the number in the job of the rail of that name or
 * number; -1: it is none of them. */
int hwmc_rc_find(const char *text);

/* Their rails, as "0 (eth0), 1 (eth1)"; empty: there are none. */
void hwmc_rc_list(char *text, size_t room);

/* Has the connections to `peer` migrate as soon as they can, now or when they are made; `rail` as
 * found, with HWMC_RC_RAIL. Both ends should call it. Returns how many lanes will. */
int hwmc_rc_prefer(uint32_t peer, enum hwmc_rc_want want, int rail);

/* Closes those not taken, and forgets the others. */
void hwmc_rc_close(void);

#endif /* HWMC_NETMOD_WIRES_RC_H_INCLUDED */
