/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * conn: one connected queue pair with automatic path migration, which the three modules of Vishnu
 * et al. 2007, section 3.1, work on: alternate path specification (specify.h), path loading request
 * (load.h), and path migration (migrate.h). They need libibverbs and the state machine of
 * core/path/apm.h, nothing else, so any program of verbs can use them:
 *
 *     hwmc_apm_conn_init(&c, qp, primary, alternate);
 *     INIT; to RTR with hwmc_apm_specify_with; to RTS with hwmc_apm_load_with; each time
 *     hwmc_apm_conn_comm;
 *     on an asynchronous event: hwmc_apm_conn_event, or hwmc_apm_conn_port; then hwmc_apm_conn_step
 *
 * and is told what is left for it to do. No call waits. Not thread-safe: one thread at a time for a
 * connection; a thread of events hands over what it saw (section 3.2).
 */
#ifndef HWMC_NETMOD_APM_CONN_H_INCLUDED
#define HWMC_NETMOD_APM_CONN_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../../../../mpi/coll/bcast_hw/core/path/apm.h"
#include "path.h"

struct hwmc_apm_conn {
    struct ibv_qp *qp;            /* the caller's, of a connected type */
    struct hwmc_apm state;        /* as far as is known here */
    struct hwmc_apm_path path[2]; /* as state.primary counts them; [1]: only with state.alternate */
    int error;                    /* errno of the last request that the device refused, or 0 */
};

/* `alternate` NULL: there is none. The queue pair is in RESET. */
void hwmc_apm_conn_init(struct hwmc_apm_conn *c, struct ibv_qp *qp,
                        const struct hwmc_apm_path *primary, const struct hwmc_apm_path *alternate);

/* The caller has brought the queue pair to another communication state. */
void hwmc_apm_conn_comm(struct hwmc_apm_conn *c, enum ibv_qp_state state);

/* IBV_EVENT_PATH_MIG, _PATH_MIG_ERR, _QP_FATAL, _QP_REQ_ERR or _QP_ACCESS_ERR of this queue pair
 * came; others are STALE. */
enum hwmc_apm_verdict hwmc_apm_conn_event(struct hwmc_apm_conn *c, enum ibv_event_type type);

/* A port of the device became active, or is not any more. */
void hwmc_apm_conn_port(struct hwmc_apm_conn *c, uint8_t port, bool active);

/* Some time has passed since hardware left a path, so that it may be loaded again: where step said
 * LATER though the port is active. */
void hwmc_apm_conn_trust(struct hwmc_apm_conn *c);

/* Does what the state machine asks of the three modules until it asks for nothing, or the device
 * refuses. NOTHING; LATER: step again after hwmc_apm_conn_trust, or when a port became active;
 * MOVE: the connection is lost, or was before; SPECIFY, LOAD, MIGRATE: that was refused, see
 * `error`. */
enum hwmc_apm_next hwmc_apm_conn_step(struct hwmc_apm_conn *c);

#endif /* HWMC_NETMOD_APM_CONN_H_INCLUDED */
