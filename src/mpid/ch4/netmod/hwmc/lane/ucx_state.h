/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ucx_state: the lane of ucx.h, as its files share it.
 *
 *     ucx_open.c    opening, cutting and closing, and the table of what an open one does
 *     ucx.c         progress, waiting for it, and flushing
 *     ucx_send.c    messages: their buffers, those that wait for an address
 *     ucx_peer.c    peers: endpoints, made and failed
 */
#ifndef HWMC_NETMOD_LANE_UCX_STATE_H_INCLUDED
#define HWMC_NETMOD_LANE_UCX_STATE_H_INCLUDED

#include "ucx.h"

#include <ucp/api/ucp.h>

#define HWMC_LANE_UCX_AM 1 /* the active message that all messages are */

enum peer_state {
    PEER_NEW,   /* not sent to yet */
    PEER_WAITS, /* sent to; its address was not to be had yet */
    PEER_OPEN,
    PEER_FAILED, /* found out, the caller does not know yet */
    PEER_LOST    /* the caller knows; no endpoint */
};

struct peer {
    enum peer_state state;
    ucp_ep_h ep; /* in OPEN and FAILED; NULL in FAILED when it was never made */
    struct hwmc_lane_ucx *lane;
    void *addr; /* of one that may be connected again; NULL: not asked for yet */
    struct sendbuf *waiting, **end; /* WAITS: what was sent to it */
};

/* A message on its way, with the caller's head, and its body unless that is borrowed. */
struct sendbuf {
    struct sendbuf *next,
        *prev; /* of those that UCX has; or next: of kept ones, of those that wait */
    struct hwmc_lane_ucx *lane;
    struct peer *peer; /* that it is for */
    ucp_ep_h ep;       /* of that peer, which UCX was given it for */
    size_t head_len, body_len;
    const void *body; /* of that length */
    bool borrows;     /* ... it is the caller's */
    uint64_t tag;     /* then: for the caller */
    size_t room;      /* of data */
    char data[];
};

enum flush_state {
    FLUSH_NONE, /* something may have been sent since the last */
    FLUSH_RUNS,
    FLUSH_LATE, /* runs, and something was sent since it began */
    FLUSH_DONE
};

struct hwmc_lane_ucx {
    struct hwmc_lane super;
    struct hwmc_lane_ucx_params params;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_len;
    size_t max_head;
    int efd;

    struct peer *peers;   /* params.size */
    uint32_t num_failed;  /* peers in FAILED */
    uint32_t num_waiting; /* peers in WAITS */
    bool is_cut;          /* nothing goes or comes any more: no worker, all peers LOST */
    enum flush_state flush;

    struct sendbuf *sending; /* that UCX still has */
    struct sendbuf *kept;
    int num_kept;
};

static inline struct hwmc_lane_ucx *hwmc_lane_ucx_of(struct hwmc_lane *l)
{
    return (struct hwmc_lane_ucx *) l;
}

/* Peers and their endpoints. */

/* Notes that the peer cannot be had, unless that is known. */
void hwmc_lane_ucx_fail_peer(struct peer *p);

/* Makes its endpoint, of a peer in NEW. OK; ERR_PEER: it has failed; AGAIN: it WAITS. */
int hwmc_lane_ucx_connect_peer(struct hwmc_lane_ucx *l, uint32_t peer);

/* An endpoint to send to. OK, ERR_PEER; AGAIN: what is sent waits. */
int hwmc_lane_ucx_open_peer(struct hwmc_lane_ucx *l, uint32_t peer);

/* Hands those that FAILED to the caller. No UCX call may be under way. */
void hwmc_lane_ucx_tell_failures(struct hwmc_lane_ucx *l);

/* Sending. */

/* What waited goes, as far as it can: what was sent to a peer that is lost is lost. */
void hwmc_lane_ucx_post_waiting(struct hwmc_lane_ucx *l, struct peer *p);

/* Perhaps the addresses of peers that WAIT can be had now. */
void hwmc_lane_ucx_try_waiting(struct hwmc_lane_ucx *l);

/* Of a lane without a worker: what UCX had is the callers' again. */
void hwmc_lane_ucx_drop_sending(struct hwmc_lane_ucx *l);

/* What an open lane does, as port/lane says. */

int hwmc_lane_ucx_ready(struct hwmc_lane *lane, uint32_t peer);
int hwmc_lane_ucx_send(struct hwmc_lane *lane, uint32_t peer, const void *head, size_t head_len,
                       const void *body, size_t body_len);
int hwmc_lane_ucx_send_from(struct hwmc_lane *lane, uint32_t peer, const void *head,
                            size_t head_len, const void *body, size_t body_len, uint64_t tag);
int hwmc_lane_ucx_poll(struct hwmc_lane *lane);
int hwmc_lane_ucx_fd(struct hwmc_lane *lane);
int hwmc_lane_ucx_arm(struct hwmc_lane *lane);
uint64_t hwmc_lane_ucx_deadline(struct hwmc_lane *lane);
int hwmc_lane_ucx_flush(struct hwmc_lane *lane);

#endif /* HWMC_NETMOD_LANE_UCX_STATE_H_INCLUDED */
