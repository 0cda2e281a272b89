/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * groups: all groups of a process, and what they share.
 */
#ifndef HWMC_ENGINE_GROUP_GROUPS_H_INCLUDED
#define HWMC_ENGINE_GROUP_GROUPS_H_INCLUDED

#include "../../core/negotiation/spare.h"
#include "../wire/wires.h"
#include "agenda.h"
#include "decline.h"
#include "names.h"

struct hwmc_groups {
    struct hwmc_wires *wires;
    struct hwmc_group *first;      /* all there are, by `next` */
    struct hwmc_declines declines; /* groups that this process has no memory for */
    struct hwmc_names names;
    struct hwmc_agenda agenda;
    const struct hwmc_group *pinned; /* that has pinned a message of the program's last; NULL */
    size_t memory_used;              /* of wires.cfg.memory */
    uint32_t generations;            /* given out by this process as a leader */
    uint32_t made;                   /* groups, ever */
    struct hwmc_spare spare;         /* rails that set-ups do without for a while */
};

#endif /* HWMC_ENGINE_GROUP_GROUPS_H_INCLUDED */
