/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group_setup: what a rank does for the set-up of a group (core/agree): its offer, joining the
 * fabrics' group, the stream and its memory; and giving that back. For group.c.
 */
#ifndef BCAST_HW_GROUP_SETUP_H_INCLUDED
#define BCAST_HW_GROUP_SETUP_H_INCLUDED

#include "group.h"

#define BCAST_HW_GROUP_SEGMENTS_MAX 16384u /* of one broadcast along trees */

/* What this rank can do; on rank 0 also what it proposes. Takes the channel memory from the
 * bound. */
void bcast_hw_group_make_offer(struct bcast_hw_group *g, struct bcast_hw_terms *offer);

/* The agreement asks something of this rank that can be done at `now`; does it, and tells the
 * agreement. */
bool bcast_hw_group_is_asked(const struct bcast_hw_group *g, uint64_t now);
void bcast_hw_group_do_asked(struct bcast_hw_group *g, uint64_t now);

/* The set-up may be over: then the state is what follows from it. */
void bcast_hw_group_settle(struct bcast_hw_group *g);

/* Leaves the fabrics' group, and gives back all that was taken for broadcasts. */
void bcast_hw_group_leave(struct bcast_hw_group *g);

#endif /* BCAST_HW_GROUP_SETUP_H_INCLUDED */
