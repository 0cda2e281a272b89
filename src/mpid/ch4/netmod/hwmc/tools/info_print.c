/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * info_print: text as the parts of hwmc_info print it.
 */
#include "info.h"

#include <stdio.h>
#include <string.h>

void hwmc_info_print_wrapped(const char *text, int indent)
{
    const int width = 78;

    while (*text != '\0') {
        size_t room = (size_t) (width - indent), len = strcspn(text, "\n");

        if (len > room) {
            for (len = room; len > 0 && text[len] != ' '; len--)
                ;
            if (len == 0)
                len = room;
        }
        printf("%*s%.*s\n", indent, "", (int) len, text);
        text += len;
        text += *text == '\n' ? 1 : strspn(text, " ");
    }
}

void hwmc_info_format_subnet(const struct hwmc_rail *rail, char *text)
{
    char addr[HWMC_ADDR_TEXT_MAX];

    hwmc_addr_write(&rail->addr, addr);
    snprintf(text, HWMC_ADDR_SUBNET_MAX, "%s/%u", addr, rail->prefix % 1000);
}

void hwmc_info_print_time(uint64_t ns)
{
    if (ns == UINT64_MAX)
        printf(" %11s", "-");
    else if (ns < 10000000)
        printf(" %8.1f us", (double) ns / 1e3);
    else
        printf(" %8.1f ms", (double) ns / 1e6);
}
