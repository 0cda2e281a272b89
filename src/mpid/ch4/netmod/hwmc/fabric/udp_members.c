/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The groups that the udp fabric is in. The kernel allows a socket igmp_max_memberships of them,
 * usually 20, and of IPv6 as many as its option memory (net.core.optmem_max) has room for; when a
 * join meets that, another socket is opened on the same port.
 */

#include "udp_impl.h"
#include "../base/random.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

bool hwmc_udp_is_group(const struct hwmc_udp *u, uint64_t group)
{
    return hwmc_random_is_ipv4(group, u->params.port);
}

struct hwmc_addr hwmc_udp_address(const struct hwmc_udp *u, uint32_t group)
{
    return hwmc_udp_is_ipv6(u)
               ? hwmc_addr_group(group, u->params.key, (uint8_t) u->params.groups.scope)
               : hwmc_addr_ipv4(group);
}

struct hwmc_addr hwmc_udp_group_address(const struct hwmc_fabric *fabric, uint64_t group)
{
    return hwmc_udp_address((const struct hwmc_udp *) (const void *) fabric, (uint32_t) group);
}

static struct hwmc_udp_member *find_member(struct hwmc_udp *u, uint32_t group)
{
    for (int i = 0; i < u->num_members; i++)
        if (u->members[i].group == group)
            return &u->members[i];
    return NULL;
}

enum change { JOIN, LEAVE };

static int change_membership(const struct hwmc_udp *u, int fd, uint32_t group, enum change change)
{
    const struct hwmc_addr addr = hwmc_udp_address(u, group);
    union hwmc_sockaddr to;

    hwmc_addr_to_socket(&addr, 0, 0, &to);
    if (hwmc_udp_is_ipv6(u)) {
        const struct ipv6_mreq m = {to.in6.sin6_addr, u->rail.index};

        return setsockopt(fd, IPPROTO_IPV6, change == JOIN ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP, &m,
                          sizeof(m)) == 0
                   ? 0
                   : errno;
    }
    const struct ip_mreqn m = {.imr_multiaddr = to.in.sin_addr, .imr_ifindex = (int) u->rail.index};

    return setsockopt(fd, IPPROTO_IP, change == JOIN ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &m,
                      sizeof(m)) == 0
               ? 0
               : errno;
}

/* Finds, or opens, a socket that can take one more group. One that cannot take its first one is
 * closed again: the kernel lets no socket join any. */
static int join_somewhere(struct hwmc_udp *u, uint32_t group, int *socket)
{
    const int before = u->num_sockets;

    for (int i = 0;; i++) {
        int e;

        if (i > before) {
            close(u->sockets[--u->num_sockets]);
            return HWMC_ERR_LIMIT;
        }
        if (i == u->num_sockets) {
            int err = hwmc_udp_add_socket(u);

            if (err != HWMC_OK)
                return err;
        }
        e = change_membership(u, u->sockets[i], group, JOIN);
        if (e == 0) {
            *socket = i;
            return HWMC_OK;
        }
        if (e == ENODEV)
            return HWMC_ERR_DEVICE;
        if (e != ENOBUFS && (e != ENOMEM || !hwmc_udp_is_ipv6(u)))
            return e == ENOMEM ? HWMC_ERR_LIMIT : HWMC_ERR_GROUP;
    }
}

int hwmc_udp_join(struct hwmc_fabric *f, uint64_t group)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    const uint32_t number = (uint32_t) group;
    struct hwmc_udp_member *m;
    int socket, err;

    if (!hwmc_udp_is_group(u, group))
        return HWMC_ERR_GROUP;
    m = find_member(u, number);
    if (m != NULL) {
        m->refs++;
        return HWMC_OK;
    }
    if (u->num_members == u->max_members) {
        int max = u->max_members == 0 ? 16 : 2 * u->max_members;

        m = realloc(u->members, (size_t) max * sizeof(*m));
        if (m == NULL)
            return HWMC_ERR_LIMIT;
        u->members = m;
        u->max_members = max;
    }
    err = join_somewhere(u, number, &socket);
    if (err == HWMC_OK)
        u->members[u->num_members++] = (struct hwmc_udp_member){number, socket, 1};
    return err;
}

int hwmc_udp_leave(struct hwmc_fabric *f, uint64_t group)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    struct hwmc_udp_member *m =
        hwmc_udp_is_group(u, group) ? find_member(u, (uint32_t) group) : NULL;

    if (m == NULL)
        return HWMC_ERR_GROUP;
    if (--m->refs == 0) {
        change_membership(u, u->sockets[m->socket], m->group, LEAVE);
        *m = u->members[--u->num_members];
    }
    return HWMC_OK;
}

/* The kernel reports a group that no process of the host was in before: so this one leaves and
 * joins it. Where others are in it the kernel has nothing to report. */
void hwmc_udp_refresh(struct hwmc_fabric *f, uint64_t group)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    const struct hwmc_udp_member *m =
        hwmc_udp_is_group(u, group) ? find_member(u, (uint32_t) group) : NULL;

    if (m == NULL)
        return;
    change_membership(u, u->sockets[m->socket], m->group, LEAVE);
    change_membership(u, u->sockets[m->socket], m->group, JOIN);
}
