/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mapping: see mapping.h.
 */
#include "mapping.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <xpmem.h>

/* A range of the owner's addresses. */
struct mapping {
    uint64_t from;
    uint64_t bytes;
    unsigned char *here;
    uint64_t used; /* number of the call that used it last */
};

struct hwmc_shm_mappings {
    xpmem_apid_t permit;
    uint64_t calls;
    uint32_t num; /* of `kept`, KEPT at most */
    struct mapping kept[HWMC_SHM_MAPPING_KEPT];
};

static atomic_uint all_kept; /* by this process */

static xpmem_segid_t own_segment; /* -1: XPMEM gave none */
static pid_t named_pid;           /* whose name that is: a child needs its own */

int64_t hwmc_shm_mapping_share(void)
{
    if (named_pid != getpid()) {
        /* For processes of the same user. */
        own_segment =
            xpmem_make(NULL, XPMEM_MAXADDR_SIZE, XPMEM_PERMIT_MODE, (void *) (uintptr_t) 0600);
        named_pid = getpid();
    }
    return own_segment > 0 ? own_segment : 0;
}

void hwmc_shm_mapping_unshare(void)
{
    if (named_pid == getpid() && own_segment > 0)
        xpmem_remove(own_segment);
    named_pid = 0;
}

static int open_permit(struct hwmc_shm_mappings **mp, int64_t share)
{
    struct hwmc_shm_mappings *m;

    if (share <= 0)
        return HWMC_ERR_PEER;
    m = calloc(1, sizeof(*m));
    if (m == NULL)
        return HWMC_ERR_NOMEM;
    m->permit = xpmem_get(share, XPMEM_RDWR, XPMEM_PERMIT_MODE, NULL);
    if (m->permit <= 0) {
        free(m);
        return HWMC_ERR_PEER;
    }
    *mp = m;
    return HWMC_OK;
}

static void unmap_entry(struct hwmc_shm_mappings *m, uint32_t i)
{
    xpmem_detach(m->kept[i].here);
    m->kept[i] = m->kept[--m->num];
    atomic_fetch_sub_explicit(&all_kept, 1, memory_order_relaxed);
}

/* For one more: unmaps the one that was not used for longest, if there are enough. */
static void make_room(struct hwmc_shm_mappings *m)
{
    uint32_t oldest = 0;

    if (m->num == 0 ||
        (m->num < HWMC_SHM_MAPPING_KEPT &&
         atomic_load_explicit(&all_kept, memory_order_relaxed) < HWMC_SHM_MAPPING_MANY))
        return;
    for (uint32_t i = 1; i < m->num; i++)
        if (m->kept[i].used < m->kept[oldest].used)
            oldest = i;
    unmap_entry(m, oldest);
}

/* Maps the range, made wider to multiples of `unit`, a power of 2; NULL: errno. */
static struct mapping *map_range(struct hwmc_shm_mappings *m, uint64_t from, size_t bytes,
                                 uint64_t unit)
{
    uint64_t begin = from & ~(unit - 1);
    uint64_t end = (from + bytes + unit - 1) & ~(unit - 1);
    struct xpmem_addr addr = {.apid = m->permit, .offset = (off_t) begin};
    void *here = xpmem_attach(addr, end - begin, NULL);

    if (here == (void *) -1)
        return NULL;
    m->kept[m->num] = (struct mapping){.from = begin, .bytes = end - begin, .here = here};
    atomic_fetch_add_explicit(&all_kept, 1, memory_order_relaxed);
    return &m->kept[m->num++];
}

/* The wide range may reach beyond the last address that a process can have, or the limit on this
 * one. */
static int map_some(struct hwmc_shm_mappings *m, uint64_t from, size_t bytes, struct mapping **k)
{
    make_room(m);
    *k = map_range(m, from, bytes, HWMC_SHM_MAPPING_WIDE);
    if (*k == NULL)
        *k = map_range(m, from, bytes, (uint64_t) sysconf(_SC_PAGESIZE));
    if (*k != NULL)
        return HWMC_OK;
    return errno == EINVAL ? HWMC_ERR_INVAL : errno == ENOMEM ? HWMC_ERR_LIMIT : HWMC_ERR_PEER;
}

static struct mapping *that_has(struct hwmc_shm_mappings *m, uint64_t from, size_t bytes)
{
    for (uint32_t i = 0; i < m->num; i++) {
        struct mapping *k = &m->kept[i];

        if (from >= k->from && from - k->from <= k->bytes && bytes <= k->bytes - (from - k->from))
            return k;
    }
    return NULL;
}

int hwmc_shm_mapping_find(struct hwmc_shm_mappings **mp, int64_t share, uint64_t from, size_t bytes,
                          void **here)
{
    int err = *mp == NULL ? open_permit(mp, share) : HWMC_OK;
    struct mapping *k;

    assert(bytes > 0);
    if (err != HWMC_OK)
        return err;
    k = that_has(*mp, from, bytes);
    if (k == NULL)
        err = map_some(*mp, from, bytes, &k);
    if (err != HWMC_OK)
        return err;
    k->used = ++(*mp)->calls;
    *here = k->here + (from - k->from);
    return HWMC_OK;
}

void hwmc_shm_mapping_close(struct hwmc_shm_mappings *m)
{
    if (m == NULL)
        return;
    while (m->num > 0)
        unmap_entry(m, m->num - 1);
    xpmem_release(m->permit);
    free(m);
}
