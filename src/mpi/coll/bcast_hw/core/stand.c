/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stand: see stand.h.
 */
#include "stand.h"

#include <string.h>

_Static_assert(BCAST_HW_LINK_DEAD + 1 == BCAST_HW_STAND_STATES, "DEAD is the last state");

static bool is_lost(const struct bcast_hw_stand_share *s, uint32_t lane)
{
    return s->used[lane] &&
           (s->state[lane] == BCAST_HW_LINK_DEAD || s->state[lane] == BCAST_HW_LINK_OFF);
}

static void find(struct bcast_hw_stand_share *s, const struct bcast_hw_link *link, uint32_t sends)
{
    for (uint32_t i = 0; i < link->cfg->lanes; i++) {
        s->state[i] = (uint8_t) link->lanes[i].state;
        s->used[i] |= link->lanes[i].state == BCAST_HW_LINK_GOOD;
        s->streams[i] = s->moved[i] = 0;
    }
    for (uint32_t i = 0; i < link->cfg->streams; i++) {
        const uint8_t by = link->streams[i].via, rather = link->cfg->prefers[i][0];

        if (!(sends >> i & 1))
            continue;
        if (by != BCAST_HW_LINK_NO_LANE)
            s->streams[by]++;
        if (by != rather && rather != BCAST_HW_LINK_NO_LANE)
            s->moved[rather]++;
    }
    s->counted = true;
}

static void drop_lost(struct bcast_hw_stand *s, uint32_t peer)
{
    for (uint32_t i = 0; i < s->num_lost; i++)
        if (s->lost[i] == peer) {
            s->lost[i] = s->lost[--s->num_lost];
            return;
        }
}

static void add_lost(struct bcast_hw_stand *s, uint32_t peer)
{
    if (s->num_lost < BCAST_HW_STAND_LOST)
        s->lost[s->num_lost++] = peer;
}

/* One lane's. Whether it changed. */
static bool take(struct bcast_hw_stand *s, const struct bcast_hw_stand_share *was,
                 const struct bcast_hw_stand_share *is, uint32_t lane, uint32_t peer)
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

uint32_t bcast_hw_stand_take(struct bcast_hw_stand *stands, struct bcast_hw_stand_share *share,
                             uint32_t peer, const struct bcast_hw_link *link, uint32_t sends)
{
    const struct bcast_hw_stand_share was = *share;
    uint32_t changed = 0;

    find(share, link, sends);
    for (uint32_t i = 0; i < link->cfg->lanes; i++)
        if (take(&stands[i], &was, share, i, peer))
            changed |= 1u << i;
    return changed;
}
