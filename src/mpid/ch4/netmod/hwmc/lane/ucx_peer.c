/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The peers of the lane of ucx.h. A peer's endpoint is made when it is first sent to. That it
 * cannot be made or used is noted where UCX tells it, and handed to the caller at the end of poll,
 * when no UCX call is under way.
 */

#include "ucx_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hwmc_lane_ucx_fail_peer(struct peer *p)
{
    if (p->state == PEER_NEW || p->state == PEER_OPEN) {
        p->state = PEER_FAILED;
        p->lane->num_failed++;
    }
}

/* UCX: the endpoint cannot be used any more. */
static void on_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void) ep;
    (void) status;
    hwmc_lane_ucx_fail_peer(arg);
}

/* Making. */

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
    int err = HWMC_OK;

    *addr = p->addr;
    if (p->addr != NULL)
        return HWMC_OK;
    err = l->params.lane.address_of(l->params.lane.ctx, peer, room, &len);
    *addr = room;
    if (err == HWMC_OK && may_fail(l, peer)) {
        p->addr = malloc(len);
        if (p->addr != NULL)
            memcpy(p->addr, room, len);
    }
    return err;
}

int hwmc_lane_ucx_connect_peer(struct hwmc_lane_ucx *l, uint32_t peer)
{
    struct peer *p = &l->peers[peer];
    uint64_t room[HWMC_LANE_ADDRESS_MAX / sizeof(uint64_t)];
    const void *addr;
    int err = address_of(l, peer, room, sizeof(room), &addr);

    if (err == HWMC_AGAIN) {
        p->state = PEER_WAITS;
        p->waiting = NULL;
        p->end = &p->waiting;
        l->num_waiting++;
        return HWMC_AGAIN;
    }
    if (err == HWMC_OK && make_endpoint(l, p, addr) == UCS_OK) {
        p->state = PEER_OPEN;
        return HWMC_OK;
    }
    p->ep = NULL;
    hwmc_lane_ucx_fail_peer(p);
    return HWMC_ERR_PEER;
}

int hwmc_lane_ucx_open_peer(struct hwmc_lane_ucx *l, uint32_t peer)
{
    struct peer *p = &l->peers[peer];

    if (p->state == PEER_NEW)
        return hwmc_lane_ucx_connect_peer(l, peer);
    if (p->state == PEER_WAITS)
        return HWMC_AGAIN;
    return p->state == PEER_OPEN ? HWMC_OK : HWMC_ERR_PEER;
}

int hwmc_lane_ucx_ready(struct hwmc_lane *lane, uint32_t peer)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);

    if (peer >= l->params.size || l->is_cut)
        return HWMC_ERR_PEER;
    if (l->peers[peer].state == PEER_LOST)
        l->peers[peer].state = PEER_NEW;
    return hwmc_lane_ucx_open_peer(l, peer);
}

/* Failing. */

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

void hwmc_lane_ucx_tell_failures(struct hwmc_lane_ucx *l)
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

/* The device that an endpoint goes by. */

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

bool hwmc_lane_ucx_is_by(struct hwmc_lane *lane, const char *device)
{
    struct hwmc_lane_ucx *l = hwmc_lane_ucx_of(lane);

    for (uint32_t i = 0; i < l->params.size; i++)
        if (l->peers[i].state == PEER_OPEN && is_by(l->peers[i].ep, device))
            return true;
    return false;
}
