/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cma: reads memory of another process of this host in place by cross-memory attach: one copy, by
 * the kernel. shm/copy/copy.h proves whose memory it is.
 */
#ifndef HWMC_NETMOD_AM_CMA_H_INCLUDED
#define HWMC_NETMOD_AM_CMA_H_INCLUDED

#include "../../../../../mpi/coll/bcast_hw/shm/copy/copy.h"

/* Where bytes lie; sent as it is, between processes of one host. */
struct hwmc_cma {
    struct hwmc_shm_owner owner;
    uint64_t at; /* of the bytes */
};

/* Bytes of this process, at `bytes`. False: the platform gives no random key, and nothing may be
 * read. */
bool hwmc_cma_describe(struct hwmc_cma *r, const void *bytes);

/* Whether this process may read there, and the key is the one. */
bool hwmc_cma_check(const struct hwmc_cma *r);

/* Reads `len` bytes from `offset` on. False: not possible (any more); *to is then undefined. */
bool hwmc_cma_read(const struct hwmc_cma *r, uint64_t offset, void *to, size_t len);

#endif /* HWMC_NETMOD_AM_CMA_H_INCLUDED */
