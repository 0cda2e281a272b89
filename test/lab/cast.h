/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cast: a message multicast by a socket, without a library: in datagrams as long as is said, as
 * many as go into 64 KiB by one system call (UDP_SEGMENT). Each other host reads as many by one
 * (UDP_GRO), the payload straight to where it belongs, if it is what comes next. A program that
 * includes this ends where the system refuses something.
 */

#ifndef HWMC_LAB_CAST_H_INCLUDED
#define HWMC_LAB_CAST_H_INCLUDED

#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define CAST_FIRST "10.77.0.1" /* the first host, in a lab */
#define CAST_BUFFER (8 << 20)  /* asked for, of a socket */
#define CAST_BURST 65000u      /* bytes, with headers: the kernel takes 65507 */
#define CAST_DATAGRAMS 64u     /* of a burst, at most: the kernel's limit */
#define CAST_HEADERS 28u       /* IP and UDP */

/* What a datagram begins with. `gap`: of a report. */
struct cast_head {
    uint32_t rank, round, number, gap;
};

struct cast {
    int rank, wire;
    struct sockaddr_in group, first; /* the first host listens on the port after the group's */
    size_t payload;                  /* bytes of a full datagram */
    char *message;
    size_t bytes;
};

static inline uint32_t cast_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* c->rank is set. A read ends after so long without anything. */
static inline void cast_open(struct cast *c, const char *group, uint16_t port, int wait_ms)
{
    struct timeval limit = {.tv_usec = wait_ms * 1000};
    struct sockaddr_in here = {.sin_family = AF_INET};
    struct ip_mreq request = {.imr_interface.s_addr = htonl(INADDR_ANY)};
    int yes = 1, room = CAST_BUFFER;

    c->wire = socket(AF_INET, SOCK_DGRAM, 0);
    c->group = c->first = here;
    c->group.sin_port = htons(port);
    c->first.sin_port = htons((uint16_t) (port + 1));
    inet_pton(AF_INET, group, &c->group.sin_addr);
    inet_pton(AF_INET, CAST_FIRST, &c->first.sin_addr);
    here.sin_port = c->rank == 0 ? c->first.sin_port : c->group.sin_port;
    request.imr_multiaddr = c->group.sin_addr;
    if (c->wire < 0 || setsockopt(c->wire, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        bind(c->wire, (struct sockaddr *) &here, sizeof(here)) != 0 ||
        setsockopt(c->wire, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0)
        err(1, "socket");
    if (c->rank > 0 &&
        (setsockopt(c->wire, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request)) ||
         setsockopt(c->wire, IPPROTO_UDP, UDP_GRO, &yes, sizeof(yes))))
        err(1, "membership");
    if (setsockopt(c->wire, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0)
        setsockopt(c->wire, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}

/* What byte `i` of the message is to be. */
static inline char cast_value(size_t i)
{
    return (char) (i * 7 + i / 251);
}

/* The first host has the message, the others nothing of it. */
static inline void cast_fill(struct cast *c)
{
    for (size_t i = 0; i < c->bytes; i++)
        c->message[i] = c->rank == 0 ? cast_value(i) : 0;
}

static inline void cast_verify(const struct cast *c)
{
    for (size_t i = 0; i < c->bytes; i++)
        if (c->message[i] != cast_value(i))
            errx(1, "byte %zu of rank %d is wrong", i, c->rank);
}

/* Of the message. */
static inline uint32_t cast_datagrams(const struct cast *c)
{
    return (uint32_t) ((c->bytes + c->payload - 1) / c->payload);
}

/* Of datagram `number`. */
static inline size_t cast_payload(const struct cast *c, uint32_t number)
{
    const size_t left = c->bytes - number * c->payload;

    return left < c->payload ? left : c->payload;
}

/* How many datagrams of the message, from `number` on, go in a burst; where they are. */
static inline uint32_t cast_burst(const struct cast *c, uint32_t number, struct cast_head *heads,
                                  struct iovec *iov)
{
    uint32_t most =
        cast_least(CAST_DATAGRAMS, CAST_BURST / (uint32_t) (c->payload + sizeof(struct cast_head)));
    uint32_t n = cast_least(most, cast_datagrams(c) - number);

    for (uint32_t i = 0; i < n; i++) {
        iov[2 * i] = (struct iovec){&heads[i], sizeof(*heads)};
        iov[2 * i + 1] = (struct iovec){c->message + (size_t) (number + i) * c->payload,
                                        cast_payload(c, number + i)};
    }
    return n;
}

/* Sends one, of `most` datagrams at most; returns how many. */
static inline uint32_t cast_send(const struct cast *c, uint32_t round, uint32_t number,
                                 uint32_t most)
{
    struct cast_head heads[CAST_DATAGRAMS];
    struct iovec iov[2 * CAST_DATAGRAMS];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(uint16_t))];
    } control = {.head = {.cmsg_level = IPPROTO_UDP, .cmsg_type = UDP_SEGMENT}};
    const uint16_t segment = (uint16_t) (c->payload + sizeof(struct cast_head));
    uint32_t n = cast_least(cast_burst(c, number, heads, iov), most);
    struct sockaddr_in to = c->group;
    struct msghdr msg = {
        .msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = iov, .msg_iovlen = 2 * (size_t) n};

    for (uint32_t i = 0; i < n; i++)
        heads[i] = (struct cast_head){.round = round, .number = number + i};
    control.head.cmsg_len = CMSG_LEN(sizeof(segment));
    memcpy(CMSG_DATA(&control.head), &segment, sizeof(segment));
    if (n > 1) {
        msg.msg_control = &control;
        msg.msg_controllen = sizeof(control);
    }
    sendmsg(c->wire, &msg, 0);
    return n;
}

/* Reads what is to be `next` of a round. Returns how many datagrams; 0: nothing, or what it has;
 * -1: what comes is not the next. *came: the first head; its round is 0 if nothing came. */
static inline int cast_receive(const struct cast *c, uint32_t round, uint32_t next,
                               struct cast_head *came)
{
    struct cast_head heads[CAST_DATAGRAMS];
    struct iovec iov[2 * CAST_DATAGRAMS];
    char control[64];
    const ssize_t each = (ssize_t) (c->payload + sizeof(struct cast_head));
    uint32_t n = cast_burst(c, next, heads, iov);
    struct msghdr msg = {.msg_iov = iov,
                         .msg_iovlen = 2 * (size_t) n,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    ssize_t len = recvmsg(c->wire, &msg, 0);

    *came = (struct cast_head){.round = 0};
    if (len < (ssize_t) sizeof(struct cast_head))
        return 0;
    *came = heads[0];
    if (came->round != round)
        return came->round < round ? 0 : -1;
    if (came->number != next)
        return came->number < next ? 0 : -1;
    return (int) ((len + each - 1) / each);
}

#endif /* HWMC_LAB_CAST_H_INCLUDED */
