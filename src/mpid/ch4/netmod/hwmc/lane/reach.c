/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * reach: see reach.h.
 */
#include "reach.h"

bool hwmc_reach_describe(struct hwmc_reach *r, const void *bytes)
{
    r->at = (uintptr_t) bytes;
    return bcast_hw_node_copy_self(&r->owner, 0) == BCAST_HW_OK;
}

bool hwmc_reach_check(const struct hwmc_reach *r)
{
    return bcast_hw_node_copy_works(BCAST_HW_NODE_COPY_CMA, &r->owner);
}

bool hwmc_reach_read(const struct hwmc_reach *r, uint64_t offset, void *to, size_t len)
{
    struct bcast_hw_node_peer peer = {.owner = r->owner};

    return bcast_hw_node_copy_of(BCAST_HW_NODE_COPY_CMA)->get(&peer, to, r->at + offset, len) ==
           BCAST_HW_OK;
}
