/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#include "match.h"

#include <stdio.h>
#include <string.h>

void hwmc_match_write(const struct hwmc_rail *rails, int num, char *text)
{
    size_t len = 0;

    text[0] = '\0';
    for (int i = 0; i < num; i++) {
        uint32_t a = hwmc_rail_subnet(rails[i].addr, rails[i].prefix);

        len += (size_t) snprintf(text + len, HWMC_MATCH_TEXT_MAX - len, "%s%u.%u.%u.%u/%u",
                                 i > 0 ? "," : "", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255,
                                 rails[i].prefix & 63);
    }
}

static bool is_taken(const int *at, int num, int port)
{
    for (int i = 0; i < num; i++)
        if (at[i] == port)
            return true;
    return false;
}

static bool in_one_subnet(const struct hwmc_rail *a, const struct hwmc_rail *b)
{
    return a->prefix == b->prefix &&
           hwmc_rail_subnet(a->addr, a->prefix) == hwmc_rail_subnet(b->addr, b->prefix);
}

/* Among the first `n` rails is one in the subnet of this port. */
static bool has_subnet(const struct hwmc_rail *mine, const int *at, int n, int port)
{
    for (int i = 0; i < n; i++)
        if (at[i] >= 0 && in_one_subnet(&mine[at[i]], &mine[port]))
            return true;
    return false;
}

bool hwmc_match_elsewhere(const struct hwmc_rail *mine, int num, int *at, int n)
{
    bool any = false;

    for (int i = 0, port = 0; i < n; i++) {
        if (at[i] >= 0)
            continue;
        while (port < num && has_subnet(mine, at, n, port))
            port++;
        if (port == num)
            break;
        at[i] = port;
        any = true;
    }
    return any;
}

int hwmc_match_read(const char *text, const struct hwmc_rail *mine, int num, int *at)
{
    int n = 0;

    for (const char *p = text; *p != '\0'; n++) {
        unsigned b[4], prefix;
        int used = 0;

        if (n == HWMC_RAILS_MAX ||
            sscanf(p, "%3u.%3u.%3u.%3u/%2u%n", &b[0], &b[1], &b[2], &b[3], &prefix, &used) != 5 ||
            (b[0] | b[1] | b[2] | b[3]) > 255 || prefix > 32 || (p[used] != ',' && p[used] != '\0'))
            return HWMC_ERR_INVAL;
        at[n] = -1;
        for (int i = 0; i < num && at[n] < 0; i++)
            if (mine[i].prefix == prefix && !is_taken(at, n, i) &&
                hwmc_rail_subnet(mine[i].addr, prefix) ==
                    (b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]))
                at[n] = i;
        p += used;
        p += *p == ',';
    }
    return n;
}
