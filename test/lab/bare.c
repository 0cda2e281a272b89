/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * usage: bare -rank=R -size=P OPTION...
 *
 * What barriers and broadcasts of P hosts need take, one process each, without a library. Options,
 * output and what is timed: cells.h. To be run on the hosts of a lab, rank R on host R.
 *
 * barrier  Each host but the first sends a datagram of 8 bytes to the first one, which multicasts
 *          8 bytes when it has all of them.
 * bcast    The first host multicasts the message in datagrams as long as the MTU allows, as many
 *          as go into 64 KiB by one system call (UDP_SEGMENT). Each other host reads as many by one
 *          (UDP_GRO), the payload straight to where it belongs, if it is what comes next. A host
 *          reports how far it is, four times in a window, and when it finds a gap. The window is
 *          what the receivers' buffers hold. The first host goes back to the slowest one's place
 *          when that reports a gap, or when nobody reports anything for RESEND_MS.
 *
 * All sleep in recvmsg.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "cells.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define GROUP "239.255.77.8"
#define PORT 27708 /* of the group; the first host listens on the next one */
#define FIRST "10.77.0.1"
#define RESEND_MS 50
#define HOSTS 256
#define BUFFER (8 << 20)                  /* asked for, of a socket */
#define BURST 65000u                      /* bytes, with headers: the kernel takes 65507 */
#define DATAGRAMS 64u                     /* of a burst, at most: the kernel's limit */
#define HEADERS 28u                       /* IP and UDP */
#define CHARGE(BYTES) (2 * (BYTES) + 768) /* of a receive buffer for a datagram, about */

/* What a datagram begins with. Of a barrier, and of a report: all of it; `number`, of a report:
 * datagrams that have come in a row. */
struct head {
    uint32_t rank, round, number, gap;
};

static int rank = -1, size;
static int wire = -1;
static uint32_t rounds; /* that are over, or under way */
static struct sockaddr_in group, first;
static size_t payload;  /* bytes of a full datagram */
static uint32_t window; /* datagrams */
static char *message;
static size_t bytes; /* 0: barrier */

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* By the MTU of the interface that has this address, and the socket's receive buffer. */
static void size_datagrams(void)
{
    struct ifconf all = {.ifc_len = 0};
    struct ifreq rows[16];
    int mtu = 1500, room = 0;
    socklen_t len = sizeof(room);

    all.ifc_len = sizeof(rows);
    all.ifc_req = rows;
    if (ioctl(wire, SIOCGIFCONF, &all) != 0)
        fail("interfaces");
    for (int i = 0; i < all.ifc_len / (int) sizeof(rows[0]); i++) {
        const struct sockaddr_in *at = (const struct sockaddr_in *) (void *) &rows[i].ifr_addr;

        if ((ntohl(at->sin_addr.s_addr) >> 8) == (ntohl(first.sin_addr.s_addr) >> 8) &&
            ioctl(wire, SIOCGIFMTU, &rows[i]) == 0)
            mtu = rows[i].ifr_mtu;
    }
    getsockopt(wire, SOL_SOCKET, SO_RCVBUF, &room, &len);
    payload = (size_t) mtu - HEADERS - sizeof(struct head);
    window = (uint32_t) ((size_t) room / CHARGE(payload));
}

