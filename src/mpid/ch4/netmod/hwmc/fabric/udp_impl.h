/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * udp_impl: what the files of the udp fabric share.
 *
 *     udp_open.c      opening, closing, and what an open one does
 *     udp.c           datagrams to the kernel
 *     udp_recv.c      datagrams from the kernel
 *     udp_members.c   the groups that it is in
 *     udp_socket.c    its sockets
 */
#ifndef HWMC_NETMOD_FABRIC_UDP_IMPL_H_INCLUDED
#define HWMC_NETMOD_FABRIC_UDP_IMPL_H_INCLUDED

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct mmsghdr, struct in_pktinfo: this header comes first */
#endif

#include <netinet/in.h>
#include <sys/socket.h>

#include "udp.h"
#include "../base/addr.h"

#define HWMC_UDP_BATCH 64 /* messages in one system call */
#define HWMC_UDP_SOCKETS_MAX 64

/* Of what came: where it was sent to, and into what segments it is to be cut. */
union hwmc_udp_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

struct hwmc_udp_member {
    uint32_t group; /* its number without the port */
    int socket;     /* index into sockets */
    int refs;       /* > 0 */
};

/* A message from the kernel: one datagram, or several in a row. The first `split` lie apart, each
 * header at heads[first + k] and its body where it was expected; the others at `rest`. */
struct hwmc_udp_in {
    char *rest;     /* a buffer of the fabric's */
    size_t segment; /* bytes of each datagram but the last */
    uint32_t first, split;
};

/* What poll_into hands the kernel: for each message that may come, headers and bodies in turn and
 * then the message's buffer. */
struct hwmc_udp_split {
    struct iovec iov[2 * HWMC_BURST + HWMC_UDP_BATCH];
    unsigned char heads[HWMC_BURST][HWMC_EXPECTED_HEAD];
    char *spare; /* one buffer more, to put a message together in that is not what was expected */
};

struct hwmc_udp {
    struct hwmc_fabric super;
    struct hwmc_rail rail;
    struct hwmc_udp_params params;
    struct hwmc_fabric_attr attr;

    int sockets[HWMC_UDP_SOCKETS_MAX];
    int num_sockets; /* 1..HWMC_UDP_SOCKETS_MAX once open */
    int next_socket; /* which one poll asks first */

    struct hwmc_udp_member *members;
    int num_members;
    int max_members;

    uint64_t unicast;  /* dropped, where nobody else counts */
    uint64_t retry_at; /* when post is worth another try; UINT64_MAX: nothing waits */
    bool segments;     /* post: the kernel takes several datagrams as one message */
    bool posted;       /* since the kernel was last seen to hold nothing */

    struct mmsghdr in[HWMC_UDP_BATCH];
    struct hwmc_udp_in in_of[HWMC_UDP_BATCH];
    struct iovec in_iov[HWMC_UDP_BATCH];
    union hwmc_udp_control in_control[HWMC_UDP_BATCH];
    struct hwmc_udp_split split;
    char *in_data;    /* buffers; the kernel touches only those that it fills */
    bool in_apart;    /* messages are read apart; whole */
    uint32_t in_run;  /* datagrams in a message, of late; 1 to HWMC_BURST */
    uint32_t in_last; /* in the last one */
    int in_num;       /* messages that came */
    int in_at;        /* of these, the first not handed over in full; == in_num: none */
    uint32_t in_next; /* datagrams of that one handed over */
};

#define HWMC_UDP_BUFFER 65536u /* bytes: any message */

/* Sockets. */

/* One more, bound to the port. ERR_LIMIT, ERR_NOMEM, ERR_DEVICE. */
int hwmc_udp_add_socket(struct hwmc_udp *u);

/* Bytes of payload, in datagrams of `len`, that can wait unread in the socket. */
size_t hwmc_udp_window_of(int fd, size_t len);

/* Groups, as of a fabric. */

/* Whether `group` is one of this job's numbers. */
bool hwmc_udp_is_group(const struct hwmc_udp *u, uint64_t group);

static inline bool hwmc_udp_is_ipv6(const struct hwmc_udp *u)
{
    return u->rail.addr.family == HWMC_IPV6;
}

/* The address of a group on this rail. */
struct hwmc_addr hwmc_udp_address(const struct hwmc_udp *u, uint32_t group);

int hwmc_udp_join(struct hwmc_fabric *f, uint64_t group);
int hwmc_udp_leave(struct hwmc_fabric *f, uint64_t group);
void hwmc_udp_refresh(struct hwmc_fabric *f, uint64_t group);

/* Datagrams, as of a fabric. */

int hwmc_udp_post(struct hwmc_fabric *f, uint64_t group, const struct hwmc_out *out, int n);
size_t hwmc_udp_queued(struct hwmc_fabric *f);
int hwmc_udp_poll(struct hwmc_fabric *f, struct hwmc_in *in, int n);
int hwmc_udp_poll_into(struct hwmc_fabric *f, const struct hwmc_expected *expected,
                       struct hwmc_in *in, int n);
uint64_t hwmc_udp_deadline(struct hwmc_fabric *f);

#endif /* HWMC_NETMOD_FABRIC_UDP_IMPL_H_INCLUDED */
