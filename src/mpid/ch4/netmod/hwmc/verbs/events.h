/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * events: the asynchronous events of RDMA devices. libibverbs hands each event to one reader;
 * several parts of a process need them, and in time, whether the program is in MPI or not. So each
 * context that somebody listens to has a thread, which does nothing but note events: it copies each
 * to every listener's ring and acknowledges it.
 *
 * Thread-safe: any thread may open and close listeners; a listener is one thread's at a time.
 * Nothing blocks but close, for as long as the thread takes to end. The thread has all signals
 * blocked.
 */
#ifndef HWMC_NETMOD_VERBS_EVENTS_H_INCLUDED
#define HWMC_NETMOD_VERBS_EVENTS_H_INCLUDED

#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../../../../mpi/coll/bcast_hw/port/err.h"

#define HWMC_VERBS_EVENTS_MAX 64 /* that wait at a listener */

struct hwmc_verbs_event {
    enum ibv_event_type type;
    uint32_t qp_num; /* events of a queue pair, which may be gone by now; else 0 */
    uint8_t port;    /* events of a port; else 0 */
};

struct hwmc_verbs_listener;

/* From here on the events of `context` are noted. The context stays the caller's and outlives the
 * listener; nobody else reads its events. ERR_NOMEM, ERR_LIMIT: no memory, descriptor or thread. */
int hwmc_verbs_events_open(struct ibv_context *context, struct hwmc_verbs_listener **listener);

/* Takes the oldest event: 1; 0: there is none, which costs no lock. ERR_LIMIT, once, in the place
 * of events that did not fit or could not be read: anything may have happened. */
int hwmc_verbs_events_take(struct hwmc_verbs_listener *l, struct hwmc_verbs_event *event);

/* A descriptor that is readable while take has something; the listener's. */
int hwmc_verbs_events_fd(const struct hwmc_verbs_listener *l);

/* The last listener of a context ends its thread. */
void hwmc_verbs_events_close(struct hwmc_verbs_listener *l);

#endif /* HWMC_NETMOD_VERBS_EVENTS_H_INCLUDED */
