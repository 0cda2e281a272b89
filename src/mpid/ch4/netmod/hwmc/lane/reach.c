/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reach: see reach.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv */
#endif

#include "reach.h"

#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t mark[HWMC_REACH_MARK];
static pid_t marked; /* whose mark that is: a child has to draw its own */

static bool draw_mark(void)
{
    if (marked == getpid())
        return true;
    if (getrandom(mark, sizeof(mark), GRND_NONBLOCK) != (ssize_t) sizeof(mark))
        return false;
    marked = getpid();
    return true;
}

bool hwmc_reach_describe(struct hwmc_reach *r, const void *bytes)
{
    if (!draw_mark())
        return false;
    r->pid = marked;
    r->at = (uint64_t) (uintptr_t) bytes;
    r->mark_at = (uint64_t) (uintptr_t) mark;
    memcpy(r->mark, mark, sizeof(mark));
    return true;
}

/* The kernel may read less than was asked for. */
static bool read_all(int64_t pid, uint64_t at, void *to, size_t len)
{
    while (len > 0) {
        struct iovec mine = {to, len};
        struct iovec theirs = {(void *) (uintptr_t) at, len};
        ssize_t got = process_vm_readv((pid_t) pid, &mine, 1, &theirs, 1, 0);

        if (got <= 0)
            return false;
        to = (char *) to + got;
        at += (uint64_t) got;
        len -= (size_t) got;
    }
    return true;
}

bool hwmc_reach_check(const struct hwmc_reach *r)
{
    uint64_t found[HWMC_REACH_MARK];

    return read_all(r->pid, r->mark_at, found, sizeof(found)) &&
           memcmp(found, r->mark, sizeof(found)) == 0;
}

bool hwmc_reach_read(const struct hwmc_reach *r, uint64_t offset, void *to, size_t len)
{
    return read_all(r->pid, r->at + offset, to, len);
}
