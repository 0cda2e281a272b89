/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * keys: the strings MPIR_CVAR_HWMC_ALGORITHMS, _TUNE and _DEBUG, "key=value,key=value". A value
 * that holds commas stands in brackets: fault=[drop=1,seed=5]. What a key means, and which values
 * it may have, is in one table for each string.
 */

#ifndef HWMC_SETTINGS_KEYS_H_INCLUDED
#define HWMC_SETTINGS_KEYS_H_INCLUDED

#include <stddef.h>

#include "settings.h"

enum hwmc_key_kind {
    HWMC_KEY_INT,  /* an int of least to most */
    HWMC_KEY_BOOL, /* 0 or 1, a bool */
    HWMC_KEY_WORD, /* one of `words`: its place there, an int; the first is the default */
    HWMC_KEY_TEXT  /* up to `most` - 1 characters; the default is `words`[0] */
};

#define HWMC_KEY_WORDS 7

struct hwmc_key {
    const char *name;
    enum hwmc_key_kind kind;
    bool alike; /* has to have one value on all processes */
    size_t at;  /* of its field in struct hwmc_settings */
    int least, most, normal;
    const char *words[HWMC_KEY_WORDS]; /* NULL after the last one */
    const char *unit;                  /* "": none */
    const char *meaning;               /* sentences for the user */
};

enum hwmc_key_string { HWMC_KEYS_ALGORITHMS, HWMC_KEYS_TUNE, HWMC_KEYS_DEBUG, HWMC_KEYS_STRINGS };

#define HWMC_KEYS_MAX 64   /* of all strings together */
#define HWMC_KEY_WHY 384   /* room for what is wrong with a string, with its 0 */
#define HWMC_KEY_VALUE 160 /* room for a value as text */

/* The table of a string, of *num keys, in the order in which they are shown. */
const struct hwmc_key *hwmc_keys(enum hwmc_key_string string, size_t *num);

/* The control variable that holds a string, as "MPIR_CVAR_HWMC_TUNE". */
const char *hwmc_keys_variable(enum hwmc_key_string string);

/* Sets each field of a string's keys: to what `text` says, the last one where it names a key twice,
 * and to its default where it does not name it. False: `text` is wrong; `why` says which key or
 * value is, and what is allowed, and *s is what it was. */
bool hwmc_keys_read(enum hwmc_key_string string, const char *text, struct hwmc_settings *s,
                    char why[HWMC_KEY_WHY]);

/* The value of a key, or its default, as hwmc_keys_read takes it. */
void hwmc_key_print(const struct hwmc_key *key, const struct hwmc_settings *s,
                    char value[HWMC_KEY_VALUE]);
void hwmc_key_print_default(const struct hwmc_key *key, char value[HWMC_KEY_VALUE]);

/* What a key allows: "1 to 64", "0 or 1", "auto, knomial, kary". */
void hwmc_key_print_range(const struct hwmc_key *key, char range[HWMC_KEY_VALUE]);

#endif /* HWMC_SETTINGS_KEYS_H_INCLUDED */
