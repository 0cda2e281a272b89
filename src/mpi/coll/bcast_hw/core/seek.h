/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * seek: whom a member asks further, of a broadcast, when those do not answer that it has to ask first: the ring
 * predecessor, and the root. Who computes answers nothing; any member that has a fragment can give it.
 *
 * It asks in rounds. Round n, from 0, asks 2^n members more by lane (of a broadcast of which nothing is known, whose
 * root may only be late, one), and the pause after it is 2^n times the first, until that is a second or more. So who
 * lacks something sends no more than two questions a first pause, in rounds whose number is the logarithm of how many
 * members it has to ask. Members are asked one after the other around the ring, from one on that is another for
 * each rank and broadcast, so that not all ask the same; the predecessor, which is asked anyway, is left out. Pauses
 * end at random, up to half later, so that not all ask at once.
 *
 * Who has something offers it, in a message without data, when the question reaches it; who is away does so when it is
 * back, and is not heard any more. The first that offers is the holder, and is asked for the fragments: they come once,
 * however many could give them. If they do not come before the next round, it is somebody else's turn.
 *
 *            wait                 timer: asks 2^n                  offer: asks the holder
 *   quiet ----------> waiting ------------------> waiting, n + 1 -----------------------> held
 *                        ^                                                                 | timer, or a
 *                        |_________________________________________________________________| fragment came
 * From anywhere back to quiet, when the broadcast is complete.
 *
 * Invariants (bcast_hw_seek_check): what is due is due in a round; a holder was asked before.
 */
#ifndef BCAST_HW_SEEK_H_INCLUDED
#define BCAST_HW_SEEK_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define BCAST_HW_NOBODY UINT32_MAX

/* Pauses that are not shorter do not double any more. */
#define BCAST_HW_SEEK_MAX_NS UINT64_C(1000000000)

struct bcast_hw_seek {
    uint64_t at;    /* ns: when the next round begins; NEVER: quiet */
    uint64_t seed;  /* of what is random */
    uint64_t began; /* ns at which the first round began, until somebody offers; 0 */
    uint32_t
        asked; /* members that were asked, or are due; each lap counts them anew, the first one stays */
    uint32_t due;    /* of these, still to be asked */
    uint32_t holder; /* NOBODY */
    uint8_t round;   /* the next one */
    bool take;       /* the holder is to be asked for the fragments */
};

/* Quiet. `rank` asks for broadcast `bid`. */
void bcast_hw_seek_init(struct bcast_hw_seek *s, uint64_t bid, uint32_t rank);

/* Something came, or the program waits from now on: rounds begin anew after `pause` ns, if nothing comes. */
void bcast_hw_seek_wait(struct bcast_hw_seek *s, uint64_t pause, uint64_t now);

/* The broadcast is complete: quiet. What was asked remains known. */
void bcast_hw_seek_end(struct bcast_hw_seek *s);

/* A round begins, of a communicator of `size` ranks, 3 or more; `all`: nothing is known of the broadcast. The first
 * pause was `pause` ns, 1 or more. */
void bcast_hw_seek_on_timer(struct bcast_hw_seek *s, uint32_t size, bool all, uint64_t pause,
                            uint64_t now);

/* The next one to be asked by `rank`, of `size`. *take: for the fragments, which it has offered; else whether it has
 * them. False: nobody. */
bool bcast_hw_seek_next(struct bcast_hw_seek *s, uint32_t rank, uint32_t size, uint32_t *peer,
                        bool *take);

/* `peer` was asked by `rank`. */
bool bcast_hw_seek_has_asked(const struct bcast_hw_seek *s, uint32_t rank, uint32_t size,
                             uint32_t peer);

/* `peer`, which was asked, has some of it. Returns how long a round trip to some member took at most, in ns; 0: that is
 * not known. */
uint64_t bcast_hw_seek_on_offer(struct bcast_hw_seek *s, uint32_t peer, uint64_t now);

void bcast_hw_seek_check(const struct bcast_hw_seek *s, uint32_t rank, uint32_t size);

#endif /* BCAST_HW_SEEK_H_INCLUDED */
