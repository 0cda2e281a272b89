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
 * bcast    The first host multicasts the message in datagrams as long as the MTU allows (cast.h).
 *          A host reports how far it is, four times in a window, and when it finds a gap. The
 *          window is what the receivers' buffers hold. The first host goes back to the slowest
 *          one's place when that reports a gap, or when nobody reports anything for RESEND_MS.
 *
 * All sleep in recvmsg.
 */
#include <net/if.h>
#include <sys/ioctl.h>

#include "cast.h"
#include "cells.h"

#define GROUP "239.255.77.8"
#define PORT 27708 /* of the group; the first host listens on the next one */
#define RESEND_MS 50
#define HOSTS 256
#define CHARGE(BYTES) (2 * (BYTES) + 768) /* of a receive buffer for a datagram, about */

static int size;
static uint32_t rounds;                 /* that are over, or under way */
static uint32_t window;                 /* datagrams */
static struct cast cast = {.rank = -1}; /* bytes 0: barrier */

/* By the MTU of the interface that has this address, and the socket's receive buffer. */
static void size_datagrams(void)
{
    struct ifconf all = {.ifc_len = 0};
    struct ifreq rows[16];
    int mtu = 1500, room = 0;
    socklen_t len = sizeof(room);

    all.ifc_len = sizeof(rows);
    all.ifc_req = rows;
    if (ioctl(cast.wire, SIOCGIFCONF, &all) != 0)
        err(1, "interfaces");
    for (int i = 0; i < all.ifc_len / (int) sizeof(rows[0]); i++) {
        const struct sockaddr_in *at = (const struct sockaddr_in *) (void *) &rows[i].ifr_addr;

        if ((ntohl(at->sin_addr.s_addr) >> 8) == (ntohl(cast.first.sin_addr.s_addr) >> 8) &&
            ioctl(cast.wire, SIOCGIFMTU, &rows[i]) == 0)
            mtu = rows[i].ifr_mtu;
    }
    getsockopt(cast.wire, SOL_SOCKET, SO_RCVBUF, &room, &len);
    cast.payload = (size_t) mtu - CAST_HEADERS - sizeof(struct cast_head);
    window = (uint32_t) ((size_t) room / CHARGE(cast.payload));
}

/* A report, whose `number` is how many datagrams have come in a row; or a barrier's message. */
static void tell(const struct sockaddr_in *where, uint32_t round, uint32_t number, uint32_t gap)
{
    const struct cast_head h = {(uint32_t) cast.rank, round, number, gap};

    sendto(cast.wire, &h, sizeof(h), 0, (const struct sockaddr *) where, sizeof(*where));
}

static int hear(struct cast_head *h, int flags)
{
    return recv(cast.wire, h, sizeof(*h), flags) == (ssize_t) sizeof(*h);
}

/* Barriers. */

static void collect(void)
{
    char seen[HOSTS] = {0};
    struct cast_head h;

    for (int left = size - 1; left > 0;) {
        if (!hear(&h, 0) || h.rank >= (uint32_t) size)
            continue;
        if (h.round != rounds)
            tell(&cast.group, h.round, 0, 0);
        else if (!seen[h.rank]++)
            left--;
    }
    tell(&cast.group, rounds, 0, 0);
}

static void barrier(void)
{
    struct cast_head h = {.round = 0};

    if (cast.rank == 0) {
        collect();
        return;
    }
    while (h.round != rounds) {
        tell(&cast.first, rounds, 0, 0);
        while (hear(&h, 0) && h.round != rounds)
            ;
    }
}

/* Broadcasts. */

static void send_message(void)
{
    uint32_t at[HOSTS] = {0}, next = 0, slowest = 0;

    while (slowest < cast_datagrams(&cast)) {
        const uint32_t end = cast_least(cast_datagrams(&cast), slowest + window);
        struct cast_head h;
        int heard = 1, wait = next >= end;

        if (next < end)
            next += cast_send(&cast, rounds, next, end - next);
        while (hear(&h, wait ? 0 : MSG_DONTWAIT) || (heard = !wait)) {
            if (h.rank >= (uint32_t) size || h.round != rounds || h.number < at[h.rank])
                break;
            at[h.rank] = h.number;
            if (h.gap)
                next = h.number;
            break;
        }
        slowest = cast_datagrams(&cast);
        for (int i = 1; i < size; i++)
            slowest = cast_least(slowest, at[i]);
        if (!heard)
            next = slowest;
    }
}

static void receive_message(void)
{
    const uint32_t every = window / 4 > 0 ? window / 4 : 1;
    uint32_t next = 0, told = 0, asked = UINT32_MAX;

    while (next < cast_datagrams(&cast)) {
        struct cast_head came;
        int got = cast_receive(&cast, rounds, next, &came);

        if (got > 0)
            next += (uint32_t) got;
        if (next - told >= every || next == cast_datagrams(&cast)) {
            tell(&cast.first, rounds, next, 0);
            told = next;
        } else if (got < 0 && asked != next) {
            tell(&cast.first, rounds, next, 1);
            asked = next;
        }
    }
}

static void once(void)
{
    rounds++;
    if (cast.bytes == 0)
        barrier();
    else if (cast.rank == 0)
        send_message();
    else
        receive_message();
}

/* The first host answers those who have not heard. */
static void probe(void)
{
    struct cast_head h;

    while (cast.rank == 0 && cast.bytes == 0 && hear(&h, MSG_DONTWAIT))
        tell(&cast.group, h.round, 0, 0);
}

static void fill(void)
{
    cast_fill(&cast);
}

static void verify(void)
{
    cast_verify(&cast);
}

static void begin(const char *op, size_t length)
{
    cast.bytes = strcmp(op, "barrier") == 0 ? 0 : length;
    cast.message = malloc(cast.bytes + 1);
    if (!cast.message)
        err(1, "memory");
}

static void end(void)
{
    free(cast.message);
}

/* Takes its own options out. */
static int parse(int argc, char **argv)
{
    int kept = 1;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-rank=", 6) == 0)
            cast.rank = atoi(argv[i] + 6);
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

    if (!cells_parse(&cells, kept, argv) || cast.rank < 0 || size <= cast.rank || size > HOSTS)
        return fprintf(stderr, "bare: wrong options; see its head\n"), 1;
    cast_open(&cast, GROUP, PORT, RESEND_MS);
    size_datagrams();
    work.rank = cast.rank;
    work.size = size;
    if (cells_run(&cells, &work) != 0)
        return fprintf(stderr, "bare: cannot write the file given as -out\n"), 1;
    return 0;
}
