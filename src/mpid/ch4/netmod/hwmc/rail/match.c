/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#include "match.h"

#include <string.h>

void hwmc_match_write(const struct hwmc_rail *rails, int num, char *text)
{
    text[0] = '\0';
    for (int i = 0; i < num; i++) {
        if (i > 0)
            *text++ = ',';
        hwmc_addr_write_subnet(&rails[i].addr, rails[i].prefix, text);
        text += strlen(text);
    }
}

static bool is_taken(const int *at, int num, int port)
{
    for (int i = 0; i < num; i++)
        if (at[i] == port)
            return true;
    return false;
}

/* Among the first `n` rails is one in the subnet of this port. */
static bool has_subnet(const struct hwmc_rail *mine, const int *at, int n, int port)
{
    for (int i = 0; i < n; i++)
        if (at[i] >= 0 && hwmc_rail_meets(&mine[at[i]], &mine[port]))
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

/* Reads the subnet at the beginning of a text; behind it, NULL: that is none. */
static const char *read_subnet(const char *text, struct hwmc_rail *in)
{
    const size_t len = strcspn(text, ",");
    char one[HWMC_ADDR_SUBNET_MAX];

    if (len >= sizeof(one))
        return NULL;
    memcpy(one, text, len);
    one[len] = '\0';
    return hwmc_addr_read_subnet(one, &in->addr, &in->prefix) ? text + len : NULL;
}

int hwmc_match_read(const char *text, const struct hwmc_rail *mine, int num, int *at)
{
    int n = 0;

    for (const char *p = text; *p != '\0'; n++) {
        struct hwmc_rail in;

        p = n < HWMC_RAILS_MAX ? read_subnet(p, &in) : NULL;
        if (p == NULL)
            return HWMC_ERR_INVAL;
        at[n] = -1;
        for (int i = 0; i < num && at[n] < 0; i++)
            if (hwmc_rail_meets(&mine[i], &in) && !is_taken(at, n, i))
                at[n] = i;
        p += *p == ',';
    }
    return n;
}
