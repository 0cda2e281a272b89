/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * copy: methods of single copy, from the memory of one rank to that of another. Which of them work
 * is not asked but tried: bcast_hw_node_group_join. Where none does, messages go through the
 * segment.
 */
#ifndef BCAST_HW_NODE_COPY_H_INCLUDED
#define BCAST_HW_NODE_COPY_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "../port/err.h"

/* Method, name, what it is; the first that works on all ranks is used. */
#define BCAST_HW_NODE_COPIES(X)                                                                    \
    X(MEMCPY, memcpy, "ranks are threads of one process")                                          \
    X(CMA, cma, "cross-memory attach: process_vm_readv and process_vm_writev")

enum bcast_hw_node_copy_method {
#define X(id, name, text) BCAST_HW_NODE_COPY_##id,
    BCAST_HW_NODE_COPIES(X)
#undef X
        BCAST_HW_NODE_COPY_NUM
};

/* The bit of a method in a set. */
#define BCAST_HW_NODE_COPY_BIT(method) (UINT64_C(1) << (method))

/* get: `bytes` from address `from` of process `pid` to `to`, here. put: from `from`, here, to its
 * address `to`. When they return, all bytes are where they belong. OK; ERR_PEER: the process is
 * gone or does not allow it; ERR_INVAL: it has no such memory. */
struct bcast_hw_node_copy {
    const char *name;
    int (*get)(int64_t pid, void *to, uint64_t from, size_t bytes);
    int (*put)(int64_t pid, uint64_t to, const void *from, size_t bytes);
};

const struct bcast_hw_node_copy *bcast_hw_node_copy_of(enum bcast_hw_node_copy_method method);

#endif /* BCAST_HW_NODE_COPY_H_INCLUDED */
