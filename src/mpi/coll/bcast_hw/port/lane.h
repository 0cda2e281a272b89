/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * lane: a reliable, ordered message channel to every process of the job on one rail. A peer is a
 * process, named by its rank in MPI_COMM_WORLD. Delivery is by callback, so nothing is pre-posted.
 * No call blocks. Not thread-safe: the caller has one lock for a lane and all its calls.
 */
#ifndef HWMC_PORT_LANE_H_INCLUDED
#define HWMC_PORT_LANE_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct hwmc_lane {
    const struct hwmc_lane_ops *ops;
};

struct hwmc_lane_params {
    /* A message came, from within poll. Both parts are borrowed for the call; head_len is what the
     * sender gave. The callback may call send, not poll. */
    void (*recv)(void *ctx, const void *head, size_t head_len, const void *body, size_t body_len);

    /* The peer is lost: nothing more goes to it or comes from it. From within poll or send. */
    void (*lost)(void *ctx, uint32_t peer);

    /* The address that `peer` got from its lane's address slot: writes up to *len bytes and sets
     * *len. Asked once a peer, when it is first sent to. OK; ERR_PEER; AGAIN: not from this call,
     * so what was sent waits for a later poll, which asks again. */
    int (*address_of)(void *ctx, uint32_t peer, void *addr, size_t *len);

    /* The body of what was given to send_from with this tag is the caller's again. From within poll
     * or send_from; it may call send_from. */
    void (*sent)(void *ctx, uint64_t tag);

    void *ctx;
};

#define HWMC_LANE_ADDRESS_MAX 16384u /* bytes; UCX's grow with the devices of a host */

struct hwmc_lane_ops {
    const char *name; /* "ucx", ... */

    /* This process's address, to be carried to the others by the caller; the lane's until close. */
    void (*address)(struct hwmc_lane *l, const void **addr, size_t *len);

    /* Whether messages can go to `peer` now. OK; AGAIN: not yet, what is needed for that has been
     * begun; ERR_PEER: not before something changes (a port is up again, a limit is not reached any
     * more). After `lost` it begins anew. */
    int (*ready)(struct hwmc_lane *l, uint32_t peer);

    /* Sends head and body as one message, in order with the others to `peer`. Both are copied
     * before it returns. Of a lane whose `ready` says OK from the start the endpoint is made here
     * when the peer is first used. OK, ERR_PEER, ERR_NOMEM. */
    int (*send)(struct hwmc_lane *l, uint32_t peer, const void *head, size_t head_len,
                const void *body, size_t body_len);

    /* The same, but the body is borrowed until `sent` is called with `tag`, also if the peer is
     * lost meanwhile. After an answer other than OK it is not called. */
    int (*send_from)(struct hwmc_lane *l, uint32_t peer, const void *head, size_t head_len,
                     const void *body, size_t body_len, uint64_t tag);

    /* Makes progress, delivering what came; returns how many events it saw. */
    int (*poll)(struct hwmc_lane *l);

    /* The descriptor that becomes readable when poll has something to do, once arm has returned OK;
     * AGAIN from arm: poll first. */
    int (*fd)(struct hwmc_lane *l);
    int (*arm)(struct hwmc_lane *l);

    /* ns (CLOCK_MONOTONIC) at which poll has something to do though nothing comes; UINT64_MAX when
     * never. */
    uint64_t (*deadline)(struct hwmc_lane *l);

    /* OK when every message is out of this process's hands and every endpoint is flushed, AGAIN
     * until then: to be called, with poll, before close. */
    int (*flush)(struct hwmc_lane *l);

    /* Frees everything. */
    void (*close)(struct hwmc_lane *l);

    /* All bodies that are borrowed are the caller's again when it returns: `sent` is called for
     * each. For who can wait for that no longer: any peers may be lost by it, for good. Not from
     * within poll, send or send_from. */
    void (*cut)(struct hwmc_lane *l);
};

#endif /* HWMC_PORT_LANE_H_INCLUDED */
