/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * ucx_log: see ucx_log.h.
 */
#include "ucx_log.h"

#include <string.h>

static bool in_spell(const struct hwmc_ucx_log *r, uint64_t now)
{
    return r->num > 0 && now - r->last < HWMC_UCX_LOG_PAUSE_NS;
}

uint64_t hwmc_ucx_log_add(struct hwmc_ucx_log *r, uint64_t now)
{
    if (!in_spell(r, now)) {
        r->since = now;
        r->num = 0;
    }
    r->last = now;
    r->num++;
    return r->num < HWMC_UCX_LOG_MIN ? 0 : now - r->since;
}

bool hwmc_ucx_log_show(struct hwmc_ucx_log *r, const char *file, unsigned line, uint64_t now)
{
    struct hwmc_ucx_log_place *place = &r->places[0]; /* that, or the one that was silent longest */

    if (!in_spell(r, now))
        return true;
    for (int i = 0; i < HWMC_UCX_LOG_PLACES; i++) {
        struct hwmc_ucx_log_place *p = &r->places[i];

        if (p->file == file && p->line == line) {
            if (now - p->shown < HWMC_UCX_LOG_PAUSE_NS)
                return false;
            place = p;
            break;
        }
        if (p->shown < place->shown)
            place = p;
    }
    *place = (struct hwmc_ucx_log_place){.file = file, .line = line, .shown = now};
    return true;
}

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

bool hwmc_ucx_log_is_of_shared_memory(const char *file)
{
    return strncmp(name_of(file), "mm_", 3) == 0; /* mm_posix.c, mm_ep.c, mm_iface.c */
}

bool hwmc_ucx_log_is_of_no_way(const char *file, const char *text)
{
    return strcmp(name_of(file), "select.c") == 0 &&
           strstr(text, "no active messages transport") != NULL;
}
