/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Sending by the lane of ucx.h. A message is one UCX active message, the head as its header and the
 * body as its data. Eager is forced, whatever the length: UCX then sends the fragments of one
 * endpoint's messages on one of its transports one behind the other, so messages come in order and
 * no receive is ever asked for.
 *
 * Where a peer's address is not to be had now (the caller of poll or send may not ask for it), what
 * is sent waits, in order, and every poll tries again.
 */

#include "ucx_state.h"

#include <stdlib.h>
#include <string.h>

#define SMALL 512u   /* bytes of the buffers that are kept for reuse */
#define KEEP_MAX 256 /* of them */

/* Buffers. */

static struct sendbuf *get_buffer(struct hwmc_lane_ucx *l, size_t len)
{
    struct sendbuf *b = l->kept;

    if (len <= SMALL && b != NULL) {
        l->kept = b->next;
        l->num_kept--;
        return b;
    }
    if (len < SMALL)
        len = SMALL;
    b = malloc(sizeof(*b) + len);
    if (b != NULL) {
        b->lane = l;
        b->room = len;
    }
    return b;
}

static void put_buffer(struct sendbuf *b)
{
    struct hwmc_lane_ucx *l = b->lane;

    if (b->room == SMALL && l->num_kept < KEEP_MAX) {
        b->next = l->kept;
        l->kept = b;
        l->num_kept++;
    } else {
        free(b);
    }
}

/* Those that UCX has. */

static void note_sending(struct sendbuf *b)
{
    struct sendbuf **all = &b->lane->sending;

    b->prev = NULL;
    b->next = *all;
    if (b->next != NULL)
        b->next->prev = b;
    *all = b;
}

static void note_sent(struct sendbuf *b)
{
    if (b->prev != NULL)
        b->prev->next = b->next;
    else
        b->lane->sending = b->next;
    if (b->next != NULL)
        b->next->prev = b->prev;
}

/* UCX needs the buffer no more, nor what it borrows. */
static void release_buffer(struct sendbuf *b)
{
    struct hwmc_lane_ucx *l = b->lane;
    bool borrows = b->borrows;
    uint64_t tag = b->tag;

    put_buffer(b);
    if (borrows)
        l->params.lane.sent(l->params.lane.ctx, tag);
}

static void on_sent(void *request, ucs_status_t status, void *user_data)
{
    struct sendbuf *b = user_data;

    /* UCX gave it up, and does not tell of the endpoint unless asked to. The peer may have another
     * one by now. */
    if (status != UCS_OK && b->peer->ep == b->ep)
        hwmc_lane_ucx_fail_peer(b->peer);
    note_sent(b);
    ucp_request_free(request);
    release_buffer(b);
}

void hwmc_lane_ucx_drop_sending(struct hwmc_lane_ucx *l)
{
    while (l->sending != NULL) {
        struct sendbuf *b = l->sending;

        note_sent(b);
        release_buffer(b);
    }
}

/* Posting, and waiting for an address. */

/* Hands `b` to UCX. */
static int post_buffer(struct hwmc_lane_ucx *l, struct peer *p, struct sendbuf *b)
{
    ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_sent,
        .user_data = b,
    };
    ucs_status_ptr_t request;

    b->peer = p;
    b->ep = p->ep;
    if (l->flush == FLUSH_RUNS)
        l->flush = FLUSH_LATE;
    else if (l->flush == FLUSH_DONE)
        l->flush = FLUSH_NONE;
    request = ucp_am_send_nbx(p->ep, HWMC_LANE_UCX_AM, b->data, b->head_len, b->body, b->body_len,
                              &param);
    if (UCS_PTR_IS_ERR(request)) {
        put_buffer(b);
        if (UCS_PTR_STATUS(request) == UCS_ERR_NO_MEMORY)
            return HWMC_ERR_NOMEM;
        hwmc_lane_ucx_fail_peer(p);
        return HWMC_ERR_PEER;
    }
    if (request == NULL)
        release_buffer(b);
    else
        note_sending(b);
    return HWMC_OK;
}

