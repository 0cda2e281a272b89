/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * mapping: where there is no libxpmem.
 */
#include "mapping.h"

int64_t hwmc_shm_mapping_share(void)
{
    return 0;
}

void hwmc_shm_mapping_unshare(void)
{
}

int hwmc_shm_mapping_find(struct hwmc_shm_mappings **m, int64_t share, uint64_t from, size_t bytes,
                          void **here)
{
    (void) m;
    (void) share;
    (void) from;
    (void) bytes;
    (void) here;
    return HWMC_ERR_PEER;
}

void hwmc_shm_mapping_close(struct hwmc_shm_mappings *m)
{
    (void) m;
}
