/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of link share: link_lanes.c says by which lane a stream goes, link.c sends and
 * receives by it.
 */
#ifndef BCAST_HW_LINK_IMPL_H_INCLUDED
#define BCAST_HW_LINK_IMPL_H_INCLUDED

#include "link.h"

/* a is before b, in numbers that wrap. */
static inline bool bcast_hw_link_before(uint32_t a, uint32_t b)
{
    return (int32_t) (a - b) < 0;
}

/* on_timer has something to do at `at`, ns; NEVER. */
static inline void bcast_hw_link_wake_at(struct bcast_hw_link *l, uint64_t at)
{
    l->wake = at < l->wake ? at : l->wake;
}

/* The lane says itself when it fails. */
static inline bool bcast_hw_link_tells(const struct bcast_hw_link *l, uint32_t lane)
{
    return l->cfg->tells >> lane & 1;
}

static inline bool bcast_hw_link_is_under_way(const struct bcast_hw_link_stream *s)
{
    return s->acked != s->sent;
}

/* The lane for the stream as they are now; NO_LANE. */
uint8_t bcast_hw_link_choose(const struct bcast_hw_link *l, uint32_t stream);

/* The stream goes over to the lane that it prefers, when nothing of it is under way. */
void bcast_hw_link_try_return(struct bcast_hw_link *l, uint32_t stream);

/* What is not acknowledged goes again. */
void bcast_hw_link_replay(struct bcast_hw_link *l, uint32_t stream);

/* Something that went by the lane came; `lately`: not perhaps before it died. */
void bcast_hw_link_moved(struct bcast_hw_link *l, uint32_t lane, bool lately, uint64_t now);

/* When the lane's state has something to do next; NEVER. */
uint64_t bcast_hw_link_lane_timer(const struct bcast_hw_link *l, uint32_t lane);

/* Does what the lane's state has to do by now. */
void bcast_hw_link_on_lane_timer(struct bcast_hw_link *l, uint32_t lane, uint64_t now);

#endif /* BCAST_HW_LINK_IMPL_H_INCLUDED */
