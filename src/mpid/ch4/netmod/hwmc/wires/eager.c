/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * eager: see eager.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv */
#endif

#include "eager.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TIMES 4    /* the least of which counts */
#define CELL 8192u /* of shared memory that a message passes through */

/* Memory of this process that stands for the sender's, the receiver's and what both share. */
struct memory {
    unsigned char from[HWMC_EAGER_MAX / 2], to[HWMC_EAGER_MAX / 2], cell[CELL];
};

size_t hwmc_eager_end(const struct hwmc_eager_costs *costs)
{
    size_t end = 0;

    for (size_t n = HWMC_EAGER_MIN; n < HWMC_EAGER_MAX; n *= 2) {
        if (costs->read(costs->ctx, n) <= costs->copy(costs->ctx, n))
            break;
        end = 2 * n;
    }
    return end;
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static uint64_t read_once(struct memory *m, size_t n)
{
    const struct iovec here = {.iov_base = m->to, .iov_len = n};
    const struct iovec there = {.iov_base = m->from, .iov_len = n};
    const uint64_t begin = now();

    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t) n)
        return UINT64_MAX;
    return now() - begin;
}

static uint64_t copy_once(struct memory *m, size_t n)
{
    const uint64_t begin = now();

    for (size_t at = 0; at < n; at += CELL) {
        memcpy(m->cell, m->from + at, CELL);
        __asm__ volatile("" ::: "memory"); /* else one copy would do */
        memcpy(m->to + at, m->cell, CELL);
        __asm__ volatile("" ::: "memory");
    }
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

static uint64_t copy_cost(void *ctx, size_t n)
{
    return least_of(copy_once, ctx, n);
}

size_t hwmc_eager_measure(void)
{
    struct memory *m = calloc(1, sizeof(*m));
    size_t end = 0;

    if (m != NULL) {
        memset(m->from, 1, sizeof(m->from));
        end = hwmc_eager_end(
            &(struct hwmc_eager_costs){.read = read_cost, .copy = copy_cost, .ctx = m});
    }
    free(m);
    return end;
}
