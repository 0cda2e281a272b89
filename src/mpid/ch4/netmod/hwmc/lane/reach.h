/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reach: memory of another process of this host, read from where it lies (cross-memory attach,
 * process_vm_readv(2)): one copy, by the kernel. A process number alone does not name a process: in another
 * PID namespace it may be a stranger's. So each process has a random mark at an address that it tells, and
 * nothing is believed of a process that does not have that mark there.
 */
#ifndef HWMC_REACH_H_INCLUDED
#define HWMC_REACH_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HWMC_REACH_MARK 2u /* words */

/* Where bytes lie; sent as it is, between processes of one host. */
struct hwmc_reach {
    int64_t pid;
    uint64_t at;      /* of the bytes */
    uint64_t mark_at; /* of the mark */
    uint64_t mark[HWMC_REACH_MARK];
};

/* Bytes of this process, at `bytes`. False: the platform gives no random mark, and nothing may be read. */
bool hwmc_reach_describe(struct hwmc_reach *r, const void *bytes);

/* Whether this process may read there, and the mark is the one. */
bool hwmc_reach_check(const struct hwmc_reach *r);

/* Reads `len` bytes from `offset` on. False: not possible (any more); *to is then undefined. */
bool hwmc_reach_read(const struct hwmc_reach *r, uint64_t offset, void *to, size_t len);

#endif /* HWMC_REACH_H_INCLUDED */
