/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct ifreq, IFF_* */
#endif

#include "rail.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PART_MAX HWMC_ADDR_SUBNET_MAX /* of a spec: a name is shorter */

/* Not every driver has a speed, and one whose cable is out may say -1. */
static uint32_t read_speed(const char *name)
{
    char path[128];
    long mbit = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/sys/class/net/%s/speed", name);
    f = fopen(path, "re");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%ld", &mbit) != 1)
        mbit = 0;
    fclose(f);
    return mbit > 0 && mbit < 10000000 ? (uint32_t) mbit : 0;
}

static uint32_t read_mtu(int fd, const char *name)
{
    struct ifreq r;

    memset(&r, 0, sizeof(r));
    strncpy(r.ifr_name, name, sizeof(r.ifr_name) - 1);
    return ioctl(fd, SIOCGIFMTU, &r) == 0 && r.ifr_mtu > 0 ? (uint32_t) r.ifr_mtu : 0;
}

/* Of a netmask; NULL: of one address alone. */
static uint32_t prefix_of(const struct sockaddr *mask, const struct hwmc_addr *addr)
{
    const struct hwmc_addr bits = hwmc_addr_of_socket(mask);
    uint32_t prefix = 0;

    if (bits.family != addr->family)
        return hwmc_addr_bits(addr);
    while (prefix < hwmc_addr_bits(&bits) && (bits.bytes[prefix / 8] << prefix % 8 & 0x80) != 0)
        prefix++;
    return prefix;
}

/* Linux loops multicast on its loopback device whether or not the device's flags say so. */
static bool is_usable(const struct ifaddrs *a)
{
    return hwmc_addr_of_socket(a->ifa_addr).family != HWMC_NO_FAMILY &&
           (a->ifa_flags & IFF_UP) != 0 && (a->ifa_flags & (IFF_MULTICAST | IFF_LOOPBACK)) != 0;
}

/* Flags of an IPv6 address, IFA_F_* of linux/if_addr.h: /proc/net/if_inet6 has a line for each,
 * with the address, index, prefix, scope and these, and the name. */
static unsigned flags_of(const struct hwmc_addr *addr, const char *name)
{
    FILE *f = fopen("/proc/net/if_inet6", "re");
    unsigned flags = 0, read;
    char line[128], digits[33], own[33], dev[IF_NAMESIZE];

    if (f == NULL)
        return 0;
    for (int i = 0; i < 16; i++)
        snprintf(own + 2 * i, 3, "%02x", addr->bytes[i]);
    while (fgets(line, sizeof(line), f) != NULL)
        if (sscanf(line, "%32s %*x %*x %*x %x %15s", digits, &read, dev) == 3 &&
            strcmp(digits, own) == 0 && strcmp(dev, name) == 0)
            flags = read;
    fclose(f);
    return flags;
}

static bool is_bridge(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/class/net/%s/bridge", name);
    return access(path, F_OK) == 0;
}

static void fill_rail(struct hwmc_rail *r, const struct ifaddrs *a, int fd)
{
    memset(r, 0, sizeof(*r));
    strncpy(r->name, a->ifa_name, sizeof(r->name) - 1);
    r->index = if_nametoindex(a->ifa_name);
    r->mtu = read_mtu(fd, a->ifa_name);
    r->mbit = read_speed(a->ifa_name);
    r->numa = r->distance = -1;
    r->up = (a->ifa_flags & IFF_RUNNING) != 0;
    r->bridge = is_bridge(a->ifa_name);
    r->loopback = (a->ifa_flags & IFF_LOOPBACK) != 0;
}

/* How well an address serves; 0: no packets can come to it. One of the link alone serves least. One
 * of IPv6 that is a subnet of its own (DHCPv6), or will not stay, names no network that other hosts
 * share. */
static int worth_of_address(const struct hwmc_addr *addr, uint32_t prefix, const char *name)
{
    const unsigned flags = addr->family == HWMC_IPV6 ? flags_of(addr, name) : 0;

    if (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED))
        return 0;
    if (hwmc_addr_is_link_local(addr))
        return 1;
    return (flags & (IFA_F_TEMPORARY | IFA_F_DEPRECATED)) != 0 ||
                   (addr->family == HWMC_IPV6 && prefix == 128)
               ? 2
               : 3;
}

/* IPv4 is `addr`, and IPv6 is `other`. The first of those that serve best. */
static void add_address(struct hwmc_rail *r, const struct hwmc_addr *addr, uint32_t prefix,
                        int worth)
{
    const bool ipv4 = addr->family == HWMC_IPV4;
    struct hwmc_addr *of = ipv4 ? &r->addr : &r->other;
    uint32_t *of_prefix = ipv4 ? &r->prefix : &r->other_prefix;

    if (of->family != HWMC_NO_FAMILY && worth <= worth_of_address(of, *of_prefix, r->name))
        return;
    *of = *addr;
    *of_prefix = prefix;
}

