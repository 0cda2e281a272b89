/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * delay: cables that take time, for a kernel that has no netem.
 *
 *   delay MICROSECONDS NEAR FAR [NEAR FAR ...]
 *
 * NEAR and FAR are interfaces, the inner ends of two pairs of veth. Each frame that comes in on one
 * is held for so long and sent on the other, unchanged and in order. Frames that the kernel leaves
 * in one piece for the network to cut (segmentation and checksum offload) pass as they are, with
 * what it has noted of them. Prints "ready" when all interfaces are open, and then works until it
 * is killed. An interface that is down loses its frames, as a cable does that is pulled.
 *
 * At its end by SIGTERM: "passed N lost N late MICROSECONDS", where late is the longest that a
 * frame was held beyond its time, and lost counts frames that the kernel did not take.
 */

#define _GNU_SOURCE /* ppoll */

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define MAX_ENDS 512
#define ROOM (128 << 10)      /* of a frame with what the kernel notes of it */
#define SOCKET_ROOM (8 << 20) /* bytes of a socket's queues */
#define BATCH 64              /* frames that are taken from a socket at a time */

struct frame {
    struct frame *next;
    int64_t due; /* ns of CLOCK_MONOTONIC */
    size_t bytes;
    char data[];
};

/* An interface, and the frames that came in there and are to leave by the other end. */
struct end {
    int fd;
    struct frame *first, **last;
};

static struct end ends[MAX_ENDS]; /* 2 i and 2 i + 1 belong together */
static int num_ends;
static int64_t hold;
static uint64_t passed, lost;
static int64_t late;
static volatile sig_atomic_t ended;

static void on_signal(int signum)
{
    (void) signum;
    ended = 1;
}

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "delay: %s %s: %s\n", what, which, strerror(errno));
    exit(1);
}

static void set(int fd, int level, int option, int value, const char *name)
{
    if (setsockopt(fd, level, option, &value, sizeof value) != 0)
        fail("setsockopt", name);
}

static void open_end(struct end *end, const char *name)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};

    address.sll_ifindex = (int) if_nametoindex(name);
    if (address.sll_ifindex == 0)
        fail("no interface", name);
    end->last = &end->first;
    /* Protocol 0: nothing comes in before the socket is bound to its interface. */
    end->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (end->fd < 0)
        fail("socket", name);
    set(end->fd, SOL_PACKET, PACKET_VNET_HDR, 1, name);
    set(end->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, name);
    set(end->fd, SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_ROOM, name);
    set(end->fd, SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_ROOM, name);
    if (bind(end->fd, (struct sockaddr *) &address, sizeof address) != 0)
        fail("bind", name);
}

/* What has come in. */
static void take(struct end *end)
{
    static char room[ROOM];

    for (int i = 0; i < BATCH; i++) {
        ssize_t bytes = recv(end->fd, room, sizeof room, MSG_TRUNC);

        if (bytes < 0 && (errno == ENETDOWN || errno == EINTR))
            continue;
        if (bytes < 0)
            return;
        if ((size_t) bytes > sizeof room || (size_t) bytes <= sizeof(struct virtio_net_hdr)) {
            lost++;
            continue;
        }
        struct frame *frame = malloc(sizeof *frame + (size_t) bytes);
        if (frame == NULL)
            fail("malloc", "");
        frame->next = NULL;
        frame->due = clock_now_ns() + hold;
        frame->bytes = (size_t) bytes;
        memcpy(frame->data, room, frame->bytes);
        *end->last = frame;
        end->last = &frame->next;
    }
}

/* What is due; returns when the next is, or INT64_MAX. */
static int64_t pass(struct end *end, int out, int64_t now)
{
    while (end->first != NULL && end->first->due <= now) {
        struct frame *frame = end->first;
        ssize_t sent = send(out, frame->data, frame->bytes, 0);

        if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS))
            return now + 50000; /* its queue is full: soon again */
        if (sent < 0)
            lost++;
        else
            passed++;
        if (now - frame->due > late)
            late = now - frame->due;
        end->first = frame->next;
        if (end->first == NULL)
            end->last = &end->first;
        free(frame);
    }
    return end->first != NULL ? end->first->due : INT64_MAX;
}

static void work(void)
{
    struct pollfd fds[MAX_ENDS];

    for (int i = 0; i < num_ends; i++)
        fds[i] = (struct pollfd){.fd = ends[i].fd, .events = POLLIN};
    while (!ended) {
        int64_t now = clock_now_ns(), next = INT64_MAX;

        for (int i = 0; i < num_ends; i++) {
            int64_t due = pass(&ends[i], ends[i ^ 1].fd, now);

            next = due < next ? due : next;
        }
        now = clock_now_ns();
        struct timespec wait = {.tv_sec = 3600};
        if (next != INT64_MAX) {
            int64_t left = next > now ? next - now : 0;

            wait = (struct timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        }
        if (ppoll(fds, (nfds_t) num_ends, &wait, NULL) <= 0)
            continue;
        for (int i = 0; i < num_ends; i++)
            if (fds[i].revents != 0)
                take(&ends[i]);
    }
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};

    if (argc < 4 || argc % 2 != 0 || argc - 2 > MAX_ENDS) {
        fprintf(stderr, "usage: delay MICROSECONDS NEAR FAR [NEAR FAR ...]\n");
        return 1;
    }
    hold = (int64_t) (atof(argv[1]) * 1000);
    for (int i = 2; i < argc; i++)
        open_end(&ends[num_ends++], argv[i]);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    setpriority(PRIO_PROCESS, 0, -15); /* a cable does not wait for processors; where it may */
    printf("ready\n");
    fflush(stdout);
    work();
    fprintf(stderr, "passed %llu lost %llu late %lld\n", (unsigned long long) passed,
            (unsigned long long) lost, (long long) (late / 1000));
    return 0;
}
