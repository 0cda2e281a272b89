/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * eager: see eager.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv, accept4 */
#endif

#include "eager.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TIMES 4 /* the least of which counts */
#define TURN 64 /* bytes of a message that asks, or answers */
#define LINE 64 /* bytes: no cache has shorter lines */

/* Memory of this process that stands for the sender's, the receiver's and what both share; and the
 * ends of a connection between them. */
struct memory {
    unsigned char from[HWMC_EAGER_MAX / 2], to[HWMC_EAGER_MAX / 2], shared[HWMC_EAGER_MAX / 2];
    int ends[2];
    uint64_t turn; /* ns of a round trip by it */
};

size_t hwmc_eager_end(const struct hwmc_eager_costs *costs)
{
    size_t end = 0;

    for (size_t n = HWMC_EAGER_MIN; n < HWMC_EAGER_MAX; n *= 2) {
        if (costs->rendezvous(costs->ctx, n) <= costs->eager(costs->ctx, n))
            break;
        end = 2 * n;
    }
    return end;
}

size_t hwmc_eager_end_on_wire(size_t end, uint32_t mbit)
{
    const uint64_t longest = (uint64_t) mbit * HWMC_EAGER_WIRE_US / 8;

    while (mbit > 0 && end / 2 > longest)
        end /= 2;
    return end > HWMC_EAGER_MIN ? end : 0;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* False where a program cannot tell caches to give up what they have. */
static bool can_evict(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/* Out of all caches of this processor: the next access takes as long as where another processor
 * has written, or longer. */
static void evict(const unsigned char *from, size_t n)
{
    for (size_t at = 0; at < n; at += LINE) {
#if defined(__x86_64__)
        __asm__ volatile("clflush %0" : : "m"(from[at]) : "memory");
#elif defined(__aarch64__)
        __asm__ volatile("dc civac, %0" : : "r"(from + at) : "memory");
#endif
    }
    __sync_synchronize();
}

static uint64_t read_once(struct memory *m, size_t n)
{
    const struct iovec here = {.iov_base = m->to, .iov_len = n};
    const struct iovec there = {.iov_base = m->from, .iov_len = n};
    uint64_t begin;

    evict(m->from, n);
    begin = now();
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t) n)
        return UINT64_MAX;
    return now() - begin;
}

/* A compiler that sees two copies makes one of them. */
static uint64_t copy(unsigned char *to, const unsigned char *from, size_t n)
{
    const uint64_t begin = now();

    memcpy(to, from, n);
    __asm__ volatile("" ::: "memory");
    return now() - begin;
}

/* Each had the shared memory in its cache last when the other begins. */
static uint64_t copy_twice(struct memory *m, size_t n)
{
    uint64_t ns;

    evict(m->shared, n);
    ns = copy(m->shared, m->from, n);
    evict(m->shared, n);
    return ns + copy(m->to, m->shared, n);
}

static uint64_t copy_once(struct memory *m, size_t n)
{
    return copy(m->to, m->from, n);
}

static uint64_t turn_once(struct memory *m, size_t n)
{
    unsigned char word[TURN] = {0};
    const uint64_t begin = now();

    (void) n;
    for (int i = 0; i < 2; i++)
        if (send(m->ends[i], word, TURN, MSG_NOSIGNAL) != TURN ||
            recv(m->ends[1 - i], word, TURN, MSG_WAITALL) != TURN)
            return UINT64_MAX;
    return now() - begin;
}

static uint64_t least_of(uint64_t (*once)(struct memory *m, size_t n), void *ctx, size_t n)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TIMES; i++) {
        const uint64_t ns = once(ctx, n);

        least = ns < least ? ns : least;
    }
    return least;
}

static uint64_t read_cost(void *ctx, size_t n)
{
    return least_of(read_once, ctx, n);
}

static uint64_t copies_cost(void *ctx, size_t n)
{
    return least_of(copy_twice, ctx, n);
}

static uint64_t turn_cost(void *ctx, size_t n)
{
    (void) n;
    return ((const struct memory *) ctx)->turn;
}

static uint64_t copy_cost(void *ctx, size_t n)
{
    return least_of(copy_once, ctx, n);
}

static struct memory *memory_open(void)
{
    struct memory *m = calloc(1, sizeof(*m));

    if (m != NULL)
        memset(m->from, 1, sizeof(m->from));
    return m;
}

size_t hwmc_eager_end_in_host(void)
{
    struct memory *m = can_evict() ? memory_open() : NULL;
    size_t end = 0;

    if (m != NULL)
        end = hwmc_eager_end(
            &(struct hwmc_eager_costs){.rendezvous = read_cost, .eager = copies_cost, .ctx = m});
    free(m);
    return end;
}

/* Calls that wait for what a filter drops end with an error. */
static bool limit_waits(int fd)
{
    const struct timeval limit = {.tv_usec = 100000};

    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0;
}

/* Two ends of a connection by the loopback device. */
static bool connect_ends(int listener, int ends[2])
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    struct sockaddr_in peer = {.sin_port = 0};
    const int on = 1;

    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (ends[0] < 0 || !limit_waits(ends[0]) || !limit_waits(listener) ||
        bind(listener, (struct sockaddr *) &addr, len) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *) &addr, &len) != 0 ||
        connect(ends[0], (struct sockaddr *) &addr, len) != 0)
        return false;
    len = sizeof(peer);
    ends[1] = accept4(listener, (struct sockaddr *) &peer, &len, SOCK_CLOEXEC);
    len = sizeof(addr);
    if (getsockname(ends[0], (struct sockaddr *) &addr, &len) != 0 ||
        peer.sin_port != addr.sin_port)
        return false; /* somebody else came first */
    for (int i = 0; i < 2; i++)
        if (!limit_waits(ends[i]) ||
            setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
            return false;
    return true;
}

size_t hwmc_eager_end_by_tcp(void)
{
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct memory *m = memory_open();
    size_t end = 0;

    if (m != NULL) {
        m->ends[0] = m->ends[1] = -1;
        if (listener >= 0 && connect_ends(listener, m->ends)) {
            m->turn = least_of(turn_once, m, 0);
            end = hwmc_eager_end(
                &(struct hwmc_eager_costs){.rendezvous = turn_cost, .eager = copy_cost, .ctx = m});
        }
        for (int i = 0; i < 2; i++)
            if (m->ends[i] >= 0)
                close(m->ends[i]);
    }
    if (listener >= 0)
        close(listener);
    free(m);
    return end;
}
