/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Bytes as they travel in the process manager's key-value space: two hexadecimal digits each.
 */

#ifndef HWMC_NETMOD_BASE_HEX_H_INCLUDED
#define HWMC_NETMOD_BASE_HEX_H_INCLUDED

#include <stddef.h>
#include <stdio.h>

/* `text` has room for 2 * len + 1 characters. */
static inline void hwmc_hex_write(char *text, const unsigned char *bytes, size_t len)
{
    text[0] = '\0';
    for (size_t i = 0; i < len; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* How many bytes the text has; -1 when it has others than such or more than `room`. */
static inline int hwmc_hex_read(const char *text, unsigned char *bytes, size_t room)
{
    size_t n = 0;
    unsigned byte;

    for (; text[2 * n] != '\0'; n++) {
        if (n == room || sscanf(text + 2 * n, "%2x", &byte) != 1 || text[2 * n + 1] == '\0')
            return -1;
        bytes[n] = (unsigned char) byte;
    }
    return (int) n;
}

#endif /* HWMC_NETMOD_BASE_HEX_H_INCLUDED */
