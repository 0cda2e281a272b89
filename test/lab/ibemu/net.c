/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * UDP sockets as the wires of an HCA. A port has one for unicast, bound to the interface's address
 * and the first UDP port above the base that is free on all interfaces: its distance is the slot,
 * the upper bits of the process's QP numbers, and so a QP number tells the UDP port. Multicast goes
 * to the base, on which every process has sockets of its own. A MLID 0xc000 + n is the IP group
 * 239.77.0.0 + n.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* recvmmsg */
#endif
#include "net.h"
#include "control.h"
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef IP_MULTICAST_ALL
#define IP_MULTICAST_ALL 49
#endif

#define SLOTS (1u << (24 - EM_QPN_BITS)) /* the last is that of the multicast QP number */
#define GROUP_BASE 0xef4d0000u           /* 239.77.0.0 */
#define BATCH 32
#define DATAGRAM_MAX (4096u + EM_HEADERS_MAX)
#define RECEIVE_BUFFER (8 << 20)
#define SEND_BUFFER (256 << 10)
#define ROUNDS 8 /* batches handed over before others have their turn */

static struct em_net *opened; /* of em_net_send and em_net_member */

static int add_to_epoll(struct em_net *net, struct em_socket *s)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};

    return epoll_ctl(net->epoll, EPOLL_CTL_ADD, s->fd, &e) == 0 ? 0 : errno;
}

static void set_buffers(int fd)
{
    const int receive = RECEIVE_BUFFER / 2, send = SEND_BUFFER / 2; /* the kernel doubles them */

    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive, sizeof(receive)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof(receive));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send, sizeof(send));
}

static int open_unicast(const struct em_port *port, uint16_t udp_port, int *fd)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(udp_port), .sin_addr.s_addr = htonl(port->addr)};
    const struct ip_mreqn out = {.imr_ifindex = (int) port->ifindex};
    const unsigned char one = 1;
    int e;

    *fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return errno;
    set_buffers(*fd);
    if (setsockopt(*fd, IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof(out)) == 0 &&
        setsockopt(*fd, IPPROTO_IP, IP_MULTICAST_TTL, &one, sizeof(one)) == 0 &&
        setsockopt(*fd, IPPROTO_IP, IP_MULTICAST_LOOP, &one, sizeof(one)) == 0 &&
        bind(*fd, (const struct sockaddr *) &a, sizeof(a)) == 0)
        return 0;
    e = errno;
    close(*fd);
    *fd = -1;
    return e;
}

static void close_unicast(struct em_net *net)
{
    for (int i = 0; i < net->hca->num_ports; i++) {
        if (net->unicast[i].fd >= 0)
            close(net->unicast[i].fd);
        net->unicast[i].fd = -1;
    }
}

static int try_slot(struct em_net *net, uint32_t slot)
{
    int e = 0;

    for (int i = 0; i < net->hca->num_ports && e == 0; i++)
        e = open_unicast(&net->hca->ports[i], (uint16_t) (net->udp_port + slot),
                         &net->unicast[i].fd);
    if (e != 0)
        close_unicast(net);
    return e;
}

static int take_slot(struct em_net *net)
{
    int e = EADDRINUSE;

    for (uint32_t slot = 1; slot < SLOTS - 1 && e == EADDRINUSE; slot++) {
        e = try_slot(net, slot);
        net->hca->slot = slot;
    }
    for (int i = 0; i < net->hca->num_ports && e == 0; i++)
        e = add_to_epoll(net, &net->unicast[i]);
    return e;
}

