/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * stream: all broadcasts of one group at one rank, in the order the program calls them. It
 * numbers them (bid 0, 1, 2, ... alike on every rank), runs one two_stage machine in each of the N
 * channels, and keeps within the window of core/flow/channel.h.
 *
 * A driver does, for a broadcast it calls:
 *     if (!hwmc_stream_open(s)) { hwmc_stream_stall(s, now); ... progress ... }
 *     root:    place the bytes of the next bid
 *              bid = hwmc_stream_post_root(s, bytes, more, now)
 *     member:  bid = hwmc_stream_post_member(s, root, now)
 *     until (hwmc_stream_done(s, bid)) ... progress ...
 *     member:  take the bytes of bid
 *     hwmc_stream_consume(s, now)
 * It may post several before it consumes the first of them, all by multicast: they are consumed in
 * order, and `done`, `bytes`, `more` and `prefix` are those of the first one that is not consumed,
 * here called the first one.
 *
 * And for progress: on_recv for what came, on_timer when next_timer has passed, next_send until 0
 * while it can send: multicasts where there is room for them, everything else at once.
 *
 * Who owns the bytes: those of bid belong to the driver, which keeps them from post (root) or PLACE
 * (member) until the channel goes to bid + N: no member asks for them after that. A driver that is
 * given a DATA to send has copied or sent its bytes before it posts or places anything else.
 */
#ifndef HWMC_CORE_BCAST_STREAM_H_INCLUDED
#define HWMC_CORE_BCAST_STREAM_H_INCLUDED

#include <stddef.h>

#include "../flow/channel.h"
#include "../flow/delay.h"
#include "../flow/epoch.h"
#include "multilane.h"
#include "two_stage.h"

#define HWMC_CHANNELS_MAX 64u

struct hwmc_stream_cfg {
    uint32_t size; /* ranks, 1 or more */
    uint32_t rank;
    struct hwmc_policy_cfg policy; /* without rails all broadcasts go along trees */
    uint32_t channels;             /* N, 1 to HWMC_CHANNELS_MAX */
    uint32_t fanout;               /* of its tree, 1 to HWMC_FANOUT_MAX */
    uint32_t frag_bytes;           /* payload of a full fragment, 1 or more */
    uint32_t max_bytes;            /* of one broadcast */
    enum hwmc_delay_kind delay;
    uint64_t delay_ns;         /* FIXED: how long */
    uint64_t seed;             /* RANDOM: alike on every rank */
    uint32_t trees;            /* of multilane broadcasts; 0: there are none */
    uint32_t window;           /* segments of a tree that a rank takes ahead */
    uint32_t far_window;       /* the same from another site */
    struct hwmc_wrr near, far; /* lanes for them: inside a site, and between sites */
    struct hwmc_rail_weight_cfg
        weights; /* the rails of these lanes, whose shares follow what they carry */
    uint32_t lanes,
        far_lanes;         /* how many there are of them; lane i is on rail i mod weights.rails */
    uint32_t max_segments; /* of one of them */
    const struct hwmc_sites *sites; /* for them; NULL: one site; the caller's */
    struct hwmc_counts *counts;     /* the caller's, added to; may serve many streams */
};

struct hwmc_stream {
    struct hwmc_ring ring;
    struct hwmc_channel channel;
    struct hwmc_epoch epoch;
    struct hwmc_delay delay;
    uint64_t posted;     /* broadcasts called here; consumed <= posted <= consumed + N */
    uint64_t attention;  /* channels that may have something to send, a bit each */
    uint64_t timed;      /* channels whose machine may have a timer, a bit each */
    uint64_t floor_seen; /* floor for which the delay has learned */
    uint64_t frags;      /* of the broadcasts consumed since the floor moved */
    uint64_t sync_of,
        sync_at; /* leader: the floor that is waited for, and since when, ns; at 0: none */
    struct hwmc_counts *counts;
    struct hwmc_two_stage *slots;    /* N, in the caller's memory */
    struct hwmc_multilane multilane; /* runs the last posted broadcast where its slot is BYPASSED */
    struct hwmc_multilane_unexpected *unexpected; /* for broadcasts not posted yet, by channel */
};

/* Bytes of memory a stream of this configuration needs, a multiple of 8. */
size_t hwmc_stream_footprint(const struct hwmc_stream_cfg *cfg);

/* `memory`: hwmc_stream_footprint(cfg) bytes, aligned to 8, the caller's until it drops the
 * stream. */
void hwmc_stream_init(struct hwmc_stream *s, const struct hwmc_stream_cfg *cfg, void *memory);

/* Of the rails that it was made for only these work; 0: none does. Before the first broadcast
 * here. */
void hwmc_stream_agreed(struct hwmc_stream *s, uint8_t rails);