static void open_socket(void)
{
    struct timeval limit = {.tv_usec = RESEND_MS * 1000};
    struct sockaddr_in here = {.sin_family = AF_INET};
    struct ip_mreq request = {.imr_interface.s_addr = htonl(INADDR_ANY)};
    int yes = 1, room = BUFFER;

    wire = socket(AF_INET, SOCK_DGRAM, 0);
    group = first = here;
    group.sin_port = htons(PORT);
    first.sin_port = htons(PORT + 1);
    inet_pton(AF_INET, GROUP, &group.sin_addr);
    inet_pton(AF_INET, FIRST, &first.sin_addr);
    here.sin_port = rank == 0 ? first.sin_port : group.sin_port;
    request.imr_multiaddr = group.sin_addr;
    if (wire < 0 || setsockopt(wire, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        bind(wire, (struct sockaddr *) &here, sizeof(here)) != 0 ||
        setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0)
        fail("socket");
    if (rank > 0 && (setsockopt(wire, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request)) ||
                     setsockopt(wire, IPPROTO_UDP, UDP_GRO, &yes, sizeof(yes))))
        fail("membership");
    if (setsockopt(wire, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0)
        setsockopt(wire, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    size_datagrams();
}

static uint32_t datagrams(void)
{
    return (uint32_t) ((bytes + payload - 1) / payload);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How many datagrams of the message, from `number` on, go in a burst; where they are. */
static uint32_t burst(uint32_t number, struct head *heads, struct iovec *iov)
{
    uint32_t most = least(DATAGRAMS, BURST / (uint32_t) (payload + sizeof(struct head)));
    uint32_t n = least(most, datagrams() - number);

    for (uint32_t i = 0; i < n; i++) {
        size_t at = (number + i) * payload, left = bytes - at;

        iov[2 * i] = (struct iovec){&heads[i], sizeof(*heads)};
        iov[2 * i + 1] = (struct iovec){message + at, left < payload ? left : payload};
    }
    return n;
}

/* Sends one; returns how many datagrams. */
static uint32_t send_burst(uint32_t number, uint32_t most)
{
    struct head heads[DATAGRAMS];
    struct iovec iov[2 * DATAGRAMS];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(uint16_t))];
    } control = {.head = {.cmsg_level = IPPROTO_UDP, .cmsg_type = UDP_SEGMENT}};
    const uint16_t segment = (uint16_t) (payload + sizeof(struct head));
    uint32_t n = least(burst(number, heads, iov), most);
    struct msghdr msg = {.msg_name = &group,
                         .msg_namelen = sizeof(group),
                         .msg_iov = iov,
                         .msg_iovlen = 2 * (size_t) n};

    for (uint32_t i = 0; i < n; i++)
        heads[i] = (struct head){.round = rounds, .number = number + i};
    control.head.cmsg_len = CMSG_LEN(sizeof(segment));
    memcpy(CMSG_DATA(&control.head), &segment, sizeof(segment));
    if (n > 1) {
        msg.msg_control = &control;
        msg.msg_controllen = sizeof(control);
    }
    sendmsg(wire, &msg, 0);
    return n;
}

/* A report, or a barrier's message. */
static void tell(const struct sockaddr_in *where, uint32_t round, uint32_t number, uint32_t gap)
{
    const struct head h = {(uint32_t) rank, round, number, gap};

    sendto(wire, &h, sizeof(h), 0, (const struct sockaddr *) where, sizeof(*where));
}

static int hear(struct head *h, int flags)
{
    return recv(wire, h, sizeof(*h), flags) == (ssize_t) sizeof(*h);
}

/* Barriers. */

static void collect(void)
{
    char seen[HOSTS] = {0};
    struct head h;

    for (int left = size - 1; left > 0;) {
        if (!hear(&h, 0) || h.rank >= (uint32_t) size)
            continue;
        if (h.round != rounds)
            tell(&group, h.round, 0, 0);
        else if (!seen[h.rank]++)
            left--;
    }
    tell(&group, rounds, 0, 0);
}

static void barrier(void)
{
    struct head h = {.round = 0};

    if (rank == 0) {
        collect();
        return;
    }
    while (h.round != rounds) {
        tell(&first, rounds, 0, 0);
        while (hear(&h, 0) && h.round != rounds)
            ;
    }
}

/* Broadcasts. */

