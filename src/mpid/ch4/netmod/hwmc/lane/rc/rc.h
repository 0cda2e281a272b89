/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rc: a lane over reliable connections of InfiniBand or RoCE, one to each peer that is used, with
 * automatic path migration where the device has it. Messages of one connection come in order and
 * once. When a connection is lost, its undelivered messages are lost with it, and the layer above
 * sends them again, here or over another lane.
 *
 * A connection is made by messages that the caller carries (tell, hear). Of two processes the one
 * with the lower rank is active: only it begins connections, and counts them (the epoch).
 *
 *     active                           passive
 *                        <- WANT e     ready: its last connection was e; please begin the next
 *     CONNECT e+1, end ->
 *                        <- ACCEPT e+1, end    it can receive
 *     READY e+1 ->                     both can send
 *
 * REFUSE e answers CONNECT or WANT: no connections left, no memory, or the port is down. CLOSE e,
 * by either end: its connection of that epoch is closed. CONNECT e+1 closes e. Messages of other
 * epochs than the last are dropped. rc_wire.h defines an end, and the bytes of all this.
 *
 * A message is sent as fragments of up to a receive buffer, which comes from a queue that all
 * connections share. A peer may have as many fragments under way as it has credits. A credit is
 * returned when its buffer is posted again: with the fragments going back or, when half of them are
 * due, by a message of its own. Of these at most two are under way, as the second can only be due
 * when the peer has used what the first returned; there are buffers beyond the credits for them. So
 * no buffer is ever missing, and nobody waits for credits that cannot come.
 *
 * A dead path is known within 0.5 s: a packet is repeated up to HWMC_LANE_RC_RETRIES times when no
 * acknowledgement comes in 4.096 us * 2^HWMC_LANE_RC_TIMEOUT, for which a device may take up to
 * four times as long (InfiniBand Architecture Specification, volume 1, 9.7.6.1.3): 7 * 4 * 16.8 ms.
 * With an armed path it migrates then; when that is dead too, in 1 s. Some devices take 7 retries
 * for no limit. The active end has half of the retries, so that it migrates first where both send:
 * a device whose peer has migrated goes on with what retries it has left, and with none it would
 * fail on a path that works.
 */
#ifndef HWMC_NETMOD_LANE_RC_RC_H_INCLUDED
#define HWMC_NETMOD_LANE_RC_RC_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "../../../../../../mpi/coll/bcast_hw/port/lane.h"
#include "../../../../../../mpi/coll/bcast_hw/port/rail.h"
#include "../../apm/preference.h"

#define HWMC_LANE_RC_TIMEOUT 12u
#define HWMC_LANE_RC_RETRIES 6u
#define HWMC_LANE_RC_RETRIES_ACTIVE 3u
#define HWMC_LANE_RC_MESSAGE_MAX (64u << 20) /* head and body, bytes */
#define HWMC_LANE_RC_HEAD_MAX 4096u          /* bytes */

struct hwmc_lane_rc_params {
    struct hwmc_lane_params lane; /* address_of is not used */
    uint32_t size;                /* processes of the job: peers are 0..size-1 */
    uint32_t rank;                /* this one; it does not connect to itself */
    uint32_t max_peers;           /* connections at a time, 1 or more; the device may allow fewer */
    const struct hwmc_rail *rail; /* whose port carries it; read during open */
    uint8_t timeout;              /* HWMC_LANE_RC_TIMEOUT, or as the caller has it: 1..31 */
    bool apm;                     /* have an alternate path where possible */
    struct hwmc_apm_preference preference; /* and which */
    struct hwmc_lane_rc_counts
        *counts; /* where it counts: the caller's, of several lanes perhaps */

    /* Gives `peer` these bytes, by hear of its lane on the same rail: reliably, in order, copied
     * before it returns. OK, or an error: the peer cannot be told. Called from poll and ready. */
    int (*tell)(void *ctx, uint32_t peer, const void *msg, size_t len);
};

/* What a lane counts. */
#define HWMC_LANE_RC_COUNTS(X)                                                                     \
    X(connects, "connections made")                                                                \
    X(refused, "connections that this process or the peer refused")                                \
    X(losts, "connections lost")                                                                   \
    X(migrated, "migrations to the alternate path by hardware")                                    \
    X(moved, "migrations to the alternate path by request")                                        \
    X(unmet, "requests of the program for a path that were dropped: there is none, or a fault")    \
    X(failed, "paths that hardware would not specify, load or migrate to")                         \
    X(rearms, "alternate paths loaded after a migration, or when a port became active")            \
    X(credits, "messages that return credits and nothing else")                                    \
    X(bad, "messages of the exchange, or fragments, that make no sense")

struct hwmc_lane_rc_counts {
#define X(field, text) uint64_t field;
    HWMC_LANE_RC_COUNTS(X)
#undef X
};

/* How an alternate path is used. */
enum hwmc_lane_rc_apm {
    HWMC_LANE_RC_APM_OFF,      /* not asked for */
    HWMC_LANE_RC_APM_SOFTWARE, /* the device does not: a dead path is a lost connection */
    HWMC_LANE_RC_APM_HARDWARE  /* where both ends have a second port or LID */
};

/* Opens the lane; its close frees it. ERR_INVAL, ERR_NOMEM; ERR_DEVICE: the rail has no RDMA device
 * with reliable connections, or its port is not active; ERR_LIMIT: of the system or the device. */
int hwmc_lane_rc_open(const struct hwmc_lane_rc_params *params, struct hwmc_lane **lane);

/* What `peer` gave to its tell. Never trusted; acted on in poll, which is due when this returns. */
void hwmc_lane_rc_hear(struct hwmc_lane *lane, uint32_t peer, const void *msg, size_t len);

/* `reason`: a sentence that lasts as long as the program. */
enum hwmc_lane_rc_apm hwmc_lane_rc_apm(const struct hwmc_lane *lane, const char **reason);

/* Asks the device on which port the connection to `peer` is and how its alternate path stands. OK;
 * ERR_PEER: there is no connection. */
int hwmc_lane_rc_path(struct hwmc_lane *lane, uint32_t peer, enum ibv_mig_state *state,
                      uint8_t *port);

/* Whether a connection of this lane can have a path by the port that `other` is over: it is one of
 * the same device, and may be used. Its number, then; else 0. */
uint8_t hwmc_lane_rc_port(const struct hwmc_lane *lane, const struct hwmc_lane *other);

/* What a program wants of the connections to a peer: a path by that port of the device, or one of
 * these. */
#define HWMC_LANE_RC_ANY 0      /* nothing, or nothing any more */
#define HWMC_LANE_RC_FIRST 254  /* the rail's own path */
#define HWMC_LANE_RC_SECOND 255 /* the other one */

/* Has the connection to `peer`, or else the next one, migrate to the path that is wanted, as soon
 * as that is loaded; done in poll. Both ends should want the same. It is done once: what a fault
 * does later has the last word, and a wish dies with its connection. OK; ERR_INVAL: no such peer;
 * ERR_DEVICE: no path of this lane migrates. */
int hwmc_lane_rc_prefer(struct hwmc_lane *lane, uint32_t peer, uint8_t path);

/* Has the connection to `peer` migrate to its alternate path. OK; AGAIN: that is not loaded yet;
 * ERR_PEER: there is none. */
int hwmc_lane_rc_migrate(struct hwmc_lane *lane, uint32_t peer);

#endif /* HWMC_NETMOD_LANE_RC_RC_H_INCLUDED */
