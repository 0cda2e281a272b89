/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * coming: see coming.h.
 */
#include "coming.h"

#include "../base/bitmap.h"
#include "stream_impl.h"

/* The machine of this broadcast; NULL: nothing of it is known. */
static const struct hwmc_two_stage *find_known(const struct hwmc_stream *s, uint64_t bid)
{
    const struct hwmc_two_stage *m = hwmc_stream_slot(s, bid);

    return m->bid == bid && m->frags > 0 ? m : NULL;
}

/* Fragments of it in a row from `index` on that are not here; *goes_on: the next broadcast's follow
 * them, as it is a whole piece and has none behind them. */
static uint32_t count_missing(const struct hwmc_stream *s, uint64_t bid, uint32_t index,
                              bool *goes_on)
{
    const struct hwmc_two_stage *m = find_known(s, bid);
    uint32_t end = m ? hwmc_bitmap_set_from(m->got, m->frags, index) : s->ring.max_frags;

    *goes_on = end == s->ring.max_frags;
    return end - index;
}

static bool is_member(const struct hwmc_stream *s)
{
    const struct hwmc_two_stage *m = hwmc_stream_slot(s, s->posted - 1);

    return (m->phase == HWMC_WAIT || m->phase == HWMC_DONE) && m->root != s->ring.rank;
}

struct hwmc_coming hwmc_coming_on(const struct hwmc_stream *s, uint32_t rail, uint32_t most)
{
    struct hwmc_coming c = {0};
    const struct hwmc_two_stage *m;
    bool goes_on = true;

    if (s->posted == s->channel.consumed || s->ring.rails != 1u << rail || !is_member(s))
        return c;
    hwmc_two_stage_after_seen(&s->ring, rail, &c.bid, &c.index);
    if (c.bid < s->posted - 1) {
        c.bid = s->posted - 1;
        c.index = 0;
    }
    m = find_known(s, c.bid);
    if (m && c.index >= m->frags) {
        c.bid++;
        c.index = 0;
    }
    for (uint64_t bid = c.bid; c.num < most && goes_on && hwmc_channel_open(&s->channel, bid);
         bid++)
        c.num += count_missing(s, bid, bid == c.bid ? c.index : 0, &goes_on);
    c.num = c.num < most ? c.num : most;
    return c;
}
