/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * json_keys: keys of a selection file, "name=value" or "name<=number". They may have spaces, as in
 * MPICH's own files.
 */

#ifndef HWMC_SELECT_JSON_KEYS_H_INCLUDED
#define HWMC_SELECT_JSON_KEYS_H_INCLUDED

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HWMC_JSON_KEY_MAX 80 /* bytes of a key without its spaces */
#define HWMC_JSON_DEEPEST 8  /* conditions within each other */

/* `key` without its spaces; what is too long for any key is cut. */
static inline void hwmc_json_squeeze(const char *key, char to[HWMC_JSON_KEY_MAX])
{
    size_t n = 0;

    for (; *key != '\0' && n < HWMC_JSON_KEY_MAX - 1; key++)
        if (*key != ' ')
            to[n++] = *key;
    to[n] = '\0';
}

/* What follows `name` in `key`; NULL: it does not begin so. */
static inline const char *hwmc_json_after(const char *key, const char *name)
{
    const size_t n = strlen(name);

    return strncmp(key, name, n) == 0 ? key + n : NULL;
}

/* A decimal number, and nothing else, of least to most. */
static inline bool hwmc_json_number(const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && *value >= least && *value <= most;
}

#endif /* HWMC_SELECT_JSON_KEYS_H_INCLUDED */
