/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * epoch: tells of rails that a group disabled or enabled in mid-run (core/flow/epoch).
 */

#ifndef HWMC_STATS_EPOCH_H_INCLUDED
#define HWMC_STATS_EPOCH_H_INCLUDED

#include <stdbool.h>

struct hwmc_group;

/* How the group multicasts has changed: shows it (stats/export.h), and counts. `first`: it is new.
 * Under the lock. */
void hwmc_show_group(struct hwmc_group *g, bool first);

/* Says so, where the user wants it, if rails of the group were disabled or enabled since the last
 * message. */
void hwmc_note_epoch(struct hwmc_group *g);

#endif /* HWMC_STATS_EPOCH_H_INCLUDED */
