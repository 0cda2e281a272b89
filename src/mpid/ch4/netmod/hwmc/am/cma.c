/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * cma: see cma.h.
 */
#include "cma.h"

bool hwmc_cma_describe(struct hwmc_cma *r, const void *bytes)
{
    r->at = (uintptr_t) bytes;
    return hwmc_shm_copy_self(&r->owner, 0) == HWMC_OK;
}

bool hwmc_cma_check(const struct hwmc_cma *r)
{
    return hwmc_shm_copy_works(HWMC_SHM_COPY_CMA, &r->owner);
}

bool hwmc_cma_read(const struct hwmc_cma *r, uint64_t offset, void *to, size_t len)
{
    struct hwmc_shm_peer peer = {.owner = r->owner};

    return hwmc_shm_copy_of(HWMC_SHM_COPY_CMA)->get(&peer, to, r->at + offset, len) == HWMC_OK;
}
