/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What the files of two_stage share: two_stage.c has the life of the machine, two_stage_phase.c its
 * phases, two_stage_msg.c the test of what comes. two_stage_root.c, two_stage_member.c and
 * two_stage_server.c handle what comes to a rank in these roles, two_stage_seek.c SEEK and OFFER,
 * and two_stage_send.c what the rank sends.
 */
#ifndef HWMC_CORE_BCAST_TWO_STAGE_IMPL_H_INCLUDED
#define HWMC_CORE_BCAST_TWO_STAGE_IMPL_H_INCLUDED

#include "../base/bitmap.h"
#include "../place/kary.h"
#include "two_stage.h"

/* As the diagram in two_stage.h allows. */
void hwmc_two_stage_set_phase(struct hwmc_two_stage *m, enum hwmc_phase to);

/* Fragments may be missing here. */
static inline bool hwmc_two_stage_incomplete(const struct hwmc_two_stage *m)
{
    return m->phase == HWMC_EMPTY || m->phase == HWMC_UNEXPECTED || m->phase == HWMC_WAIT;
}

/* The rails on which this broadcast comes, as far as is known. */
static inline uint32_t hwmc_two_stage_rails(const struct hwmc_two_stage *m,
                                            const struct hwmc_ring *ring)
{
    return m->rails ? m->rails : ring->rails;
}

/* There is no use in waiting for it. */
static inline bool hwmc_two_stage_no_multicast(const struct hwmc_two_stage *m,
                                               const struct hwmc_ring *ring)
{
    uint32_t rails = hwmc_two_stage_rails(m, ring);

    return rails != 0 && (rails & ~(uint32_t) ring->watch.suspects) == 0;
}

/* The successor may need something: it is not known to be the root. */
static inline bool hwmc_two_stage_serves(const struct hwmc_two_stage *m,
                                         const struct hwmc_ring *ring)
{
    return m->frags == 0 || hwmc_ring_next(ring->rank, ring->size) != m->root;
}

/* Everything missing is asked for, or is about to be. */
static inline bool hwmc_two_stage_asks_rest(const struct hwmc_two_stage *m)
{
    return m->frags > 0 && m->ask_below == m->frags;
}

/* A request for everything holds when the first fragment comes by multicast (`cast`) only if there
 * are few: a long broadcast would go over every lane of the ring because its root was late. When it
 * comes by lane, the multicast failed before. */
static inline bool hwmc_two_stage_holds(uint32_t frags, bool cast)
{
    return !cast || frags <= HWMC_STANDING_FRAGS;
}

/* No member is to be made an offer, and none is to get anything. */
void hwmc_two_stage_forget_askers(struct hwmc_two_stage *m, uint32_t max_frags);

/* The shape of the message is known now. `standing`: requests for all of it hold. */
void hwmc_two_stage_learn(struct hwmc_two_stage *m, uint32_t root, uint32_t frags, uint32_t bytes,
                          bool standing, const struct hwmc_ring *ring);

/* Member: everything that is missing is to be asked for. */
void hwmc_two_stage_ask_rest(struct hwmc_two_stage *m);

/* Member: the broadcast is about to be forgotten; rails on which nothing of it came are noted. */
void hwmc_two_stage_over(const struct hwmc_two_stage *m, struct hwmc_ring *ring);

/* Timers of either role. */
void hwmc_two_stage_root_on_timer(struct hwmc_two_stage *m, uint64_t now);
void hwmc_two_stage_member_on_timer(struct hwmc_two_stage *m, struct hwmc_ring *ring, uint64_t now);

/* A long broadcast is on its way: who knew nothing of it when it asked has got some by now. If not,
 * it asks again. */
bool hwmc_two_stage_is_coming(const struct hwmc_two_stage *m, const struct hwmc_ring *ring,
                              uint64_t now);

/* What others can be asked for in word `w`: what the predecessor was asked for, and with push, when
 * nothing more comes, all. */
static inline uint64_t hwmc_two_stage_sought(const struct hwmc_two_stage *m, uint32_t w)
{
    return (m->push ? hwmc_bitmap_mask(w, m->frags) : m->asked[w]) & ~m->got[w];
}

#endif /* HWMC_CORE_BCAST_TWO_STAGE_IMPL_H_INCLUDED */
