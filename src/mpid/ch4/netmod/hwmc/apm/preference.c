/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * preference: see preference.h.
 */
#include "preference.h"

#include <stdlib.h>
#include <string.h>

#define BITS_MAX 127 /* LMC is 7 at most */
#define PORT_MAX 254

/* If the text begins with `word`, and it ends there or at a comma: steps over it. */
static bool take_word(const char **at, const char *word)
{
    size_t len = strlen(word);
    const char *end = *at + len;

    if (strncmp(*at, word, len) != 0 || (*end != '\0' && *end != ','))
        return false;
    *at = end;
    return true;
}

/* The same with `name` and a number behind it, from `min` to `max`. */
static bool take_number(const char **at, const char *name, long min, long max, uint8_t *number)
{
    size_t len = strlen(name);
    const char *digits = *at + len;
    char *end;
    long value;

    if (strncmp(*at, name, len) != 0 || *digits < '0' || *digits > '9')
        return false;
    value = strtol(digits, &end, 10);
    if ((*end != '\0' && *end != ',') || value < min || value > max)
        return false;
    *number = (uint8_t) value;
    *at = end;
    return true;
}

static bool take_one(const char **at, struct hwmc_apm_preference *preference)
{
    if (take_word(at, "port=same")) {
        preference->same = true;
        preference->port = 0;
        return true;
    }
    if (take_number(at, "port=", 1, PORT_MAX, &preference->port)) {
        preference->same = false;
        return true;
    }
    return take_number(at, "bits=", 0, BITS_MAX, &preference->bits);
}

bool hwmc_apm_preference_parse(const char *words, struct hwmc_apm_preference *preference)
{
    *preference = (struct hwmc_apm_preference){0};
    if (strcmp(words, "auto") == 0)
        return true;
    while (take_one(&words, preference)) {
        if (*words == '\0')
            return true;
        words++;
    }
    return false;
}

bool hwmc_apm_preference_allows(const struct hwmc_apm_preference *preference, uint8_t port)
{
    return !preference->same && (preference->port == 0 || preference->port == port);
}
