/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mapping: memory of other processes, mapped here by XPMEM (https://github.com/hpc/xpmem,
 * include/xpmem.h). A process gives all of its address space one name; another one gets a permit by
 * that name, and with the permit maps any range of whole pages. mapping_xpmem.c where libxpmem is,
 * else mapping_none.c, in which nobody has a name.
 *
 * What is mapped is kept, for each peer of a group the KEPT ranges that were used last. A range is
 * widened to multiples of WIDE bytes: then the pieces of a message lie in one, as do later messages
 * near by. That there may be holes in it is no matter, by what XPMEM's kernel module does:
 *
 *   - A mapping has addresses only. A page is looked for in the owner's memory when it is first
 *     touched here (xpmem_fault_handler in kernel/xpmem_attach.c); it is then held until the owner
 *     lets go of it, or the mapping ends.
 *   - When the owner unmaps memory, or maps other memory in its place, the kernel takes away the
 *     pages that are here first (kernel/xpmem_mmu_notifier.c); the next touch finds what the owner
 *     has there by then. So a mapping that is kept never shows what was there before.
 *   - Where the owner has nothing the touch is SIGBUS; so it is once the owner ended. Others read
 *     and write only what the owner shows in the collective it is in (slot.h, rule 7), which
 *     is there; if a program shows what it does not have, or dies, the other one dies of it. By
 *     cross-memory attach it would get an error.
 *   - Pages mapped here cannot be handed to calls that pin pages (a device's, process_vm_readv's).
 *   - A child of fork has no mappings, and is another process than its parent.
 */
#ifndef HWMC_SHM_COPY_MAPPING_H_INCLUDED
#define HWMC_SHM_COPY_MAPPING_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "../../port/err.h"

#define HWMC_SHM_MAPPING_KEPT 8u
#define HWMC_SHM_MAPPING_WIDE (UINT64_C(64) << 20)

/* A process that has kept this many keeps one a peer of a group from then on: Linux gives it 65530
 * by default (vm.max_map_count), the program's own among them. */
#define HWMC_SHM_MAPPING_MANY 16384

/* Of one peer. */
struct hwmc_shm_mappings;

/* The name of this process's memory, made with the first call; 0: it has none. Not thread-safe, as
 * is unshare. */
int64_t hwmc_shm_mapping_share(void);
void hwmc_shm_mapping_unshare(void);

/* Where the memory with name `share` has its `bytes` from address `from` on, 1 at least: in *here,
 * until the next call with *m. *m is NULL before the first call; the caller closes it. OK;
 * ERR_PEER: this process may not, or the owner is gone; ERR_INVAL: no process has memory there;
 * ERR_LIMIT; ERR_NOMEM. */
int hwmc_shm_mapping_find(struct hwmc_shm_mappings **m, int64_t share, uint64_t from, size_t bytes,
                          void **here);

/* NULL is nothing. */
void hwmc_shm_mapping_close(struct hwmc_shm_mappings *m);

#endif /* HWMC_SHM_COPY_MAPPING_H_INCLUDED */