static void send_message(void)
{
    uint32_t at[HOSTS] = {0}, next = 0, slowest = 0;

    while (slowest < datagrams()) {
        const uint32_t end = least(datagrams(), slowest + window);
        struct head h;
        int heard = 1, wait = next >= end;

        if (next < end)
            next += send_burst(next, end - next);
        while (hear(&h, wait ? 0 : MSG_DONTWAIT) || (heard = !wait)) {
            if (h.rank >= (uint32_t) size || h.round != rounds || h.number < at[h.rank])
                break;
            at[h.rank] = h.number;
            if (h.gap)
                next = h.number;
            break;
        }
        slowest = datagrams();
        for (int i = 1; i < size; i++)
            slowest = least(slowest, at[i]);
        if (!heard)
            next = slowest;
    }
}

/* Reads what is next; returns how many datagrams, 0: nothing, -1: what comes is not the next. */
static int receive_burst(uint32_t next)
{
    struct head heads[DATAGRAMS];
    struct iovec iov[2 * DATAGRAMS];
    char control[64];
    uint32_t n = burst(next, heads, iov);
    struct msghdr msg = {.msg_iov = iov,
                         .msg_iovlen = 2 * (size_t) n,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    ssize_t len = recvmsg(wire, &msg, 0);

    if (len < (ssize_t) sizeof(struct head))
        return 0;
    if (heads[0].round != rounds)
        return heads[0].round < rounds ? 0 : -1;
    if (heads[0].number != next)
        return heads[0].number < next ? 0 : -1;
    return (int) (((size_t) len + payload + sizeof(struct head) - 1) /
                  (payload + sizeof(struct head)));
}

static void receive_message(void)
{
    const uint32_t every = window / 4 > 0 ? window / 4 : 1;
    uint32_t next = 0, told = 0, asked = UINT32_MAX;

    while (next < datagrams()) {
        int got = receive_burst(next);

        if (got > 0)
            next += (uint32_t) got;
        if (next - told >= every || next == datagrams()) {
            tell(&first, rounds, next, 0);
            told = next;
        } else if (got < 0 && asked != next) {
            tell(&first, rounds, next, 1);
            asked = next;
        }
    }
}

static void once(void)
{
    rounds++;
    if (bytes == 0)
        barrier();
    else if (rank == 0)
        send_message();
    else
        receive_message();
}

/* The first host answers those who have not heard. */
static void probe(void)
{
    struct head h;

    while (rank == 0 && bytes == 0 && hear(&h, MSG_DONTWAIT))
        tell(&group, h.round, 0, 0);
}

static char value(size_t i)
{
    return (char) (i * 7 + i / 251);
}

static void fill(void)
{
    for (size_t i = 0; i < bytes; i++)
        message[i] = rank == 0 ? value(i) : 0;
}

static void verify(void)
{
    for (size_t i = 0; i < bytes; i++)
        if (message[i] != value(i)) {
            fprintf(stderr, "bare: byte %zu is wrong\n", i);
            exit(1);
        }
}

static void begin(const char *op, size_t length)
{
    bytes = strcmp(op, "barrier") == 0 ? 0 : length;
    message = malloc(bytes + 1);
    if (!message)
        fail("memory");
}

static void end(void)
{
    free(message);
}

/* Takes its own options out. */
static int parse(int argc, char **argv)
{
    int kept = 1;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-rank=", 6) == 0)
            rank = atoi(argv[i] + 6);
        else if (strncmp(argv[i], "-size=", 6) == 0)
            size = atoi(argv[i] + 6);
        else
            argv[kept++] = argv[i];
    }
    return kept;
}

int main(int argc, char **argv)
{
    static struct cells cells;
    struct cells_work work = {
        .begin = begin, .poison = fill, .once = once, .verify = verify, .probe = probe, .end = end};
    int kept = parse(argc, argv);

    if (!cells_parse(&cells, kept, argv) || rank < 0 || size <= rank || size > HOSTS)
        return fprintf(stderr, "bare: wrong options; see its head\n"), 1;
    open_socket();
    work.rank = rank;
    work.size = size;
    if (cells_run(&cells, &work) != 0)
        return fprintf(stderr, "bare: cannot write the file given as -out\n"), 1;
    return 0;
}
