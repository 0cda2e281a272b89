/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "doctor_tap.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEPT 96        /* bytes of a packet: the longest IPv4 header and some more */
#define ROOM (4 << 20) /* bytes of packets that wait */

/* RFC 791, RFC 8200: where addresses are. */
#define FROM_OFFSET 12
#define TO_OFFSET 16
#define IPV4_HEADER 20
#define FROM_OFFSET_IPV6 8
#define TO_OFFSET_IPV6 24
#define IPV6_HEADER 40

#define IGMP_QUERY 0x11 /* RFC 3376 */
#define MLD_QUERY 130   /* RFC 3810 */

/* Keeps packets of one version of IP to multicast addresses, and of those the beginning. */
static int set_filter(int fd, bool ipv6)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ipv6 ? TO_OFFSET_IPV6 : TO_OFFSET),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ipv6 ? 0xff : 0xf0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ipv6 ? 0xff : 0xe0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, KEPT),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

int hwmc_doctor_tap_open(const struct hwmc_rail *rail)
{
    const bool ipv6 = rail->addr.family == HWMC_IPV6;
    const struct sockaddr_ll at = {.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP),
                                   .sll_ifindex = (int) rail->index};
    const struct packet_mreq all = {.mr_ifindex = (int) rail->index, .mr_type = PACKET_MR_ALLMULTI};
    const int room = ROOM;
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    if (set_filter(fd, ipv6) != 0 || bind(fd, (const struct sockaddr *) &at, sizeof(at)) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static struct hwmc_addr address_at(enum hwmc_family family, const unsigned char *bytes)
{
    struct hwmc_addr a = {.family = (uint32_t) family};

    memcpy(a.bytes, bytes, hwmc_addr_bits(&a) / 8);
    return a;
}

static bool read_ipv4(const unsigned char *p, size_t len, struct hwmc_doctor_packet *packet)
{
    const size_t header = (size_t) (p[0] & 15) * 4;
    const int protocol = p[9];

    if (len < IPV4_HEADER)
        return false;
    packet->from = address_at(HWMC_IPV4, p + FROM_OFFSET);
    packet->to = address_at(HWMC_IPV4, p + TO_OFFSET);
    packet->kind = protocol == IPPROTO_UDP ? HWMC_DOCTOR_PACKET_UDP : HWMC_DOCTOR_PACKET_QUERY;
    return protocol == IPPROTO_UDP ||
           (protocol == IPPROTO_IGMP && header < len && p[header] == IGMP_QUERY);
}

/* Messages of MLD follow a header of hop-by-hop options, whose length is in units of 8 bytes, its
 * first ones not counted. */
static bool read_ipv6(const unsigned char *p, size_t len, struct hwmc_doctor_packet *packet)
{
    size_t at = IPV6_HEADER;
    int protocol;

    if (len < IPV6_HEADER + 2)
        return false;
    protocol = p[6];
    packet->from = address_at(HWMC_IPV6, p + FROM_OFFSET_IPV6);
    packet->to = address_at(HWMC_IPV6, p + TO_OFFSET_IPV6);
    if (protocol == IPPROTO_HOPOPTS) {
        protocol = p[at];
        at += 8 + 8 * (size_t) p[at + 1];
    }
    packet->kind = protocol == IPPROTO_UDP ? HWMC_DOCTOR_PACKET_UDP : HWMC_DOCTOR_PACKET_QUERY;
    return protocol == IPPROTO_UDP ||
           (protocol == IPPROTO_ICMPV6 && at < len && p[at] == MLD_QUERY);
}

bool hwmc_doctor_tap_read(int fd, struct hwmc_doctor_packet *packet)
{
    unsigned char p[KEPT];
    struct sockaddr_ll from;
    socklen_t room = sizeof(from);
    ssize_t len;

    while ((len = recvfrom(fd, p, sizeof(p), 0, (struct sockaddr *) &from, &room)) >= 0) {
        if (from.sll_pkttype != PACKET_OUTGOING &&
            (from.sll_protocol == htons(ETH_P_IPV6) ? read_ipv6 : read_ipv4)(p, (size_t) len,
                                                                             packet))
            return true;
        room = sizeof(from);
    }
    return false;
}
