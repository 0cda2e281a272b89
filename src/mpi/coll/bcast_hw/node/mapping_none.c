/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mapping: where there is no libxpmem.
 */
#include "mapping.h"

int64_t bcast_hw_node_mapping_share(void)
{
    return 0;
}

void bcast_hw_node_mapping_unshare(void)
{
}

int bcast_hw_node_mapping_find(struct bcast_hw_node_mappings **m, int64_t share, uint64_t from,
                               size_t bytes, void **here)
{
    (void) m;
    (void) share;
    (void) from;
    (void) bytes;
    (void) here;
    return BCAST_HW_ERR_PEER;
}

void bcast_hw_node_mapping_close(struct bcast_hw_node_mappings *m)
{
    (void) m;
}
