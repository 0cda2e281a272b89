/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * usage: barrier_bare -rank=R -size=P OPTION...
 *
 * How long a barrier of P hosts need take, one process each, without a library: each host but the
 * first sends a datagram of 8 bytes to the first one, which multicasts 8 bytes when it has all of
 * them. All sleep in recvfrom. Options, output and what is timed: cells.h. To be run on the hosts
 * of a lab, rank R on host R.
 *
 * Who hears no answer for RESEND_MS sends again; the first host repeats an answer on demand.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "cells.h"

#define GROUP "239.255.77.8"
#define PORT 27708 /* of the group; the first host listens on the next one */
#define RESEND_MS 50
#define HOSTS 256

struct datagram {
    uint32_t rank, round;
};

static int rank = -1, size;
static int wire = -1;
static uint32_t rounds; /* that are over, or under way */
static struct sockaddr_in group, first;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void open_socket(void)
{
    struct timeval limit = {.tv_usec = RESEND_MS * 1000};
    struct sockaddr_in here = {.sin_family = AF_INET};
    struct ip_mreq request = {.imr_interface.s_addr = htonl(INADDR_ANY)};
    int yes = 1;

    wire = socket(AF_INET, SOCK_DGRAM, 0);
    group = first = here;
    group.sin_port = htons(PORT);
    first.sin_port = htons(PORT + 1);
    inet_pton(AF_INET, GROUP, &group.sin_addr);
    inet_pton(AF_INET, "10.77.0.1", &first.sin_addr);
    here.sin_port = rank == 0 ? first.sin_port : group.sin_port;
    request.imr_multiaddr = group.sin_addr;
    if (wire < 0 || setsockopt(wire, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        bind(wire, (struct sockaddr *) &here, sizeof(here)) != 0 ||
        setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0)
        fail("socket");
    if (rank > 0 && setsockopt(wire, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request)) != 0)
        fail("membership");
}

static void send_to(const struct sockaddr_in *where, uint32_t round)
{
    const struct datagram d = {.rank = (uint32_t) rank, .round = round};

    sendto(wire, &d, sizeof(d), 0, (const struct sockaddr *) where, sizeof(*where));
}

static int receive(struct datagram *d, int flags)
{
    return recv(wire, d, sizeof(*d), flags) == (ssize_t) sizeof(*d);
}

static void collect(void)
{
    char seen[HOSTS] = {0};
    struct datagram d;

    for (int left = size - 1; left > 0;) {
        if (!receive(&d, 0) || d.rank >= (uint32_t) size)
            continue;
        if (d.round != rounds)
            send_to(&group, d.round);
        else if (!seen[d.rank]++)
            left--;
    }
    send_to(&group, rounds);
}

static void once(void)
{
    struct datagram d = {.round = 0};

    rounds++;
    if (rank == 0) {
        collect();
        return;
    }
    while (d.round != rounds) {
        send_to(&first, rounds);
        while (receive(&d, 0) && d.round != rounds)
            ;
    }
}

/* The first host answers those who have not heard. */
static void probe(void)
{
    struct datagram d;

    while (rank == 0 && receive(&d, MSG_DONTWAIT))
        send_to(&group, d.round);
}

static void begin(const char *op, size_t bytes)
{
    (void) op;
    (void) bytes;
}

static void nothing(void)
{
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
    struct cells_work work = {.begin = begin,
                              .poison = nothing,
                              .once = once,
                              .verify = nothing,
                              .probe = probe,
                              .end = nothing};
    int kept = parse(argc, argv);

    if (!cells_parse(&cells, kept, argv) || rank < 0 || size <= rank || size > HOSTS)
        return fprintf(stderr, "barrier_bare: wrong options; see its head\n"), 1;
    open_socket();
    work.rank = rank;
    work.size = size;
    if (cells_run(&cells, &work) != 0)
        return fprintf(stderr, "barrier_bare: cannot write the file given as -out\n"), 1;
    return 0;
}
