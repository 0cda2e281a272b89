/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What drives the HCA: a thread that owns the timers and receives while nobody else does, for an
 * HCA makes progress without its host. Who polls an empty completion queue receives himself, which
 * is quicker; the thread then leaves the sockets alone until polling has stopped for a millisecond.
 * It never spins.
 */
#ifndef HWMC_TEST_LAB_IBEMU_ENGINE_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_ENGINE_H_INCLUDED

#include "hca.h"

/* Opens the network for an HCA, with `udp_port` + slot as ports and the control file (NULL: none),
 * and starts the thread: 0 or an errno.
 * Called without the lock; one HCA in a process can be started. */
int em_engine_start(struct em_hca *hca, uint16_t udp_port, const char *control);

/* Ends the thread and closes everything. Called without the lock. */
void em_engine_stop(struct em_hca *hca);

/* Receives what is there and sends what is due, without waiting. */
void em_engine_poll(struct em_hca *hca);

/* The caller is going to sleep until something comes: the thread takes over. */
void em_engine_listen(struct em_hca *hca);

/* Something has to be done at `at`. */
void em_engine_wake_at(struct em_hca *hca, uint64_t at);

/* Nanoseconds of a clock that goes on. */
uint64_t em_engine_now(void);

#endif /* HWMC_TEST_LAB_IBEMU_ENGINE_H_INCLUDED */
