/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * sessions_impl: what the files of sessions share.
 *
 *     sessions_open.c    opening and closing
 *     sessions_peer.c    peers, their timers, and their lanes that are off
 *     sessions_send.c    sending: frames in their rows
 *     sessions.c         what comes from the lanes, and progress
 */
#ifndef HWMC_NETMOD_SESSION_SESSIONS_IMPL_H_INCLUDED
#define HWMC_NETMOD_SESSION_SESSIONS_IMPL_H_INCLUDED

#include <time.h>

#include "frame.h"
#include "sessions.h"

struct hwmc_sessions_row; /* of frames: sessions_send.c */

struct hwmc_sessions_peer {
    struct hwmc_sessions_peer *next; /* of all that were made */
    struct hwmc_sessions_peer *next_touched;
    bool touched;
    struct hwmc_sessions_peer *prev_armed,
        *next_armed; /* in the list of those that wait for a time */
    bool armed;
    uint32_t rank;
    uint64_t retry_at; /* ns: when lanes that are OFF are asked whether they are ready; NEVER */
    struct hwmc_session session;
    struct hwmc_sessions_row *rows[HWMC_SESSION_STREAMS_MAX]; /* NULL: nothing was sent in it yet */
    struct hwmc_lane_state_share share;                       /* of it, in how sessions stand */
};

struct hwmc_sessions {
    uint32_t self, size;
    struct hwmc_session_cfg cfg;
    struct hwmc_session_counts *counts;
    struct hwmc_lane *lanes[HWMC_SESSION_LANES_MAX];
    uint8_t idle[HWMC_SESSION_LANES_MAX]; /* polls in a row that found nothing: poll_lanes */
    uint32_t turn; /* of polls; lane i is looked at in its own, idle or not */
    struct hwmc_sessions_port ports[HWMC_SESSION_LANES_MAX];
    struct hwmc_sessions_upper uppers[HWMC_SESSION_STREAMS_MAX];
    struct hwmc_frames frames;
    struct hwmc_sessions_peer **peers; /* size */
    struct hwmc_sessions_peer *made;
    struct hwmc_sessions_peer *touched;
    struct hwmc_sessions_peer *armed;
    uint64_t wake;  /* not after any peer's timer */
    uint64_t looks; /* at peers, for their timers */
    int events;     /* of the poll under way */
    int epoll;      /* -1: waiting for lanes is not possible */
    struct hwmc_lane_state stands[HWMC_SESSION_LANES_MAX];
    void (*changed)(void *ctx, uint32_t lane,
                    const struct hwmc_lane_state *stand); /* NULL: nobody watches */
    void *watcher;
};

static inline uint64_t hwmc_sessions_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* Peers. */

/* The peer with its session; NULL without memory. Lanes that report failures are ones that are
 * connected first: they are asked for in the next poll. */
struct hwmc_sessions_peer *hwmc_sessions_get_peer(struct hwmc_sessions *l, uint32_t rank);

/* At the end of the poll its machine is asked what to send. */
void hwmc_sessions_touch(struct hwmc_sessions *l, struct hwmc_sessions_peer *p);

/* What the peer waits for may have changed. */
void hwmc_sessions_set_timer(struct hwmc_sessions *l, struct hwmc_sessions_peer *p);

/* The lane lost the peer, or takes nothing for it. */
void hwmc_sessions_lane_is_off(struct hwmc_sessions *l, struct hwmc_sessions_peer *p, uint32_t lane,
                               uint64_t now);

/* Asks the lanes that are OFF whether they are ready; sets retry_at, not the timer. */
void hwmc_sessions_try_lanes(struct hwmc_sessions *l, struct hwmc_sessions_peer *p, uint64_t now);

/* Sending. */

/* Sends what the peer's machine says is to be sent now. */
void hwmc_sessions_pump(struct hwmc_sessions *l, struct hwmc_sessions_peer *p, uint64_t now);

/* Lets go of what the peer has acknowledged in the stream. */
void hwmc_sessions_drop_acked(struct hwmc_sessions *l, struct hwmc_sessions_peer *p,
                              uint32_t stream);

/* Lets go of a frame that nobody needs: of one that the peer has and no lane does. */
void hwmc_sessions_release(struct hwmc_sessions *l, struct hwmc_frame *f);

#endif /* HWMC_NETMOD_SESSION_SESSIONS_IMPL_H_INCLUDED */
