/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * draw: numbers from the system's cryptographically secure source, those of multicast groups above all. A number
 * for IPv4 multicast is the address in its low 32 bits and the job's UDP port above, both in host byte
 * order; addresses come from 239.192.0.0/14, which RFC 2365 leaves to an organization.
 */
#ifndef HWMC_DRAW_H_INCLUDED
#define HWMC_DRAW_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/err.h"

#define HWMC_DRAW_IPV4_BITS 18 /* random in a number for IPv4 multicast */

/* Random bytes, not to be guessed, at most 256. ERR_LIMIT: the system gives none. */
int hwmc_draw(void *bytes, size_t len);

/* A number for IPv4 multicast; of address `fixed`, host byte order, where that is not 0. ERR_LIMIT. */
int hwmc_draw_ipv4(uint16_t port, uint32_t fixed, uint64_t *group);

/* Whether `group` is a number for IPv4 multicast of the job with that port. */
static inline bool hwmc_draw_is_ipv4(uint64_t group, uint16_t port)
{
    return group >> 32 == port && (group & 0xf0000000u) == 0xe0000000u;
}

#endif /* HWMC_DRAW_H_INCLUDED */
