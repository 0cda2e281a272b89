/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

/* stranger: a host of the same network that is no part of the job. It sees all multicast and sends
 * whatever it likes to the groups and ports that it sees, and to the job's hosts themselves: noise,
 * and what it has seen, later, cut, lengthened, changed, in fragments of which some are missing.
 *
 *   -if=NAME     its interface (eth0)
 *   -seconds=S   for how long (5), once it has seen something
 *   -mbit=M      how much it sends (20); 0: all that goes
 *   -forge       also messages of its own making under the job key that it has seen, CRC and all,
 *                behind the 32 bytes of a seal that it has seen: those that a job is to withstand
 *                whose messages have one
 *
 * As root: it needs raw sockets. Prints what it sent. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <netpacket/packet.h>
#include <net/ethernet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KEEP 512 /* datagrams */
#define DATAGRAM_MAX 65507
#define HEAD 64
#define HEAD_CAST 40
#define SEAL 32

enum kind { NOISE, CUT, LONG, CHANGED, AGAIN, FRAGMENT, KEYLESS, FORGED, KINDS };

static const char *const names[KINDS] = {"noise",    "cut",       "long",    "changed",
                                         "replayed", "fragments", "keyless", "forged"};

struct seen {
    struct sockaddr_in to;
    size_t len;
    unsigned char data[2048];
};

static struct seen seen[KEEP];
static unsigned long long num_seen;
static int ear, voice, raw, heard;
static struct sockaddr_in group; /* the last one seen; port 0: none */
static uint32_t own_addr, subnet;
static unsigned long long sent[KINDS], bytes;
static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static int need(int fd, const char *what)
{
    if (fd < 0) {
        perror(what);
        exit(1);
    }
    return fd;
}

/* CRC-32C, bit by bit. */
static uint32_t crc32c(const unsigned char *p, size_t len)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static void open_sockets(const char *interface)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};
    const int on = 1;

    at.sll_ifindex = (int) if_nametoindex(interface);
    ear = need(socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, htons(ETH_P_IP)), "socket");
    need(bind(ear, (struct sockaddr *) &at, sizeof(at)), "bind");
    voice = need(socket(AF_INET, SOCK_DGRAM, 0), "socket");
    raw = need(socket(AF_INET, SOCK_RAW, IPPROTO_RAW), "socket");
    need(setsockopt(raw, IPPROTO_IP, IP_HDRINCL, &on, sizeof(on)), "IP_HDRINCL");
    heard = -1;
}

/* Hears a group from now on: the kernel cuts what comes into datagrams again. */
static void hear(const struct sockaddr_in *to)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = to->sin_port};
    const struct ip_mreqn join = {.imr_multiaddr = to->sin_addr, .imr_address.s_addr = own_addr};
    const int on = 1;

    if (heard >= 0)
        close(heard);
    heard = need(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), "socket");
    setsockopt(heard, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    need(bind(heard, (const struct sockaddr *) &any, sizeof(any)), "bind");
    need(setsockopt(heard, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof(join)), "join");
    group = *to;
}

/* Looks for groups of hwmc's (239.192.0.0/14) on the wire. */
static void look(void)
{
    unsigned char p[2048];
    ssize_t len;

    while ((len = recv(ear, p, sizeof(p), 0)) > 0) {
        const struct iphdr *ip = (const struct iphdr *) p;
        const struct udphdr *udp = (const struct udphdr *) (p + ip->ihl * 4);
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = ip->daddr};

        if (len < (ssize_t) (sizeof(*ip) + sizeof(*udp)) || ip->protocol != IPPROTO_UDP ||
            (ntohl(ip->daddr) & 0xfffc0000) != 0xefc00000 || ip->saddr == own_addr)
            continue;
        to.sin_port = udp->dest;
        if (to.sin_addr.s_addr != group.sin_addr.s_addr || to.sin_port != group.sin_port)
            hear(&to);
    }
}

static void listen_to_them(void)
{
    struct seen *s = &seen[num_seen % KEEP];
    struct sockaddr_in from;
    socklen_t size = sizeof(from);
    ssize_t len;

    while (heard >= 0 && (len = recvfrom(heard, s->data, sizeof(s->data), 0,
                                         (struct sockaddr *) &from, &size)) >= 0) {
        if (from.sin_addr.s_addr == own_addr || len < HEAD_CAST)
            continue;
        s->to = group;
        s->len = (size_t) len;
        s = &seen[++num_seen % KEEP];
        size = sizeof(from);
    }
}

/* To the group, or at times to one of the hosts. */
static void say(enum kind kind, const struct sockaddr_in *to, const void *data, size_t len)
{
    struct sockaddr_in at = *to;

    if (draw() % 4 == 0)
        at.sin_addr.s_addr = htonl(subnet + 1 + (uint32_t) (draw() % 4));
    if (sendto(voice, data, len, 0, (struct sockaddr *) &at, sizeof(at)) >= 0) {
        sent[kind]++;
        bytes += len + 42;
    }
}

/* One fragment of a datagram of which the others never come. */
static void say_fragment(const struct sockaddr_in *to, const void *data, size_t len)
{
    unsigned char p[sizeof(struct iphdr) + 2048] = {0};
    struct iphdr *ip = (struct iphdr *) p;
    const uint16_t part = (uint16_t) (draw() % 8 * 128);

    *ip = (struct iphdr){.version = 4,
                         .ihl = 5,
                         .tot_len = htons((uint16_t) (sizeof(*ip) + (len & ~(size_t) 7))),
                         .id = htons((uint16_t) (draw() % 64)),
                         .frag_off = htons((uint16_t) (0x2000 | part / 8)),
                         .ttl = 1,
                         .protocol = IPPROTO_UDP,
                         .saddr = own_addr,
                         .daddr = to->sin_addr.s_addr};
    memcpy(p + sizeof(*ip), data, len & ~(size_t) 7);
    if (sendto(raw, p, sizeof(*ip) + (len & ~(size_t) 7), 0, (const struct sockaddr *) to,
               sizeof(*to)) >= 0) {
        sent[FRAGMENT]++;
        bytes += len + 34;
    }
}

