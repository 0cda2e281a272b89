/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * The environment variables, and the interfaces that become ports.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define UDP_PORT 22000
#define IP_UDP_BYTES 28u

static int wrong(const char *name, const char *value)
{
    fprintf(stderr, "ibemu: %s=%s is not understood; see test/lab/ibemu/README.md\n", name, value);
    return EINVAL;
}

/* A number between two others; `fallback` if the variable is not set. */
static int number(const char *name, double low, double high, double fallback, double *to)
{
    const char *value = getenv(name);
    char *end;

    *to = fallback;
    if (value == NULL || *value == '\0')
        return 0;
    *to = strtod(value, &end);
    return *end == '\0' && *to >= low && *to <= high ? 0 : wrong(name, value);
}

/* The first IPv4 address of an interface; 0 if it has none. */
static uint32_t address_of(const struct ifaddrs *all, const char *name)
{
    for (; all != NULL; all = all->ifa_next)
        if (all->ifa_addr != NULL && all->ifa_addr->sa_family == AF_INET &&
            strcmp(all->ifa_name, name) == 0)
            return ntohl(((const struct sockaddr_in *) all->ifa_addr)->sin_addr.s_addr);
    return 0;
}

static int add_port(struct em_config *c, const char *name, uint32_t addr)
{
    struct em_port *port;

    if (c->num_ports == EM_PORTS_MAX || strlen(name) >= IFNAMSIZ)
        return EINVAL;
    if (addr == 0 || (addr & 0xffu) == 0 || (addr & 0xffu) == 255)
        return EADDRNOTAVAIL;
    port = &c->ports[c->num_ports];
    *port = (struct em_port){.num = ++c->num_ports, .addr = addr};
    memcpy(port->name, name, strlen(name));
    port->ifindex = port->owner = if_nametoindex(name);
    return port->ifindex == 0 ? ENODEV : 0;
}

/* OWNER@NAME: programs know the port by another interface than the one that its packets go by, as
 * by one without an IPv4 address. */
static int add_owned(struct em_config *c, const struct ifaddrs *all, const char *owner,
                     const char *name)
{
    const unsigned index = if_nametoindex(owner);
    const int e = index == 0 ? ENODEV : add_port(c, name, address_of(all, name));

    if (e == 0)
        c->ports[c->num_ports - 1].owner = index;
    return e;
}

/* NAME, NAME=ADDRESS or OWNER@NAME. */
static int add_named(struct em_config *c, const struct ifaddrs *all, char *word)
{
    char *address = strchr(word, '='), *name = strchr(word, '@');
    struct in_addr a;

    if (name != NULL) {
        *name++ = '\0';
        return add_owned(c, all, word, name);
    }
    if (address == NULL)
        return add_port(c, word, address_of(all, word));
    *address++ = '\0';
    return inet_pton(AF_INET, address, &a) == 1 ? add_port(c, word, ntohl(a.s_addr)) : EINVAL;
}

static int named_ports(struct em_config *c, const struct ifaddrs *all, const char *names)
{
    char copy[256], *rest = copy, *word;

    if (strlen(names) >= sizeof(copy))
        return wrong("IBEMU_PORTS", names);
    memcpy(copy, names, strlen(names) + 1);
    while ((word = strsep(&rest, ",")) != NULL)
        if (add_named(c, all, word) != 0)
            return wrong("IBEMU_PORTS", names);
    return 0;
}

static bool has_port(const struct em_config *c, const char *name)
{
    for (int i = 0; i < c->num_ports; i++)
        if (strcmp(c->ports[i].name, name) == 0)
            return true;
    return false;
}

/* The first interfaces with an address, loopback only if there is no other. */
static int found_ports(struct em_config *c, const struct ifaddrs *all)
{
    for (const struct ifaddrs *a = all; a != NULL && c->num_ports < EM_PORTS_MAX; a = a->ifa_next)
        if (a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET &&
            !(a->ifa_flags & IFF_LOOPBACK) && !has_port(c, a->ifa_name))
            add_port(c, a->ifa_name, address_of(all, a->ifa_name));
    if (c->num_ports > 0)
        return 0;
    return add_port(c, "lo", 0x7f4d0001u) || add_port(c, "lo", 0x7f4d0101u) ? ENODEV : 0;
}

/* The largest MTU of InfiniBand whose packets the interface takes whole. */
static enum ibv_mtu mtu_of(const char *name)
{
    struct ifreq r = {0};
    enum ibv_mtu mtu = IBV_MTU_4096;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes = 0;

    memcpy(r.ifr_name, name, strnlen(name, sizeof(r.ifr_name) - 1));
    if (fd >= 0 && ioctl(fd, SIOCGIFMTU, &r) == 0)
        bytes = r.ifr_mtu;
    if (fd >= 0)
        close(fd);
    while (mtu > IBV_MTU_256 &&
           em_mtu_bytes(mtu) + EM_HEADERS_MAX + IP_UDP_BYTES > (unsigned) bytes)
        mtu--;
    return mtu;
}

static int read_mtu(struct em_config *c)
{
    const char *value = getenv("IBEMU_MTU");
    enum ibv_mtu mtu = IBV_MTU_256;

    for (int i = 0; i < c->num_ports; i++)
        c->ports[i].mtu = mtu_of(c->ports[i].name);
    if (value == NULL || *value == '\0')
        return 0;
    while (mtu <= IBV_MTU_4096 && (long) em_mtu_bytes(mtu) != strtol(value, NULL, 10))
        mtu++;
    if (mtu > IBV_MTU_4096)
        return wrong("IBEMU_MTU", value);
    for (int i = 0; i < c->num_ports; i++)
        c->ports[i].mtu = mtu;
    return 0;
}

static int read_joins(struct em_config *c)
{
    const char *value = getenv("IBEMU_JOIN");

    if (value == NULL || *value == '\0' || em_joins_parse(&c->joins, value))
        return 0;
    return wrong("IBEMU_JOIN", value);
}

static int read_numbers(struct em_config *c)
{
    double lmc, udp_port, drop, seed;
    int e = number("IBEMU_LMC", 0, EM_LMC_MAX, 0, &lmc);

    if (e == 0)
        e = number("IBEMU_UDP_PORT", 1024, 64000, UDP_PORT, &udp_port);
    if (e == 0)
        e = number("IBEMU_DROP", 0, 100, 0, &drop);
    if (e == 0)
        e = number("IBEMU_SEED", 0, 1e15, 1, &seed);
    if (e != 0)
        return e;
    c->udp_port = (uint16_t) udp_port;
    c->drop = (unsigned) (drop * 10);
    c->seed = (uint64_t) seed;
    for (int i = 0; i < c->num_ports; i++)
        c->ports[i].lmc = (uint8_t) lmc;
    return 0;
}

int em_config_read(struct em_config *c)
{
    const char *names = getenv("IBEMU_PORTS");
    struct ifaddrs *all;
    int e;

    *c = (struct em_config){.control = getenv("IBEMU_CONTROL")};
    if (getifaddrs(&all) != 0)
        return errno;
    e = names != NULL && *names != '\0' ? named_ports(c, all, names) : found_ports(c, all);
    freeifaddrs(all);
    if (e == 0)
        e = read_numbers(c);
    if (e == 0)
        e = read_mtu(c);
    if (e == 0)
        e = read_joins(c);
    return e;
}
