/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Datagrams of the udp fabric from the kernel. One system call takes up to 64 messages; a message
 * is one datagram, or several in a row (segments.h). What came in one system call is handed over
 * in as many polls as it takes before the next one.
 *
 * A call takes fewer messages while they are long, so that what it brings is still in a processor's
 * cache when it is looked at.
 *
 * Where the caller expects datagrams (struct hwmc_expected) each message is read apart: headers
 * here, bodies to where they belong. If it was not what was expected it is put together again. So
 * a call takes whole messages, of as many datagrams as came together of late, and no more of them
 * than are as long as one can be: the next call then knows what came in between.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* recvmmsg */
#endif

#include "udp_impl.h"
#include "segments.h"

#include <string.h>
#include <sys/uio.h>
#include <time.h>

#define LONG_MESSAGES 4    /* that are taken at once: 256 KiB */
#define APART_BYTES 65536u /* that are read apart by a call, unless one message is longer */
#define CONTROL_BYTES 256u /* of a datagram that is no fragment, at most */

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where a message came from the network. */
struct arrival {
    bool multicast;
    uint32_t port; /* the kernel's index of it; 0: the one that the socket hears */
};

static struct arrival arrival_of(struct msghdr *msg)
{
    struct in_pktinfo info;
    struct in6_pktinfo info6;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            memcpy(&info, CMSG_DATA(c), sizeof(info));
            return (struct arrival){IN_MULTICAST(ntohl(info.ipi_addr.s_addr)), 0};
        }
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            memcpy(&info6, CMSG_DATA(c), sizeof(info6));
            return (struct arrival){IN6_IS_ADDR_MULTICAST(&info6.ipi6_addr), info6.ipi6_ifindex};
        }
    }
    return (struct arrival){false, 0};
}

/* A socket of IPv6 hears its group on all ports where some socket of the host has joined it, and a
 * group has one address on all rails; one of IPv4 does not. */
static bool is_of_another_rail(const struct hwmc_udp *u, const struct arrival *a)
{
    return a->port != 0 && a->port != u->rail.index;
}

/* Where messages are to go. Returns how many may come. */

static int prepare_whole(struct hwmc_udp *u)
{
    const int n = (int) (HWMC_UDP_BATCH / u->in_run);

    for (int i = 0; u->in_apart && i < HWMC_UDP_BATCH; i++) {
        u->in_of[i].split = 0;
        u->in_iov[i] = (struct iovec){u->in_of[i].rest, HWMC_UDP_BUFFER};
        u->in[i].msg_hdr.msg_iov = &u->in_iov[i];
        u->in[i].msg_hdr.msg_iovlen = 1;
    }
    u->in_apart = false;
    return n > LONG_MESSAGES ? n : LONG_MESSAGES;
}

/* Each has as many datagrams as the last ones had, so far as one can tell. */
static int prepare_split(struct hwmc_udp *u, const struct hwmc_expected *e)
{
    struct iovec *iov = u->split.iov;
    uint32_t next = 0;
    size_t at = 0;
    int n = 0;

    while (n == 0 || (next + u->in_run <= HWMC_BURST && at < e->bytes && n < HWMC_UDP_BATCH &&
                      at + u->in_run * e->body <= APART_BYTES)) {
        struct hwmc_udp_in *m = &u->in_of[n];
        struct msghdr *msg = &u->in[n++].msg_hdr;

        *m = (struct hwmc_udp_in){.rest = m->rest, .first = next};
        msg->msg_iov = iov;
        while (m->split < u->in_run && at < e->bytes) {
            const size_t len = min_size(e->body, e->bytes - at);

            *iov++ = (struct iovec){u->split.heads[next++], e->head};
            *iov++ = (struct iovec){e->at + at, len};
            at += len;
            m->split++;
        }
        *iov++ = (struct iovec){m->rest, HWMC_UDP_BUFFER};
        msg->msg_iovlen = (size_t) (iov - msg->msg_iov);
    }
    u->in_apart = true;
    return n;
}

/* What came of a message that was read apart. */

/* All of its datagrams that were are what was expected. */
static bool is_expected(const struct hwmc_udp *u, const struct msghdr *msg,
                        const struct hwmc_udp_in *m, size_t len, const struct hwmc_expected *e)
{
    if (m->segment != e->head + e->body && m->segment != len)
        return false;
    for (uint32_t k = 0; k < m->split; k++) {
        const size_t bytes = min_size(m->segment, len - k * m->segment);

        if (bytes <= e->head || bytes - e->head > msg->msg_iov[2 * k + 1].iov_len ||
            !e->is_next(e->ctx, u->split.heads[m->first + k], m->first + k))
            return false;
    }
    return true;
}

/* Puts it together in a buffer. */
static void join_message(struct hwmc_udp *u, const struct msghdr *msg, struct hwmc_udp_in *m,
                         size_t len)
{
    char *whole = u->split.spare;
    size_t at = 0;

    for (size_t i = 0; i < msg->msg_iovlen && at < len; i++) {
        const size_t bytes = min_size(msg->msg_iov[i].iov_len, len - at);

        memcpy(whole + at, msg->msg_iov[i].iov_base, bytes);
        at += bytes;
    }
    u->split.spare = m->rest;
    m->rest = whole;
    m->split = 0;
}

