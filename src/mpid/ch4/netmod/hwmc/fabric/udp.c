/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Datagrams of the udp fabric to the kernel; its first socket sends. Posting is one system call per
 * 64 messages; a message is one datagram, or several in a row (segments.h).
 *
 * What the network does to a datagram on its way out (no route for the moment, a firewall, a full
 * queue) is loss like any other, so post reports as sent what the kernel refused for such a reason.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sendmmsg */
#endif

#include "udp_impl.h"
#include "segments.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>

#define RETRY_NS 100000u /* after a full send buffer: a few Ethernet frames at 1 Gbit/s */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* What becomes of a message that the kernel refused. */
enum refusal { REFUSED_NOW, REFUSED_SEGMENTS, REFUSED_FOR_GOOD, REFUSED_ALL };

static enum refusal refusal_of(int e, bool segments)
{
    switch (e) {
        case EAGAIN:
        case ENOBUFS:
        case ENOMEM:
            return REFUSED_NOW;
        case ENODEV:
        case ENETDOWN:
        case EBADF:
            return REFUSED_ALL;
        case EIO:      /* the device cannot do checksums */
        case EINVAL:   /* the MTU is smaller than it was */
        case EMSGSIZE: /* likewise, of newer kernels */
        case EOPNOTSUPP:
            return segments ? REFUSED_SEGMENTS : REFUSED_FOR_GOOD;
        default:
            return REFUSED_FOR_GOOD;
    }
}

/* Up to HWMC_UDP_BATCH datagrams as messages to the kernel. */
struct batch {
    int num;                  /* messages */
    int runs[HWMC_UDP_BATCH]; /* datagrams in each */
    struct mmsghdr msgs[HWMC_UDP_BATCH];
    struct iovec iov[HWMC_UDP_BATCH][2];
    union hwmc_segments_control control[HWMC_UDP_BATCH];
};

/* A group, as the kernel takes it. */
struct target {
    union hwmc_sockaddr addr;
    socklen_t len;
};

static void make_batch(struct batch *b, bool segments, const struct target *to,
                       const struct hwmc_out *out, int n)
{
    b->num = 0;
    for (int i = 0; i < n; i += b->runs[b->num++]) {
        int run = segments ? hwmc_segments_run(out + i, n - i) : 1;
        struct msghdr *msg = &b->msgs[b->num].msg_hdr;

        for (int k = i; k < i + run; k++) {
            b->iov[k][0] = (struct iovec){(void *) out[k].head, out[k].head_len};
            b->iov[k][1] = (struct iovec){(void *) out[k].body, out[k].body_len};
        }
        b->runs[b->num] = run;
        *msg = (struct msghdr){
            .msg_name = (void *) &to->addr,
            .msg_namelen = to->len,
            .msg_iov = b->iov[i],
            .msg_iovlen = 2 * (size_t) run,
        };
        if (run > 1)
            hwmc_segments_mark(msg, &b->control[b->num], out[i].head_len + out[i].body_len);
    }
}

/* Gives the kernel n <= HWMC_UDP_BATCH datagrams: how many are gone, or a negative error. */
static int send_batch(struct hwmc_udp *u, const struct target *to, const struct hwmc_out *out,
                      int n)
{
    struct batch b;
    int gone = 0;

    make_batch(&b, u->segments, to, out, n);
    for (int i = 0; i < b.num;) {
        int k = sendmmsg(u->sockets[0], b.msgs + i, (unsigned) (b.num - i), MSG_DONTWAIT);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            switch (refusal_of(errno, b.runs[i] > 1)) {
                case REFUSED_NOW:
                    return gone;
                case REFUSED_ALL:
                    return HWMC_ERR_DEVICE;
                case REFUSED_SEGMENTS:
                    u->segments = false;
                    k = send_batch(u, to, out + gone, n - gone);
                    return k < 0 ? k : gone + k;
                case REFUSED_FOR_GOOD: /* lost */
                    k = 1;
                    break;
            }
        }
        for (int end = i + k; i < end; i++)
            gone += b.runs[i];
    }
    return gone;
}

int hwmc_udp_post(struct hwmc_fabric *f, uint64_t group, const struct hwmc_out *out, int n)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    const struct hwmc_addr addr = hwmc_udp_address(u, (uint32_t) group);
    struct target to;
    int sent = 0;

    if (!hwmc_udp_is_group(u, group))
        return HWMC_ERR_GROUP;
    to.len = hwmc_addr_to_socket(&addr, u->params.port, u->rail.index, &to.addr);
    u->retry_at = UINT64_MAX;
    u->posted = true;
    while (sent < n) {
        int batch = n - sent < HWMC_UDP_BATCH ? n - sent : HWMC_UDP_BATCH;
        int k = send_batch(u, &to, out + sent, batch);

        if (k < 0)
            return k;
        sent += k;
        if (k < batch) {
            u->retry_at = now_ns() + RETRY_NS;
            break;
        }
    }
    return sent;
}

size_t hwmc_udp_queued(struct hwmc_fabric *f)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    int bytes = 0;

    if (u->posted)
        u->posted = ioctl(u->sockets[0], SIOCOUTQ, &bytes) == 0 && bytes > 0;
    return u->posted ? (size_t) bytes : 0;
}

uint64_t hwmc_udp_deadline(struct hwmc_fabric *f)
{
    const struct hwmc_udp *u = (struct hwmc_udp *) f;

    return u->in_at < u->in_num ? 0 : u->retry_at;
}
