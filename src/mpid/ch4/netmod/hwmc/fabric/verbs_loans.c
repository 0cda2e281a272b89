/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * verbs_loans: see verbs_loans.h.
 */
#include "verbs_loans.h"

/* The cache of registrations is made for the first loan. */
static bool has_registrations(struct hwmc_verbs_loans *l, struct ibv_pd *pd)
{
    if (l->registrations == NULL && !l->never) {
        l->registrations = hwmc_verbs_registrations_open(pd);
        l->never = l->registrations == NULL;
    }
    return !l->never;
}

bool hwmc_verbs_loans_add(struct hwmc_verbs_loans *l, struct ibv_pd *pd, const void *memory,
                          size_t bytes)
{
    struct hwmc_verbs_registration *registered;

    if (l->num == HWMC_VERBS_LOANS_MAX || hwmc_verbs_loans_have(l, memory) ||
        !has_registrations(l, pd))
        return false;
    registered = hwmc_verbs_registrations_get(l->registrations, memory, bytes);
    if (registered == NULL)
        return false;
    l->one[l->num++] =
        (struct hwmc_verbs_loan){.memory = memory, .bytes = bytes, .registered = registered};
    return true;
}

struct hwmc_verbs_loan *hwmc_verbs_loans_of(struct hwmc_verbs_loans *l, const void *memory,
                                            size_t bytes)
{
    for (uint32_t i = 0; i < l->num; i++) {
        const uintptr_t at = (uintptr_t) memory - (uintptr_t) l->one[i].memory;

        if (at <= l->one[i].bytes && bytes <= l->one[i].bytes - at)
            return &l->one[i];
    }
    return NULL;
}

void hwmc_verbs_loans_ask(struct hwmc_verbs_loans *l, const void *memory, uint64_t now)
{
    for (uint32_t i = 0; i < l->num; i++)
        if (l->one[i].memory == memory && l->one[i].asked_ns == 0)
            l->one[i].asked_ns = now;
}

void hwmc_verbs_loans_end(struct hwmc_verbs_loans *l, uint64_t done)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < l->num; i++) {
        if (l->one[i].asked_ns > 0 && l->one[i].last <= done)
            hwmc_verbs_registrations_put(l->registrations, l->one[i].registered);
        else
            l->one[kept++] = l->one[i];
    }
    l->ended |= kept < l->num;
    l->num = kept;
}

bool hwmc_verbs_loans_have(const struct hwmc_verbs_loans *l, const void *memory)
{
    for (uint32_t i = 0; i < l->num; i++)
        if (l->one[i].memory == memory)
            return true;
    return false;
}

uint64_t hwmc_verbs_loans_asked(const struct hwmc_verbs_loans *l)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t i = 0; i < l->num; i++)
        if (l->one[i].asked_ns > 0 && l->one[i].asked_ns < first)
            first = l->one[i].asked_ns;
    return first;
}

void hwmc_verbs_loans_close(struct hwmc_verbs_loans *l)
{
    for (uint32_t i = 0; i < l->num; i++)
        hwmc_verbs_registrations_put(l->registrations, l->one[i].registered);
    l->num = 0;
    hwmc_verbs_registrations_close(l->registrations);
    l->registrations = NULL;
}
