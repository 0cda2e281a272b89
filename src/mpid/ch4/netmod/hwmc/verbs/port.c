/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * port: see port.h.
 */
#include "port.h"
#include "../base/addr.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A RoCE v2 GID of an IPv4 address is that address mapped to IPv6 (InfiniBand specification, annex
 * A17). */
static bool maps_addr(const union ibv_gid *gid, const struct hwmc_addr *addr)
{
    static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};

    return addr->family == HWMC_IPV4 && memcmp(gid->raw, prefix, sizeof(prefix)) == 0 &&
           memcmp(gid->raw + sizeof(prefix), addr->bytes, 4) == 0;
}

static bool find_roce_gid(struct hwmc_verbs_port *p, int entries, const struct hwmc_addr *addr)
{
    struct ibv_gid_entry e;

    for (int i = 0; i < entries; i++) {
        if (ibv_query_gid_ex(p->context, p->port, (uint32_t) i, &e, 0) != 0 ||
            e.gid_type != IBV_GID_TYPE_ROCE_V2 || !maps_addr(&e.gid, addr))
            continue;
        p->gid_index = i;
        p->gid = e.gid;
        return true;
    }
    return false;
}

static bool find_partition(struct hwmc_verbs_port *p)
{
    int index = ibv_get_pkey_index(p->context, p->port, p->id->route.addr.addr.ibaddr.pkey);

    p->pkey_index = (uint16_t) index;
    return index >= 0;
}

static bool describe_port(struct hwmc_verbs_port *p, const struct hwmc_rail *rail)
{
    struct ibv_port_attr attr;

    if (p->context->device->transport_type != IBV_TRANSPORT_IB ||
        ibv_query_port(p->context, p->port, &attr) != 0 || attr.state != IBV_PORT_ACTIVE)
        return false;
    p->infiniband = attr.link_layer != IBV_LINK_LAYER_ETHERNET;
    p->mtu = attr.active_mtu;
    p->lid = attr.lid;
    p->gid_index = 0;
    p->pkey_index = 0;
    if (p->infiniband)
        return ibv_query_gid(p->context, p->port, 0, &p->gid) == 0 && find_partition(p);
    return find_roce_gid(p, attr.gid_tbl_len, &rail->addr);
}

static bool bind_to(struct hwmc_verbs_port *p, const struct hwmc_rail *rail)
{
    int flags = fcntl(p->channel->fd, F_GETFL);
    union hwmc_sockaddr at;

    hwmc_addr_to_socket(&rail->addr, 0, rail->index, &at);
    if (flags < 0 || fcntl(p->channel->fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        rdma_create_id(p->channel, &p->id, NULL, RDMA_PS_UDP) != 0)
        return false;
    if (rdma_bind_addr(p->id, &at.any) != 0 || p->id->verbs == NULL)
        return false;
    p->context = p->id->verbs;
    p->port = p->id->port_num;
    return true;
}

int hwmc_verbs_port_open(const struct hwmc_rail *rail, struct hwmc_verbs_port *port)
{
    struct hwmc_verbs_port p = {.channel = rdma_create_event_channel()};

    if (p.channel == NULL)
        return HWMC_ERR_DEVICE;
    if (!bind_to(&p, rail) || !describe_port(&p, rail)) {
        hwmc_verbs_port_close(&p);
        return HWMC_ERR_DEVICE;
    }
    *port = p;
    return HWMC_OK;
}

void hwmc_verbs_port_close(struct hwmc_verbs_port *p)
{
    if (p->id != NULL)
        rdma_destroy_id(p->id);
    rdma_destroy_event_channel(p->channel);
}
