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
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

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

static uint32_t prefix_of(const struct sockaddr *mask)
{
    uint32_t bits =
        mask == NULL ? UINT32_MAX
                     : ntohl(((const struct sockaddr_in *) (const void *) mask)->sin_addr.s_addr);
    uint32_t prefix = 0;

    for (; (bits & 0x80000000u) != 0; bits <<= 1)
        prefix++;
    return prefix;
}

/* Linux loops multicast on its loopback device whether or not the device's flags say so. */
static bool is_usable(const struct ifaddrs *a)
{
    return a->ifa_addr != NULL && a->ifa_addr->sa_family == AF_INET &&
           (a->ifa_flags & IFF_UP) != 0 && (a->ifa_flags & (IFF_MULTICAST | IFF_LOOPBACK)) != 0;
}

static bool is_bridge(const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "/sys/class/net/%s/bridge", name);
    return access(path, F_OK) == 0;
}

static void fill_rail(struct hwmc_rail *r, const struct ifaddrs *a, int fd)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *) (const void *) a->ifa_addr;

    memset(r, 0, sizeof(*r));
    strncpy(r->name, a->ifa_name, sizeof(r->name) - 1);
    r->index = if_nametoindex(a->ifa_name);
    r->addr = ntohl(in->sin_addr.s_addr);
    r->prefix = prefix_of(a->ifa_netmask);
    r->mtu = read_mtu(fd, a->ifa_name);
    r->mbit = read_speed(a->ifa_name);
    r->numa = r->distance = -1;
    r->up = (a->ifa_flags & IFF_RUNNING) != 0;
    r->bridge = is_bridge(a->ifa_name);
    r->loopback = (a->ifa_flags & IFF_LOOPBACK) != 0;
}

static bool is_known(const struct hwmc_rail *rails, int num, const char *name)
{
    for (int i = 0; i < num; i++)
        if (strcmp(rails[i].name, name) == 0)
            return true;
    return false;
}

static int by_index(const void *a, const void *b)
{
    const struct hwmc_rail *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

int hwmc_rail_discover(struct hwmc_rail *rails, int max)
{
    struct ifaddrs *list;
    int fd, num = 0;

    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return HWMC_ERR_LIMIT;
    if (getifaddrs(&list) != 0) {
        close(fd);
        return HWMC_ERR_LIMIT;
    }
    for (const struct ifaddrs *a = list; a != NULL && num < max; a = a->ifa_next) {
        if (!is_usable(a) || is_known(rails, num, a->ifa_name))
            continue;
        fill_rail(&rails[num], a, fd);
        if (rails[num].index != 0)
            num++;
    }
    freeifaddrs(list);
    close(fd);
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

/* Reads "10.77.0.0/24"; false when it is no subnet. */
static bool read_subnet(const char *text, uint32_t *addr, uint32_t *mask)
{
    char dotted[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    struct in_addr in;
    unsigned bits;
    char rest;

    if (slash == NULL || (size_t) (slash - text) >= sizeof(dotted))
        return false;
    memcpy(dotted, text, (size_t) (slash - text));
    dotted[slash - text] = '\0';
    if (inet_pton(AF_INET, dotted, &in) != 1 || sscanf(slash + 1, "%2u%c", &bits, &rest) != 1 ||
        bits > 32)
        return false;
    *mask = bits == 0 ? 0 : UINT32_MAX << (32 - bits);
    *addr = ntohl(in.s_addr) & *mask;
    return true;
}

static bool matches_part(const struct hwmc_rail *r, const char *part)
{
    uint32_t addr, mask;

    if (strcmp(r->name, part) == 0)
        return true;
    return read_subnet(part, &addr, &mask) && (r->addr & mask) == addr;
}

/* Adds the ports that `part` names and that are not chosen yet; how many it names. */
static int add_matches(const struct hwmc_rail *ports, int num, const char *part,
                       struct hwmc_rail *rails, int max, int *chosen)
{
    int named = 0;

    for (int i = 0; i < num; i++) {
        if (!matches_part(&ports[i], part))
            continue;
        named++;
        if (*chosen < max && !is_known(rails, *chosen, ports[i].name))
            rails[(*chosen)++] = ports[i];
    }
    return named;
}

static bool leads_out(const struct hwmc_rail *port)
{
    return port->up && !port->loopback && !port->bridge;
}

/* How many ports could be rails; *mbit: the speed of the fastest, 0 when none tells. */
static int count_candidates(const struct hwmc_rail *ports, int num, uint32_t *mbit)
{
    int n = 0;

    *mbit = 0;
    for (int i = 0; i < num; i++) {
        if (!leads_out(&ports[i]))
            continue;
        n++;
        if (ports[i].mbit > *mbit)
            *mbit = ports[i].mbit;
    }
    return n;
}

/* An address that the host gave itself (RFC 3927), as for a port to its own management. */
static bool link_local(const struct hwmc_rail *r)
{
    return r->addr >> 16 == 0xa9feu;
}

static bool only_link_local(const struct hwmc_rail *ports, int num)
{
    for (int i = 0; i < num; i++)
        if (leads_out(&ports[i]) && !link_local(&ports[i]))
            return false;
    return true;
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

/* Copies the part of a spec that begins at *p or behind, cut to HWMC_RAIL_NAME_MAX with its NUL,
 * and moves *p behind it; false: there is no more. */
static bool next_part(const char **p, char *part)
{
    size_t len, kept;

    *p += strspn(*p, ", ");
    len = strcspn(*p, ", ");
    kept = len < HWMC_RAIL_NAME_MAX ? len : HWMC_RAIL_NAME_MAX - 1;
    memcpy(part, *p, kept);
    part[kept] = '\0';
    *p += len;
    return len > 0;
}

int hwmc_rail_select(const struct hwmc_rail *ports, int num, const char *spec,
                     struct hwmc_rail *rails, int max, char *wrong)
{
    char part[HWMC_RAIL_NAME_MAX];
    int chosen = 0;

    wrong[0] = '\0';
    if (spec[strspn(spec, ", ")] == '\0')
        return choose_default(ports, num, rails, max);
    for (const char *p = spec; next_part(&p, part);)
        if (add_matches(ports, num, part, rails, max, &chosen) == 0) {
            strcpy(wrong, part);
            return HWMC_ERR_INVAL;
        }
    return chosen;
}

void hwmc_rail_span(struct hwmc_rail *rails, int num, const char *spec)
{
    char part[HWMC_RAIL_NAME_MAX];
    uint32_t addr, mask;

    for (const char *p = spec; next_part(&p, part);)
        for (int i = 0; i < num && read_subnet(part, &addr, &mask); i++)
            if ((rails[i].addr & mask) == addr &&
                rails[i].prefix > (uint32_t) __builtin_popcount(mask))
                rails[i].prefix = (uint32_t) __builtin_popcount(mask);
}
