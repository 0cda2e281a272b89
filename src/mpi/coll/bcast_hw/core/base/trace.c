/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * trace: see trace.h.
 */
#include "trace.h"

#include <string.h>

const char *const hwmc_trace_names[HWMC_TRACE_TOPICS] = {
    [HWMC_TRACE_BCAST] = "bcast",     [HWMC_TRACE_EPOCH] = "epoch",
    [HWMC_TRACE_SETUP] = "setup",     [HWMC_TRACE_GROUP] = "group",
    [HWMC_TRACE_SESSION] = "session", [HWMC_TRACE_TRIAL] = "trial",
    [HWMC_TRACE_FAILURE] = "failure",
};

uint32_t hwmc_trace_topics;
void (*hwmc_trace_sink)(const struct hwmc_trace_event *e);

static bool is_word(const char *text, size_t len, const char *word)
{
    size_t i = 0;

    while (i < len && word[i] != '\0' && text[i] == word[i])
        i++;
    return i == len && word[i] == '\0';
}

/* A bit each; 0: none has that name. */
static uint32_t topics_named(const char *text, size_t len)
{
    if (is_word(text, len, "all"))
        return (1u << HWMC_TRACE_TOPICS) - 1;
    for (uint32_t i = 0; i < HWMC_TRACE_TOPICS; i++)
        if (is_word(text, len, hwmc_trace_names[i]))
            return 1u << i;
    return 0;
}

bool hwmc_trace_parse(const char *text, uint32_t *topics)
{
    *topics = 0;
    while (*text != '\0') {
        size_t len = 0;
        uint32_t named;

        while (text[len] != '\0' && text[len] != ',')
            len++;
        named = topics_named(text, len);
        if (named == 0)
            return false;
        *topics |= named;
        text += len;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    return true;
}

void hwmc_trace_give(enum hwmc_trace_topic topic, uint64_t number, const char *from, const char *to,
                     uint64_t value)
{
    const struct hwmc_trace_event e = {topic, number, from, to, value};

    hwmc_trace_sink(&e);
}