static void put32(unsigned char *p, uint32_t v)
{
    v = htonl(v);
    memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const unsigned char *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return ntohl(v);
}

/* Where the message begins: behind a seal, if it has one. */
static size_t start_of(const struct seen *s)
{
    static const unsigned char magic[2] = {0x68, 0x6d};

    return memcmp(s->data, magic, 2) != 0 && s->len >= SEAL + HEAD_CAST ? SEAL : 0;
}

/* Puts the right CRC into a message, after which it is only its fields that lie. */
static void seal(unsigned char *p, size_t len)
{
    put32(p + 4, 0);
    put32(p + 4, crc32c(p, len));
}

/* A floor far ahead, other bytes for a fragment that is about to come, or any type: from what was
 * seen. */
static void forge(struct seen *s)
{
    size_t start = start_of(s);
    unsigned char *p = s->data + start;

    switch (draw() % 4) {
        case 0: /* SYNC_DOWN from the leader */
            memset(p + 24, 0, HEAD - 24);
            p[3] = 5;
            put32(p + 28, (uint32_t) draw() % 100000);
            s->len = start + HEAD;
            break;
        case 1: /* of a later broadcast */
            put32(p + 24, get32(p + 24) + 1 + (uint32_t) (draw() % 8));
            break;
        case 2:
            for (size_t i = start + HEAD_CAST; i < s->len; i++)
                s->data[i] = (unsigned char) draw();
            break;
        default:
            p[3] = (unsigned char) (draw() % 34);
            break;
    }
    if (start > 0 && draw() % 2 == 0)
        s->data[8 + draw() % 8] = (unsigned char) draw(); /* the seal's counter */
    seal(p, s->len - start);
}

static void speak(enum kind kind)
{
    static unsigned char any[DATAGRAM_MAX];
    struct seen s = seen[draw() % (num_seen < KEEP ? num_seen : KEEP)];
    size_t len;

    switch (kind) {
        case NOISE:
            len = draw() % 1472;
            for (size_t i = 0; i < len; i++)
                any[i] = (unsigned char) draw();
            say(kind, &s.to, any, len);
            break;
        case CUT:
            say(kind, &s.to, s.data, draw() % s.len);
            break;
        case LONG:
            memcpy(any, s.data, s.len);
            say(kind, &s.to, any, s.len + draw() % (draw() % 8 ? 200 : DATAGRAM_MAX - s.len));
            break;
        case CHANGED:
            for (int i = 0; i < 3; i++)
                s.data[draw() % s.len] ^= (unsigned char) (1 << draw() % 8);
            say(kind, &s.to, s.data, s.len);
            break;
        case AGAIN:
            say(kind, &s.to, s.data, s.len);
            break;
        case FRAGMENT:
            say_fragment(&s.to, s.data, s.len);
            break;
        case KEYLESS: /* well formed, of another job */
            s.data[start_of(&s) + 8 + draw() % 8] ^= (unsigned char) (1 + draw() % 255);
            seal(s.data + start_of(&s), s.len - start_of(&s));
            say(kind, &s.to, s.data, s.len);
            break;
        default:
            forge(&s);
            say(FORGED, &s.to, s.data, s.len);
            break;
    }
}

static void find_address(const char *interface)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(9)};
    socklen_t size = sizeof(at);
    int fd = need(socket(AF_INET, SOCK_DGRAM, 0), "socket");

    need(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t) strlen(interface)),
         interface);
    at.sin_addr.s_addr = inet_addr("239.192.0.1");
    need(connect(fd, (struct sockaddr *) &at, sizeof(at)), "no address");
    need(getsockname(fd, (struct sockaddr *) &at, &size), "no address");
    close(fd);
    own_addr = at.sin_addr.s_addr;
    subnet = ntohl(own_addr) & 0xffffff00;
}

int main(int argc, char **argv)
{
    const char *interface = "eth0";
    double seconds = 5, mbit = 20, start, end;
    int kinds = FORGED;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-if=", 4) == 0)
            interface = argv[i] + 4;
        else if (strcmp(argv[i], "-forge") == 0)
            kinds = KINDS;
        else if (sscanf(argv[i], "-seconds=%lf", &seconds) != 1 &&
                 sscanf(argv[i], "-mbit=%lf", &mbit) != 1)
            return fprintf(stderr, "stranger: what is %s?\n", argv[i]), 2;
    }
    find_address(interface);
    open_sockets(interface);
    for (end = now() + 60; num_seen < 16 && now() < end; usleep(1000)) {
        look();
        listen_to_them();
    }
    if (num_seen < 16)
        return fprintf(stderr, "stranger: saw nothing\n"), 1;
    start = now();
    for (end = start + seconds; now() < end;) {
        look();
        listen_to_them();
        for (int i = 0; i < 32; i++)
            speak((enum kind)(draw() % (uint64_t) kinds));
        while (mbit > 0 && (double) bytes * 8 > (now() - start) * mbit * 1e6 && now() < end)
            usleep(200);
    }
    printf("stranger: saw %llu, sent %llu KiB:", num_seen, bytes / 1024);
    for (int k = 0; k < kinds; k++)
        printf(" %s %llu", names[k], sent[k]);
    printf("\n");
    return 0;
}
