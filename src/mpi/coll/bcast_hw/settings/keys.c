/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * keys: see keys.h.
 */

#include "keys.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 32 /* longer names are of no key */

struct hwmc_settings hwmc_settings;

/* An item of a string: not terminated. */
struct span {
    const char *at;
    size_t len;
};

static bool span_is(struct span s, const char *text)
{
    return strlen(text) == s.len && memcmp(text, s.at, s.len) == 0;
}

/* Fields. */

static char *field_of(const struct hwmc_key *key, struct hwmc_settings *s)
{
    return (char *) s + key->at;
}

static void set_number(const struct hwmc_key *key, struct hwmc_settings *s, int value)
{
    if (key->kind == HWMC_KEY_BOOL)
        *(bool *) (void *) field_of(key, s) = value != 0;
    else
        memcpy(field_of(key, s), &value, sizeof(value));
}

static int get_number(const struct hwmc_key *key, const struct hwmc_settings *s)
{
    const char *field = (const char *) s + key->at;
    int value;

    if (key->kind == HWMC_KEY_BOOL)
        return *(const bool *) (const void *) field;
    memcpy(&value, field, sizeof(value));
    return value;
}

static void set_default(const struct hwmc_key *key, struct hwmc_settings *s)
{
    if (key->kind == HWMC_KEY_TEXT)
        snprintf(field_of(key, s), (size_t) key->most, "%s", key->words[0]);
    else
        set_number(key, s, key->normal);
}

/* Values. */

static bool read_int(struct span text, int least, int most, int *value)
{
    char digits[16], *end;
    long number;

    if (text.len == 0 || text.len >= sizeof(digits) || text.at[0] == ' ')
        return false;
    memcpy(digits, text.at, text.len);
    digits[text.len] = '\0';
    errno = 0;
    number = strtol(digits, &end, 10);
    *value = (int) number;
    return *end == '\0' && errno == 0 && number >= least && number <= most;
}

static bool read_word(const struct hwmc_key *key, struct span text, int *value)
{
    for (*value = 0; *value < HWMC_KEY_WORDS && key->words[*value]; ++*value)
        if (span_is(text, key->words[*value]))
            return true;
    return false;
}

/* False: it is not allowed. */
static bool read_value(const struct hwmc_key *key, struct span text, struct hwmc_settings *s)
{
    int value;

    switch (key->kind) {
        case HWMC_KEY_TEXT:
            if (text.len >= (size_t) key->most)
                return false;
            memcpy(field_of(key, s), text.at, text.len);
            field_of(key, s)[text.len] = '\0';
            return true;
        case HWMC_KEY_WORD:
            if (!read_word(key, text, &value))
                return false;
            break;
        default:
            if (!read_int(text, key->least, key->most, &value))
                return false;
    }
    set_number(key, s, value);
    return true;
}

/* What is wrong. */

