/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * utf8: texts that others give, such as names of communicators, as UTF-8 (RFC 3629).
 */
#ifndef HWMC_STATS_UTF8_H_INCLUDED
#define HWMC_STATS_UTF8_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HWMC_UTF8_REPLACEMENT "\xef\xbf\xbd"    /* U+FFFD, for bytes that are no character */
#define HWMC_UTF8_ROOM(bytes) (3 * (bytes) + 1) /* with the NUL, whatever they are */

/* The bytes of the character that begins here; 0: none does, or it is cut, too long, a surrogate,
 * or beyond U+10FFFF. */
static inline size_t hwmc_utf8_length(const unsigned char *at)
{
    const size_t len = at[0] < 0x80                     ? 1
                       : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                       : (at[0] & 0xf0) == 0xe0         ? 3
                       : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                        : 0;

    for (size_t i = 1; i < len; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return len;
}

/* Copies a text, of whose bytes each that belongs to no character becomes U+FFFD. `to`:
 * HWMC_UTF8_ROOM(strlen(text)) bytes. */
static inline void hwmc_utf8_copy(const char *text, char *to)
{
    while (*text != '\0') {
        const size_t len = hwmc_utf8_length((const unsigned char *) text);
        const char *const from = len > 0 ? text : HWMC_UTF8_REPLACEMENT;
        const size_t bytes = len > 0 ? len : strlen(HWMC_UTF8_REPLACEMENT);

        memcpy(to, from, bytes);
        to += bytes;
        text += len > 0 ? len : 1;
    }
    *to = '\0';
}

#endif /* HWMC_STATS_UTF8_H_INCLUDED */
