/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * random: numbers from the system's cryptographically secure source, those of multicast groups
 * above all, and UDP ports. A number for IPv4 multicast is the address in its low 32 bits and the
 * job's UDP port above, both in host byte order.
 */
#ifndef HWMC_NETMOD_BASE_RANDOM_H_INCLUDED
#define HWMC_NETMOD_BASE_RANDOM_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../../../mpi/coll/bcast_hw/port/err.h"

/* Addresses of multicast. IPv4, host byte order: those whose first 32 - `bits` bits are as in
 * `first`. By default 239.192.0.0/14, which RFC 2365 leaves to an organization. IPv6: those that
 * addr.h makes of the same numbers, of this scope. */
struct hwmc_random_groups {
    uint32_t first;
    uint32_t bits;  /* to draw, 0 to 28 */
    uint32_t scope; /* of IPv6 (RFC 7346), by default the site; the hop limit is what bounds them */
};
#define HWMC_RANDOM_GROUPS ((struct hwmc_random_groups){0xefc00000u, 18, 5})

/* Random bytes, not to be guessed, at most 256. ERR_LIMIT: the system gives none. */
int hwmc_random(void *bytes, size_t len);

/* A number for IPv4 multicast. ERR_LIMIT. */
int hwmc_random_ipv4(uint16_t port, struct hwmc_random_groups groups, uint64_t *group);

/* Reads "239.192.0.0/14", or "ff15::/16", or both with a + between; a family that is not named has
 * its default. False: IPv4 is not a range of multicast addresses, or begins with 224.0.0.0/24,
 * which no router forwards; IPv6 is not ff1S::/16, S from 2 to e (RFC 4291: transient). */
bool hwmc_random_groups_read(const char *text, struct hwmc_random_groups *groups);

/* Whether `group` is a number for IPv4 multicast of the job with that port. */
static inline bool hwmc_random_is_ipv4(uint64_t group, uint16_t port)
{
    return group >> 32 == port && (group & 0xf0000000u) == 0xe0000000u;
}

/* UDP ports for a job. One host's choice need not be free on another, so a job draws several and
 * uses the first that all its processes can have. */
#define HWMC_RANDOM_PORTS_MAX 8
#define HWMC_RANDOM_PORTS_TEXT_MAX (5 * HWMC_RANDOM_PORTS_MAX) /* with the NUL */

struct hwmc_random_port_list {
    int num; /* 1 to HWMC_RANDOM_PORTS_MAX */
    uint16_t port[HWMC_RANDOM_PORTS_MAX];
};

/* The ports from which this host's kernel takes one for who names none. */
struct hwmc_random_range {
    uint32_t low, high;
};
struct hwmc_random_range hwmc_random_ephemeral(void);

/* Draws HWMC_RANDOM_PORTS_MAX different ones that are not in `not_in`: of the dynamic ones of RFC
 * 6335, from 49152 on, if enough of them are left, else from 1024 on; of all dynamic ones where
 * not_in leaves none. ERR_LIMIT: the system gives no random numbers. */
int hwmc_random_ports(struct hwmc_random_range not_in, struct hwmc_random_port_list *ports);

/* As text, hexadecimal with commas, of HWMC_RANDOM_PORTS_TEXT_MAX bytes; and back: false when it is
 * no such text. */
void hwmc_random_ports_write(const struct hwmc_random_port_list *ports, char *text);
bool hwmc_random_ports_read(const char *text, struct hwmc_random_port_list *ports);

/* Reads what a user writes, decimal: "50000" or "50000,50001". */
bool hwmc_random_ports_parse(const char *text, struct hwmc_random_port_list *ports);

#endif /* HWMC_NETMOD_BASE_RANDOM_H_INCLUDED */
