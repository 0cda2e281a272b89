/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of stream share: stream_recv.c takes what comes, stream.c does the rest.
 */
#ifndef BCAST_HW_STREAM_IMPL_H_INCLUDED
#define BCAST_HW_STREAM_IMPL_H_INCLUDED

#include "stream.h"

/* The machine of the channel that `bid` has, whichever broadcast it runs. */
static inline struct bcast_hw_two_stage *bcast_hw_stream_slot(const struct bcast_hw_stream *s,
                                                              uint64_t bid)
{
    return &s->slots[bid % s->channel.n];
}

/* What came for `bid` along trees before it was posted; only where there are trees. */
static inline struct bcast_hw_multilane_early *
bcast_hw_stream_early(const struct bcast_hw_stream *s, uint64_t bid)
{
    return &s->early[bid % s->channel.n];
}

/* `m`, one of the stream's, may have something to send. */
static inline void bcast_hw_stream_attend(struct bcast_hw_stream *s,
                                          const struct bcast_hw_two_stage *m)
{
    s->attention |= UINT64_C(1) << (m - s->slots);
}

/* The machine of `bid`, which is within the window. */
struct bcast_hw_two_stage *bcast_hw_stream_claim(struct bcast_hw_stream *s, uint64_t bid);

/* Another epoch has begun. */
void bcast_hw_stream_follow(struct bcast_hw_stream *s);

/* The floor may have moved: time for the leader to judge. */
void bcast_hw_stream_judge(struct bcast_hw_stream *s, uint64_t floor_before, uint64_t now);

#endif /* BCAST_HW_STREAM_IMPL_H_INCLUDED */
