/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * seek: which other members a rank asks for fragments of a broadcast when its ring predecessor and
 * the root do not answer (PROTOCOL.md, section 5, items 7 and 8). A process that computes answers
 * nothing; any other member that has a fragment can send it.
 *
 * Rounds. The rank asks in rounds, by SEEK over lanes. Round n, from 0, asks 2^n members, and is
 * followed by a pause of 2^n times the first one; pauses of a second or more do not double again.
 * So a rank sends at most two SEEK per first pause, and has asked p members after log2(p) rounds.
 * While nothing of the broadcast is known a round asks one member only: the root may just be late.
 *
 * Order. Members are asked around the ring, without the predecessor, which has been asked already.
 * The first one depends on rank and broadcast, and up to half of each pause is added to it at
 * random: so ranks that lack the same fragment ask different members at different times.
 *
 * Offers. A member that has one of the fragments answers with OFFER, which carries no data. A
 * member that is busy does so when it makes progress again. The first member that offers in a round
 * becomes the holder, and is asked for the fragments, so that they are sent once however many
 * members have them. If none comes before the next round begins, that round looks for another
 * holder.
 *
 *          wait                timer: asks 2^n                offer: asks the holder
 *   quiet -------> waiting, n -----------------> waiting, n + 1 ----------------------> held
 *                     ^                                                                   |
 *                     |______________ timer: round n, or a fragment came: n = 0 __________|
 * From every state back to quiet when the broadcast is complete.
 *
 * Invariants (hwmc_seek_check): there is something due only in a round; a holder has been asked
 * before.
 */
#ifndef HWMC_CORE_BCAST_SEEK_H_INCLUDED
#define HWMC_CORE_BCAST_SEEK_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#define HWMC_NOBODY UINT32_MAX

/* Pauses of this length or more do not double again. */
#define HWMC_SEEK_MAX_NS UINT64_C(1000000000)

struct hwmc_seek {
    uint64_t at;    /* ns: when the next round begins; NEVER: quiet */
    uint64_t seed;  /* of what is random */
    uint64_t began; /* ns at which the first round began, until somebody offers; 0 */
    /* Members that were asked, or are due. After the first lap around the ring it goes on from how
     * many members there are to ask, so that it shows that all were. */
    uint32_t asked;
    uint32_t due;    /* of these, still to be asked */
    uint32_t holder; /* NOBODY */
    uint8_t round;   /* the next one */
    bool take;       /* the holder is to be asked for the fragments */
};

/* Quiet. `rank` asks for broadcast `bid`. */
void hwmc_seek_init(struct hwmc_seek *s, uint64_t bid, uint32_t rank);

/* A fragment came, or the program waits from now on: round 0 begins after `pause` ns if nothing
 * else comes. */
void hwmc_seek_wait(struct hwmc_seek *s, uint64_t pause, uint64_t now);

/* The broadcast is complete: quiet. Which members were asked is kept, as their answers may still
 * come. */
void hwmc_seek_end(struct hwmc_seek *s);

/* A round begins. `size`: ranks of the communicator, 3 or more. `all`: nothing is known of the
 * broadcast. `pause`: the first pause, 1 ns or more. */
void hwmc_seek_on_timer(struct hwmc_seek *s, uint32_t size, bool all, uint64_t pause, uint64_t now);

/* Sets *peer to the next member that `rank`, of `size`, is to send SEEK. *take: the member has
 * offered fragments and is asked to send them. False: there is none. */
bool hwmc_seek_next(struct hwmc_seek *s, uint32_t rank, uint32_t size, uint32_t *peer, bool *take);

/* `rank` has asked `peer`. */
bool hwmc_seek_has_asked(const struct hwmc_seek *s, uint32_t rank, uint32_t size, uint32_t peer);

/* OFFER came from `peer`, which was asked. Returns an upper bound on the round trip to some member,
 * in ns; 0: none is known. */
uint64_t hwmc_seek_on_offer(struct hwmc_seek *s, uint32_t peer, uint64_t now);

void hwmc_seek_check(const struct hwmc_seek *s, uint32_t rank, uint32_t size);

#endif /* HWMC_CORE_BCAST_SEEK_H_INCLUDED */
