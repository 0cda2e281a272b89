/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * A message is one UCX active message, the head as its header and the body as its data. Eager is
 * forced, whatever the length: UCX then sends the fragments of one endpoint's messages on one of
 * its transports one behind the other, so messages come in order and no receive is ever asked for.
 *
 * A peer's endpoint is made when it is first sent to. Where its address is not to be had now (the
 * caller of poll or send may not ask for it), what is sent waits, in order, and every poll tries
 * again. That it cannot be made or used is noted where UCX tells them and handed to the caller at
 * the end of poll, when no UCX call is under way.
 */

#include "ucx_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SMALL 512u   /* bytes of the buffers that are kept for reuse */
#define KEEP_MAX 256 /* of them */

static struct hwmc_lane_ucx *ucx(struct bcast_hw_lane *l)
{
    return (struct hwmc_lane_ucx *) l;
}

static void fail_peer(struct peer *p)
{
    if (p->state == PEER_NEW || p->state == PEER_OPEN) {
        p->state = PEER_FAILED;
        p->lane->num_failed++;
    }
}

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

/* Sending. */

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
static void release(struct sendbuf *b)
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

    if (status != UCS_OK) /* UCX gave it up, and does not tell of the endpoint unless asked to */
        fail_peer(b->peer);
    note_sent(b);
    ucp_request_free(request);
    release(b);
}

/* UCX: the endpoint cannot be used any more. */
static void on_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void) ep;
    (void) status;
    fail_peer(arg);
}

static bool may_fail(const struct hwmc_lane_ucx *l, uint32_t peer)
{
    return l->params.survives && l->params.survives(l->params.lane.ctx, peer);
}

/* Without UCX's peer error handling unless asked for: it keeps an endpoint from using shared
 * memory, and reports peers as lost that only connected at the same time from their side. A process
 * that dies ends the job. */
static ucs_status_t make_endpoint(struct hwmc_lane_ucx *l, struct peer *p, const void *addr)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address = addr,
    };

    if (may_fail(l, (uint32_t) (p - l->peers))) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        params.err_handler = (ucp_err_handler_t){.cb = on_failed, .arg = p};
    }
    return ucp_ep_create(l->worker, &params, &p->ep);
}

/* Asks for the peer's address, once: later the way to who knows it may be cut as well. As the
 * callback answers. */
static int address_of(struct hwmc_lane_ucx *l, uint32_t peer, void *room, size_t len,
                      const void **addr)
{
    struct peer *p = &l->peers[peer];
    int err = BCAST_HW_OK;

    *addr = p->addr;
    if (p->addr != NULL)
        return BCAST_HW_OK;
    err = l->params.lane.address_of(l->params.lane.ctx, peer, room, &len);
    *addr = room;
    if (err == BCAST_HW_OK && may_fail(l, peer)) {
        p->addr = malloc(len);
        if (p->addr != NULL)
            memcpy(p->addr, room, len);
    }
    return err;
}

static int connect_peer(struct hwmc_lane_ucx *l, uint32_t peer)
{
    struct peer *p = &l->peers[peer];
    uint64_t room[BCAST_HW_LANE_ADDRESS_MAX / sizeof(uint64_t)];
    const void *addr;
    int err = address_of(l, peer, room, sizeof(room), &addr);

    if (err == BCAST_HW_AGAIN) {
        p->state = PEER_WAITS;
        p->waiting = NULL;
        p->end = &p->waiting;
        l->num_waiting++;
        return BCAST_HW_AGAIN;
    }
    if (err == BCAST_HW_OK && make_endpoint(l, p, addr) == UCS_OK) {
        p->state = PEER_OPEN;
        return BCAST_HW_OK;
    }
    p->ep = NULL;
    fail_peer(p);
    return BCAST_HW_ERR_PEER;
}

/* An endpoint to send to. OK, ERR_PEER; AGAIN: what is sent waits. */
static int open_peer(struct hwmc_lane_ucx *l, uint32_t peer)
{
    struct peer *p = &l->peers[peer];

    if (p->state == PEER_NEW)
        return connect_peer(l, peer);
    if (p->state == PEER_WAITS)
        return BCAST_HW_AGAIN;
    return p->state == PEER_OPEN ? BCAST_HW_OK : BCAST_HW_ERR_PEER;
}

