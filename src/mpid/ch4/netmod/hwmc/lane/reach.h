/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reach: memory of another process of this host, read from where it lies by cross-memory attach:
 * one copy, by the kernel. What proves whose memory it is: node/copy.h.
 */
#ifndef HWMC_REACH_H_INCLUDED
#define HWMC_REACH_H_INCLUDED

#include "../../../../../mpi/coll/bcast_hw/node/copy.h"

/* Where bytes lie; sent as it is, between processes of one host. */
struct hwmc_reach {
    struct bcast_hw_node_owner owner;
    uint64_t at; /* of the bytes */
};

/* Bytes of this process, at `bytes`. False: the platform gives no random key, and nothing may be
 * read. */
bool hwmc_reach_describe(struct hwmc_reach *r, const void *bytes);

/* Whether this process may read there, and the key is the one. */
bool hwmc_reach_check(const struct hwmc_reach *r);

/* Reads `len` bytes from `offset` on. False: not possible (any more); *to is then undefined. */
bool hwmc_reach_read(const struct hwmc_reach *r, uint64_t offset, void *to, size_t len);

#endif /* HWMC_REACH_H_INCLUDED */