static void swap_addresses(struct hwmc_rail *r)
{
    const struct hwmc_addr addr = r->addr;
    const uint32_t prefix = r->prefix;

    r->addr = r->other;
    r->prefix = r->other_prefix;
    r->other = addr;
    r->other_prefix = prefix;
}

/* The host gave itself the address that the port goes by, and the other one was given to it. */
static bool better_turned(const struct hwmc_rail *r)
{
    return r->addr.family == HWMC_NO_FAMILY ||
           (hwmc_addr_is_link_local(&r->addr) && r->other.family != HWMC_NO_FAMILY &&
            !hwmc_addr_is_link_local(&r->other));
}

/* An IPv6 address of the link, which every port has, is no second choice. */
static void settle_addresses(struct hwmc_rail *r)
{
    if (better_turned(r))
        swap_addresses(r);
    if (r->other.family == HWMC_IPV6 && hwmc_addr_is_link_local(&r->other)) {
        memset(&r->other, 0, sizeof(r->other));
        r->other_prefix = 0;
    }
}

void hwmc_rail_turn(struct hwmc_rail *rail, enum hwmc_family family)
{
    if (rail->other.family == (uint32_t) family)
        swap_addresses(rail);
}

static struct hwmc_rail *find_known(struct hwmc_rail *rails, int num, const char *name)
{
    for (int i = 0; i < num; i++)
        if (strcmp(rails[i].name, name) == 0)
            return &rails[i];
    return NULL;
}

static int by_index(const void *a, const void *b)
{
    const struct hwmc_rail *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

/* Notes one of the addresses that the system lists; how many ports there are then. */
static int note_address(struct hwmc_rail *rails, int num, int max, const struct ifaddrs *a, int fd)
{
    const struct hwmc_addr addr = hwmc_addr_of_socket(a->ifa_addr);
    const uint32_t prefix = prefix_of(a->ifa_netmask, &addr);
    const int worth = worth_of_address(&addr, prefix, a->ifa_name);
    struct hwmc_rail *r = find_known(rails, num, a->ifa_name);

    if (worth == 0)
        return num;
    if (r == NULL) {
        if (num == max)
            return num;
        r = &rails[num];
        fill_rail(r, a, fd);
        num += r->index != 0;
    }
    add_address(r, &addr, prefix, worth);
    return num;
}

int hwmc_rail_discover(struct hwmc_rail *rails, int max)
{
    struct ifaddrs *list;
    int fd, num = 0;

    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return HWMC_ERR_LIMIT;
    if (getifaddrs(&list) != 0) {
        close(fd);
        return HWMC_ERR_LIMIT;
    }
    for (const struct ifaddrs *a = list; a != NULL; a = a->ifa_next)
        if (is_usable(a))
            num = note_address(rails, num, max, a, fd);
    freeifaddrs(list);
    close(fd);
    for (int i = 0; i < num; i++)
        settle_addresses(&rails[i]);
    qsort(rails, (size_t) num, sizeof(*rails), by_index);
    return num;
}

/* The name of the interface by which the routing table sends multicast (239.192.0.0): mostly the
 * default route's; of several, the most specific, then the one with the lowest metric. False when
 * there is none. */
static bool multicast_route(char *name)
{
    FILE *f = fopen("/proc/net/route", "re");
    char line[256], dev[IF_NAMESIZE];
    unsigned dest, mask, best_mask = 0;
    int metric, best = -1;

    if (f == NULL)
        return false;
    while (fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "%15s %x %*x %*x %*d %*d %d %x", dev, &dest, &metric, &mask) != 4 ||
            (htonl(0xefc00000u) & mask) != dest)
            continue;
        mask = ntohl(mask);
        if (best < 0 || mask > best_mask || (mask == best_mask && metric < best)) {
            best = metric;
            best_mask = mask;
            strcpy(name, dev);
        }
    }
    fclose(f);
    return best >= 0;
}

/* Whether the part names the port; a subnet also says by which address it goes. */
static bool take_part(struct hwmc_rail *r, const char *part)
{
    struct hwmc_addr subnet;
    uint32_t prefix;

    if (strcmp(r->name, part) == 0)
        return true;
    if (!hwmc_addr_read_subnet(part, &subnet, &prefix))
        return false;
    if (hwmc_addr_in(&r->other, &subnet, prefix))
        swap_addresses(r);
    if (!hwmc_addr_in(&r->addr, &subnet, prefix))
        return false;
    memset(&r->other, 0, sizeof(r->other));
    return true;
}

