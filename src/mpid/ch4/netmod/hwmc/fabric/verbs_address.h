/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_address: which multicast GID a group has, and which GIDs a datagram came from and went to.
 */
#ifndef HWMC_NETMOD_FABRIC_VERBS_ADDRESS_H_INCLUDED
#define HWMC_NETMOD_FABRIC_VERBS_ADDRESS_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/verbs.h>

/* What lies before the payload of a datagram received on a UD queue pair, bytes. */
#define HWMC_VERBS_GRH 40u

static inline bool hwmc_verbs_gid_equal(const union ibv_gid *a, const union ibv_gid *b)
{
    return memcmp(a->raw, b->raw, sizeof(a->raw)) == 0;
}

/* An IPv4 address, as it is on the wire, mapped to IPv6. */
static inline void hwmc_verbs_gid_of_ipv4(const unsigned char *addr, union ibv_gid *gid)
{
    memset(gid->raw, 0, 10);
    memset(gid->raw + 10, 0xff, 2);
    memcpy(gid->raw + 12, addr, 4);
}

/* InfiniBand: the multicast GID of `group` in the job with that key: transient and link-local
 * (InfiniBand specification 4.1.1), then the upper 48 bits of the key and the group's 64. Bytes 2
 * and 3 are 0x401b or 0x601b in the groups of IPoIB (RFC 4391) and 0xa01b in those that subnet
 * managers assign; where the key has these, they are inverted. */
static inline void hwmc_verbs_mgid(uint64_t key, uint64_t group, union ibv_gid *gid)
{
    uint32_t signature = (uint32_t) (key >> 48);

    if (signature == 0x401b || signature == 0x601b || signature == 0xa01b)
        key ^= UINT64_C(0xffff) << 48;
    gid->raw[0] = 0xff;
    gid->raw[1] = 0x12;
    for (int i = 0; i < 6; i++)
        gid->raw[2 + i] = (unsigned char) (key >> (56 - 8 * i));
    for (int i = 0; i < 8; i++)
        gid->raw[8 + i] = (unsigned char) (group >> (56 - 8 * i));
}

/* Reads the HWMC_VERBS_GRH bytes before a payload. InfiniBand: a global route header (8.3). RoCE v2
 * over IPv4: the IPv4 header, without options, in the last 20 bytes (annex A17.4.5.2). False: it is
 * neither. */
static inline bool hwmc_verbs_read_grh(const void *grh, bool infiniband, union ibv_gid *from,
                                       union ibv_gid *to)
{
    const unsigned char *p = (const unsigned char *) grh;

    if (infiniband) {
        memcpy(from->raw, p + 8, sizeof(from->raw));
        memcpy(to->raw, p + 24, sizeof(to->raw));
        return p[0] >> 4 == 6;
    }
    hwmc_verbs_gid_of_ipv4(p + 32, from);
    hwmc_verbs_gid_of_ipv4(p + 36, to);
    return p[20] == 0x45;
}

#endif /* HWMC_NETMOD_FABRIC_VERBS_ADDRESS_H_INCLUDED */