/* The next broadcast may be called: its channel is free here and everywhere. */
bool hwmc_stream_open(const struct hwmc_stream *s);
void hwmc_stream_stall(struct hwmc_stream *s, uint64_t now);

/* The bid that the next post gets, hence the channel (bid mod N) its bytes go to. */
static inline uint64_t hwmc_stream_next_bid(const struct hwmc_stream *s)
{
    return s->posted;
}

/* On which rails the next broadcast is multicast; 0: it is to go along trees. Alike on all ranks.
 * Open only. */
static inline uint8_t hwmc_stream_next_rails(const struct hwmc_stream *s)
{
    return hwmc_epoch_policy(&s->epoch, s->posted).rails;
}

/* Open only, and nothing is posted along trees. A rank's own ones are sent in order if it posts the
 * next when the last is sent (hwmc_stream_has). Returns the bid. `more`: the next broadcast
 * continues the message; `rails`: some of those that carry it. The driver chooses for each fragment
 * on which of them it goes, and keeps the order on each. */
uint64_t hwmc_stream_post_root(struct hwmc_stream *s, uint32_t bytes, bool more, uint8_t rails,
                               uint64_t now);
uint64_t hwmc_stream_post_member(struct hwmc_stream *s, uint32_t root, uint64_t now);

/* The same for a broadcast that goes along trees, as all may, on root and members, when all before
 * it are consumed; `bytes`, more than 0, in segments of `seg_bytes`, are alike on all. Its bytes
 * are the program's, and never in a channel. */
uint64_t hwmc_stream_post_trees(struct hwmc_stream *s, uint32_t root, uint32_t bytes,
                                uint32_t seg_bytes);

/* Of a root that has only the first `bytes` bytes of it yet: core/bcast/multilane.h. */
static inline void hwmc_stream_here(struct hwmc_stream *s, uint32_t bytes)
{
    hwmc_multilane_here(&s->multilane, bytes);
}

/* The first one goes along trees. */
static inline bool hwmc_stream_by_trees(const struct hwmc_stream *s)
{
    return s->multilane.phase != HWMC_MULTILANE_IDLE;
}

/* The lane is through with the segment that was sent with this token. */
void hwmc_stream_on_sent(struct hwmc_stream *s, uint32_t token);

/* The call for the first one can be completed. */
bool hwmc_stream_done(const struct hwmc_stream *s);

/* The same of broadcast `bid`, posted by multicast and not consumed: all of it is here, or sent. */
bool hwmc_stream_has(const struct hwmc_stream *s, uint64_t bid);

/* Nothing of broadcast `bid`, which is within the window, has come. */
bool hwmc_stream_is_unknown(const struct hwmc_stream *s, uint64_t bid);

/* The first one, done, went along trees and failed: ranks disagree about its length.
 * *theirs: what others take it for, 0: not known. */
bool hwmc_stream_failed(const struct hwmc_stream *s, uint32_t *theirs);

/* Of the first one, done only: its bytes; whether the next continues its message. */
uint32_t hwmc_stream_bytes(const struct hwmc_stream *s);
bool hwmc_stream_more(const struct hwmc_stream *s);

/* Of the first one at a member: how many bytes from its first on are here; `known` of
 * them were. */
uint32_t hwmc_stream_prefix(const struct hwmc_stream *s, uint32_t known);

/* The program has what the first one brought; done only. */
void hwmc_stream_consume(struct hwmc_stream *s, uint64_t now);

/* Any message but those of set-up. PLACE: the payload belongs at fragment msg->data.index of
 * channel (msg->bid mod N), SEGMENT's at hwmc_multilane_at, and is to be copied before the next
 * call. */
enum hwmc_verdict hwmc_stream_on_recv(struct hwmc_stream *s, const struct hwmc_msg *msg,
                                      uint64_t now);
void hwmc_stream_on_timer(struct hwmc_stream *s, uint64_t now);
uint64_t hwmc_stream_next_timer(const struct hwmc_stream *s);
int hwmc_stream_next_send(struct hwmc_stream *s, struct hwmc_room room, struct hwmc_msg *tx,
                          uint64_t now);

/* The rails on which what is being multicast may go. */
uint8_t hwmc_stream_casting(const struct hwmc_stream *s);

/* A multicast is due that `room` is room for. */
bool hwmc_stream_casts(const struct hwmc_stream *s, struct hwmc_room room);

/* No broadcast follows; all that were posted are consumed here. */
void hwmc_stream_close(struct hwmc_stream *s);

/* Closing is over: nobody needs this rank any more. */
bool hwmc_stream_closed(const struct hwmc_stream *s);

/* Asserts the invariants of all parts. */
void hwmc_stream_check(const struct hwmc_stream *s);

#endif /* HWMC_CORE_BCAST_STREAM_H_INCLUDED */
