/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What engine/group/group.c, which sends, and data.c, which takes, share.
 */
#ifndef HWMC_ENGINE_GROUP_GROUP_IMPL_H_INCLUDED
#define HWMC_ENGINE_GROUP_GROUP_IMPL_H_INCLUDED

#include "group.h"

/* The group changes its state. */
void hwmc_group_enter(struct hwmc_group *g, enum hwmc_group_state to);

/* A message with a body that is the lane's until hwmc_group_on_sent(lane, token). The lane may fail
 * in the call, and give back what it has. */
void hwmc_group_send_pinned(struct hwmc_group *g, const struct hwmc_msg *msg, uint32_t lane,
                            uint32_t token, const void *body, uint32_t len);

/* Payload bytes of `n` fragments in a row, msg->data.index being the first. */
static inline uint32_t hwmc_group_run_len(const struct hwmc_group *g, const struct hwmc_msg *msg,
                                          uint32_t n)
{
    uint32_t frag = g->stream.ring.frag_bytes;

    return (n - 1) * frag + hwmc_frag_len(msg->data.bytes, frag, msg->data.index + n - 1);
}

/* The part of the message along trees that is in `msg`. */
static inline unsigned char *hwmc_group_segment_at(const struct hwmc_group *g,
                                                   const struct hwmc_msg *msg, uint32_t *len)
{
    uint32_t at = hwmc_multilane_at(&g->stream.multilane, msg, len);

    return g->along_trees + at;
}

#endif /* HWMC_ENGINE_GROUP_GROUP_IMPL_H_INCLUDED */
