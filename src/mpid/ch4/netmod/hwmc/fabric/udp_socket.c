/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The sockets of the udp fabric. Each is bound to the job's port and hears the groups it joined and
 * no others (IP_MULTICAST_ALL off). It would hear what is sent to this host alone as well, so the
 * kernel is asked to say where a datagram was sent to (IP_PKTINFO). The same for IPv6.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SOCK_NONBLOCK */
#endif

#include "udp_impl.h"
#include "segments.h"

#include <errno.h>
#include <unistd.h>

/* linux/in.h has it, but cannot be read beside netinet/in.h. */
#ifndef IP_MULTICAST_ALL
#define IP_MULTICAST_ALL 49
#endif
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

size_t hwmc_udp_cost(size_t len)
{
    /* The kernel's truesize: data with headers and struct skb_shared_info in a power of two, or in
     * pages when it is large, and a struct sk_buff. A network card's driver allocates before it
     * knows the length, at least 2 KiB. */
    size_t data = len + 384u, room = 2048u;

    while (room < data && room < 16384u)
        room *= 2;
    if (room < data)
        room = (data + 4095u) & ~(size_t) 4095u;
    return room + 256u;
}

/* A reader lags a quarter of the buffer behind before the kernel takes back what was read, hence
 * 4/3. */
int hwmc_udp_buffer_for(size_t window, size_t len)
{
    const size_t bytes = (window + len - 1) / len * hwmc_udp_cost(len) / 3 * 4;

    return bytes / 2 > 0x3fffffff ? 0x3fffffff : (int) (bytes / 2); /* the kernel doubles it */
}

static bool set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/* Asks for room for the window in the receive buffer. */
static void size_receive_buffer(int fd, const struct hwmc_udp *u)
{
    const int half = hwmc_udp_buffer_for(u->params.window, u->attr.max_datagram);

    if (!set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, half))
        set_option(fd, SOL_SOCKET, SO_RCVBUF, half);
}

size_t hwmc_udp_window_of(int fd, size_t len)
{
    int bytes = 0;
    socklen_t size = sizeof(bytes);

    if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0 || bytes < 0)
        return 0;
    return (size_t) bytes / 4 * 3 / hwmc_udp_cost(len) * len;
}

static int err_of_errno(int e)
{
    switch (e) {
        case EMFILE:
        case ENFILE:
            return HWMC_ERR_LIMIT;
        case ENOMEM:
        case ENOBUFS:
            return HWMC_ERR_NOMEM;
        default:
            return HWMC_ERR_DEVICE;
    }
}

static bool set_ipv4(int fd, const struct hwmc_udp *u)
{
    const struct ip_mreqn out = {.imr_ifindex = (int) u->rail.index};

    return setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof(out)) == 0 &&
           set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0) &&
           set_option(fd, IPPROTO_IP, IP_PKTINFO, 1) &&
           set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, u->params.ttl) &&
           set_option(fd, IPPROTO_IP, IP_MULTICAST_LOOP, u->params.loop);
}

/* IPV6_MULTICAST_ALL came with Linux 4.20: before, the socket also hears groups of others, whose
 * datagrams the engine drops. A port may have several addresses: datagrams come from the rail's. */
static bool set_ipv6(int fd, const struct hwmc_udp *u)
{
    const int out = (int) u->rail.index;
    struct in6_pktinfo from = {.ipi6_ifindex = u->rail.index};
    union hwmc_sockaddr own;

    hwmc_addr_to_socket(&u->rail.addr, 0, 0, &own);
    from.ipi6_addr = own.in6.sin6_addr;
    /* Since Linux 5.7 without privileges; else udp_recv.c drops what comes by other rails. */
    set_option(fd, SOL_SOCKET, SO_BINDTOIFINDEX, out);
    set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
    setsockopt(fd, IPPROTO_IPV6, IPV6_PKTINFO, &from, sizeof(from));
    return set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
           set_option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) &&
           set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, out) &&
           set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, u->params.ttl) &&
           set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, u->params.loop);
}

static int set_options(int fd, const struct hwmc_udp *u)
{
    if (!set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
        !set_option(fd, SOL_SOCKET, SO_SNDBUF, HWMC_UDP_SEND_BUFFER) ||
        !(hwmc_udp_is_ipv6(u) ? set_ipv6 : set_ipv4)(fd, u))
        return errno;
    size_receive_buffer(fd, u);
    hwmc_segments_accept(fd); /* a kernel that cannot hands over one by one */
    return 0;
}

int hwmc_udp_add_socket(struct hwmc_udp *u)
{
    const struct hwmc_addr any = {.family = u->rail.addr.family};
    union hwmc_sockaddr at;
    const socklen_t len = hwmc_addr_to_socket(&any, u->params.port, 0, &at);
    int fd, e;

    if (u->num_sockets == HWMC_UDP_SOCKETS_MAX)
        return HWMC_ERR_LIMIT;
    fd = socket(at.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_of_errno(errno);
    e = set_options(fd, u);
    if (e == 0 && bind(fd, &at.any, len) != 0)
        e = errno;
    if (e != 0) {
        close(fd);
        return err_of_errno(e);
    }
    u->sockets[u->num_sockets++] = fd;
    return HWMC_OK;
}

bool hwmc_udp_may_bind(enum hwmc_family family, uint16_t port)
{
    const struct hwmc_addr any = {.family = (uint32_t) family};
    union hwmc_sockaddr at;
    const socklen_t len = hwmc_addr_to_socket(&any, port, 0, &at);
    const int on = 1;
    int fd = socket(at.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_free;

    if (fd < 0)
        return false;
    is_free =
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        (family != HWMC_IPV6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) == 0) &&
        bind(fd, &at.any, len) == 0;
    close(fd);
    return is_free;
}
