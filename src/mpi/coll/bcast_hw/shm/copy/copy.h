/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * copy: methods of single copy, from the memory of one process to that of another on the same host.
 * A trial decides which of them work: hwmc_shm_copy_works. Depends only on port/err.h, so that a
 * netmod can use it too.
 *
 * A process number alone does not identify a process: in another PID namespace it may be a
 * stranger's. So each process publishes the address of a random key, and a copy method counts as
 * working only if it finds that key there.
 */
#ifndef HWMC_SHM_COPY_COPY_H_INCLUDED
#define HWMC_SHM_COPY_COPY_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../port/err.h"

/* Method, name, what it is; the first that works on all ranks is used. */
#define HWMC_SHM_COPIES(X)                                                                         \
    X(MEMCPY, memcpy, "ranks are threads of one process")                                          \
    X(XPMEM, xpmem, "memory of the other process is mapped here")                                  \
    X(CMA, cma, "cross-memory attach: process_vm_readv and process_vm_writev")

enum hwmc_shm_copy_method {
#define X(id, name, text) HWMC_SHM_COPY_##id,
    HWMC_SHM_COPIES(X)
#undef X
        HWMC_SHM_COPY_NUM
};

/* The bit of a method in a set. */
#define HWMC_SHM_COPY_BIT(method) (UINT64_C(1) << (method))

/* Whose memory it is. Told as it is, between processes of one host. */
struct hwmc_shm_owner {
    int64_t pid;
    int64_t share;   /* XPMEM's name of all its memory; 0: it has none */
    uint64_t key_at; /* address of its key, in its own memory */
    uint64_t key;
};

/* Another process's memory, for one thread at a time. All zero but the owner before the first
 * copy. */
struct hwmc_shm_peer {
    struct hwmc_shm_owner owner;
    struct hwmc_shm_mappings *mappings; /* of XPMEM; NULL: none yet */
};

/* get: `bytes` from address `from` of the peer to `to`, here. put: from `from`, here, to its
 * address `to`. When they return, all bytes are where they belong. OK; ERR_PEER: the process is
 * gone or does not allow it; ERR_INVAL: it has no such memory; ERR_LIMIT, ERR_NOMEM. at: where
 * bytes of the peer can be read here, until the next call with that peer; NULL: nowhere, only get
 * brings them. */
struct hwmc_shm_copy {
    const char *name;
    int (*get)(struct hwmc_shm_peer *peer, void *to, uint64_t from, size_t bytes);
    int (*put)(struct hwmc_shm_peer *peer, uint64_t to, const void *from, size_t bytes);
    const void *(*at)(struct hwmc_shm_peer *peer, uint64_t from, size_t bytes);
};

const struct hwmc_shm_copy *hwmc_shm_copy_of(enum hwmc_shm_copy_method method);

/* This process, as it tells others of itself, who want to use one of `methods`. ERR_LIMIT: the
 * system gives no random key, and nobody may read here. Thread-safe. */
int hwmc_shm_copy_self(struct hwmc_shm_owner *self, uint64_t methods);

/* What methods have made for others to get at this process is taken back, when nobody does any
 * more. */
void hwmc_shm_copy_close(void);

/* Whether this process may read the owner's memory so, and the key there is the one. */
bool hwmc_shm_copy_works(enum hwmc_shm_copy_method method, const struct hwmc_shm_owner *owner);

/* Gives back what copies have made. */
void hwmc_shm_peer_close(struct hwmc_shm_peer *peer);

#endif /* HWMC_SHM_COPY_COPY_H_INCLUDED */
