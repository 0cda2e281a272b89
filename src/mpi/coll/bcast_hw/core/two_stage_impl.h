/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of two_stage share: two_stage.c takes what comes, two_stage_seek.c what
 * others ask further, and two_stage_send.c says what goes.
 */
#ifndef BCAST_HW_TWO_STAGE_IMPL_H_INCLUDED
#define BCAST_HW_TWO_STAGE_IMPL_H_INCLUDED

#include "bitmap.h"
#include "two_stage.h"

/* As the diagram in two_stage.h allows. */
void bcast_hw_two_stage_set_phase(struct bcast_hw_two_stage *m, enum bcast_hw_phase to);

/* Fragments may be missing here. */
static inline bool bcast_hw_two_stage_incomplete(const struct bcast_hw_two_stage *m)
{
    return m->phase == BCAST_HW_EMPTY || m->phase == BCAST_HW_EARLY || m->phase == BCAST_HW_WAIT;
}

/* The rails on which this broadcast comes, as far as is known. */
static inline uint32_t bcast_hw_two_stage_rails(const struct bcast_hw_two_stage *m,
                                                const struct bcast_hw_ring *ring)
{
    return m->rails ? m->rails : ring->rails;
}

/* There is no use in waiting for it. */
static inline bool bcast_hw_two_stage_deaf(const struct bcast_hw_two_stage *m,
                                           const struct bcast_hw_ring *ring)
{
    uint32_t rails = bcast_hw_two_stage_rails(m, ring);

    return rails != 0 && (rails & ~(uint32_t) ring->watch.suspects) == 0;
}

/* A long broadcast is on its way: who knew nothing of it when it asked has got some by now. If not,
 * it asks again. */
bool bcast_hw_two_stage_is_coming(const struct bcast_hw_two_stage *m,
                                  const struct bcast_hw_ring *ring, uint64_t now);

/* What others can be asked for in word `w`: what the predecessor was asked for, and with push, when
 * nothing more comes, all. */
static inline uint64_t bcast_hw_two_stage_sought(const struct bcast_hw_two_stage *m, uint32_t w)
{
    return (m->push ? bcast_hw_bitmap_mask(w, m->frags) : m->asked[w]) & ~m->got[w];
}

#endif /* BCAST_HW_TWO_STAGE_IMPL_H_INCLUDED */