/* Sends it, or has it wait. */
static int post_or_wait(struct hwmc_lane_ucx *l, struct peer *p, struct sendbuf *b)
{
    if (p->state != PEER_WAITS)
        return post_buffer(l, p, b);
    b->next = NULL;
    *p->end = b;
    p->end = &b->next;
    return HWMC_OK;
}

void hwmc_lane_ucx_post_waiting(struct hwmc_lane_ucx *l, struct peer *p)
{
    struct sendbuf *b = p->waiting, *next;

    for (p->waiting = NULL; b != NULL; b = next) {
        const bool borrows = b->borrows;
        const uint64_t tag = b->tag;
        int err = HWMC_OK;

        next = b->next;
        if (p->state != PEER_OPEN)
            release_buffer(b);
        else
            err = post_buffer(l, p, b);
        if (err != HWMC_OK && borrows)
            l->params.lane.sent(l->params.lane.ctx, tag);
        if (err == HWMC_ERR_NOMEM) /* nobody is there to be told, and lanes lose nothing */
            hwmc_lane_ucx_fail_peer(p);
    }
}

void hwmc_lane_ucx_try_waiting(struct hwmc_lane_ucx *l)
{
    for (uint32_t i = 0; i < l->params.size && l->num_waiting > 0; i++) {
        struct peer *p = &l->peers[i];
        struct sendbuf *waiting = p->waiting, **end = p->end;

        if (p->state != PEER_WAITS)
            continue;
        l->num_waiting--;
        p->state = PEER_NEW;
        if (hwmc_lane_ucx_connect_peer(l, i) == HWMC_AGAIN) { /* nor can others' */
            p->waiting = waiting;
            p->end = waiting != NULL ? end : &p->waiting;
            return;
        }
        hwmc_lane_ucx_post_waiting(l, p);
    }
}

/* Sending. */

/* A buffer with the head and room for `room` bytes more, to be sent to `peer`. OK and what sends
 * say. */
static int prepare_buffer(struct hwmc_lane_ucx *l, uint32_t peer, const void *head, size_t head_len,
                          size_t room, struct sendbuf **buffer)
{
    struct sendbuf *b;

    if (peer >= l->params.size || head_len > l->max_head)
        return HWMC_ERR_INVAL;
    if (hwmc_lane_ucx_open_peer(l, peer) == HWMC_ERR_PEER)
        return HWMC_ERR_PEER;
    b = get_buffer(l, head_len + room);
    if (b == NULL)
        return HWMC_ERR_NOMEM;
    memcpy(b->data, head, head_len);
    b->head_len = head_len;
    *buffer = b;
    return HWMC_OK;
}

int hwmc_lane_ucx_send(struct hwmc_lane *lane, uint32_t peer, const void *head, size_t head_len,
                       const void *body, size_t body_len)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);
    struct sendbuf *b;
    int err = prepare_buffer(l, peer, head, head_len, body_len, &b);

    if (err != HWMC_OK)
        return err;
    b->borrows = false;
    if (body_len > 0)
        memcpy(b->data + head_len, body, body_len);
    b->body = b->data + head_len;
    b->body_len = body_len;
    return post_or_wait(l, &l->peers[peer], b);
}

int hwmc_lane_ucx_send_from(struct hwmc_lane *lane, uint32_t peer, const void *head,
                            size_t head_len, const void *body, size_t body_len, uint64_t tag)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);
    struct sendbuf *b;
    int err = prepare_buffer(l, peer, head, head_len, 0, &b);

    if (err != HWMC_OK)
        return err;
    b->borrows = true;
    b->tag = tag;
    b->body = body;
    b->body_len = body_len;
    return post_or_wait(l, &l->peers[peer], b);
}
