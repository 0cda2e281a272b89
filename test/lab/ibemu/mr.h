/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Protection domains, memory regions, and scatter/gather lists that use them.
 */
#ifndef HWMC_TEST_LAB_IBEMU_MR_H_INCLUDED
#define HWMC_TEST_LAB_IBEMU_MR_H_INCLUDED

#include <stdint.h>
#include <sys/uio.h>
#include <infiniband/verbs.h>
#include "hca.h"

struct em_pd {
    struct ibv_pd ibv; /* first */
    int users;         /* objects that belong to it */
};

struct em_mr {
    struct ibv_mr ibv; /* first */
    uint64_t iova;     /* the address by which the region is known */
    int access;        /* enum ibv_access_flags */
};

/* Where `len` bytes at `addr` of a region are, if its key is `key`, it is in the domain, covers
 * them and allows `access` (0: reading by its own host); else NULL. */
void *em_mr_find(struct em_hca *hca, const struct ibv_pd *pd, uint32_t key, uint64_t addr,
                 size_t len, int access);

/* A list of pieces of memory. */
struct em_sgl {
    const struct ibv_sge *sge;
    int num;
    bool inlined; /* the addresses are the emulator's own and need no region */
};

/* The total length. */
uint64_t em_sgl_len(const struct em_sgl *l);

/* Points `iov` (room for EM_SGE_MAX) at `len` bytes from `offset` on: the number of pieces, or -1
 * if a key, an address or its access is wrong. */
int em_sgl_gather(struct em_hca *hca, const struct ibv_pd *pd, const struct em_sgl *l,
                  uint64_t offset, uint32_t len, struct iovec *iov);

/* Writes `len` bytes at `offset` of the list. Returns IBV_WC_SUCCESS, _LOC_LEN_ERR or
 * _LOC_PROT_ERR. */
enum ibv_wc_status em_sgl_scatter(struct em_hca *hca, const struct ibv_pd *pd,
                                  const struct em_sgl *l, uint64_t offset, const void *data,
                                  uint32_t len);

#endif /* HWMC_TEST_LAB_IBEMU_MR_H_INCLUDED */