/* Adds the ports that `part` names and that are not chosen yet; how many it names. */
static int add_matches(const struct hwmc_rail *ports, int num, const char *part,
                       struct hwmc_rail *rails, int max, int *chosen)
{
    int named = 0;

    for (int i = 0; i < num; i++) {
        struct hwmc_rail r = ports[i];

        if (!take_part(&r, part))
            continue;
        named++;
        if (*chosen < max && find_known(rails, *chosen, r.name) == NULL)
            rails[(*chosen)++] = r;
    }
    return named;
}

static bool leads_out(const struct hwmc_rail *port)
{
    return port->up && !port->loopback && !port->bridge;
}

/* As of a port to the host's own management. */
static bool link_local(const struct hwmc_rail *r)
{
    return hwmc_addr_is_link_local(&r->addr);
}

static bool only_link_local(const struct hwmc_rail *ports, int num)
{
    for (int i = 0; i < num; i++)
        if (leads_out(&ports[i]) && !link_local(&ports[i]))
            return false;
    return true;
}

/* How many ports could be rails; *mbit: the speed of the fastest, 0 when none tells. */
static int count_candidates(const struct hwmc_rail *ports, int num, uint32_t *mbit)
{
    const bool alone = only_link_local(ports, num);
    int n = 0;

    *mbit = 0;
    for (int i = 0; i < num; i++) {
        if (!leads_out(&ports[i]) || (link_local(&ports[i]) && !alone))
            continue;
        n++;
        if (ports[i].mbit > *mbit)
            *mbit = ports[i].mbit;
    }
    return n;
}

uint32_t hwmc_rail_fastest(const struct hwmc_rail *ports, int num)
{
    uint32_t mbit;

    count_candidates(ports, num, &mbit);
    return mbit;
}

const char *hwmc_rail_left_out(const struct hwmc_rail *ports, int num, int i)
{
    const struct hwmc_rail *r = &ports[i];
    uint32_t fastest;
    int others = count_candidates(ports, num, &fastest);

    if (!r->up)
        return "the port is down";
    if (r->loopback)
        return others > 0 ? "loopback" : NULL;
    if (r->bridge)
        return "a bridge inside this host";
    if (link_local(r) && !only_link_local(ports, num))
        return "a link-local address, where another port has one of its own";
    if (hwmc_rail_is_slow(r->mbit, fastest))
        return "slower than a quarter of the fastest";
    return NULL;
}

/* All ports that are not left out, that of the multicast route first. */
static int choose_default(const struct hwmc_rail *ports, int num, struct hwmc_rail *rails, int max)
{
    char name[IF_NAMESIZE];
    bool routed = multicast_route(name);
    int chosen = 0;

    for (int first = 1; first >= 0; first--)
        for (int i = 0; i < num && chosen < max; i++)
            if ((routed && strcmp(ports[i].name, name) == 0) == first &&
                hwmc_rail_left_out(ports, num, i) == NULL)
                rails[chosen++] = ports[i];
    return chosen > 0 ? chosen : HWMC_ERR_INVAL;
}

/* Copies the part of a spec that begins at *p or behind, cut to PART_MAX with its NUL, and moves *p
 * behind it; false: there is no more. */
static bool next_part(const char **p, char *part)
{
    size_t len, kept;

    *p += strspn(*p, ", ");
    len = strcspn(*p, ", ");
    kept = len < PART_MAX ? len : PART_MAX - 1;
    memcpy(part, *p, kept);
    part[kept] = '\0';
    *p += len;
    return len > 0;
}

int hwmc_rail_select(const struct hwmc_rail *ports, int num, const char *spec,
                     struct hwmc_rail *rails, int max, char *wrong)
{
    char part[PART_MAX];
    int chosen = 0;

    wrong[0] = '\0';
    if (spec[strspn(spec, ", ")] == '\0')
        return choose_default(ports, num, rails, max);
    for (const char *p = spec; next_part(&p, part);)
        if (add_matches(ports, num, part, rails, max, &chosen) == 0) {
            snprintf(wrong, HWMC_RAIL_NAME_MAX, "%.*s", HWMC_RAIL_NAME_MAX - 1, part);
            return HWMC_ERR_INVAL;
        }
    return chosen;
}

void hwmc_rail_span(struct hwmc_rail *rails, int num, const char *spec)
{
    char part[PART_MAX];
    struct hwmc_addr subnet;
    uint32_t prefix;

    for (const char *p = spec; next_part(&p, part);)
        for (int i = 0; i < num && hwmc_addr_read_subnet(part, &subnet, &prefix); i++)
            if (hwmc_addr_in(&rails[i].addr, &subnet, prefix) && rails[i].prefix > prefix)
                rails[i].prefix = prefix;
}
