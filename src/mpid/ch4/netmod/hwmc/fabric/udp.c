/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Every socket is bound to the job's port and hears the groups it joined and no others
 * (IP_MULTICAST_ALL off). It would hear what is sent to this host alone as well, so where a
 * datagram was sent to is looked at (IP_PKTINFO). The kernel allows a socket igmp_max_memberships
 * groups, usually 20; when a join meets that, another socket is opened on the same port. The first
 * one sends.
 *
 * Polling and posting are one system call per 64 messages; a message to or from the kernel is one
 * datagram, or several in a row (segments.h). What came in one system call is handed over in as
 * many polls as it takes before the next one.
 * What the network does to a datagram on its way out (no route for the moment, a firewall, a full
 * queue) is loss like any other, so post reports as sent what the kernel refused for such a reason.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* recvmmsg, sendmmsg */
#endif

#include "udp.h"
#include "draw.h"
#include "segments.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* linux/in.h has it, but cannot be read beside netinet/in.h. */
#ifndef IP_MULTICAST_ALL
#define IP_MULTICAST_ALL 49
#endif

/* Of what came: where it was sent to, and into what segments it is to be cut. */
#define IN_CONTROL (CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct in_pktinfo)))

#define BATCH 64
#define SOCKETS_MAX 64
#define IP_UDP_HEADERS 28u
#define LOOPBACK_DATAGRAM (16384u + 64u)
#define DATAGRAM_MIN 256u
#define BUFFER_BYTES 65536u /* for any message */
#define RETRY_NS 100000u    /* after a full send buffer: a few Ethernet frames at 1 Gbit/s */
#define SEND_BUFFER 131072  /* bytes: what waits in this host delays everything behind it */

union in_control {
    struct cmsghdr align;
    char bytes[IN_CONTROL];
};

struct membership {
    uint32_t addr; /* host byte order */
    int socket;    /* index into sockets */
    int refs;      /* > 0 */
};

struct hwmc_udp {
    struct bcast_hw_fabric super;
    struct bcast_hw_rail rail;
    struct hwmc_udp_params params;
    struct bcast_hw_fabric_attr attr;

    int sockets[SOCKETS_MAX];
    int num_sockets; /* 1..SOCKETS_MAX once open */
    int next_socket; /* which one poll asks first */

    struct membership *members;
    int num_members;
    int max_members;

    uint64_t unicast;  /* dropped, where nobody else counts */
    uint64_t retry_at; /* when post is worth another try; UINT64_MAX: nothing waits */
    bool segments;     /* post: the kernel takes several datagrams as one message */

    struct mmsghdr in[BATCH];
    struct iovec in_iov[BATCH];
    union in_control in_control[BATCH];
    char *in_data; /* BATCH buffers of BUFFER_BYTES, of which the kernel touches what it fills */
    int in_num;    /* messages that came */
    int in_at;     /* of these, the first not handed over in full; == in_num: none */
    size_t in_off; /* bytes of that one handed over */
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

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

static int err_of_errno(int e)
{
    switch (e) {
        case EMFILE:
        case ENFILE:
            return BCAST_HW_ERR_LIMIT;
        case ENOMEM:
        case ENOBUFS:
            return BCAST_HW_ERR_NOMEM;
        default:
            return BCAST_HW_ERR_DEVICE;
    }
}

/* Asks for room for the window in the receive buffer. A reader lags a quarter of the buffer behind
 * before the kernel takes back what was read, hence 4/3. */
static void size_receive_buffer(int fd, const struct hwmc_udp *u)
{
    size_t len = u->attr.max_datagram;
    size_t bytes = (u->params.window + len - 1) / len * hwmc_udp_cost(len) / 3 * 4;
    int half = bytes / 2 > 0x3fffffff ? 0x3fffffff : (int) (bytes / 2); /* the kernel doubles it */

    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof(half)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof(half));
}

static size_t window_of(int fd, size_t len)
{
    int bytes = 0;
    socklen_t size = sizeof(bytes);

    if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0 || bytes < 0)
        return 0;
    return (size_t) bytes / 4 * 3 / hwmc_udp_cost(len) * len;
}

static int set_options(int fd, const struct hwmc_udp *u)
{
    const int on = 1, off = 0, room = SEND_BUFFER / 2; /* the kernel doubles it */
    const unsigned char ttl = u->params.ttl, loop = u->params.loop;
    const struct ip_mreqn out = {.imr_ifindex = (int) u->rail.index};

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof(off)) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &out, sizeof(out)) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof(ttl)) != 0 ||
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &loop, sizeof(loop)) != 0)
        return errno;
    size_receive_buffer(fd, u);
    hwmc_segments_accept(fd); /* a kernel that cannot hands over one by one */
    return 0;
}