/* So many datagrams came together. The last message of a burst may be short, and the next one is as
 * long as those before. A single datagram between them is none of theirs. */
static void note_run(struct hwmc_udp *u, uint32_t num, size_t len)
{
    if (num == 1 && len <= CONTROL_BYTES)
        return;
    num = num < HWMC_BURST ? num : HWMC_BURST;
    u->in_run = num > u->in_last ? num : u->in_last;
    u->in_last = num;
}

/* Takes note of a message that came, or drops it: one that was sent to this host alone is not the
 * job's, and no member sends one whose datagrams are longer than the rail takes. `e`: or NULL. */
static void look_at(struct hwmc_udp *u, int i, const struct hwmc_expected *e)
{
    struct hwmc_udp_in *m = &u->in_of[i];
    struct msghdr *msg = &u->in[i].msg_hdr;
    const size_t len = u->in[i].msg_len;
    const struct arrival from = arrival_of(msg);
    uint32_t num;

    if (!from.multicast) {
        *u->params.unicast += 1;
        u->in[i].msg_len = 0;
        return;
    }
    m->segment = hwmc_segments_len(msg, len);
    if (len == 0 || is_of_another_rail(u, &from) || m->segment > u->attr.max_datagram) {
        u->in[i].msg_len = 0;
        return;
    }
    num = (uint32_t) ((len + m->segment - 1) / m->segment);
    note_run(u, num, len);
    if (m->split > num)
        m->split = num;
    if (m->split > 0 && !is_expected(u, msg, m, len, e))
        join_message(u, msg, m, len);
}

/* Fills the buffers with what came on one socket, or on all as far as they go. */
static void receive_some(struct hwmc_udp *u, const struct hwmc_expected *e)
{
    const int max = e ? prepare_split(u, e) : prepare_whole(u);

    u->in_num = u->in_at = 0;
    u->in_next = 0;
    for (int i = 0; i < u->num_sockets && u->in_num < (e ? 1 : max); i++) {
        int fd = u->sockets[(u->next_socket + i) % u->num_sockets];
        int got;

        got = recvmmsg(fd, u->in + u->in_num, (unsigned) (max - u->in_num), MSG_DONTWAIT, NULL);
        u->in_num += got > 0 ? got : 0;
    }
    u->next_socket = (u->next_socket + 1) % u->num_sockets;
    for (int i = 0; i < u->in_num; i++) {
        look_at(u, i, e);
        u->in[i].msg_hdr.msg_controllen = sizeof(u->in_control[0]); /* for the next one */
    }
}

/* Handing over. */

static struct hwmc_in get_datagram(const struct hwmc_udp *u, const struct hwmc_udp_in *m,
                                   size_t len, uint32_t k)
{
    const size_t bytes = min_size(m->segment, len - k * m->segment);
    const struct iovec *iov;

    if (k >= m->split)
        return (struct hwmc_in){.data = m->rest + (k - m->split) * m->segment, .len = bytes};
    iov = u->in[u->in_at].msg_hdr.msg_iov + 2 * (size_t) k;
    return (struct hwmc_in){.data = iov[0].iov_base,
                            .len = iov[0].iov_len,
                            .body = iov[1].iov_base,
                            .body_len = bytes - iov[0].iov_len};
}

/* Up to `n` of the datagrams that came and are not handed over yet. */
static int hand_over(struct hwmc_udp *u, struct hwmc_in *in, int n)
{
    int kept = 0;

    while (u->in_at < u->in_num) {
        const size_t len = u->in[u->in_at].msg_len;
        const struct hwmc_udp_in *m = &u->in_of[u->in_at];

        if (len <= u->in_next * m->segment) {
            u->in_next = 0;
            u->in_at++;
        } else if (kept < n) {
            in[kept++] = get_datagram(u, m, len, u->in_next++);
        } else {
            break;
        }
    }
    return kept;
}

/* What is not handed over leaves the memory where it was expected, which may be gone at the next
 * poll. A call that many datagrams came to, of others too, leaves some. */
static void keep_rest(struct hwmc_udp *u)
{
    for (int i = u->in_at; i < u->in_num; i++) {
        const uint32_t handed = i == u->in_at ? u->in_next : 0;
        struct hwmc_udp_in *m = &u->in_of[i];

        if (u->in[i].msg_len > 0 && m->split > handed)
            join_message(u, &u->in[i].msg_hdr, m, u->in[i].msg_len);
    }
}

static void look_at_clock(struct hwmc_udp *u)
{
    struct timespec t;

    if (u->retry_at == UINT64_MAX)
        return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if ((uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec >= u->retry_at)
        u->retry_at = UINT64_MAX;
}

int hwmc_udp_poll(struct hwmc_fabric *f, struct hwmc_in *in, int n)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;

    look_at_clock(u);
    if (u->in_at == u->in_num)
        receive_some(u, NULL);
    return hand_over(u, in, n);
}

int hwmc_udp_poll_into(struct hwmc_fabric *f, const struct hwmc_expected *expected,
                       struct hwmc_in *in, int n)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;

    look_at_clock(u);
    if (u->in_at == u->in_num)
        receive_some(u, expected);
    n = hand_over(u, in, n);
    keep_rest(u);
    return n;
}