/* Hands `b` to UCX. */
static int post(struct hwmc_lane_ucx *l, struct peer *p, struct sendbuf *b)
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
    if (l->flush == FLUSH_RUNS)
        l->flush = FLUSH_LATE;
    else if (l->flush == FLUSH_DONE)
        l->flush = FLUSH_NONE;
    request = ucp_am_send_nbx(p->ep, HWMC_LANE_UCX_AM, b->data, b->head_len, b->body, b->body_len,
                              &param);
    if (UCS_PTR_IS_ERR(request)) {
        put_buffer(b);
        if (UCS_PTR_STATUS(request) == UCS_ERR_NO_MEMORY)
            return BCAST_HW_ERR_NOMEM;
        fail_peer(p);
        return BCAST_HW_ERR_PEER;
    }
    if (request == NULL)
        release(b);
    else
        note_sending(b);
    return BCAST_HW_OK;
}

/* Sends it, or has it wait. */
static int post_or_wait(struct hwmc_lane_ucx *l, struct peer *p, struct sendbuf *b)
{
    if (p->state != PEER_WAITS)
        return post(l, p, b);
    b->next = NULL;
    *p->end = b;
    p->end = &b->next;
    return BCAST_HW_OK;
}

/* What waited goes, as far as it can: what was sent to a peer that is lost is lost. */
static void post_waiting(struct hwmc_lane_ucx *l, struct peer *p)
{
    struct sendbuf *b = p->waiting, *next;

    for (p->waiting = NULL; b != NULL; b = next) {
        const bool borrows = b->borrows;
        const uint64_t tag = b->tag;

        next = b->next;
        if (p->state != PEER_OPEN)
            release(b);
        else if (post(l, p, b) != BCAST_HW_OK && borrows)
            l->params.lane.sent(l->params.lane.ctx, tag);
    }
}

/* Perhaps the addresses can be had now. */
static void try_waiting(struct hwmc_lane_ucx *l)
{
    for (uint32_t i = 0; i < l->params.size && l->num_waiting > 0; i++) {
        struct peer *p = &l->peers[i];
        struct sendbuf *waiting = p->waiting, **end = p->end;

        if (p->state != PEER_WAITS)
            continue;
        l->num_waiting--;
        p->state = PEER_NEW;
        if (connect_peer(l, i) == BCAST_HW_AGAIN) { /* nor can others' */
            p->waiting = waiting;
            p->end = waiting != NULL ? end : &p->waiting;
            return;
        }
        post_waiting(l, p);
    }
}

/* A buffer with the head and room for `room` bytes more, to be sent to `peer`. OK and what sends
 * say. */
static int prepare(struct hwmc_lane_ucx *l, uint32_t peer, const void *head, size_t head_len,
                   size_t room, struct sendbuf **buffer)
{
    struct sendbuf *b;

    if (peer >= l->params.size || head_len > l->max_head)
        return BCAST_HW_ERR_INVAL;
    if (open_peer(l, peer) == BCAST_HW_ERR_PEER)
        return BCAST_HW_ERR_PEER;
    b = get_buffer(l, head_len + room);
    if (b == NULL)
        return BCAST_HW_ERR_NOMEM;
    memcpy(b->data, head, head_len);
    b->head_len = head_len;
    *buffer = b;
    return BCAST_HW_OK;
}

static int ucx_ready(struct bcast_hw_lane *lane, uint32_t peer)
{
    struct hwmc_lane_ucx *l = ucx(lane);

    if (peer >= l->params.size || l->is_cut)
        return BCAST_HW_ERR_PEER;
    if (l->peers[peer].state == PEER_LOST)
        l->peers[peer].state = PEER_NEW;
    return open_peer(l, peer);
}

