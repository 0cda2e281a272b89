/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * CH4's active messages over streams of sessions: in order between two processes, each once. A
 * message of more than one frame uses all streams, so all rails, at once.
 */

#ifndef HWMC_NETMOD_AM_AM_H_INCLUDED
#define HWMC_NETMOD_AM_AM_H_INCLUDED

#include "../session/sessions.h"

/* Takes `num` streams from `first` on. False: no memory. */
bool hwmc_am_open(struct hwmc_sessions *sessions, uint32_t first, uint32_t num);

/* Sends what waits and hands over what came, *events in all. Polls the sessions unless the engine
 * just did. With the lock of VCI 0 held. */
int hwmc_am_progress(bool polled, int *events);

/* Nothing waits to be sent. */
bool hwmc_am_idle(void);

void hwmc_am_close(void);

#endif /* HWMC_NETMOD_AM_AM_H_INCLUDED */
