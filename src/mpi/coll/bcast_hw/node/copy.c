/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * copy: see copy.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv, process_vm_writev */
#endif
#include "copy.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

static int memcpy_get(int64_t pid, void *to, uint64_t from, size_t bytes)
{
    (void) pid;
    memcpy(to, (const void *) (uintptr_t) from, bytes);
    return BCAST_HW_OK;
}

static int memcpy_put(int64_t pid, uint64_t to, const void *from, size_t bytes)
{
    (void) pid;
    memcpy((void *) (uintptr_t) to, from, bytes);
    return BCAST_HW_OK;
}

typedef ssize_t (*vm_call)(pid_t pid, const struct iovec *local, unsigned long num_local,
                           const struct iovec *remote, unsigned long num_remote,
                           unsigned long flags);

/* The kernel moves 2 GiB at a time at most, and less where a part of the memory is not there. */
static int cma(vm_call call, int64_t pid, uint64_t local, uint64_t remote, size_t bytes)
{
    while (bytes > 0) {
        struct iovec here = {(void *) (uintptr_t) local, bytes};
        struct iovec there = {(void *) (uintptr_t) remote, bytes};
        ssize_t n = call((pid_t) pid, &here, 1, &there, 1, 0);

        if (n <= 0)
            return n < 0 && errno == EFAULT ? BCAST_HW_ERR_INVAL : BCAST_HW_ERR_PEER;
        local += (size_t) n;
        remote += (size_t) n;
        bytes -= (size_t) n;
    }
    return BCAST_HW_OK;
}

static int cma_get(int64_t pid, void *to, uint64_t from, size_t bytes)
{
    return cma(process_vm_readv, pid, (uintptr_t) to, from, bytes);
}

static int cma_put(int64_t pid, uint64_t to, const void *from, size_t bytes)
{
    return cma(process_vm_writev, pid, (uintptr_t) from, to, bytes);
}

static const struct bcast_hw_node_copy methods[] = {
#define X(id, name, text) {#name, name##_get, name##_put},
    BCAST_HW_NODE_COPIES(X)
#undef X
};

const struct bcast_hw_node_copy *bcast_hw_node_copy_of(enum bcast_hw_node_copy_method method)
{
    return &methods[method];
}
