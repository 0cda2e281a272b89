/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Opening a lane of ucx.h, cutting and closing it. Each step of opening answers as UCX does.
 */

#include "ucx_option.h"
#include "ucx_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DESCRIPTORS 64 /* that one lane may take */

static void ucx_address(struct hwmc_lane *lane, const void **addr, size_t *len)
{
    *addr = hwmc_lane_ucx_of(lane)->address;
    *len = hwmc_lane_ucx_of(lane)->address_len;
}

/* Cutting and closing. */

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
static void ucx_cut(struct hwmc_lane *lane)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);

    if (l->is_cut)
        return;
    close_worker(l);
    l->is_cut = true;
    l->efd = eventfd(0, EFD_CLOEXEC);
    l->num_failed = l->num_waiting = 0;
    hwmc_lane_ucx_drop_sending(l);
    for (uint32_t i = 0; i < l->params.size; i++) {
        struct peer *p = &l->peers[i];
        const bool is_known = p->state == PEER_LOST;
        const bool waits = p->state == PEER_WAITS;

        p->state = PEER_LOST;
        p->ep = NULL;
        if (waits)
            hwmc_lane_ucx_post_waiting(l, p);
        if (!is_known)
            l->params.lane.lost(l->params.lane.ctx, i);
    }
}

static void free_buffers(struct sendbuf *b)
{
    while (b != NULL) {
        struct sendbuf *next = b->next;

        free(b);
        b = next;
    }
}

static void ucx_close(struct hwmc_lane *lane)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);

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

static const struct hwmc_lane_ops ucx_ops = {
    .name = "ucx",
    .address = ucx_address,
    .ready = hwmc_lane_ucx_ready,
    .send = hwmc_lane_ucx_send,
    .send_from = hwmc_lane_ucx_send_from,
    .poll = hwmc_lane_ucx_poll,
    .fd = hwmc_lane_ucx_fd,
    .arm = hwmc_lane_ucx_arm,
    .deadline = hwmc_lane_ucx_deadline,
    .flush = hwmc_lane_ucx_flush,
    .close = ucx_close,
    .cut = ucx_cut,
};

/* Opening. */

/* UCX: an active message came. */
static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data,
                               size_t length, const ucp_am_recv_param_t *param)
{
    struct hwmc_lane_ucx *l = arg;

    /* Nobody of this job sends by rendezvous: UCX drops it. */
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0)
        l->params.lane.recv(l->params.lane.ctx, header, header_length, data, length);
    return UCS_OK;
}

static ucs_status_t open_context(struct hwmc_lane_ucx *l)
{
    ucp_params_t params = {
        .field_mask =
            UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
        .estimated_num_eps = l->params.size,
        .name = "hwmc",
    };
    ucp_config_t *config;
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);

    if (status != UCS_OK)
        return status;
    if (l->params.devices != NULL)
        status = ucp_config_modify(config, "NET_DEVICES", l->params.devices);
    /* Else a process that sends to a host that is gone stands still in connect(2), for two minutes.
     * */
    hwmc_ucx_option(config, "UCX_TCP_CONN_NB", "CONN_NB", "y");
    if (l->params.tcp_families != NULL)
        hwmc_ucx_option(config, "UCX_TCP_AF_PRIO", "AF_PRIO", l->params.tcp_families);
    /* Its queues take 4 MiB of memory, and a look at each poll. */
    if (l->params.no_mates)
        hwmc_ucx_option(config, "UCX_TLS", "TLS", "^sm");
    if (status == UCS_OK)
        status = ucp_init(&params, config, &l->context);
    ucp_config_release(config);
    return status;
}

static ucs_status_t open_worker(struct hwmc_lane_ucx *l)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id = HWMC_LANE_UCX_AM,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = on_message,
        .arg = l,
    };
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER};
    ucs_status_t status = ucp_worker_create(l->context, &params, &l->worker);

    if (status == UCS_OK)
        status = ucp_worker_set_am_recv_handler(l->worker, &handler);
    if (status == UCS_OK)
        status = ucp_worker_query(l->worker, &attr);
    if (status == UCS_OK)
        status = ucp_worker_get_efd(l->worker, &l->efd);
    if (status == UCS_OK)
        status = ucp_worker_get_address(l->worker, &l->address, &l->address_len);
    l->max_head = attr.max_am_header;
    return status;
}

/* UCX says of a failure that it was one of input and output. When it has given back what it had by
 * then, as many as it would have liked still cannot be had. */
static bool few_descriptors(void)
{
    int fds[DESCRIPTORS], n = 0;
    bool few;

    while (n < DESCRIPTORS && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    few = n < DESCRIPTORS && (errno == EMFILE || errno == ENFILE);
    while (n > 0)
        close(fds[--n]);
    return few;
}

int hwmc_lane_ucx_open(const struct hwmc_lane_ucx_params *params, struct hwmc_lane **lane)
{
    struct hwmc_lane_ucx *l = calloc(1, sizeof(*l));
    ucs_status_t status;
    int err = HWMC_ERR_NOMEM;

    if (l == NULL)
        return HWMC_ERR_NOMEM;
    l->super.ops = &ucx_ops;
    l->params = *params;
    l->peers = calloc(params->size, sizeof(*l->peers));
    if (l->peers == NULL)
        goto fail;
    for (uint32_t i = 0; i < params->size; i++)
        l->peers[i].lane = l;
    status = open_context(l);
    if (status == UCS_OK)
        status = open_worker(l);
    if (status != UCS_OK) {
        err = status == UCS_ERR_NO_MEMORY ? HWMC_ERR_NOMEM
              : few_descriptors()         ? HWMC_ERR_LIMIT
                                          : HWMC_ERR_DEVICE;
        goto fail;
    }
    err = HWMC_ERR_INVAL;
    if (l->address_len > HWMC_LANE_ADDRESS_MAX)
        goto fail;
    *lane = &l->super;
    return HWMC_OK;

fail:
    l->super.ops->close(&l->super);
    return err;
}