static int ucx_send(struct bcast_hw_lane *lane, uint32_t peer, const void *head, size_t head_len,
                    const void *body, size_t body_len)
{
    struct hwmc_lane_ucx *l = ucx(lane);
    struct sendbuf *b;
    int err = prepare(l, peer, head, head_len, body_len, &b);

    if (err != BCAST_HW_OK)
        return err;
    b->borrows = false;
    if (body_len > 0)
        memcpy(b->data + head_len, body, body_len);
    b->body = b->data + head_len;
    b->body_len = body_len;
    return post_or_wait(l, &l->peers[peer], b);
}

static int ucx_send_from(struct bcast_hw_lane *lane, uint32_t peer, const void *head,
                         size_t head_len, const void *body, size_t body_len, uint64_t tag)
{
    struct hwmc_lane_ucx *l = ucx(lane);
    struct sendbuf *b;
    int err = prepare(l, peer, head, head_len, 0, &b);

    if (err != BCAST_HW_OK)
        return err;
    b->borrows = true;
    b->tag = tag;
    b->body = body;
    b->body_len = body_len;
    return post_or_wait(l, &l->peers[peer], b);
}

/* Progress. */

static void close_endpoint(struct peer *p)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_EP_CLOSE_FLAG_FORCE,
    };
    ucs_status_ptr_t request = ucp_ep_close_nbx(p->ep, &param);

    if (UCS_PTR_IS_PTR(request))
        ucp_request_free(request);
    p->ep = NULL;
}

static void tell_failures(struct hwmc_lane_ucx *l)
{
    for (uint32_t i = 0; i < l->params.size && l->num_failed > 0; i++) {
        struct peer *p = &l->peers[i];

        if (p->state != PEER_FAILED)
            continue;
        l->num_failed--;
        p->state = PEER_LOST;
        if (p->ep != NULL)
            close_endpoint(p);
        l->params.lane.lost(l->params.lane.ctx, i);
    }
}

static int ucx_poll(struct bcast_hw_lane *lane)
{
    struct hwmc_lane_ucx *l = ucx(lane);
    int events = l->is_cut ? 0 : (int) ucp_worker_progress(l->worker);

    if (l->num_waiting > 0)
        try_waiting(l);
    if (l->num_failed > 0) {
        events++;
        tell_failures(l);
    }
    return events;
}

static int ucx_fd(struct bcast_hw_lane *lane)
{
    return ucx(lane)->efd;
}

static int ucx_arm(struct bcast_hw_lane *lane)
{
    struct hwmc_lane_ucx *l = ucx(lane);

    if (l->is_cut)
        return BCAST_HW_OK;
    return l->num_failed == 0 && ucp_worker_arm(l->worker) == UCS_OK ? BCAST_HW_OK : BCAST_HW_AGAIN;
}

/* UCX has timers of its own, that its descriptor tells of. */
static uint64_t ucx_deadline(struct bcast_hw_lane *lane)
{
    (void) lane;
    return UINT64_MAX;
}

static void ucx_address(struct bcast_hw_lane *lane, const void **addr, size_t *len)
{
    *addr = ucx(lane)->address;
    *len = ucx(lane)->address_len;
}

static void on_flushed(void *request, ucs_status_t status, void *user_data)
{
    struct hwmc_lane_ucx *l = user_data;

    (void) status;
    l->flush = l->flush == FLUSH_LATE ? FLUSH_NONE : FLUSH_DONE;
    ucp_request_free(request);
}

static int ucx_flush(struct bcast_hw_lane *lane)
{
    struct hwmc_lane_ucx *l = ucx(lane);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_flushed,
        .user_data = l,
    };

    if (l->is_cut)
        return BCAST_HW_OK;
    if (l->num_waiting > 0)
        return BCAST_HW_AGAIN;
    if (l->sending == NULL && l->flush == FLUSH_NONE) {
        ucs_status_ptr_t request = ucp_worker_flush_nbx(l->worker, &param);

        /* An error: there is nothing more to be had. */
        l->flush = UCS_PTR_IS_PTR(request) ? FLUSH_RUNS : FLUSH_DONE;
    }
    return l->sending == NULL && l->flush == FLUSH_DONE ? BCAST_HW_OK : BCAST_HW_AGAIN;
}

