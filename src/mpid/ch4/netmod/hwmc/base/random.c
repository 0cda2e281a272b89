/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * random: see random.h.
 */
#include "random.h"
#include "addr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

#define FIRST_DYNAMIC 49152u
#define FIRST_USER 1024u
#define LAST 65535u
#define ENOUGH 1024u             /* ports to draw from */
#define LOCAL_GROUPS 0xe0000000u /* 224.0.0.0/24 */

int hwmc_random(void *bytes, size_t len)
{
    ssize_t got;

    do
        got = getrandom(bytes, len, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t) len ? HWMC_OK : HWMC_ERR_LIMIT;
}

int hwmc_random_ipv4(uint16_t port, struct hwmc_random_groups groups, uint64_t *group)
{
    const uint32_t mask = (1u << groups.bits) - 1;
    uint64_t bits = 0;

    if (mask != 0 && hwmc_random(&bits, sizeof(bits)) != HWMC_OK)
        return HWMC_ERR_LIMIT;
    *group = (uint64_t) port << 32 | (groups.first & ~mask) | ((uint32_t) bits & mask);
    return HWMC_OK;
}

static bool read_one(const char *text, struct hwmc_random_groups *groups)
{
    struct hwmc_addr a;
    uint32_t prefix;

    if (!hwmc_addr_read_subnet(text, &a, &prefix) || !hwmc_addr_is_multicast(&a))
        return false;
    if (a.family == HWMC_IPV6) {
        groups->scope = a.bytes[1] & 15;
        return prefix == 16 && a.bytes[1] >> 4 == 1 && groups->scope > 1 && groups->scope < 15;
    }
    groups->first = hwmc_addr_number(&a);
    groups->bits = 32 - prefix;
    return prefix >= 4 && groups->first >> 8 != LOCAL_GROUPS >> 8;
}

bool hwmc_random_groups_read(const char *text, struct hwmc_random_groups *groups)
{
    const char *plus = strchr(text, '+');
    struct hwmc_random_groups read = HWMC_RANDOM_GROUPS;
    char before[HWMC_ADDR_SUBNET_MAX];

    if (plus != NULL) {
        snprintf(before, sizeof(before), "%.*s", (int) (plus - text), text);
        if (!read_one(before, &read))
            return false;
        text = plus + 1;
    }
    if (!read_one(text, &read))
        return false;
    *groups = read;
    return true;
}

struct hwmc_random_range hwmc_random_ephemeral(void)
{
    struct hwmc_random_range r = {.low = 32768,
                                  .high = 60999}; /* Linux's, unless it says another */
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    unsigned low, high;

    if (f == NULL)
        return r;
    if (fscanf(f, "%u %u", &low, &high) == 2 && low <= high && high <= LAST)
        r = (struct hwmc_random_range){low, high};
    fclose(f);
    return r;
}

/* How many there are from `first` on outside of r. */
static uint32_t outside(uint32_t first, struct hwmc_random_range r)
{
    const uint32_t low = r.low > first ? r.low : first;
    const uint32_t within = r.high >= low ? r.high - low + 1 : 0;

    return LAST - first + 1 - within;
}

static uint32_t nth_outside(uint32_t first, struct hwmc_random_range r, uint32_t n)
{
    const uint32_t low = r.low > first ? r.low : first;

    return first + n < low || r.high < low ? first + n : first + n + (r.high - low + 1);
}

static bool is_among(const struct hwmc_random_port_list *ports, uint16_t port)
{
    for (int i = 0; i < ports->num; i++)
        if (ports->port[i] == port)
            return true;
    return false;
}

int hwmc_random_ports(struct hwmc_random_range not_in, struct hwmc_random_port_list *ports)
{
    uint32_t first = FIRST_DYNAMIC, bits;

    if (outside(first, not_in) < ENOUGH)
        first = FIRST_USER;
    if (outside(first, not_in) < HWMC_RANDOM_PORTS_MAX) {
        first = FIRST_DYNAMIC;
        not_in = (struct hwmc_random_range){.low = 1, .high = 0};
    }
    ports->num = 0;
    while (ports->num < HWMC_RANDOM_PORTS_MAX) {
        uint16_t port;

        if (hwmc_random(&bits, sizeof(bits)) != HWMC_OK)
            return HWMC_ERR_LIMIT;
        port = (uint16_t) nth_outside(first, not_in, bits % outside(first, not_in));
        if (!is_among(ports, port))
            ports->port[ports->num++] = port;
    }
    return HWMC_OK;
}

void hwmc_random_ports_write(const struct hwmc_random_port_list *ports, char *text)
{
    int len = 0;

    for (int i = 0; i < ports->num; i++)
        len += snprintf(text + len, (size_t) (HWMC_RANDOM_PORTS_TEXT_MAX - len), "%s%x",
                        i > 0 ? "," : "", (unsigned) ports->port[i]);
}

static bool read_with(const char *text, int base, struct hwmc_random_port_list *ports)
{
    ports->num = 0;
    for (const char *p = text; ports->num < HWMC_RANDOM_PORTS_MAX; p++) {
        char *end;
        unsigned long port = strtoul(p, &end, base);

        if (end == p || port < 1 || port > LAST || (*end != ',' && *end != '\0'))
            return false;
        ports->port[ports->num++] = (uint16_t) port;
        p = end;
        if (*p == '\0')
            return true;
    }
    return false;
}

bool hwmc_random_ports_read(const char *text, struct hwmc_random_port_list *ports)
{
    return read_with(text, 16, ports);
}

bool hwmc_random_ports_parse(const char *text, struct hwmc_random_port_list *ports)
{
    return read_with(text, 10, ports);
}
