/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * crc32c: see crc32c.h.
 */
#include "crc32c.h"

#include <isa-l/crc.h>

uint32_t hwmc_crc32c_more(uint32_t crc, const void *data, size_t len)
{
    return ~crc32_iscsi((unsigned char *) (uintptr_t) data, (int) len, ~crc);
}

uint32_t hwmc_crc32c(const void *data, size_t len)
{
    return hwmc_crc32c_more(0, data, len);
}