static int add_socket(struct hwmc_udp *u)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(u->params.port)};
    int fd, e;

    if (u->num_sockets == SOCKETS_MAX)
        return BCAST_HW_ERR_LIMIT;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_of_errno(errno);
    e = set_options(fd, u);
    if (e == 0 && bind(fd, (struct sockaddr *) &any, sizeof(any)) != 0)
        e = errno;
    if (e != 0) {
        close(fd);
        return err_of_errno(e);
    }
    u->sockets[u->num_sockets++] = fd;
    return BCAST_HW_OK;
}

bool hwmc_udp_may_bind(uint16_t port)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int on = 1;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_free;

    if (fd < 0)
        return false;
    is_free = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
              bind(fd, (const struct sockaddr *) &any, sizeof(any)) == 0;
    close(fd);
    return is_free;
}

static void udp_query(struct bcast_hw_fabric *f, struct bcast_hw_fabric_attr *attr)
{
    *attr = ((struct hwmc_udp *) f)->attr;
}

static int udp_draw(struct bcast_hw_fabric *f, uint64_t *group)
{
    const struct hwmc_udp *u = (const struct hwmc_udp *) f;

    return hwmc_draw_ipv4(u->params.port, u->params.group, group);
}

/* Whether `group` is one of this job's numbers. */
static bool valid(const struct hwmc_udp *u, uint64_t group)
{
    return hwmc_draw_is_ipv4(group, u->params.port);
}

static struct membership *find_member(struct hwmc_udp *u, uint32_t addr)
{
    for (int i = 0; i < u->num_members; i++)
        if (u->members[i].addr == addr)
            return &u->members[i];
    return NULL;
}

static int change_membership(const struct hwmc_udp *u, int fd, uint32_t addr, int what)
{
    const struct ip_mreqn m = {.imr_multiaddr.s_addr = htonl(addr),
                               .imr_ifindex = (int) u->rail.index};

    return setsockopt(fd, IPPROTO_IP, what, &m, sizeof(m)) == 0 ? 0 : errno;
}

/* Finds, or opens, a socket that can take one more group. One that cannot take its first one is
 * closed again: the kernel lets no socket join any. */
static int join_somewhere(struct hwmc_udp *u, uint32_t addr, int *socket)
{
    const int before = u->num_sockets;

    for (int i = 0;; i++) {
        int e;

        if (i > before) {
            close(u->sockets[--u->num_sockets]);
            return BCAST_HW_ERR_LIMIT;
        }
        if (i == u->num_sockets) {
            int err = add_socket(u);

            if (err != BCAST_HW_OK)
                return err;
        }
        e = change_membership(u, u->sockets[i], addr, IP_ADD_MEMBERSHIP);
        if (e == 0) {
            *socket = i;
            return BCAST_HW_OK;
        }
        if (e == ENODEV)
            return BCAST_HW_ERR_DEVICE;
        if (e != ENOBUFS)
            return e == ENOMEM ? BCAST_HW_ERR_LIMIT : BCAST_HW_ERR_GROUP;
    }
}

static int udp_join(struct bcast_hw_fabric *f, uint64_t group)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    uint32_t addr = (uint32_t) group;
    struct membership *m;
    int socket, err;

    if (!valid(u, group))
        return BCAST_HW_ERR_GROUP;
    m = find_member(u, addr);
    if (m != NULL) {
        m->refs++;
        return BCAST_HW_OK;
    }
    if (u->num_members == u->max_members) {
        int max = u->max_members == 0 ? 16 : 2 * u->max_members;

        m = realloc(u->members, (size_t) max * sizeof(*m));
        if (m == NULL)
            return BCAST_HW_ERR_LIMIT;
        u->members = m;
        u->max_members = max;
    }
    err = join_somewhere(u, addr, &socket);
    if (err == BCAST_HW_OK)
        u->members[u->num_members++] = (struct membership){addr, socket, 1};
    return err;
}

static int udp_leave(struct bcast_hw_fabric *f, uint64_t group)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    struct membership *m = valid(u, group) ? find_member(u, (uint32_t) group) : NULL;

    if (m == NULL)
        return BCAST_HW_ERR_GROUP;
    if (--m->refs == 0) {
        change_membership(u, u->sockets[m->socket], m->addr, IP_DROP_MEMBERSHIP);
        *m = u->members[--u->num_members];
    }
    return BCAST_HW_OK;
}

