/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * usage: xdp [-send=udp|xdp] [-recv=udp|xdp] [-bytes=N] [-rounds=N] [-interface=NAME]
 *
 * What a multicast takes by ordinary sockets and by AF_XDP (xsk.h). In each round the first process
 * multicasts a message of N bytes in datagrams as long as an MTU of 1500 allows; each other one has
 * it in one piece when it answers by UDP; the round is over when all have answered. To be started
 * by mpiexec, one process a host: rank and size are those of PMI.
 *
 *   udp   a burst of datagrams is one system call each way (UDP_SEGMENT, UDP_GRO), payloads are
 *         received where they belong
 *   xdp   frames are copied to the socket's memory, and one system call sends all of a message;
 *         they are copied from there where they belong
 *
 * All sleep while nothing comes. What has not come after RESEND_MS is multicast again. Prints
 *
 *   SEND RECV MODE HOSTS BYTES MEDIAN P90 RESENT ROOT OTHER
 *
 * us of a round; how many messages were sent again; us that the first process, and the busiest
 * other one, held a processor for a round.
 */
#include <netinet/udp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

#include "xsk.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define GROUP "239.255.77.9"
#define PORT 27710 /* of the group; the first process listens on the next one */
#define FIRST "10.77.0.1"
#define RESEND_MS 100
#define HOSTS 64
#define PAYLOAD (1500u - 28u - (unsigned) sizeof(struct head))
#define BURST 44u        /* datagrams: the kernel takes 64 KiB */
#define BUFFER (8 << 20) /* of a socket, bytes */
#define MOST (XSK_RING / 2 * PAYLOAD)

/* What a datagram begins with; an answer has no more, and says how long its process has held a
 * processor. */
struct head {
    uint32_t rank, round, number, pad;
    uint64_t busy_us;
};

static int rank, size;
static const char *by_send = "udp", *by_recv = "udp", *interface = "eth0";
static uint32_t bytes = 8, rounds = 1000;
static int wire;
static struct sockaddr_in group, first;
static struct xsk xsk;
static unsigned char *message;

