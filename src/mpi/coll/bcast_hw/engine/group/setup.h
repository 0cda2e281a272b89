/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * setup: what a rank does for the set-up of a group (core/negotiation): its proposal, joining the
 * fabrics' group, the stream and its memory; and giving that back. For engine/group/group.c.
 */
#ifndef HWMC_ENGINE_GROUP_SETUP_H_INCLUDED
#define HWMC_ENGINE_GROUP_SETUP_H_INCLUDED

#include "group.h"

#define HWMC_GROUP_SEGMENTS_MAX 16384u /* of one broadcast along trees */

/* What this rank can do; on rank 0 also what it proposes. Takes the channel memory from the
 * bound. */
void hwmc_group_make_proposal(struct hwmc_group *g, struct hwmc_parameters *proposal);

/* The agreement asks something of this rank that can be done at `now`; does it, and tells the
 * agreement. */
bool hwmc_group_is_asked(const struct hwmc_group *g, uint64_t now);
void hwmc_group_do_asked(struct hwmc_group *g, uint64_t now);

/* The set-up may be over: then the state is what follows from it. */
void hwmc_group_settle(struct hwmc_group *g);

/* Leaves the fabrics' group, and gives back all that was taken for broadcasts. */
void hwmc_group_leave(struct hwmc_group *g);

#endif /* HWMC_ENGINE_GROUP_SETUP_H_INCLUDED */
