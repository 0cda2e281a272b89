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
 *   udp   a burst of datagrams is one system call each way (cast.h)
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
#include <poll.h>
#include <sys/resource.h>
#include <time.h>

#include "cast.h"
#include "xsk.h"

#define GROUP "239.255.77.9"
#define PORT 27710 /* of the group; the first process listens on the next one */
#define RESEND_MS 100
#define HOSTS 64
#define PAYLOAD (1500u - CAST_HEADERS - (unsigned) sizeof(struct cast_head))
#define KICK 44u /* frames that are sent at a time */
#define MOST (XSK_RING / 2 * PAYLOAD)

/* A receiver answers that it has the message. busy_us: how long it has held a processor. */
struct answer {
    struct cast_head head;
    uint64_t busy_us;
};

static int size;
static const char *by_send = "udp", *by_recv = "udp", *interface = "eth0";
static uint32_t rounds = 1000;
static struct cast cast = {.bytes = 8, .payload = PAYLOAD};
static struct xsk xsk;

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

static void send_frame(uint32_t round, uint32_t number)
{
    const struct cast_head h = {.round = round, .number = number};
    const size_t len = cast_payload(&cast, number);
    unsigned char *to;

    while (!(to = xsk_room(&xsk)))
        xsk_kick(&xsk);
    memcpy(to, &h, sizeof(h));
    memcpy(to + sizeof(h), cast.message + (size_t) number * PAYLOAD, len);
    xsk_put(&xsk, (uint32_t) (len + sizeof(h)));
}

static void send_message(uint32_t round)
{
    const uint32_t all = cast_datagrams(&cast);
    uint32_t number = 0;

    while (number < all) {
        if (is(by_send, "udp")) {
            number += cast_send(&cast, round, number, all - number);
        } else {
            send_frame(round, number++);
            if (number % KICK == 0 || number == all)
                xsk_kick(&xsk);
        }
    }
}

/* One round at the first process; returns how often it had to send again. */
static uint32_t collect(uint32_t round, uint64_t *others)
{
    char seen[HOSTS] = {0};
    uint32_t again = 0;
    struct answer a;

    send_message(round);
    for (int left = size - 1; left > 0;) {
        if (recv(cast.wire, &a, sizeof(a), 0) != (ssize_t) sizeof(a)) {
            send_message(round);
            again++;
        } else if (a.head.round == round && a.head.rank < HOSTS && !seen[a.head.rank]++) {
            others[a.head.rank] = a.busy_us;
            left--;
        }
    }
    return again;
}

static void answer(uint32_t round)
{
    const struct answer a = {.head = {.rank = (uint32_t) cast.rank, .round = round},
                             .busy_us = busy_us()};

    sendto(cast.wire, &a, sizeof(a), 0, (struct sockaddr *) &cast.first, sizeof(cast.first));
}

/* The last datagram of a round that this process has comes again: it is answered again. */
static void answer_again(const struct cast_head *came, uint32_t round)
{
    if (came->round > 0 && came->round < round && came->number + 1 == cast_datagrams(&cast))
        answer(came->round);
}

static uint32_t receive_burst(uint32_t round, uint32_t next)
{
    struct cast_head came;
    const int got = cast_receive(&cast, round, next, &came);

    answer_again(&came, round);
    return got > 0 ? (uint32_t) got : 0;
}

/* Copies the frames that come next to where they belong. Returns how many. */
static uint32_t receive_frames(uint32_t round, uint32_t next)
{
    struct pollfd ready = {.fd = xsk.fd, .events = POLLIN};
    uint32_t got = 0, len;

    if (xsk_waiting(&xsk) == 0)
        poll(&ready, 1, RESEND_MS);
    while (xsk_waiting(&xsk) > 0 && next + got < cast_datagrams(&cast)) {
        const unsigned char *frame = xsk_first(&xsk, &len);
        struct cast_head came = {.round = 0};

        if (len >= sizeof(came))
            memcpy(&came, frame, sizeof(came));
        if (came.round == round && came.number == next + got) {
            memcpy(cast.message + (size_t) came.number * PAYLOAD, frame + sizeof(came),
                   cast_payload(&cast, came.number));
            got++;
        }
        answer_again(&came, round);
        xsk_taken(&xsk);
    }
    return got;
}

static void receive_message(uint32_t round)
{
    uint32_t next = 0;

    while (next < cast_datagrams(&cast))
        next += is(by_recv, "udp") ? receive_burst(round, next) : receive_frames(round, next);
    answer(round);
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
        err(1, "memory");
    for (uint32_t i = 0; i < warm + rounds; i++) {
        const double at = now_us();

        if (cast.rank > 0) {
            receive_message(i + 1);
            continue;
        }
        again += collect(i + 1, others[i >= warm]) * (i >= warm);
        if (i >= warm)
            us[i - warm] = now_us() - at;
        else
            begin = busy_us();
    }
    if (cast.rank > 0) {
        cast_verify(&cast);
        return;
    }
    for (int i = 1; i < size; i++)
        most = others[1][i] - others[0][i] > most ? others[1][i] - others[0][i] : most;
    qsort(us, rounds, sizeof(*us), by_value);
    printf("%s %s %s %d %u %.1f %.1f %u %.1f %.1f\n", by_send, by_recv, xsk.mode ? xsk.mode : "-",
           size, (unsigned) cast.bytes, us[rounds / 2], us[rounds * 9 / 10], again,
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
    cast.rank = from_environment("PMI_RANK");
    size = from_environment("PMI_SIZE");
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-send=", 6) == 0)
            by_send = argv[i] + 6;
        else if (strncmp(argv[i], "-recv=", 6) == 0)
            by_recv = argv[i] + 6;
        else if (strncmp(argv[i], "-bytes=", 7) == 0)
            cast.bytes = (size_t) atoi(argv[i] + 7);
        else if (strncmp(argv[i], "-rounds=", 8) == 0)
            rounds = (uint32_t) atoi(argv[i] + 8);
        else if (strncmp(argv[i], "-interface=", 11) == 0)
            interface = argv[i] + 11;
        else
            return fprintf(stderr, "xdp: %s: see its head\n", argv[i]), 1;
    }
    if (cast.rank < 0 || size < 2 || size > HOSTS || cast.bytes < 1 || cast.bytes > MOST ||
        rounds < 1)
        return fprintf(stderr, "xdp: a job of 2 to %d, and 1 to %u bytes\n", HOSTS, MOST), 1;
    cast.message = malloc(cast.bytes);
    if (!cast.message)
        err(1, "memory");
    cast_fill(&cast);
    cast_open(&cast, GROUP, PORT, RESEND_MS);
    if (is(cast.rank == 0 ? by_send : by_recv, "xdp"))
        xsk_open(&xsk, interface, cast.group.sin_addr.s_addr, cast.group.sin_port);
    run();
    return 0;
}
