/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * draw: see draw.h.
 */
#include "draw.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

#define IPV4_NET 0xefc00000u /* 239.192.0.0 */
#define IPV4_MASK ((1u << HWMC_DRAW_IPV4_BITS) - 1)

int hwmc_draw(void *bytes, size_t len)
{
    ssize_t got;

    do
        got = getrandom(bytes, len, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t) len ? BCAST_HW_OK : BCAST_HW_ERR_LIMIT;
}

int hwmc_draw_ipv4(uint16_t port, uint32_t fixed, uint64_t *group)
{
    uint64_t bits = 0;

    if (fixed == 0 && hwmc_draw(&bits, sizeof(bits)) != BCAST_HW_OK)
        return BCAST_HW_ERR_LIMIT;
    *group =
        (uint64_t) port << 32 | (fixed != 0 ? fixed : IPV4_NET | ((uint32_t) bits & IPV4_MASK));
    return BCAST_HW_OK;
}
