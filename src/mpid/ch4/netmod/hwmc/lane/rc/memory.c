/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * memory: memory of the program that bodies are sent from without copying. See rc_impl.h.
 *
 * A registration stays with the pages that were there when it was made. Once the program has its
 * memory back it may unmap it and map other pages at the same address, which nobody tells a
 * library, and a registration kept for the next time would send what the old pages hold. So one is
 * kept exactly while a message borrows the memory, and shared by all that borrow the same piece: a
 * segment that goes to several peers is registered once.
 */
#include <stdlib.h>

#include "rc_impl.h"

struct rc_region *rc_memory_get(struct hwmc_lane_rc *l, const void *addr, size_t len)
{
    struct rc_region *r;

    for (r = l->regions; r != NULL; r = r->next) {
        if (r->addr == addr && r->len == len) {
            r->refs++;
            return r;
        }
    }
    if (l->num_regions == RC_REGIONS_MAX)
        return NULL;
    r = malloc(sizeof(*r));
    if (r == NULL)
        return NULL;
    *r = (struct rc_region){.next = l->regions, .addr = addr, .len = len, .refs = 1};
    r->mr = ibv_reg_mr(l->pd, (void *) (uintptr_t) addr, len, 0);
    if (r->mr == NULL) {
        free(r);
        return NULL;
    }
    l->regions = r;
    l->num_regions++;
    return r;
}

void rc_memory_put(struct hwmc_lane_rc *l, struct rc_region *r)
{
    struct rc_region **at = &l->regions;

    if (--r->refs > 0)
        return;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    l->num_regions--;
    ibv_dereg_mr(r->mr);
    free(r);
}
