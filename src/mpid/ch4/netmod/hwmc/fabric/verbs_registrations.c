/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_registrations: see verbs_registrations.h.
 */
#include "verbs_registrations.h"

#include <ucp/api/ucp.h>

#if UCP_API_VERSION >= UCP_VERSION(1, 13) && UCP_API_VERSION < UCP_VERSION(1, 17)

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucm/api/ucm.h>
#include <ucs/memory/rcache.h>
#include <unistd.h>

#define EVENT_PRIORITY 1000 /* as UCX's own caches */

struct hwmc_verbs_registrations {
    struct ibv_pd *pd;
    ucs_rcache_t *cache;
};

struct hwmc_verbs_registration {
    ucs_rcache_region_t super;
    struct ibv_mr *mr;
};

/* What can be read need not be writable. */
static ucs_status_t register_region(void *context, ucs_rcache_t *cache, void *arg,
                                    ucs_rcache_region_t *region, uint16_t flags)
{
    struct hwmc_verbs_registrations *all = context;
    struct hwmc_verbs_registration *one = (struct hwmc_verbs_registration *) region;

    (void) cache;
    (void) arg;
    (void) flags;
    one->mr =
        ibv_reg_mr(all->pd, (void *) region->super.start, region->super.end - region->super.start,
                   region->prot & PROT_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0);
    return one->mr != NULL ? UCS_OK : UCS_ERR_IO_ERROR;
}

static void deregister_region(void *context, ucs_rcache_t *cache, ucs_rcache_region_t *region)
{
    (void) context;
    (void) cache;
    ibv_dereg_mr(((struct hwmc_verbs_registration *) region)->mr);
}

static void dump_region(void *context, ucs_rcache_t *cache, ucs_rcache_region_t *region, char *text,
                        size_t max)
{
    (void) context;
    (void) cache;
    snprintf(text, max, "key 0x%x",
             hwmc_verbs_registration_key((const struct hwmc_verbs_registration *) region));
}

static const ucs_rcache_ops_t cache_ops = {
    .mem_reg = register_region,
    .mem_dereg = deregister_region,
    .dump_region = dump_region,
};

struct hwmc_verbs_registrations *hwmc_verbs_registrations_open(struct ibv_pd *pd)
{
    struct hwmc_verbs_registrations *all = calloc(1, sizeof(*all));
    const ucs_rcache_params_t params = {
        .region_struct_size = sizeof(struct hwmc_verbs_registration),
        .alignment = UCS_RCACHE_MIN_ALIGNMENT,
        .max_alignment = (size_t) sysconf(_SC_PAGESIZE),
        .ucm_events = UCM_EVENT_VM_UNMAPPED,
        .ucm_event_priority = EVENT_PRIORITY,
        .ops = &cache_ops,
        .context = all,
        .flags = UCS_RCACHE_FLAG_PURGE_ON_FORK,
        .max_regions = ULONG_MAX,
        .max_size = SIZE_MAX,
        .max_unreleased = SIZE_MAX,
    };

    if (all == NULL)
        return NULL;
    all->pd = pd;
    if (ucs_rcache_create(&params, "hwmc", NULL, &all->cache) == UCS_OK)
        return all;
    free(all);
    return NULL;
}

static struct hwmc_verbs_registration *get_region(struct hwmc_verbs_registrations *all,
                                                  void *memory, size_t bytes, int prot)
{
    ucs_rcache_region_t *region;

    if (ucs_rcache_get(all->cache, memory, bytes, prot, NULL, &region) != UCS_OK)
        return NULL;
    return (struct hwmc_verbs_registration *) region;
}

struct hwmc_verbs_registration *hwmc_verbs_registrations_get(struct hwmc_verbs_registrations *all,
                                                             const void *memory, size_t bytes)
{
    return get_region(all, (void *) (uintptr_t) memory, bytes, PROT_READ);
}

struct hwmc_verbs_registration *
hwmc_verbs_registrations_get_writable(struct hwmc_verbs_registrations *all, void *memory,
                                      size_t bytes)
{
    return get_region(all, memory, bytes, PROT_READ | PROT_WRITE);
}

void hwmc_verbs_registrations_put(struct hwmc_verbs_registrations *all,
                                  struct hwmc_verbs_registration *one)
{
    ucs_rcache_region_put(all->cache, &one->super);
}

uint32_t hwmc_verbs_registration_key(const struct hwmc_verbs_registration *one)
{
    return one->mr->lkey;
}

void hwmc_verbs_registrations_close(struct hwmc_verbs_registrations *all)
{
    if (all == NULL)
        return;
    ucs_rcache_destroy(all->cache);
    free(all);
}

#else

struct hwmc_verbs_registrations *hwmc_verbs_registrations_open(struct ibv_pd *pd)
{
    (void) pd;
    return NULL;
}

struct hwmc_verbs_registration *hwmc_verbs_registrations_get(struct hwmc_verbs_registrations *all,
                                                             const void *memory, size_t bytes)
{
    (void) all;
    (void) memory;
    (void) bytes;
    return NULL;
}

struct hwmc_verbs_registration *
hwmc_verbs_registrations_get_writable(struct hwmc_verbs_registrations *all, void *memory,
                                      size_t bytes)
{
    (void) all;
    (void) memory;
    (void) bytes;
    return NULL;
}

void hwmc_verbs_registrations_put(struct hwmc_verbs_registrations *all,
                                  struct hwmc_verbs_registration *one)
{
    (void) all;
    (void) one;
}

uint32_t hwmc_verbs_registration_key(const struct hwmc_verbs_registration *one)
{
    (void) one;
    return 0;
}

void hwmc_verbs_registrations_close(struct hwmc_verbs_registrations *all)
{
    (void) all;
}

#endif
