/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rc: the operations of the rc lane, and its progress. See lane/rc/rc.h and rc_impl.h.
 */
#include "rc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../../apm/load.h"
#include "../../apm/migrate.h"
#include "rc_impl.h"

#define BATCHES 16        /* of completions in a poll */
#define HEARD_PER_PEER 8u /* messages of the exchange that may wait; honest peers have fewer */

/* Peers are connected by what they tell each other, so there is nothing to know of one before. */
static void rc_address(struct hwmc_lane *lane, const void **addr, size_t *len)
{
    (void) lane;
    *addr = "";
    *len = 0;
}

static int rc_ready(struct hwmc_lane *lane, uint32_t peer)
{
    struct hwmc_lane_rc *l = rc_lane(lane);

    return peer < l->params.size ? rc_exchange_ready(l, peer) : HWMC_ERR_INVAL;
}

static uint64_t rc_deadline(struct hwmc_lane *lane)
{
    return rc_lane(lane)->wake;
}

static bool is_valid(const struct hwmc_lane_rc *l, uint32_t peer, size_t head_len, size_t body_len)
{
    return peer < l->params.size && head_len <= HWMC_LANE_RC_HEAD_MAX &&
           body_len <= HWMC_LANE_RC_MESSAGE_MAX - head_len;
}

static int rc_send_copy(struct hwmc_lane *lane, uint32_t peer, const void *head, size_t head_len,
                        const void *body, size_t body_len)
{
    struct hwmc_lane_rc *l = rc_lane(lane);

    if (!is_valid(l, peer, head_len, body_len))
        return HWMC_ERR_INVAL;
    return rc_send(l, peer, head, head_len, body, body_len, false, 0);
}

static int rc_send_from(struct hwmc_lane *lane, uint32_t peer, const void *head, size_t head_len,
                        const void *body, size_t body_len, uint64_t tag)
{
    struct hwmc_lane_rc *l = rc_lane(lane);

    if (!is_valid(l, peer, head_len, body_len))
        return HWMC_ERR_INVAL;
    return rc_send(l, peer, head, head_len, body, body_len, true, tag);
}

/* What failed connections received is delivered before they are buried. */
static int rc_poll(struct hwmc_lane *lane)
{
    struct hwmc_lane_rc *l = rc_lane(lane);
    int events = rc_paths_events(l) + rc_exchange_progress(l), n;

    rc_exchange_timers(l);
    rc_wish_timers(l);
    for (int i = 0; i < BATCHES; i++) {
        n = rc_recv_batch(l);
        events += n;
        if (n == 0)
            break;
    }
    rc_send_pump_all(l);
    if (l->num_failed > 0 && n == 0)
        events += rc_exchange_bury(l);
    return events;
}

static int rc_fd(struct hwmc_lane *lane)
{
    return rc_lane(lane)->epoll;
}

/* A completion that came before the request to be told of the next is taken for poll. */
static int rc_arm(struct hwmc_lane *lane)
{
    struct hwmc_lane_rc *l = rc_lane(lane);
    struct ibv_cq *cq;
    void *context;

    if (l->num_wc > 0 || l->heard != NULL)
        return HWMC_AGAIN;
    while (ibv_get_cq_event(l->channel, &cq, &context) == 0)
        ibv_ack_cq_events(cq, 1);
    if (ibv_req_notify_cq(l->cq, 0) != 0)
        return HWMC_AGAIN;
    l->num_wc = ibv_poll_cq(l->cq, RC_BATCH, l->wc);
    if (l->num_wc < 0)
        l->num_wc = 0;
    return l->num_wc > 0 ? HWMC_AGAIN : HWMC_OK;
}

static int rc_flush(struct hwmc_lane *lane)
{
    struct hwmc_lane_rc *l = rc_lane(lane);

    return l->num_queued == 0 && l->buffers.num_free == RC_BOUNCE ? HWMC_OK : HWMC_AGAIN;
}

