/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * As much of XPMEM's interface as hwmc uses, for tests on machines without it: names, types and
 * values are those of include/xpmem.h in https://github.com/hpc/xpmem. What stands behind it:
 * fake_xpmem.cc.
 */
#ifndef XPMEM_H
#define XPMEM_H

#include <stddef.h>
#include <sys/types.h>

typedef long long xpmem_segid_t;
typedef long long xpmem_apid_t;

struct xpmem_addr {
    xpmem_apid_t apid;
    off_t offset;
};

#define XPMEM_MAXADDR_SIZE ((size_t) -1)
#define XPMEM_RDONLY 1
#define XPMEM_RDWR 2
#define XPMEM_PERMIT_MODE 1

xpmem_segid_t xpmem_make(void *vaddr, size_t size, int permit_type, void *permit_value);
int xpmem_remove(xpmem_segid_t segid);
xpmem_apid_t xpmem_get(xpmem_segid_t segid, int flags, int permit_type, void *permit_value);
int xpmem_release(xpmem_apid_t apid);
void *xpmem_attach(struct xpmem_addr addr, size_t size, void *vaddr);
int xpmem_detach(void *vaddr);

#endif /* XPMEM_H */
