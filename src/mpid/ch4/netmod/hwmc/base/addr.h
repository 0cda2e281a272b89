/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * addr: addresses of both families: reading, printing, comparing, their subnets, and as the system
 * takes them. A subnet is an address whose bits behind the prefix are 0.
 */
#ifndef HWMC_NETMOD_BASE_ADDR_H_INCLUDED
#define HWMC_NETMOD_BASE_ADDR_H_INCLUDED

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "../../../../../mpi/coll/bcast_hw/port/addr.h"

/* Room for the text of any address, and of any subnet: "ffff:...:ffff/128" and a NUL. */
#define HWMC_ADDR_TEXT_MAX 48
#define HWMC_ADDR_SUBNET_MAX (HWMC_ADDR_TEXT_MAX + 4)

static inline uint32_t hwmc_addr_bits(const struct hwmc_addr *a)
{
    return a->family == HWMC_IPV6 ? 128 : 32;
}

/* An IPv4 address, of a number in host byte order, and back. */
struct hwmc_addr hwmc_addr_ipv4(uint32_t number);
uint32_t hwmc_addr_number(const struct hwmc_addr *a);

/* Reads an address, as "10.77.0.1" or "fd77::1". False: `text` is none, and *a is unchanged. */
bool hwmc_addr_read(const char *text, struct hwmc_addr *a);

/* Reads a subnet, as "10.77.0.0/24" or "fd77::/64". Bits after the prefix become 0. False: `text`
 * is none, and the outputs are unchanged. */
bool hwmc_addr_read_subnet(const char *text, struct hwmc_addr *subnet, uint32_t *prefix);

/* Writes what these read; of NO_FAMILY: "none". */
void hwmc_addr_write(const struct hwmc_addr *a, char *text);
void hwmc_addr_write_subnet(const struct hwmc_addr *a, uint32_t prefix, char *text);

bool hwmc_addr_equal(const struct hwmc_addr *a, const struct hwmc_addr *b);

/* The subnet that an address is in, and whether it is in one. */
struct hwmc_addr hwmc_addr_subnet(const struct hwmc_addr *a, uint32_t prefix);
bool hwmc_addr_in(const struct hwmc_addr *a, const struct hwmc_addr *subnet, uint32_t prefix);

/* A number for a subnet, the same on all hosts, not 0; other ones have another as a rule. */
uint64_t hwmc_addr_subnet_id(const struct hwmc_addr *a, uint32_t prefix);

/* An address that a host gave itself, which means nothing beyond the link: 169.254.0.0/16 (RFC
 * 3927), fe80::/10 (RFC 4291). */
bool hwmc_addr_is_link_local(const struct hwmc_addr *a);

bool hwmc_addr_is_multicast(const struct hwmc_addr *a);

/* As sockets take it. `index`: the kernel's of the interface, for an IPv6 address of a link. */
union hwmc_sockaddr {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* AF_INET, AF_INET6. */
int hwmc_addr_af(const struct hwmc_addr *a);

/* Returns the length of what it writes. */
socklen_t hwmc_addr_to_socket(const struct hwmc_addr *a, uint16_t port, uint32_t index,
                              union hwmc_sockaddr *to);

/* NO_FAMILY: it is of another kind, or NULL. */
struct hwmc_addr hwmc_addr_of_socket(const struct sockaddr *from);
uint16_t hwmc_addr_port_of_socket(const union hwmc_sockaddr *from);

/* The IPv6 address of a multicast group. A group has a number of 32 bits, alike on all rails
 * (random.h), which by IPv4 is its address. By IPv6 that is ff1S:0:KEY:GROUP: transient, of scope
 * S. KEY is the job's, 64 bits: jobs that draw one number do not meet. GROUP has 32 bits. It is the
 * number, exclusive-or 32 bits of the job's key: network cards and some switches compare these 32
 * bits only. The highest bit is set, as RFC 3307 requires for groups that hosts choose. */
struct hwmc_addr hwmc_addr_group(uint32_t number, uint64_t key, uint8_t scope);

#endif /* HWMC_NETMOD_BASE_ADDR_H_INCLUDED */
