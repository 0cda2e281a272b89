/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * json_add: how the summary and hwmc_info make JSON, with json-c.
 */
#ifndef HWMC_STATS_JSON_ADD_H_INCLUDED
#define HWMC_STATS_JSON_ADD_H_INCLUDED

#include <json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* As UTF-8, which JSON is, whatever the text is. */
static inline void hwmc_json_text(struct json_object *to, const char *key, const char *text)
{
    char *clean = (char *) malloc(HWMC_UTF8_ROOM(strlen(text)));

    if (clean != NULL)
        hwmc_utf8_copy(text, clean);
    json_object_object_add(to, key, json_object_new_string(clean != NULL ? clean : ""));
    free(clean);
}

/* Counters of more than INT64_MAX would show as that. */
static inline void hwmc_json_number(struct json_object *to, const char *key, uint64_t number)
{
    json_object_object_add(
        to, key, json_object_new_int64(number < INT64_MAX ? (int64_t) number : INT64_MAX));
}

static inline void hwmc_json_bool(struct json_object *to, const char *key, bool value)
{
    json_object_object_add(to, key, json_object_new_boolean(value));
}

/* Prints it to the standard output, and frees it. */
static inline void hwmc_json_print(struct json_object *all)
{
    printf("%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
                                                           JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(all);
}

#endif /* HWMC_STATS_JSON_ADD_H_INCLUDED */
