/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * lane_state: see lane_state.h.
 */
#include "lane_state.h"

#include <string.h>

_Static_assert(HWMC_SESSION_DEAD + 1 == HWMC_LANE_STATES, "DEAD is the last state");

static bool is_lost(const struct hwmc_lane_state_share *s, uint32_t lane)
{
    return s->used[lane] &&
           (s->state[lane] == HWMC_SESSION_DEAD || s->state[lane] == HWMC_SESSION_OFF);
}

static void find_share(struct hwmc_lane_state_share *s, const struct hwmc_session *session,
                       uint32_t sends)
{
    for (uint32_t i = 0; i < session->cfg->lanes; i++) {
        s->state[i] = (uint8_t) session->lanes[i].state;
        s->used[i] |= session->lanes[i].state == HWMC_SESSION_GOOD;
        s->streams[i] = s->moved[i] = 0;
    }
    for (uint32_t i = 0; i < session->cfg->streams; i++) {
        const uint8_t by = session->streams[i].via, rather = session->cfg->prefers[i][0];

        if (!(sends >> i & 1))
            continue;
        if (by != HWMC_SESSION_NO_LANE)
            s->streams[by]++;
        if (by != rather && rather != HWMC_SESSION_NO_LANE)
            s->moved[rather]++;
    }
    s->counted = true;
}

static void drop_lost(struct hwmc_lane_state *s, uint32_t peer)
{
    for (uint32_t i = 0; i < s->num_lost; i++)
        if (s->lost[i] == peer) {
            s->lost[i] = s->lost[--s->num_lost];
            return;
        }
}

static void add_lost(struct hwmc_lane_state *s, uint32_t peer)
{
    if (s->num_lost < HWMC_LANE_STATE_LOST)
        s->lost[s->num_lost++] = peer;
}

/* One lane's. Whether it changed. */
static bool take_share(struct hwmc_lane_state *s, const struct hwmc_lane_state_share *was,
                       const struct hwmc_lane_state_share *is, uint32_t lane, uint32_t peer)
{
    const bool was_lost = was->counted && is_lost(was, lane), lost = is_lost(is, lane);

    if (was->counted && was->state[lane] == is->state[lane] &&
        was->streams[lane] == is->streams[lane] && was->moved[lane] == is->moved[lane])
        return false;
    if (was->counted)
        s->peers[was->state[lane]]--;
    s->peers[is->state[lane]]++;
    s->streams += (uint32_t) is->streams[lane] - was->streams[lane];
    s->moved += (uint32_t) is->moved[lane] - was->moved[lane];
    if (was_lost && !lost)
        drop_lost(s, peer);
    else if (!was_lost && lost)
        add_lost(s, peer);
    return true;
}

uint32_t hwmc_lane_state_take(struct hwmc_lane_state *stands, struct hwmc_lane_state_share *share,
                              uint32_t peer, const struct hwmc_session *session, uint32_t sends)
{
    const struct hwmc_lane_state_share was = *share;
    uint32_t changed = 0;

    find_share(share, session, sends);
    for (uint32_t i = 0; i < session->cfg->lanes; i++)
        if (take_share(&stands[i], &was, share, i, peer))
            changed |= 1u << i;
    return changed;
}