int em_net_open(struct em_net *net, struct em_hca *hca, uint16_t udp_port, const char *control)
{
    int e;

    *net = (struct em_net){.hca = hca,
                           .udp_port = udp_port,
                           .links.fd = -1,
                           .control.fd = -1,
                           .control_path = control};
    for (int i = 0; i < EM_PORTS_MAX; i++) {
        net->unicast[i] = (struct em_socket){-1, i + 1};
        for (int k = 0; k < EM_NET_GROUP_SOCKETS; k++)
            net->groups[i][k] = (struct em_socket){-1, i + 1};
    }
    net->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (net->epoll < 0)
        return errno;
    net->buffers = malloc(BATCH * DATAGRAM_MAX);
    e = net->buffers == NULL ? ENOMEM : take_slot(net);
    if (e == 0)
        e = em_link_open(&net->links.fd);
    if (e == 0)
        e = add_to_epoll(net, &net->links);
    if (e == 0 && control != NULL) {
        e = em_control_open(control, &net->control.fd);
        if (e == 0)
            e = add_to_epoll(net, &net->control);
        if (e == 0)
            em_control_apply(hca, control, net->control.fd);
    }
    for (int i = 0; i < hca->num_ports; i++)
        hca->ports[i].up = em_link_is_up(hca->ports[i].name);
    opened = net;
    if (e != 0)
        em_net_close(net);
    return e;
}

void em_net_close(struct em_net *net)
{
    close_unicast(net);
    for (int i = 0; i < EM_PORTS_MAX; i++)
        for (int k = 0; k < EM_NET_GROUP_SOCKETS; k++)
            if (net->groups[i][k].fd >= 0)
                close(net->groups[i][k].fd);
    if (net->links.fd >= 0)
        close(net->links.fd);
    if (net->control.fd >= 0)
        close(net->control.fd);
    close(net->epoll);
    free(net->members);
    free(net->buffers);
    opened = NULL;
}

static bool destination(const struct em_net *net, const struct em_port *port,
                        const struct em_packet *p, struct sockaddr_in *to)
{
    uint32_t addr = p->dest_qpn == EM_MULTICAST_QPN ? GROUP_BASE + (p->dlid & 0x3fffu)
                                                    : em_port_addr_of_lid(port, p->dlid);
    uint32_t slot = p->dest_qpn == EM_MULTICAST_QPN ? 0 : p->dest_qpn >> EM_QPN_BITS;

    *to = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_port = htons((uint16_t) (net->udp_port + slot)),
                               .sin_addr.s_addr = htonl(addr)};
    return addr != 0 && (slot != 0 || p->dest_qpn == EM_MULTICAST_QPN);
}

bool em_net_send(void *hca, int port_num, const struct em_packet *p, const struct iovec *iov, int n)
{
    const struct em_port *port = em_hca_port(hca, port_num);
    uint8_t head[EM_HEADERS_MAX];
    struct iovec all[EM_SGE_MAX + 1] = {{head, em_packet_encode(p, head)}};
    struct sockaddr_in to;
    struct msghdr m = {
        .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = all, .msg_iovlen = (size_t) n + 1};

    if (!destination(opened, port, p, &to))
        return true;
    if (n > 0)
        memcpy(all + 1, iov, (size_t) n * sizeof(*iov));
    while (sendmsg(opened->unicast[port_num - 1].fd, &m, MSG_NOSIGNAL) < 0)
        if (errno != EINTR) /* what else the network does to a packet is loss */
            return errno != EAGAIN && errno != ENOBUFS;
    return true;
}

static int change_group(const struct em_port *port, int fd, uint16_t mlid, int what)
{
    const struct ip_mreqn m = {.imr_multiaddr.s_addr = htonl(GROUP_BASE + (mlid & 0x3fffu)),
                               .imr_ifindex = (int) port->ifindex};

    return setsockopt(fd, IPPROTO_IP, what, &m, sizeof(m)) == 0 ? 0 : errno;
}

static int open_group_socket(struct em_net *net, struct em_socket *s)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(net->udp_port)};
    const int on = 1, off = 0;
    int e = 0;

    s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0)
        return errno;
    set_buffers(s->fd);
    if (setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        setsockopt(s->fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof(off)) != 0 ||
        bind(s->fd, (const struct sockaddr *) &any, sizeof(any)) != 0)
        e = errno;
    if (e == 0)
        e = add_to_epoll(net, s);
    if (e != 0) {
        close(s->fd);
        s->fd = -1;
    }
    return e;
}

