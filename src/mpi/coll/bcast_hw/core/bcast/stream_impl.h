/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of stream share: stream_recv.c handles what comes, stream.c the rest.
 */
#ifndef HWMC_CORE_BCAST_STREAM_IMPL_H_INCLUDED
#define HWMC_CORE_BCAST_STREAM_IMPL_H_INCLUDED

#include "stream.h"

/* The machine of the channel that `bid` has, whichever broadcast it runs. */
static inline struct hwmc_two_stage *hwmc_stream_slot(const struct hwmc_stream *s, uint64_t bid)
{
    return &s->slots[bid % s->channel.n];
}

/* What came for `bid` along trees before it was posted; only where there are trees. */
static inline struct hwmc_multilane_unexpected *hwmc_stream_unexpected(const struct hwmc_stream *s,
                                                                       uint64_t bid)
{
    return &s->unexpected[bid % s->channel.n];
}

/* `m`, one of the stream's, may have something to send, and another timer. */
static inline void hwmc_stream_attend(struct hwmc_stream *s, const struct hwmc_two_stage *m)
{
    s->attention |= UINT64_C(1) << (m - s->slots);
    s->timed |= UINT64_C(1) << (m - s->slots);
}

/* The machine of `bid`, which is within the window. */
struct hwmc_two_stage *hwmc_stream_claim(struct hwmc_stream *s, uint64_t bid);

/* Another epoch has begun. */
void hwmc_stream_follow(struct hwmc_stream *s);

/* The floor may have moved: time for the leader to judge. */
void hwmc_stream_judge(struct hwmc_stream *s, uint64_t floor_before, uint64_t now);

#endif /* HWMC_CORE_BCAST_STREAM_IMPL_H_INCLUDED */
