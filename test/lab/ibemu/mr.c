/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Protection domains, memory regions and scatter/gather lists. A key is the region's number and, in
 * the lowest 8 bits, what changes each time the numbers have gone round.
 */
#include "mr.h"
#include "device.h"

#include <errno.h>
#include <stdlib.h>

#define ACCESS_KNOWN                                                                               \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                   \
     IBV_ACCESS_REMOTE_ATOMIC)

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct em_pd *pd = calloc(1, sizeof(*pd));

    if (pd == NULL)
        return NULL;
    pd->ibv.context = context;
    return &pd->ibv;
}

int ibv_dealloc_pd(struct ibv_pd *ibv)
{
    struct em_hca *hca = em_context_of(ibv->context)->hca;
    int users;

    pthread_mutex_lock(&hca->lock);
    users = ((struct em_pd *) ibv)->users;
    pthread_mutex_unlock(&hca->lock);
    if (users > 0)
        return EBUSY;
    free(ibv);
    return 0;
}

static int add_mr(struct em_hca *hca, struct em_mr *mr)
{
    for (uint32_t i = 0; i < EM_MRS_MAX; i++) {
        uint32_t n = hca->next_mr++, slot = n % EM_MRS_MAX;

        if (slot != 0 && hca->mrs[slot] == NULL) {
            hca->mrs[slot] = mr;
            mr->ibv.handle = slot;
            mr->ibv.lkey = mr->ibv.rkey = slot << 8 | (n / EM_MRS_MAX & 0xffu);
            return 0;
        }
    }
    return ENOMEM;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access)
{
    struct em_hca *hca = em_context_of(pd->context)->hca;
    const int remote = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    struct em_mr *mr;
    int e;

    access &= ~(unsigned) IBV_ACCESS_OPTIONAL_RANGE;
    if (access & ~(unsigned) ACCESS_KNOWN) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    /* 10.6.3.1: who may write from afar needs the owner's leave to write at all. */
    if ((access & (unsigned) remote) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0) {
        errno = EINVAL;
        return NULL;
    }
    mr = calloc(1, sizeof(*mr));
    if (mr == NULL)
        return NULL;
    mr->ibv = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = length};
    mr->iova = iova;
    mr->access = (int) access;
    pthread_mutex_lock(&hca->lock);
    e = add_mr(hca, mr);
    if (e == 0)
        ((struct em_pd *) pd)->users++;
    pthread_mutex_unlock(&hca->lock);
    if (e != 0) {
        free(mr);
        errno = e;
        return NULL;
    }
    return &mr->ibv;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t) addr, (unsigned) access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                               int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned) access);
}

int ibv_dereg_mr(struct ibv_mr *ibv)
{
    struct em_hca *hca = em_context_of(ibv->context)->hca;

    pthread_mutex_lock(&hca->lock);
    hca->mrs[ibv->handle] = NULL;
    ((struct em_pd *) ibv->pd)->users--;
    pthread_mutex_unlock(&hca->lock);
    free(ibv);
    return 0;
}

void *em_mr_find(struct em_hca *hca, const struct ibv_pd *pd, uint32_t key, uint64_t addr,
                 size_t len, int access)
{
    const struct em_mr *mr = key >> 8 < EM_MRS_MAX ? hca->mrs[key >> 8] : NULL;

    if (mr == NULL || mr->ibv.lkey != key || mr->ibv.pd != pd)
        return NULL;
    if ((mr->access & access) != access)
        return NULL;
    if (addr < mr->iova || len > mr->ibv.length || addr - mr->iova > mr->ibv.length - len)
        return NULL;
    return (char *) mr->ibv.addr + (addr - mr->iova);
}

uint64_t em_sgl_len(const struct em_sgl *l)
{
    uint64_t len = 0;

    for (int i = 0; i < l->num; i++)
        len += l->sge[i].length;
    return len;
}

/* The piece of element `i` from *offset on, as much of `len` as it has; *offset is what remains to
 * be skipped in later elements. NULL in .iov_base with a length is a protection error. */
static struct iovec piece(struct em_hca *hca, const struct ibv_pd *pd, const struct em_sgl *l,
                          int i, uint64_t *offset, uint32_t len, int access)
{
    const struct ibv_sge *s = &l->sge[i];
    struct iovec v = {NULL, 0};

    if (*offset >= s->length) {
        *offset -= s->length;
        return v;
    }
    v.iov_len = s->length - *offset < len ? s->length - *offset : len;
    if (l->inlined)
        v.iov_base = (char *) (uintptr_t) s->addr + *offset;
    else
        v.iov_base = em_mr_find(hca, pd, s->lkey, s->addr + *offset, v.iov_len, access);
    *offset = 0;
    return v;
}

int em_sgl_gather(struct em_hca *hca, const struct ibv_pd *pd, const struct em_sgl *l,
                  uint64_t offset, uint32_t len, struct iovec *iov)
{
    int n = 0;

    for (int i = 0; i < l->num && len > 0; i++) {
        struct iovec v = piece(hca, pd, l, i, &offset, len, 0);

        if (v.iov_len == 0)
            continue;
        if (v.iov_base == NULL)
            return -1;
        len -= (uint32_t) v.iov_len;
        iov[n++] = v;
    }
    return n;
}

enum ibv_wc_status em_sgl_scatter(struct em_hca *hca, const struct ibv_pd *pd,
                                  const struct em_sgl *l, uint64_t offset, const void *data,
                                  uint32_t len)
{
    for (int i = 0; i < l->num && len > 0; i++) {
        struct iovec v = piece(hca, pd, l, i, &offset, len, IBV_ACCESS_LOCAL_WRITE);

        if (v.iov_len == 0)
            continue;
        if (v.iov_base == NULL)
            return IBV_WC_LOC_PROT_ERR;
        memcpy(v.iov_base, data, v.iov_len);
        data = (const char *) data + v.iov_len;
        len -= (uint32_t) v.iov_len;
    }
    return len == 0 ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR;
}