static int join_somewhere(struct em_net *net, const struct em_port *port, uint16_t mlid,
                          int *socket)
{
    int e = ENOBUFS;

    for (int k = 0; k < EM_NET_GROUP_SOCKETS && e == ENOBUFS; k++) {
        struct em_socket *s = &net->groups[port->num - 1][k];

        e = s->fd >= 0 ? 0 : open_group_socket(net, s);
        if (e == 0)
            e = change_group(port, s->fd, mlid, IP_ADD_MEMBERSHIP);
        *socket = k;
    }
    return e;
}

static int join(struct em_net *net, const struct em_port *port, uint16_t mlid)
{
    struct em_membership *m, *all;
    int socket, e;

    for (int i = 0; i < net->num_members; i++)
        if (net->members[i].mlid == mlid && net->members[i].port == port->num) {
            net->members[i].refs++;
            return 0;
        }
    all = realloc(net->members, ((size_t) net->num_members + 1) * sizeof(*all));
    if (all == NULL)
        return ENOMEM;
    net->members = all;
    e = join_somewhere(net, port, mlid, &socket);
    if (e == 0) {
        m = &net->members[net->num_members++];
        *m = (struct em_membership){mlid, port->num, socket, 1};
    }
    return e;
}

static void leave(struct em_net *net, const struct em_port *port, uint16_t mlid)
{
    for (int i = 0; i < net->num_members; i++) {
        struct em_membership *m = &net->members[i];

        if (m->mlid != mlid || m->port != port->num || --m->refs > 0)
            continue;
        change_group(port, net->groups[port->num - 1][m->socket].fd, mlid, IP_DROP_MEMBERSHIP);
        *m = net->members[--net->num_members];
        return;
    }
}

int em_net_member(void *hca, int port_num, uint16_t mlid, bool on)
{
    const struct em_port *port = em_hca_port(hca, port_num);

    if (on)
        return join(opened, port, mlid);
    leave(opened, port, mlid);
    return 0;
}

/* Reads a batch: how many datagrams there were. What comes from another subnet belongs to another
 * port on the same interface. */
static int receive_batch(struct em_net *net, const struct em_socket *s)
{
    struct em_port *port = em_hca_port(net->hca, s->port);
    struct mmsghdr m[BATCH] = {0};
    struct iovec iov[BATCH];
    struct sockaddr_in from[BATCH];
    int n;

    for (int i = 0; i < BATCH; i++) {
        iov[i] = (struct iovec){net->buffers + (size_t) i * DATAGRAM_MAX, DATAGRAM_MAX};
        m[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
                                       .msg_namelen = sizeof(from[i]),
                                       .msg_iov = &iov[i],
                                       .msg_iovlen = 1};
    }
    n = recvmmsg(s->fd, m, BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < n; i++) {
        struct em_packet p;

        if (em_subnet(ntohl(from[i].sin_addr.s_addr)) == em_subnet(port->addr) &&
            em_packet_decode(&p, iov[i].iov_base, m[i].msg_len))
            em_hca_receive(net->hca, port, &p, em_engine_now());
    }
    return n;
}

static void look_at_links(struct em_net *net)
{
    em_link_drain(net->links.fd);
    for (int i = 0; i < net->hca->num_ports; i++)
        em_hca_port_changed(net->hca, &net->hca->ports[i], em_link_is_up(net->hca->ports[i].name));
}

bool em_net_receive(struct em_net *net)
{
    struct epoll_event events[2 * EM_PORTS_MAX + 1];
    bool any = false;

    for (int round = 0; round < ROUNDS; round++) {
        int n = epoll_wait(net->epoll, events, sizeof(events) / sizeof(events[0]), 0);

        if (n <= 0)
            break;
        for (int i = 0; i < n; i++) {
            const struct em_socket *s = events[i].data.ptr;

            if (s == &net->links)
                look_at_links(net);
            else if (s == &net->control)
                em_control_apply(net->hca, net->control_path, s->fd);
            else
                receive_batch(net, s);
        }
        any = true;
    }
    return any;
}
