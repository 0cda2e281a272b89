/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */
#include "doctor.h"

#include <stdio.h>
#include <string.h>

void hwmc_doctor_list(char *list, size_t room, const char *word)
{
    const size_t len = strlen(list);
    const size_t need = (len > 0 ? 2 : 0) + strlen(word);

    if (len >= 3 && strcmp(list + len - 3, "...") == 0)
        return;
    if (len + need + sizeof(", ...") <= room)
        snprintf(list + len, room - len, "%s%s", len > 0 ? ", " : "", word);
    else if (len + sizeof(", ...") <= room)
        snprintf(list + len, room - len, ", ...");
}

void hwmc_doctor_blame(struct hwmc_doctor_finding *f, const struct hwmc_doctor_case *c, int host)
{
    hwmc_doctor_list(f->hosts, sizeof(f->hosts), hwmc_doctor_name_of(c, host));
}

static bool are_alike(const struct hwmc_doctor_finding *a, const struct hwmc_doctor_finding *b)
{
    return a->check == b->check && a->level == b->level && a->rail == b->rail &&
           strcmp(a->what, b->what) == 0 && strcmp(a->mend, b->mend) == 0;
}

void hwmc_doctor_merge(struct hwmc_doctor_report *r)
{
    struct hwmc_doctor_finding *last = &r->finding[r->num > 0 ? r->num - 1 : 0];

    for (int i = 0; i < r->num - 1; i++)
        if (are_alike(&r->finding[i], last)) {
            hwmc_doctor_list(r->finding[i].hosts, sizeof(last->hosts), last->hosts);
            r->num--;
            return;
        }
}

struct hwmc_doctor_finding *hwmc_doctor_find(struct hwmc_doctor_report *r,
                                             enum hwmc_doctor_check check,
                                             enum hwmc_doctor_level level, int rail)
{
    static struct hwmc_doctor_finding spare;
    struct hwmc_doctor_finding *f;

    hwmc_doctor_merge(r);
    f = r->num < HWMC_DOCTOR_FINDINGS_MAX ? &r->finding[r->num++] : &spare;
    memset(f, 0, sizeof(*f));
    f->check = check;
    f->level = level;
    f->rail = rail;
    if (r->level[check] == HWMC_DOCTOR_UNKNOWN || level > r->level[check])
        r->level[check] = level;
    return f;
}

int hwmc_doctor_status(const struct hwmc_doctor_report *r)
{
    int status = 0;

    for (int i = 0; i < HWMC_DOCTOR_NUM_CHECKS; i++)
        if (r->level[i] != HWMC_DOCTOR_UNKNOWN && (int) r->level[i] > status)
            status = (int) r->level[i];
    return status;
}