/* The kernel reports a group that no process of the host was in before: so this one leaves and
 * joins it. Where others are in it the kernel has nothing to report. */
static void udp_refresh(struct bcast_hw_fabric *f, uint64_t group)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    const struct membership *m = valid(u, group) ? find_member(u, (uint32_t) group) : NULL;

    if (m == NULL)
        return;
    change_membership(u, u->sockets[m->socket], m->addr, IP_DROP_MEMBERSHIP);
    change_membership(u, u->sockets[m->socket], m->addr, IP_ADD_MEMBERSHIP);
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
        case EIO:    /* the device cannot do checksums */
        case EINVAL: /* the MTU is smaller than it was */
        case EOPNOTSUPP:
            return segments ? REFUSED_SEGMENTS : REFUSED_FOR_GOOD;
        default:
            return REFUSED_FOR_GOOD;
    }
}

/* Up to BATCH datagrams as messages to the kernel. */
struct batch {
    int num;         /* messages */
    int runs[BATCH]; /* datagrams in each */
    struct mmsghdr msgs[BATCH];
    struct iovec iov[BATCH][2];
    union hwmc_segments_control control[BATCH];
};

static void make_batch(struct batch *b, bool segments, const struct sockaddr_in *to,
                       const struct bcast_hw_out *out, int n)
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
            .msg_name = (void *) to,
            .msg_namelen = sizeof(*to),
            .msg_iov = b->iov[i],
            .msg_iovlen = 2 * (size_t) run,
        };
        if (run > 1)
            hwmc_segments_mark(msg, &b->control[b->num], out[i].head_len + out[i].body_len);
    }
}

/* Gives the kernel n <= BATCH datagrams: how many are gone, or a negative error. */
static int send_batch(struct hwmc_udp *u, const struct sockaddr_in *to,
                      const struct bcast_hw_out *out, int n)
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
                    return BCAST_HW_ERR_DEVICE;
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

static int udp_post(struct bcast_hw_fabric *f, uint64_t group, const struct bcast_hw_out *out,
                    int n)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons(u->params.port),
                                   .sin_addr.s_addr = htonl((uint32_t) group)};
    int sent = 0;

    if (!valid(u, group))
        return BCAST_HW_ERR_GROUP;
    u->retry_at = UINT64_MAX;
    while (sent < n) {
        int batch = n - sent < BATCH ? n - sent : BATCH;
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

static size_t udp_queued(struct bcast_hw_fabric *f)
{
    const struct hwmc_udp *u = (const struct hwmc_udp *) f;
    int bytes = 0;

    return ioctl(u->sockets[0], SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (size_t) bytes : 0;
}

static bool is_multicast(struct msghdr *msg)
{
    struct in_pktinfo info = {0};

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c))
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO)
            memcpy(&info, CMSG_DATA(c), sizeof(info));
    return IN_MULTICAST(ntohl(info.ipi_addr.s_addr));
}

/* What was sent to this host alone is none of the job's, whatever it holds. */
static void drop_unicast(struct hwmc_udp *u)
{
    int kept = 0;

    for (int i = 0; i < u->in_num; i++) {
        if (!is_multicast(&u->in[i].msg_hdr)) {
            *u->params.unicast += 1;
            continue;
        }
        if (kept < i) { /* the two change places: every message keeps one buffer */
            struct mmsghdr other = u->in[kept];

            u->in[kept] = u->in[i];
            u->in[i] = other;
        }
        kept++;
    }
    u->in_num = kept;
}

/* Fills the buffers with what came on all sockets, as far as they go. */
static void receive(struct hwmc_udp *u)
{
    u->in_num = u->in_at = 0;
    u->in_off = 0;
    for (int i = 0; i < u->num_sockets && u->in_num < BATCH; i++) {
        int fd = u->sockets[(u->next_socket + i) % u->num_sockets];
        int got;

        for (int k = u->in_num; k < BATCH; k++)
            u->in[k].msg_hdr.msg_controllen = sizeof(u->in_control[0]);
        got = recvmmsg(fd, u->in + u->in_num, (unsigned) (BATCH - u->in_num), MSG_DONTWAIT, NULL);
        u->in_num += got > 0 ? got : 0;
    }
    u->next_socket = (u->next_socket + 1) % u->num_sockets;
    drop_unicast(u);
}