static size_t least_of(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Letters to insert, take away or replace to make one word of the other (Levenshtein). The span is
 * shorter than NAME_MAX_LEN. */
static size_t count_edits(struct span a, const char *b)
{
    size_t row[NAME_MAX_LEN];

    for (size_t i = 0; i <= a.len; i++)
        row[i] = i;
    for (size_t j = 1; b[j - 1]; j++) {
        size_t diagonal = row[0];

        row[0] = j;
        for (size_t i = 1; i <= a.len; i++) {
            const size_t above = row[i];

            row[i] = least_of(above + 1, row[i - 1] + 1, diagonal + (a.at[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[a.len];
}

/* The key with the nearest name; NULL: none is near. */
static const struct hwmc_key *find_nearest(const struct hwmc_key *keys, size_t num,
                                           struct span name)
{
    const struct hwmc_key *nearest = NULL;
    size_t best = name.len / 3 + 2;

    for (size_t i = 0; i < num && name.len < NAME_MAX_LEN; i++) {
        const size_t edits = count_edits(name, keys[i].name);

        if (edits < best) {
            best = edits;
            nearest = &keys[i];
        }
    }
    return nearest;
}

static void blame_name(enum hwmc_key_string string, struct span name, char *why)
{
    size_t num;
    const struct hwmc_key *keys = hwmc_keys(string, &num);
    const struct hwmc_key *nearest = find_nearest(keys, num, name);
    int n = snprintf(why, HWMC_KEY_WHY, "%s: there is no key %.*s", hwmc_keys_variable(string),
                     (int) (name.len < 64 ? name.len : 64), name.at);

    if (nearest)
        snprintf(why + n, HWMC_KEY_WHY - (size_t) n, " (is it %s?)", nearest->name);
    n = (int) strlen(why);
    snprintf(why + n, HWMC_KEY_WHY - (size_t) n, "; hwmc_info --cvars lists them");
}

static void blame_value(enum hwmc_key_string string, const struct hwmc_key *key, struct span value,
                        char *why)
{
    char range[HWMC_KEY_VALUE];

    hwmc_key_print_range(key, range);
    snprintf(why, HWMC_KEY_WHY, "%s: %s=%.*s is not allowed; it may be %s",
             hwmc_keys_variable(string), key->name, (int) (value.len < 64 ? value.len : 64),
             value.at, range);
}

static void blame_item(enum hwmc_key_string string, const char *item, char *why)
{
    snprintf(why, HWMC_KEY_WHY, "%s: no key=value, or no end of a bracket: %.100s",
             hwmc_keys_variable(string), item);
}

/* The string. */

/* Splits the item at *text, and leaves *text behind it and its comma. False: it is none. */
static bool split_item(const char **text, struct span *name, struct span *value)
{
    const char *equals = *text + strcspn(*text, "=,"), *end;

    if (*equals != '=' || equals == *text)
        return false;
    *name = (struct span){*text, (size_t) (equals - *text)};
    value->at = equals + 1;
    if (*value->at == '[') {
        value->at++;
        end = value->at + strcspn(value->at, "]");
        value->len = (size_t) (end - value->at);
        if (*end++ != ']' || (*end != ',' && *end != '\0'))
            return false;
    } else {
        value->len = strcspn(value->at, ",");
        end = value->at + value->len;
    }
    *text = *end == ',' ? end + 1 : end;
    return true;
}

static const struct hwmc_key *find_key(enum hwmc_key_string string, struct span name)
{
    size_t num;
    const struct hwmc_key *keys = hwmc_keys(string, &num);

    for (size_t i = 0; i < num; i++)
        if (span_is(name, keys[i].name))
            return &keys[i];
    return NULL;
}

static bool read_items(enum hwmc_key_string string, const char *text, struct hwmc_settings *s,
                       char *why)
{
    struct span name, value;

    while (*text != '\0') {
        const char *item = text;
        const struct hwmc_key *key;

        if (!split_item(&text, &name, &value)) {
            blame_item(string, item, why);
            return false;
        }
        key = find_key(string, name);
        if (!key) {
            blame_name(string, name, why);
            return false;
        }
        if (!read_value(key, value, s)) {
            blame_value(string, key, value, why);
            return false;
        }
    }
    return true;
}

bool hwmc_keys_read(enum hwmc_key_string string, const char *text, struct hwmc_settings *s,
                    char why[HWMC_KEY_WHY])
{
    size_t num;
    const struct hwmc_key *keys = hwmc_keys(string, &num);
    struct hwmc_settings read = *s;

    for (size_t i = 0; i < num; i++)
        set_default(&keys[i], &read);
    if (!read_items(string, text, &read, why))
        return false;
    *s = read;
    return true;
}

/* As text. */

static void print_number(const struct hwmc_key *key, int number, char *value)
{
    if (key->kind == HWMC_KEY_WORD)
        snprintf(value, HWMC_KEY_VALUE, "%s", key->words[number]);
    else
        snprintf(value, HWMC_KEY_VALUE, "%d", number);
}

static void print_text(const char *text, char *value)
{
    snprintf(value, HWMC_KEY_VALUE, strchr(text, ',') ? "[%s]" : "%s", text);
}

void hwmc_key_print(const struct hwmc_key *key, const struct hwmc_settings *s,
                    char value[HWMC_KEY_VALUE])
{
    if (key->kind == HWMC_KEY_TEXT)
        print_text((const char *) s + key->at, value);
    else
        print_number(key, get_number(key, s), value);
}

void hwmc_key_print_default(const struct hwmc_key *key, char value[HWMC_KEY_VALUE])
{
    if (key->kind == HWMC_KEY_TEXT)
        print_text(key->words[0], value);
    else
        print_number(key, key->normal, value);
}

void hwmc_key_print_range(const struct hwmc_key *key, char range[HWMC_KEY_VALUE])
{
    size_t n = 0;

    switch (key->kind) {
        case HWMC_KEY_INT:
            if (key->most == INT_MAX)
                snprintf(range, HWMC_KEY_VALUE, "%d or more", key->least);
            else
                snprintf(range, HWMC_KEY_VALUE, "%d to %d", key->least, key->most);
            break;
        case HWMC_KEY_BOOL:
            snprintf(range, HWMC_KEY_VALUE, "0 or 1");
            break;
        case HWMC_KEY_WORD:
            for (int i = 0; i < HWMC_KEY_WORDS && key->words[i]; i++)
                n += (size_t) snprintf(range + n, HWMC_KEY_VALUE - n, "%s%s", i > 0 ? ", " : "",
                                       key->words[i]);
            break;
        case HWMC_KEY_TEXT:
            snprintf(range, HWMC_KEY_VALUE, "a text of less than %d characters", key->most);
            break;
    }
}