static void forget_heard(struct hwmc_lane_rc *l)
{
    while (l->heard != NULL) {
        struct rc_heard *h = l->heard;

        l->heard = h->next;
        free(h);
    }
}

static void tell_nobody(void *ctx, uint64_t tag)
{
    (void) ctx;
    (void) tag;
}

static void rc_close(struct hwmc_lane *lane)
{
    struct hwmc_lane_rc *l = rc_lane(lane);

    l->params.lane.sent = tell_nobody;
    while (l->num_conns > 0)
        rc_conn_unmake(l, l->conns[0]);
    if (l->listener != NULL)
        hwmc_verbs_events_close(l->listener);
    if (l->srq != NULL)
        ibv_destroy_srq(l->srq);
    if (l->cq != NULL)
        ibv_destroy_cq(l->cq);
    if (l->channel != NULL)
        ibv_destroy_comp_channel(l->channel);
    rc_buffers_close(l);
    if (l->pd != NULL)
        ibv_dealloc_pd(l->pd);
    if (l->port.context != NULL)
        hwmc_verbs_port_close(&l->port);
    if (l->epoll >= 0)
        close(l->epoll);
    forget_heard(l);
    free(l->peers);
    free(l->conns);
    free(l);
}

static void rc_cut(struct hwmc_lane *lane)
{
    rc_exchange_cut(rc_lane(lane));
}

static const struct hwmc_lane_ops rc_ops = {
    .name = "rc",
    .address = rc_address,
    .ready = rc_ready,
    .deadline = rc_deadline,
    .send = rc_send_copy,
    .send_from = rc_send_from,
    .poll = rc_poll,
    .fd = rc_fd,
    .arm = rc_arm,
    .flush = rc_flush,
    .close = rc_close,
    .cut = rc_cut,
};

/* Opening. */

