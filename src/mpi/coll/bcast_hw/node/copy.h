/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * copy: methods of single copy, from the memory of one process to that of another on the same host.
 * Which of them work is not asked but tried: bcast_hw_node_copy_works. Of nothing else than
 * port/err.h, so that a netmod can have it too.
 *
 * A process number alone does not name a process: in another PID namespace it may be a stranger's.
 * So each process has a random key at an address that it tells, and nothing is believed of a
 * process that does not have that key there.
 */
#ifndef BCAST_HW_NODE_COPY_H_INCLUDED
#define BCAST_HW_NODE_COPY_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../port/err.h"

/* Method, name, what it is; the first that works on all ranks is used. */
#define BCAST_HW_NODE_COPIES(X)                                                                    \
    X(MEMCPY, memcpy, "ranks are threads of one process")                                          \
    X(XPMEM, xpmem, "memory of the other process is mapped here")                                  \
    X(CMA, cma, "cross-memory attach: process_vm_readv and process_vm_writev")

enum bcast_hw_node_copy_method {
#define X(id, name, text) BCAST_HW_NODE_COPY_##id,
    BCAST_HW_NODE_COPIES(X)
#undef X
        BCAST_HW_NODE_COPY_NUM
};

/* The bit of a method in a set. */
#define BCAST_HW_NODE_COPY_BIT(method) (UINT64_C(1) << (method))

/* Whose memory it is. Told as it is, between processes of one host. */
struct bcast_hw_node_owner {
    int64_t pid;
    int64_t share;   /* XPMEM's name of all its memory; 0: it has none */
    uint64_t key_at; /* address of its key, in its own memory */
    uint64_t key;
};

/* Another process's memory, for one thread at a time. All zero but the owner before the first
 * copy. */
struct bcast_hw_node_peer {
    struct bcast_hw_node_owner owner;
    struct bcast_hw_node_mappings *mappings; /* of XPMEM; NULL: none yet */
};

/* get: `bytes` from address `from` of the peer to `to`, here. put: from `from`, here, to its
 * address `to`. When they return, all bytes are where they belong. OK; ERR_PEER: the process is
 * gone or does not allow it; ERR_INVAL: it has no such memory; ERR_LIMIT, ERR_NOMEM. at: where
 * bytes of the peer can be read here, until the next call with that peer; NULL: nowhere, only get
 * brings them. */
struct bcast_hw_node_copy {
    const char *name;
    int (*get)(struct bcast_hw_node_peer *peer, void *to, uint64_t from, size_t bytes);
    int (*put)(struct bcast_hw_node_peer *peer, uint64_t to, const void *from, size_t bytes);
    const void *(*at)(struct bcast_hw_node_peer *peer, uint64_t from, size_t bytes);
};

const struct bcast_hw_node_copy *bcast_hw_node_copy_of(enum bcast_hw_node_copy_method method);

/* This process, as it tells others of itself, who want to use one of `methods`. ERR_LIMIT: the
 * system gives no random key, and nobody may read here. Thread-safe. */
int bcast_hw_node_copy_self(struct bcast_hw_node_owner *self, uint64_t methods);

/* What methods have made for others to get at this process is taken back, when nobody does any
 * more. */
void bcast_hw_node_copy_close(void);

/* Whether this process may read the owner's memory so, and the key there is the one. */
bool bcast_hw_node_copy_works(enum bcast_hw_node_copy_method method,
                              const struct bcast_hw_node_owner *owner);

/* Gives back what copies have made. */
void bcast_hw_node_peer_close(struct bcast_hw_node_peer *peer);

#endif /* BCAST_HW_NODE_COPY_H_INCLUDED */
