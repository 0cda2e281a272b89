/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Opening and closing a fabric of udp.h, and the table of what an open one does.
 */

#include "udp_impl.h"
#include "../base/random.h"
#include "segments.h"

#include <stdlib.h>
#include <unistd.h>

#define UDP_HEADERS(ipv6) ((ipv6) ? 48u : 28u) /* with IP's, without options */
#define MTU_MIN_IPV6 1280u                     /* RFC 8200: a link with less has no IPv6 */
#define LOOPBACK_DATAGRAM (16384u + 64u)
#define DATAGRAM_MIN 256u

static void udp_query(struct hwmc_fabric *f, struct hwmc_fabric_attr *attr)
{
    *attr = ((struct hwmc_udp *) f)->attr;
}

static int udp_draw(struct hwmc_fabric *f, uint64_t *group)
{
    const struct hwmc_udp *u = (const struct hwmc_udp *) f;

    return hwmc_random_ipv4(u->params.port, u->params.groups, group);
}

static int udp_fds(struct hwmc_fabric *f, int *fds, int max)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;

    for (int i = 0; i < u->num_sockets && i < max; i++)
        fds[i] = u->sockets[i];
    return u->num_sockets;
}

static void udp_close(struct hwmc_fabric *f)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;

    for (int i = 0; i < u->num_sockets; i++)
        close(u->sockets[i]);
    free(u->members);
    free(u->in_data);
    free(u);
}

static const struct hwmc_fabric_ops udp_ops = {
    .name = "udp",
    .query = udp_query,
    .draw = udp_draw,
    .join = hwmc_udp_join,
    .leave = hwmc_udp_leave,
    .refresh = hwmc_udp_refresh,
    .post = hwmc_udp_post,
    .queued = hwmc_udp_queued,
    .poll = hwmc_udp_poll,
    .poll_into = hwmc_udp_poll_into,
    .fds = udp_fds,
    .deadline = hwmc_udp_deadline,
    .close = udp_close,
};

static void init_buffers(struct hwmc_udp *u)
{
    for (int i = 0; i < HWMC_UDP_BATCH; i++) {
        u->in_of[i].rest = u->in_data + (size_t) i * HWMC_UDP_BUFFER;
        u->in[i].msg_hdr.msg_control = &u->in_control[i];
        u->in[i].msg_hdr.msg_controllen = sizeof(u->in_control[i]);
    }
    u->split.spare = u->in_data + (size_t) HWMC_UDP_BATCH * HWMC_UDP_BUFFER;
    u->in_run = u->in_last = 1;
    u->in_apart = true;
}

int hwmc_udp_open(const struct hwmc_rail *rail, const struct hwmc_udp_params *params,
                  struct hwmc_fabric **fabric)
{
    const bool is_ipv6 = rail->addr.family == HWMC_IPV6;
    const uint32_t headers = UDP_HEADERS(is_ipv6);
    struct hwmc_udp *u;
    int err;

    if (!rail->up || rail->mtu < headers + DATAGRAM_MIN || params->port == 0 ||
        (is_ipv6 && rail->mtu < MTU_MIN_IPV6))
        return HWMC_ERR_INVAL;
    u = calloc(1, sizeof(*u));
    if (u == NULL)
        return HWMC_ERR_NOMEM;
    u->super.ops = &udp_ops;
    u->rail = *rail;
    u->params = *params;
    if (u->params.unicast == NULL)
        u->params.unicast = &u->unicast;
    u->retry_at = UINT64_MAX;
    u->attr.group_bits = (int) params->groups.bits;
    u->attr.max_datagram = rail->mtu - headers;
    if (u->attr.max_datagram > LOOPBACK_DATAGRAM)
        u->attr.max_datagram = LOOPBACK_DATAGRAM;
    err = HWMC_ERR_NOMEM;
    u->in_data = malloc((size_t) (HWMC_UDP_BATCH + 1) * HWMC_UDP_BUFFER);
    if (u->in_data == NULL)
        goto fail;
    init_buffers(u);
    err = hwmc_udp_add_socket(u);
    if (err != HWMC_OK)
        goto fail;
    u->segments = hwmc_segments_are_taken(u->sockets[0]); /* ... until the device refuses */
    u->attr.window = hwmc_udp_window_of(u->sockets[0], u->attr.max_datagram);
    *fabric = &u->super;
    return HWMC_OK;

fail:
    udp_close(&u->super);
    return err;
}

bool hwmc_udp_sends_together(const struct hwmc_fabric *fabric)
{
    return ((const struct hwmc_udp *) (const void *) fabric)->segments;
}

uint32_t hwmc_udp_came_together(const struct hwmc_fabric *fabric)
{
    return ((const struct hwmc_udp *) (const void *) fabric)->in_run;
}
