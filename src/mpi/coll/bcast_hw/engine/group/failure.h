/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * failure: a group of which a member cannot be reached is BROKEN (core/failure/notice), until it is
 * closed.
 *
 *   SETUP, ON, CLOSING --a lane failed, a host is silent, or LOST came--> BROKEN
 */
#ifndef HWMC_ENGINE_GROUP_FAILURE_H_INCLUDED
#define HWMC_ENGINE_GROUP_FAILURE_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../../core/failure/notice.h"

struct hwmc_group;

/* What the group waits for now. */
enum hwmc_stage hwmc_group_stage(const struct hwmc_group *g);

/* In that stage it waits for what goes by the lanes of all rails. */
bool hwmc_group_waits_for_lanes(const struct hwmc_group *g, enum hwmc_stage stage);

/* A lane of this process failed, to a process that may be a member. */
void hwmc_group_on_lost(struct hwmc_group *g, uint32_t world_rank);

/* The member's host is silent on these rails, at least one. */
void hwmc_group_on_failed(struct hwmc_group *g, uint32_t member, uint32_t rails);

/* This member is no longer in step with the others: for them it is lost. Changes nothing where the
 * group is broken. */
void hwmc_group_give_up(struct hwmc_group *g);

/* This member is of `broken` too, which is BROKEN, and will not go on in either: `g` has lost the
 * same process, or this one if that is no member. */
void hwmc_group_lose_too(struct hwmc_group *g, const struct hwmc_group *broken);

/* LOST came, or anything else for a group that is broken. */
void hwmc_group_on_told(struct hwmc_group *g, const struct hwmc_msg *msg);
void hwmc_group_tell_again(struct hwmc_group *g, const struct hwmc_msg *msg);

/* BROKEN, or about to go: neighbours get to know what they have not been told. */
void hwmc_group_tell_lost(struct hwmc_group *g);

#endif /* HWMC_ENGINE_GROUP_FAILURE_H_INCLUDED */