static void free_buffers(struct sendbuf *b)
{
    while (b != NULL) {
        struct sendbuf *next = b->next;

        free(b);
        b = next;
    }
}

/* Destroys the worker with its endpoints, which needs nobody else: what was not flushed is lost. */
static void close_worker(struct hwmc_lane_ucx *l)
{
    if (l->address != NULL)
        ucp_worker_release_address(l->worker, l->address);
    if (l->worker != NULL)
        ucp_worker_destroy(l->worker);
    if (l->context != NULL)
        ucp_cleanup(l->context);
    l->address = NULL;
    l->address_len = 0;
    l->worker = NULL;
    l->context = NULL;
}

/* UCX cannot be asked for a message back, nor to close an endpoint that it does not watch over, so
 * the worker goes. Who waits for the descriptor has one that is never readable. */
static void ucx_cut(struct bcast_hw_lane *lane)
{
    struct hwmc_lane_ucx *l = ucx(lane);

    if (l->is_cut)
        return;
    close_worker(l);
    l->is_cut = true;
    l->efd = eventfd(0, EFD_CLOEXEC);
    l->num_failed = l->num_waiting = 0;
    while (l->sending != NULL) {
        struct sendbuf *b = l->sending;

        note_sent(b);
        release(b);
    }
    for (uint32_t i = 0; i < l->params.size; i++) {
        struct peer *p = &l->peers[i];
        const bool is_known = p->state == PEER_LOST;
        const bool waits = p->state == PEER_WAITS;

        p->state = PEER_LOST;
        p->ep = NULL;
        if (waits)
            post_waiting(l, p);
        if (!is_known)
            l->params.lane.lost(l->params.lane.ctx, i);
    }
}

static void ucx_close(struct bcast_hw_lane *lane)
{
    struct hwmc_lane_ucx *l = ucx(lane);

    close_worker(l);
    if (l->is_cut && l->efd >= 0)
        close(l->efd);
    free_buffers(l->kept);
    for (uint32_t i = 0; l->peers != NULL && i < l->params.size; i++) {
        if (l->peers[i].state == PEER_WAITS)
            free_buffers(l->peers[i].waiting);
        free(l->peers[i].addr);
    }
    free(l->peers);
    free(l);
}

/* What UCX says of an endpoint has a line for each transport, as "lane[0]: 2:tcp/eth0.0 md[1] ->
 * md[1] am": `am` is on the one that eager messages go by. Whether that is by `device`. */
static bool line_has(const char *line, const char *device)
{
    const size_t len = strlen(device);
    const char *am = strstr(line, " am"), *at = strchr(line, '/');

    while (am != NULL && am[3] != ' ' && am[3] != '\0')
        am = strstr(am + 1, " am");
    return am != NULL && at != NULL && strncmp(at + 1, device, len) == 0 && at[1 + len] == '.';
}

static bool is_by(ucp_ep_h ep, const char *device)
{
    char *text = NULL, *rest, *line;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    bool found = false;

    if (f == NULL)
        return false;
    ucp_ep_print_info(ep, f);
    fclose(f);
    for (line = text != NULL ? strtok_r(text, "\n", &rest) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        found = found || (strstr(line, "lane[") != NULL && line_has(line, device));
    free(text);
    return found;
}

bool hwmc_lane_ucx_is_by(struct bcast_hw_lane *lane, const char *device)
{
    struct hwmc_lane_ucx *l = ucx(lane);

    for (uint32_t i = 0; i < l->params.size; i++)
        if (l->peers[i].state == PEER_OPEN && is_by(l->peers[i].ep, device))
            return true;
    return false;
}

const struct bcast_hw_lane_ops hwmc_lane_ucx_ops = {
    .name = "ucx",
    .address = ucx_address,
    .ready = ucx_ready,
    .send = ucx_send,
    .send_from = ucx_send_from,
    .poll = ucx_poll,
    .fd = ucx_fd,
    .arm = ucx_arm,
    .deadline = ucx_deadline,
    .flush = ucx_flush,
    .close = ucx_close,
    .cut = ucx_cut,
};
