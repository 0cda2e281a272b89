/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * addr: see addr.h.
 */
#include "addr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IPV4_BYTES 4
#define IPV6_BYTES 16

static void put_word(uint8_t *bytes, uint64_t word, int num)
{
    for (int i = 0; i < num; i++)
        bytes[i] = (uint8_t) (word >> 8 * (num - 1 - i));
}

struct hwmc_addr hwmc_addr_ipv4(uint32_t number)
{
    struct hwmc_addr a = {.family = HWMC_IPV4};

    put_word(a.bytes, number, IPV4_BYTES);
    return a;
}

uint32_t hwmc_addr_number(const struct hwmc_addr *a)
{
    return (uint32_t) a->bytes[0] << 24 | (uint32_t) a->bytes[1] << 16 |
           (uint32_t) a->bytes[2] << 8 | a->bytes[3];
}

bool hwmc_addr_read(const char *text, struct hwmc_addr *a)
{
    struct hwmc_addr read = {.family = HWMC_IPV4};

    if (inet_pton(AF_INET, text, read.bytes) != 1) {
        read.family = HWMC_IPV6;
        if (inet_pton(AF_INET6, text, read.bytes) != 1)
            return false;
    }
    *a = read;
    return true;
}

bool hwmc_addr_read_subnet(const char *text, struct hwmc_addr *subnet, uint32_t *prefix)
{
    const char *slash = strchr(text, '/');
    char before[HWMC_ADDR_TEXT_MAX];
    struct hwmc_addr a;
    unsigned long bits;
    char *end;

    if (slash == NULL || (size_t) (slash - text) >= sizeof(before))
        return false;
    memcpy(before, text, (size_t) (slash - text));
    before[slash - text] = '\0';
    if (slash[1] < '0' || slash[1] > '9' || !hwmc_addr_read(before, &a))
        return false;
    bits = strtoul(slash + 1, &end, 10);
    if (*end != '\0' || bits > hwmc_addr_bits(&a))
        return false;
    *prefix = (uint32_t) bits;
    *subnet = hwmc_addr_subnet(&a, *prefix);
    return true;
}

void hwmc_addr_write(const struct hwmc_addr *a, char *text)
{
    if (a->family == HWMC_NO_FAMILY ||
        inet_ntop(hwmc_addr_af(a), a->bytes, text, HWMC_ADDR_TEXT_MAX) == NULL)
        strcpy(text, "none");
}

void hwmc_addr_write_subnet(const struct hwmc_addr *a, uint32_t prefix, char *text)
{
    const struct hwmc_addr subnet = hwmc_addr_subnet(a, prefix);
    char before[HWMC_ADDR_TEXT_MAX];

    hwmc_addr_write(&subnet, before);
    snprintf(text, HWMC_ADDR_SUBNET_MAX, "%s/%u", before, prefix % 1000);
}

bool hwmc_addr_equal(const struct hwmc_addr *a, const struct hwmc_addr *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

struct hwmc_addr hwmc_addr_subnet(const struct hwmc_addr *a, uint32_t prefix)
{
    struct hwmc_addr subnet = *a;

    for (uint32_t i = 0; i < IPV6_BYTES; i++) {
        const uint32_t kept = prefix > 8 * i ? prefix - 8 * i : 0;

        if (kept < 8)
            subnet.bytes[i] &= (uint8_t) ~(0xff >> kept);
    }
    return subnet;
}

bool hwmc_addr_in(const struct hwmc_addr *a, const struct hwmc_addr *subnet, uint32_t prefix)
{
    const struct hwmc_addr own = hwmc_addr_subnet(a, prefix);

    return hwmc_addr_equal(&own, subnet);
}

uint64_t hwmc_addr_subnet_id(const struct hwmc_addr *a, uint32_t prefix)
{
    const struct hwmc_addr subnet = hwmc_addr_subnet(a, prefix);
    uint64_t id = UINT64_C(14695981039346656037); /* FNV-1a, of 64 bits */

    if (a->family == HWMC_IPV4)
        return (uint64_t) (prefix + 1) << 32 | hwmc_addr_number(&subnet);
    for (int i = 0; i < IPV6_BYTES; i++)
        id = (id ^ subnet.bytes[i]) * UINT64_C(1099511628211);
    id = (id ^ prefix) * UINT64_C(1099511628211);
    return id | UINT64_C(1) << 63;
}

bool hwmc_addr_is_link_local(const struct hwmc_addr *a)
{
    if (a->family == HWMC_IPV6)
        return a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
    return a->family == HWMC_IPV4 && a->bytes[0] == 169 && a->bytes[1] == 254;
}

bool hwmc_addr_is_multicast(const struct hwmc_addr *a)
{
    if (a->family == HWMC_IPV6)
        return a->bytes[0] == 0xff;
    return a->family == HWMC_IPV4 && (a->bytes[0] & 0xf0) == 0xe0;
}

int hwmc_addr_af(const struct hwmc_addr *a)
{
    return a->family == HWMC_IPV6 ? AF_INET6 : AF_INET;
}

socklen_t hwmc_addr_to_socket(const struct hwmc_addr *a, uint16_t port, uint32_t index,
                              union hwmc_sockaddr *to)
{
    memset(to, 0, sizeof(*to));
    if (a->family != HWMC_IPV6) {
        to->in.sin_family = AF_INET;
        to->in.sin_port = htons(port);
        memcpy(&to->in.sin_addr, a->bytes, IPV4_BYTES);
        return sizeof(to->in);
    }
    to->in6.sin6_family = AF_INET6;
    to->in6.sin6_port = htons(port);
    memcpy(&to->in6.sin6_addr, a->bytes, IPV6_BYTES);
    if (hwmc_addr_is_link_local(a) || hwmc_addr_is_multicast(a))
        to->in6.sin6_scope_id = index;
    return sizeof(to->in6);
}

struct hwmc_addr hwmc_addr_of_socket(const struct sockaddr *from)
{
    struct hwmc_addr a = {.family = HWMC_NO_FAMILY};

    if (from != NULL && from->sa_family == AF_INET) {
        a.family = HWMC_IPV4;
        memcpy(a.bytes, &((const struct sockaddr_in *) (const void *) from)->sin_addr, IPV4_BYTES);
    } else if (from != NULL && from->sa_family == AF_INET6) {
        a.family = HWMC_IPV6;
        memcpy(a.bytes, &((const struct sockaddr_in6 *) (const void *) from)->sin6_addr,
               IPV6_BYTES);
    }
    return a;
}

uint16_t hwmc_addr_port_of_socket(const union hwmc_sockaddr *from)
{
    return ntohs(from->any.sa_family == AF_INET6 ? from->in6.sin6_port : from->in.sin_port);
}

struct hwmc_addr hwmc_addr_group(uint32_t number, uint64_t key, uint8_t scope)
{
    struct hwmc_addr a = {.family = HWMC_IPV6, .bytes = {0xff, (uint8_t) (0x10 | scope)}};

    put_word(a.bytes + 4, key, 8);
    put_word(a.bytes + 12, (number ^ (uint32_t) (key >> 16)) | 0x80000000u, IPV4_BYTES);
    return a;
}
