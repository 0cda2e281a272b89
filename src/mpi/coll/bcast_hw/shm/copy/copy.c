/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * copy: see copy.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* process_vm_readv, process_vm_writev, getrandom */
#endif
#include "copy.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mapping.h"

static int memcpy_get(struct hwmc_shm_peer *peer, void *to, uint64_t from, size_t bytes)
{
    (void) peer;
    memcpy(to, (const void *) (uintptr_t) from, bytes);
    return HWMC_OK;
}

static int memcpy_put(struct hwmc_shm_peer *peer, uint64_t to, const void *from, size_t bytes)
{
    (void) peer;
    memcpy((void *) (uintptr_t) to, from, bytes);
    return HWMC_OK;
}

static const void *memcpy_at(struct hwmc_shm_peer *peer, uint64_t from, size_t bytes)
{
    (void) peer;
    (void) bytes;
    return (const void *) (uintptr_t) from;
}

static int xpmem_get(struct hwmc_shm_peer *peer, void *to, uint64_t from, size_t bytes)
{
    void *here;
    int err = hwmc_shm_mapping_find(&peer->mappings, peer->owner.share, from, bytes, &here);

    if (err == HWMC_OK)
        memcpy(to, here, bytes);
    return err;
}

static int xpmem_put(struct hwmc_shm_peer *peer, uint64_t to, const void *from, size_t bytes)
{
    void *here;
    int err = hwmc_shm_mapping_find(&peer->mappings, peer->owner.share, to, bytes, &here);

    if (err == HWMC_OK)
        memcpy(here, from, bytes);
    return err;
}

static const void *xpmem_at(struct hwmc_shm_peer *peer, uint64_t from, size_t bytes)
{
    void *here;
    int err = hwmc_shm_mapping_find(&peer->mappings, peer->owner.share, from, bytes, &here);

    return err == HWMC_OK ? here : NULL;
}

typedef ssize_t (*vm_call)(pid_t pid, const struct iovec *local, unsigned long num_local,
                           const struct iovec *remote, unsigned long num_remote,
                           unsigned long flags);

/* The kernel moves 2 GiB at a time at most, and less where a part of the memory is not there. */
static int cma_copy(vm_call call, int64_t pid, uint64_t local, uint64_t remote, size_t bytes)
{
    while (bytes > 0) {
        struct iovec here = {(void *) (uintptr_t) local, bytes};
        struct iovec there = {(void *) (uintptr_t) remote, bytes};
        ssize_t n = call((pid_t) pid, &here, 1, &there, 1, 0);

        if (n <= 0)
            return n < 0 && errno == EFAULT ? HWMC_ERR_INVAL : HWMC_ERR_PEER;
        local += (size_t) n;
        remote += (size_t) n;
        bytes -= (size_t) n;
    }
    return HWMC_OK;
}

static int cma_get(struct hwmc_shm_peer *peer, void *to, uint64_t from, size_t bytes)
{
    return cma_copy(process_vm_readv, peer->owner.pid, (uintptr_t) to, from, bytes);
}

static int cma_put(struct hwmc_shm_peer *peer, uint64_t to, const void *from, size_t bytes)
{
    return cma_copy(process_vm_writev, peer->owner.pid, (uintptr_t) from, to, bytes);
}

static const void *cma_at(struct hwmc_shm_peer *peer, uint64_t from, size_t bytes)
{
    (void) peer;
    (void) from;
    (void) bytes;
    return NULL;
}

static const struct hwmc_shm_copy copy_methods[] = {
#define X(id, name, text) {#name, name##_get, name##_put, name##_at},
    HWMC_SHM_COPIES(X)
#undef X
};

const struct hwmc_shm_copy *hwmc_shm_copy_of(enum hwmc_shm_copy_method method)
{
    return &copy_methods[method];
}

static pthread_mutex_t key_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t proof_key;
static pid_t keyed_pid; /* whose key that is: a child has to draw its own */

static int draw_key(void)
{
    if (keyed_pid == getpid())
        return HWMC_OK;
    if (getrandom(&proof_key, sizeof(proof_key), GRND_NONBLOCK) != (ssize_t) sizeof(proof_key))
        return HWMC_ERR_LIMIT;
    keyed_pid = getpid();
    return HWMC_OK;
}

int hwmc_shm_copy_self(struct hwmc_shm_owner *self, uint64_t methods)
{
    bool shares = methods & HWMC_SHM_COPY_BIT(HWMC_SHM_COPY_XPMEM);
    int err;

    pthread_mutex_lock(&key_lock);
    err = draw_key();
    *self = (struct hwmc_shm_owner){
        .pid = getpid(),
        .share = shares ? hwmc_shm_mapping_share() : 0,
        .key_at = (uintptr_t) &proof_key,
        .key = proof_key,
    };
    pthread_mutex_unlock(&key_lock);
    return err;
}

void hwmc_shm_copy_close(void)
{
    pthread_mutex_lock(&key_lock);
    hwmc_shm_mapping_unshare();
    pthread_mutex_unlock(&key_lock);
}

bool hwmc_shm_copy_works(enum hwmc_shm_copy_method method, const struct hwmc_shm_owner *owner)
{
    struct hwmc_shm_peer peer = {.owner = *owner};
    uint64_t seen = ~owner->key;
    int err = copy_methods[method].get(&peer, &seen, owner->key_at, sizeof(seen));

    hwmc_shm_peer_close(&peer);
    return err == HWMC_OK && seen == owner->key;
}

void hwmc_shm_peer_close(struct hwmc_shm_peer *peer)
{
    hwmc_shm_mapping_close(peer->mappings);
    peer->mappings = NULL;
}