static bool watch_fd(const struct hwmc_lane_rc *l, int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

static int open_descriptors(struct hwmc_lane_rc *l)
{
    int flags, err = hwmc_verbs_events_open(l->port.context, &l->listener);

    if (err != HWMC_OK)
        return err;
    l->channel = ibv_create_comp_channel(l->port.context);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l->channel == NULL || l->epoll < 0)
        return HWMC_ERR_LIMIT;
    flags = fcntl(l->channel->fd, F_GETFL);
    if (flags < 0 || fcntl(l->channel->fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        !watch_fd(l, l->channel->fd) || !watch_fd(l, hwmc_verbs_events_fd(l->listener)))
        return HWMC_ERR_LIMIT;
    return HWMC_OK;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The queues that all connections share are made for as many as the device has room for. */
static int open_queues(struct hwmc_lane_rc *l)
{
    struct ibv_device_attr attr;
    struct ibv_srq_init_attr srq = {.attr = {.max_sge = 1}};

    if (ibv_query_device(l->port.context, &attr) != 0)
        return HWMC_ERR_DEVICE;
    l->max_conns = min_u32(l->params.max_peers, l->params.size);
    l->max_conns = min_u32(l->max_conns, (uint32_t) attr.max_srq_wr / RC_BUFFERS);
    l->max_conns = min_u32(l->max_conns, (uint32_t) attr.max_cqe / (RC_BUFFERS + RC_SENDS));
    if (l->max_conns == 0)
        return HWMC_ERR_DEVICE;
    srq.attr.max_wr = l->max_conns * RC_BUFFERS;
    l->pd = ibv_alloc_pd(l->port.context);
    l->cq = ibv_create_cq(l->port.context, (int) (l->max_conns * (RC_BUFFERS + RC_SENDS)), NULL,
                          l->channel, 0);
    l->srq = l->pd != NULL ? ibv_create_srq(l->pd, &srq) : NULL;
    return l->cq != NULL && l->srq != NULL ? HWMC_OK : HWMC_ERR_LIMIT;
}

static int open_all(struct hwmc_lane_rc *l)
{
    int err = hwmc_verbs_port_open(l->params.rail, &l->port);

    if (err == HWMC_OK)
        err = rc_paths_open(l);
    if (err == HWMC_OK)
        err = open_descriptors(l);
    if (err == HWMC_OK)
        err = open_queues(l);
    if (err == HWMC_OK)
        err = rc_buffers_open(l);
    if (err != HWMC_OK)
        return err;
    l->peers = calloc(l->params.size, sizeof(*l->peers));
    l->conns = calloc(l->max_conns, sizeof(struct rc_conn *));
    return l->peers != NULL && l->conns != NULL ? HWMC_OK : HWMC_ERR_NOMEM;
}

int hwmc_lane_rc_open(const struct hwmc_lane_rc_params *params, struct hwmc_lane **lane)
{
    struct hwmc_lane_rc *l;
    int err;

    if (params->max_peers == 0 || params->timeout == 0 || params->timeout > 31 ||
        params->rank >= params->size)
        return HWMC_ERR_INVAL;
    l = calloc(1, sizeof(*l));
    if (l == NULL)
        return HWMC_ERR_NOMEM;
    l->super.ops = &rc_ops;
    l->params = *params;
    l->epoll = -1;
    l->wake = UINT64_MAX;
    l->heard_end = &l->heard;
    err = open_all(l);
    l->params.rail = NULL;
    if (err != HWMC_OK) {
        rc_close(&l->super);
        return err;
    }
    *lane = &l->super;
    return HWMC_OK;
}

/* The rest of lane/rc/rc.h. */

static bool is_full(const struct hwmc_lane_rc *l, uint32_t peer)
{
    uint32_t waiting = 0;

    for (const struct rc_heard *h = l->heard; h != NULL; h = h->next)
        waiting += h->peer == peer;
    return waiting >= HEARD_PER_PEER;
}

void hwmc_lane_rc_hear(struct hwmc_lane *lane, uint32_t peer, const void *msg, size_t len)
{
    struct hwmc_lane_rc *l = rc_lane(lane);
    struct rc_heard *h = malloc(sizeof(*h));

    if (h == NULL || peer >= l->params.size || peer == l->params.rank ||
        !rc_wire_read_exchange(msg, len, &h->exchange) || is_full(l, peer)) {
        l->params.counts->bad++;
        free(h);
        return;
    }
    h->next = NULL;
    h->peer = peer;
    *l->heard_end = h;
    l->heard_end = &h->next;
}

enum hwmc_lane_rc_apm hwmc_lane_rc_apm(const struct hwmc_lane *lane, const char **reason)
{
    *reason = rc_lane(lane)->ports.reason;
    return rc_lane(lane)->ports.apm;
}

static struct rc_conn *open_conn_to(const struct hwmc_lane_rc *l, uint32_t peer)
{
    return peer < l->params.size && l->peers[peer].state == RC_PEER_OPEN ? l->peers[peer].conn
                                                                         : NULL;
}

int hwmc_lane_rc_path(struct hwmc_lane *lane, uint32_t peer, enum ibv_mig_state *state,
                      uint8_t *port)
{
    struct rc_conn *c = open_conn_to(rc_lane(lane), peer);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;

    if (c == NULL || ibv_query_qp(c->apm.qp, &attr, IBV_QP_PATH_MIG_STATE | IBV_QP_AV, &init) != 0)
        return HWMC_ERR_PEER;
    *state = attr.path_mig_state;
    *port = attr.ah_attr.port_num;
    return HWMC_OK;
}

int hwmc_lane_rc_migrate(struct hwmc_lane *lane, uint32_t peer)
{
    struct rc_conn *c = open_conn_to(rc_lane(lane), peer);
    struct hwmc_apm_conn *apm;

    if (c == NULL || !c->apm.state.alternate)
        return HWMC_ERR_PEER;
    apm = &c->apm;
    return hwmc_apm_migrate(&apm, 1) == 1 ? HWMC_OK : HWMC_AGAIN;
}
