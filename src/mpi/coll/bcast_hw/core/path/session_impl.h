/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of session share: session_lanes.c says by which lane a stream goes, session.c
 * sends and receives by it.
 */
#ifndef HWMC_CORE_PATH_SESSION_IMPL_H_INCLUDED
#define HWMC_CORE_PATH_SESSION_IMPL_H_INCLUDED

#include "session.h"

/* a is before b, in numbers that wrap. */
static inline bool hwmc_session_before(uint32_t a, uint32_t b)
{
    return (int32_t) (a - b) < 0;
}

/* on_timer has something to do at `at`, ns; NEVER. */
static inline void hwmc_session_wake_at(struct hwmc_session *l, uint64_t at)
{
    l->wake = at < l->wake ? at : l->wake;
}

/* The lane says itself when it fails. */
static inline bool hwmc_session_tells(const struct hwmc_session *l, uint32_t lane)
{
    return l->cfg->tells >> lane & 1;
}

/* The lane is to be asked whether it lives, for the first time or once more. */
static inline bool hwmc_session_probe_due(const struct hwmc_session_lane *p)
{
    return p->asking == HWMC_SESSION_PROBE_DUE || p->asking == HWMC_SESSION_PROBE_AGAIN;
}

static inline bool hwmc_session_is_under_way(const struct hwmc_session_stream *s)
{
    return s->acked != s->sent;
}

/* The lane for the stream as they are now; NO_LANE. */
uint8_t hwmc_session_choose(const struct hwmc_session *l, uint32_t stream);

/* The stream goes over to the lane that it prefers, when nothing of it is under way. */
void hwmc_session_try_return(struct hwmc_session *l, uint32_t stream);

/* What is not acknowledged goes again. */
void hwmc_session_replay(struct hwmc_session *l, uint32_t stream);

/* Something that went by the lane came; `lately`: not perhaps before it died. */
void hwmc_session_moved(struct hwmc_session *l, uint32_t lane, bool lately, uint64_t now);

/* When the lane's state has something to do next; NEVER. */
uint64_t hwmc_session_lane_timer(const struct hwmc_session *l, uint32_t lane);

/* Does what the lane's state has to do by now. */
void hwmc_session_on_lane_timer(struct hwmc_session *l, uint32_t lane, uint64_t now);

#endif /* HWMC_CORE_PATH_SESSION_IMPL_H_INCLUDED */
