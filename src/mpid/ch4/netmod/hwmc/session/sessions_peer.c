/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Peers of session/sessions.h. A peer is made when it is first sent to or heard from; only those
 * that have a timer are looked at when the first is due.
 */

#include "sessions_impl.h"

#include <stdlib.h>

/* A lane that cannot be had is asked for again after this, one that is being connected after
 * that. */
#define RETRY_NS UINT64_C(200000000)
#define CONNECT_NS UINT64_C(1000000)

void hwmc_sessions_touch(struct hwmc_sessions *l, struct hwmc_sessions_peer *p)
{
    if (!p->touched) {
        p->touched = true;
        p->next_touched = l->touched;
        l->touched = p;
    }
}

/* Timers. */

static void arm_timer(struct hwmc_sessions *l, struct hwmc_sessions_peer *p)
{
    p->armed = true;
    p->prev_armed = NULL;
    p->next_armed = l->armed;
    if (p->next_armed != NULL)
        p->next_armed->prev_armed = p;
    l->armed = p;
}

static void disarm_timer(struct hwmc_sessions *l, struct hwmc_sessions_peer *p)
{
    p->armed = false;
    if (p->prev_armed != NULL)
        p->prev_armed->next_armed = p->next_armed;
    else
        l->armed = p->next_armed;
    if (p->next_armed != NULL)
        p->next_armed->prev_armed = p->prev_armed;
}

void hwmc_sessions_set_timer(struct hwmc_sessions *l, struct hwmc_sessions_peer *p)
{
    uint64_t at = hwmc_session_next_timer(&p->session);

    at = p->retry_at < at ? p->retry_at : at;
    l->wake = at < l->wake ? at : l->wake;
    if (at != HWMC_NEVER && !p->armed)
        arm_timer(l, p);
    else if (at == HWMC_NEVER && p->armed)
        disarm_timer(l, p);
}

/* Making. */

struct hwmc_sessions_peer *hwmc_sessions_get_peer(struct hwmc_sessions *l, uint32_t rank)
{
    struct hwmc_sessions_peer *p = l->peers[rank];
    uint64_t now = hwmc_sessions_now();

    if (p != NULL)
        return p;
    p = calloc(1, sizeof(*p));
    if (p == NULL)
        return NULL;
    p->rank = rank;
    p->next = l->made;
    l->made = l->peers[rank] = p;
    hwmc_session_init(&p->session, &l->cfg, l->counts, ~(uint32_t) l->cfg.tells, now);
    for (uint32_t i = 0; i < l->cfg.lanes; i++)
        if ((l->cfg.tells >> i & 1) == 0)
            l->lanes[i]->ops->ready(l->lanes[i], rank); /* what comes from now on can be answered */
    p->retry_at = l->cfg.tells != 0 ? now : HWMC_NEVER;
    hwmc_sessions_set_timer(l, p);
    hwmc_sessions_touch(l, p);
    return p;
}

/* Lanes that are off. */

void hwmc_sessions_lane_is_off(struct hwmc_sessions *l, struct hwmc_sessions_peer *p, uint32_t lane,
                               uint64_t now)
{
    hwmc_session_on_lost(&p->session, lane, now);
    if (p->retry_at == HWMC_NEVER)
        p->retry_at = now + RETRY_NS;
    hwmc_sessions_set_timer(l, p);
    hwmc_sessions_touch(l, p);
}

void hwmc_sessions_try_lanes(struct hwmc_sessions *l, struct hwmc_sessions_peer *p, uint64_t now)
{
    p->retry_at = HWMC_NEVER;
    for (uint32_t i = 0; i < l->cfg.lanes; i++) {
        uint64_t again = now + RETRY_NS;

        if (p->session.lanes[i].state != HWMC_SESSION_OFF)
            continue;
        switch (l->lanes[i]->ops->ready(l->lanes[i], p->rank)) {
            case HWMC_OK:
                hwmc_session_on_usable(&p->session, i, now);
                continue;
            case HWMC_AGAIN:
                again = now + CONNECT_NS;
                break;
        }
        p->retry_at = again < p->retry_at ? again : p->retry_at;
    }
}
