/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What group.c, which sends, and group_data.c, which takes, share.
 */
#ifndef BCAST_HW_GROUP_IMPL_H_INCLUDED
#define BCAST_HW_GROUP_IMPL_H_INCLUDED

#include "group.h"

/* Payload bytes of `n` fragments in a row, msg->index being the first. */
uint32_t bcast_hw_group_run_len(const struct bcast_hw_group *g, const struct bcast_hw_msg *msg,
                                uint32_t n);

/* The part of the message along trees that is in `msg`. */
unsigned char *bcast_hw_group_segment_at(const struct bcast_hw_group *g,
                                         const struct bcast_hw_msg *msg, uint32_t *len);

#endif /* BCAST_HW_GROUP_IMPL_H_INCLUDED */
