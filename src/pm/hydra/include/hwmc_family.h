/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * hwmc_family: whether mpiexec and its proxies talk IPv4 or IPv6. MPICH asks for IPv4 everywhere.
 */
#ifndef HWMC_FAMILY_H_INCLUDED
#define HWMC_FAMILY_H_INCLUDED

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* AF_INET; AF_INET6 if this host has no IPv4 address but an IPv6 address, or if the environment
 * says so: HWMC_LAUNCH_FAMILY, inet or inet6. */
static inline int hwmc_family(void)
{
    const char *wish = getenv("HWMC_LAUNCH_FAMILY");
    struct ifaddrs *list, *a;
    int ipv4 = 0, ipv6 = 0;

    if (wish)
        return strcmp(wish, "inet6") == 0 ? AF_INET6 : AF_INET;
    if (getifaddrs(&list) != 0)
        return AF_INET;
    for (a = list; a; a = a->ifa_next) {
        if (!a->ifa_addr || (a->ifa_flags & IFF_LOOPBACK) || !(a->ifa_flags & IFF_RUNNING))
            continue;
        ipv4 |= a->ifa_addr->sa_family == AF_INET;
        ipv6 |= a->ifa_addr->sa_family == AF_INET6 &&
                !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *) (void *) a->ifa_addr)->sin6_addr);
    }
    freeifaddrs(list);
    return !ipv4 && ipv6 ? AF_INET6 : AF_INET;
}

#endif /* HWMC_FAMILY_H_INCLUDED */
