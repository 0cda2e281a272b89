/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The barrier of all processes before the end, over a stream of sessions, by dissemination
 * (Hensgen, Finkel, Manber 1988). In round k a process sends to the one 2^k places on and hears
 * from the one as many places back.
 */

#ifndef HWMC_NETMOD_INIT_EXIT_BARRIER_H_INCLUDED
#define HWMC_NETMOD_INIT_EXIT_BARRIER_H_INCLUDED

#include "../session/sessions.h"

/* Before the first message of the stream. */
void hwmc_exit_barrier_open(struct hwmc_sessions *sessions, uint32_t stream);

/* Whether all processes have come to ask this, between calls of progress. Who asks has nothing more
 * to send, so once it is true nothing comes any more but acknowledgements, all for who was heard of
 * before. */
bool hwmc_exit_barrier_met(void);

#endif /* HWMC_NETMOD_INIT_EXIT_BARRIER_H_INCLUDED */