static void fail(const char *what)
{
    fprintf(stderr, "xdp: %s: ", what);
    perror(NULL);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static uint64_t busy_us(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (uint64_t) (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
           (uint64_t) (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static int is(const char *by, const char *what)
{
    return strcmp(by, what) == 0;
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
    if (wire < 0 || bind(wire, (struct sockaddr *) &here, sizeof(here)) != 0 ||
        setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0)
        fail("socket");
    if (rank > 0 && (setsockopt(wire, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request)) ||
                     setsockopt(wire, IPPROTO_UDP, UDP_GRO, &yes, sizeof(yes))))
        fail("membership");
    if (setsockopt(wire, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) != 0)
        fail("receive buffer");
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t datagrams(void)
{
    return (bytes + PAYLOAD - 1) / PAYLOAD;
}

static uint32_t payload_of(uint32_t number)
{
    return least(PAYLOAD, bytes - number * PAYLOAD);
}

/* Headers and places of a burst from `number` on; returns how many datagrams. */
static uint32_t lay_burst(uint32_t number, struct head *heads, struct iovec *iov)
{
    const uint32_t n = least(BURST, datagrams() - number);

    for (uint32_t i = 0; i < n; i++) {
        iov[2 * i] = (struct iovec){&heads[i], sizeof(*heads)};
        iov[2 * i + 1] =
            (struct iovec){message + (size_t) (number + i) * PAYLOAD, payload_of(number + i)};
    }
    return n;
}

static uint32_t send_burst(uint32_t round, uint32_t number)
{
    struct head heads[BURST];
    struct iovec iov[2 * BURST];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(uint16_t))];
    } control = {.head = {.cmsg_level = IPPROTO_UDP,
                          .cmsg_type = UDP_SEGMENT,
                          .cmsg_len = CMSG_LEN(sizeof(uint16_t))}};
    const uint16_t segment = (uint16_t) (PAYLOAD + sizeof(struct head));
    const uint32_t n = lay_burst(number, heads, iov);
    struct msghdr msg = {.msg_name = &group,
                         .msg_namelen = sizeof(group),
                         .msg_iov = iov,
                         .msg_iovlen = 2 * (size_t) n};

    for (uint32_t i = 0; i < n; i++)
        heads[i] = (struct head){.round = round, .number = number + i};
    memcpy(CMSG_DATA(&control.head), &segment, sizeof(segment));
    if (n > 1) {
        msg.msg_control = &control;
        msg.msg_controllen = sizeof(control);
    }
    sendmsg(wire, &msg, 0);
    return n;
}

static void send_frame(uint32_t round, uint32_t number)
{
    const struct head h = {.round = round, .number = number};
    const uint32_t len = payload_of(number);
    unsigned char *to;

    while (!(to = xsk_room(&xsk)))
        xsk_kick(&xsk);
    memcpy(to, &h, sizeof(h));
    memcpy(to + sizeof(h), message + (size_t) number * PAYLOAD, len);
    xsk_put(&xsk, len + (uint32_t) sizeof(h));
}

static void send_message(uint32_t round)
{
    uint32_t number = 0;

    while (number < datagrams()) {
        if (is(by_send, "udp")) {
            number += send_burst(round, number);
        } else {
            send_frame(round, number++);
            if (number % BURST == 0 || number == datagrams())
                xsk_kick(&xsk);
        }
    }
}

/* One round at the first process; returns how often it had to send again. */
static uint32_t collect(uint32_t round, uint64_t *others)
{
    char seen[HOSTS] = {0};
    uint32_t again = 0;
    struct head h;

    send_message(round);
    for (int left = size - 1; left > 0;) {
        if (recv(wire, &h, sizeof(h), 0) != (ssize_t) sizeof(h)) {
            send_message(round);
            again++;
        } else if (h.round == round && h.rank < HOSTS && !seen[h.rank]++) {
            others[h.rank] = h.busy_us;
            left--;
        }
    }
    return again;
}

/* What is next, to where it belongs: how many datagrams. Those of a round that this process has are
 * answered again. */
static uint32_t take(const struct head *h, uint32_t round, uint32_t next)
{
    const struct head answer = {.rank = (uint32_t) rank, .round = h->round, .busy_us = busy_us()};

    if (h->round < round && h->number + 1 == datagrams())
        sendto(wire, &answer, sizeof(answer), 0, (struct sockaddr *) &first, sizeof(first));
    return h->round == round && h->number == next;
}

static uint32_t receive_burst(uint32_t round, uint32_t next)
{
    struct head heads[BURST];
    struct iovec iov[2 * BURST];
    char control[64];
    const uint32_t n = lay_burst(next, heads, iov);
    struct msghdr msg = {.msg_iov = iov,
                         .msg_iovlen = 2 * (size_t) n,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    const ssize_t len = recvmsg(wire, &msg, 0);
    const ssize_t each = (ssize_t) (PAYLOAD + sizeof(struct head));

    if (len < (ssize_t) sizeof(struct head) || !take(&heads[0], round, next))
        return 0;
    return (uint32_t) ((len + each - 1) / each);
}

static uint32_t receive_frames(uint32_t round, uint32_t next)
{
    struct pollfd ready = {.fd = xsk.fd, .events = POLLIN};
    uint32_t got = 0, len;

    if (xsk_waiting(&xsk) == 0)
        poll(&ready, 1, RESEND_MS);
    while (xsk_waiting(&xsk) > 0 && next + got < datagrams()) {
        const unsigned char *frame = xsk_first(&xsk, &len);
        struct head h;

        memcpy(&h, frame, sizeof(h));
        if (len >= sizeof(h) && take(&h, round, next + got)) {
            memcpy(message + (size_t) h.number * PAYLOAD, frame + sizeof(h), payload_of(h.number));
            got++;
        }
        xsk_taken(&xsk);
    }
    return got;
}

static void receive_message(uint32_t round)
{
    struct head answer = {.rank = (uint32_t) rank, .round = round};
    uint32_t next = 0;

    while (next < datagrams())
        next += is(by_recv, "udp") ? receive_burst(round, next) : receive_frames(round, next);
    answer.busy_us = busy_us();
    sendto(wire, &answer, sizeof(answer), 0, (struct sockaddr *) &first, sizeof(first));
}

static void check_message(void)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (message[i] != (unsigned char) (i * 7 + i / 251)) {
            fprintf(stderr, "xdp: byte %u of rank %d is wrong\n", i, rank);
            exit(1);
        }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return x < y ? -1 : x > y;
}

/* The first tenth of the rounds does not count. */
static void run(void)
{
    const uint32_t warm = rounds / 10 + 1;
    uint64_t others[2][HOSTS] = {{0}}, begin = 0, most = 0;
    double *us = calloc(rounds, sizeof(*us));
    uint32_t again = 0;

    if (!us)
        fail("memory");
    for (uint32_t i = 0; i < warm + rounds; i++) {
        const double at = now_us();

        if (rank > 0) {
            receive_message(i + 1);
            continue;
        }
        again += collect(i + 1, others[i >= warm]) * (i >= warm);
        if (i >= warm)
            us[i - warm] = now_us() - at;
        else
            begin = busy_us();
    }
    if (rank > 0) {
        check_message();
        return;
    }
    for (int i = 1; i < size; i++)
        most = others[1][i] - others[0][i] > most ? others[1][i] - others[0][i] : most;
    qsort(us, rounds, sizeof(*us), by_value);
    printf("%s %s %s %d %u %.1f %.1f %u %.1f %.1f\n", by_send, by_recv, xsk.mode ? xsk.mode : "-",
           size, bytes, us[rounds / 2], us[rounds * 9 / 10], again,
           (double) (busy_us() - begin) / rounds, (double) most / rounds);
    free(us);
}

static int from_environment(const char *name)
{
    const char *text = getenv(name);

    return text ? atoi(text) : -1;
}

int main(int argc, char **argv)
{
    rank = from_environment("PMI_RANK");
    size = from_environment("PMI_SIZE");
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-send=", 6) == 0)
            by_send = argv[i] + 6;
        else if (strncmp(argv[i], "-recv=", 6) == 0)
            by_recv = argv[i] + 6;
        else if (strncmp(argv[i], "-bytes=", 7) == 0)
            bytes = (uint32_t) atoi(argv[i] + 7);
        else if (strncmp(argv[i], "-rounds=", 8) == 0)
            rounds = (uint32_t) atoi(argv[i] + 8);
        else if (strncmp(argv[i], "-interface=", 11) == 0)
            interface = argv[i] + 11;
        else
            return fprintf(stderr, "xdp: %s: see its head\n", argv[i]), 1;
    }
    if (rank < 0 || size < 2 || size > HOSTS || bytes < 1 || bytes > MOST || rounds < 1)
        return fprintf(stderr, "xdp: a job of 2 to %d, and 1 to %u bytes\n", HOSTS, MOST), 1;
    message = malloc(bytes);
    if (!message)
        fail("memory");
    for (uint32_t i = 0; i < bytes; i++)
        message[i] = rank == 0 ? (unsigned char) (i * 7 + i / 251) : 0;
    open_socket();
    if (is(rank == 0 ? by_send : by_recv, "xdp"))
        xsk_open(&xsk, interface, group.sin_addr.s_addr, group.sin_port);
    run();
    return 0;
}