/* Hands over up to `n` of the datagrams that came and are not handed over yet. What is longer than
 * a datagram can be is nobody's. */
static int hand_over(struct hwmc_udp *u, struct bcast_hw_in *in, int n)
{
    int kept = 0;

    while (u->in_at < u->in_num && kept < n) {
        size_t len = u->in[u->in_at].msg_len;
        size_t segment = hwmc_segments_len(&u->in[u->in_at].msg_hdr, len);
        size_t left = len - u->in_off;
        const char *data = (const char *) u->in[u->in_at].msg_hdr.msg_iov->iov_base + u->in_off;

        if (left > 0 && segment <= u->attr.max_datagram)
            in[kept++] = (struct bcast_hw_in){data, left < segment ? left : segment};
        u->in_off += segment;
        if (u->in_off >= len) {
            u->in_off = 0;
            u->in_at++;
        }
    }
    return kept;
}

static int udp_poll(struct bcast_hw_fabric *f, struct bcast_hw_in *in, int n)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;

    if (u->retry_at != UINT64_MAX && now_ns() >= u->retry_at)
        u->retry_at = UINT64_MAX;
    if (u->in_at == u->in_num)
        receive(u);
    return hand_over(u, in, n);
}

static int udp_fds(struct bcast_hw_fabric *f, int *fds, int max)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;

    for (int i = 0; i < u->num_sockets && i < max; i++)
        fds[i] = u->sockets[i];
    return u->num_sockets;
}

static uint64_t udp_deadline(struct bcast_hw_fabric *f)
{
    const struct hwmc_udp *u = (struct hwmc_udp *) f;

    return u->in_at < u->in_num ? 0 : u->retry_at;
}

static void udp_close(struct bcast_hw_fabric *f)
{
    struct hwmc_udp *u = (struct hwmc_udp *) f;

    for (int i = 0; i < u->num_sockets; i++)
        close(u->sockets[i]);
    free(u->members);
    free(u->in_data);
    free(u);
}

static const struct bcast_hw_fabric_ops udp_ops = {
    .name = "udp",
    .query = udp_query,
    .draw = udp_draw,
    .join = udp_join,
    .leave = udp_leave,
    .refresh = udp_refresh,
    .post = udp_post,
    .queued = udp_queued,
    .poll = udp_poll,
    .fds = udp_fds,
    .deadline = udp_deadline,
    .close = udp_close,
};

static void init_buffers(struct hwmc_udp *u)
{
    for (int i = 0; i < BATCH; i++) {
        u->in_iov[i].iov_base = u->in_data + (size_t) i * BUFFER_BYTES;
        u->in_iov[i].iov_len = BUFFER_BYTES;
        u->in[i].msg_hdr.msg_control = &u->in_control[i];
        u->in[i].msg_hdr.msg_iov = &u->in_iov[i];
        u->in[i].msg_hdr.msg_iovlen = 1;
    }
}

int hwmc_udp_open(const struct bcast_hw_rail *rail, const struct hwmc_udp_params *params,
                  struct bcast_hw_fabric **fabric)
{
    struct hwmc_udp *u;
    int err;

    if (!rail->up || rail->mtu < IP_UDP_HEADERS + DATAGRAM_MIN || params->port == 0)
        return BCAST_HW_ERR_INVAL;
    u = calloc(1, sizeof(*u));
    if (u == NULL)
        return BCAST_HW_ERR_NOMEM;
    u->super.ops = &udp_ops;
    u->rail = *rail;
    u->params = *params;
    if (u->params.unicast == NULL)
        u->params.unicast = &u->unicast;
    u->retry_at = UINT64_MAX;
    u->segments = true; /* until the kernel refuses */
    u->attr.group_bits = HWMC_DRAW_IPV4_BITS;
    u->attr.max_datagram = rail->mtu - IP_UDP_HEADERS;
    if (u->attr.max_datagram > LOOPBACK_DATAGRAM)
        u->attr.max_datagram = LOOPBACK_DATAGRAM;
    err = BCAST_HW_ERR_NOMEM;
    u->in_data = malloc((size_t) BATCH * BUFFER_BYTES);
    if (u->in_data == NULL)
        goto fail;
    init_buffers(u);
    err = add_socket(u);
    if (err != BCAST_HW_OK)
        goto fail;
    u->attr.window = window_of(u->sockets[0], u->attr.max_datagram);
    *fabric = &u->super;
    return BCAST_HW_OK;

fail:
    udp_close(&u->super);
    return err;
}
