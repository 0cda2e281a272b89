/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * session: messages between two processes, in order and exactly once, over several lanes of which
 * any may fail and come back. It is the software half of path migration (Vishnu, Mamidala,
 * Narravula, Panda 2007 name the combination as future work); the hardware half is core/path/apm.
 *
 * A lane keeps order while it works. It may stop, silently or by an error, and what is under way
 * may then be lost or come late. A *stream* is a numbered sequence of frames each way. A session
 * has several, each with lanes in its own order of preference. The unacknowledged frames of a
 * stream went by one lane, `via`; if that is given up, they go again by another (go back N). The
 * receiver takes the frame it expects, drops what it has had, and reports a missing one.
 *
 * A lane, seen from this side:
 *
 *   OFF        nothing can be sent by it                   on_usable -> DEAD, probed at once
 *   GOOD       in use, or fit for it                       nothing moves for suspect_ns, or it is
 *                                                          suspected elsewhere, here or by the
 *                                                          peer -> SUSPECTED
 *   SUSPECTED  probed, and all others with it              answered, or something moves: it brings
 *                                                          an acknowledgement, or what went by it
 *                                                          since the probe is acknowledged -> GOOD
 *                                                          another answered grace_ns ago -> DEAD
 *   DEAD       probed at growing intervals                 answered -> GOOD
 *   any        on_lost -> OFF
 *
 * A process that does not answer because it computes makes no lane DEAD, for no lane answers. A
 * probe is answered on the lane that it came by, behind the acknowledgements of all streams. So
 * what was sent before the probe and is not acknowledged then was lost.
 *
 * A probe names the lanes that its sender suspects. The receiver suspects those too, and does not
 * pass that on. So two processes find a lane DEAD at the same time, whichever of them was about to
 * use it.
 *
 * A stream goes back to a lane that it prefers when that is GOOD again and all sent by the other is
 * acknowledged.
 *
 * Example, lanes 0 and 1, frames 5 and 6 sent by lane 0, which is cut: 50 ms later PROBE by 0,
 * PROBE by 1; ANSWER by 1; 50 ms later 0 is DEAD, 5 and 6 go by 1. If 0 had only been slow the
 * receiver has them twice and drops two.
 *
 * The caller keeps the frames from `acked` to `next` of each stream. It calls next_send after every
 * event until that has nothing.
 */
#ifndef HWMC_CORE_PATH_SESSION_H_INCLUDED
#define HWMC_CORE_PATH_SESSION_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "../base/msg.h"

#define HWMC_SESSION_LANES_MAX 16u
#define HWMC_SESSION_STREAMS_MAX 19u
#define HWMC_SESSION_NO_LANE UINT8_MAX

/* Frames of a stream that may be under way. */
#define HWMC_SESSION_WINDOW 64u

/* Frames after which, and ns after which at the latest, the receiver says what it has. */
#define HWMC_SESSION_ACK_FRAMES 16u
#define HWMC_SESSION_ACK_NS UINT64_C(5000000)

/* Between probes of a dead lane: doubled from the first to the last. */
#define HWMC_SESSION_PROBE_FIRST_NS UINT64_C(100000000)
#define HWMC_SESSION_PROBE_LAST_NS UINT64_C(6400000000)

struct hwmc_session_cfg {
    uint8_t lanes;       /* 1..LANES_MAX */
    uint8_t streams;     /* 1..STREAMS_MAX */
    uint16_t tells;      /* bit i: lane i says itself, by on_lost, when it fails */
    uint64_t suspect_ns; /* more than ACK_NS and a round trip */
    uint64_t grace_ns;
    /* prefers[s][k]: the lane that stream s prefers kth; a row ends with NO_LANE or is full. */
    uint8_t prefers[HWMC_SESSION_STREAMS_MAX][HWMC_SESSION_LANES_MAX];
};

enum hwmc_session_lane_state {
    HWMC_SESSION_OFF,
    HWMC_SESSION_GOOD,
    HWMC_SESSION_SUSPECTED,
    HWMC_SESSION_DEAD
};

/* The question whether a lane lives. */
enum hwmc_session_probe {
    HWMC_SESSION_PROBE_NONE,  /* the last one is answered, or there was none */
    HWMC_SESSION_PROBE_DUE,   /* a new one is to be sent */
    HWMC_SESSION_PROBE_OUT,   /* it is not answered */
    HWMC_SESSION_PROBE_AGAIN, /* ... and is to be sent once more, under the same number */
};

struct hwmc_session_lane {
    enum hwmc_session_lane_state state;
    bool hinted; /* ASKED: because the peer doubts it */
    bool spread; /* ASKED: it is among the suspects, or was */
    bool answer_due;
    enum hwmc_session_probe asking;
    uint8_t told;      /* streams whose acknowledgement went ahead of that answer */
    uint32_t probe;    /* number of the last probe */
    uint32_t answer;   /* number to answer with */
    uint64_t moved;    /* ns: when something sent by it was last known to have come */
    uint64_t until;    /* ASKED: dead then, NEVER until another answers; DEAD: next probe */
    uint64_t interval; /* DEAD: to the probe after that, ns */
};

struct hwmc_session_stream {
    uint32_t acked;   /* all before it have come; acked <= sent <= high <= next */
    uint32_t sent;    /* all before it went by `via`; sent - acked <= WINDOW */
    uint32_t high;    /* all before it went once at least */
    uint32_t next;    /* of the next frame posted */
    uint32_t mark;    /* what was sent when `via` was probed */
    uint32_t expects; /* all before it were taken here */
    uint32_t told;    /* what of that the peer was told */
    uint32_t missed;  /* the last frame of which the peer was told that it is missing */
    uint8_t via;      /* NO_LANE: none can be used */
    uint8_t heard; /* the lane by which its last frame came, to be answered by; NO_LANE: none did */
    bool
        returning; /* nothing is sent until all is acknowledged, then by a better lane than `via` */
    bool ack_due;
    bool nak_due;
    uint64_t
        since; /* ns: when the oldest unacknowledged one was sent, or the last was acknowledged */
};

#define HWMC_SESSION_COUNTS(X)                                                                     \
    X(moves, "streams moved from a lane that failed to another")                                   \
    X(returns, "streams returned to the lane that they prefer")                                    \
    X(deaths, "lanes to a peer found dead")                                                        \
    X(losses, "lanes to a peer that reported their failure")                                       \
    X(replays, "frames sent again over another lane")                                              \
    X(repeats, "frames dropped that came again")                                                   \
    X(gaps, "frames dropped that came too early")                                                  \
    X(probes, "probes of lanes")

struct hwmc_session_counts {
#define X(field, text) uint64_t field;
    HWMC_SESSION_COUNTS(X)
#undef X
};

struct hwmc_session {
    const struct hwmc_session_cfg *cfg; /* the driver's, alike on both ends but for `tells` */
    struct hwmc_session_counts *counts; /* the driver's; may be shared by sessions */
    struct hwmc_session_lane lanes[HWMC_SESSION_LANES_MAX];
    struct hwmc_session_stream streams[HWMC_SESSION_STREAMS_MAX];
    uint64_t ack_at;  /* what was taken is told then; NEVER: nothing is to be told */
    uint64_t wake;    /* not after the first time at which on_timer has something to do */
    bool due;         /* next_send may have something */
    uint32_t suspect; /* mask of lanes, since take_suspect */
    bool changed;     /* a lane's state, or what goes by it, since take_changed; at first too */
};

enum hwmc_session_kind {
    HWMC_SESSION_FRAME, /* number: of the frame */
    HWMC_SESSION_ACK,   /* nothing but the acknowledgement that every kind of a stream carries */
    HWMC_SESSION_NAK,   /* the frame that is acknowledged up to did not come, a later one did */
    HWMC_SESSION_PROBE, /* number: to be answered with */
    HWMC_SESSION_ANSWER,
    HWMC_SESSION_KINDS
};

/* What is to be sent. */
struct hwmc_session_tx {
    enum hwmc_session_kind kind;
    uint8_t lane;
    uint8_t stream; /* of FRAME, ACK, NAK */
    uint32_t number;
    uint32_t ack;    /* of FRAME, ACK, NAK: the frame that is expected next */
    uint32_t doubts; /* of PROBE: lanes, a mask */
};

/* Lanes in `usable`, a mask, are GOOD, the others OFF. */
void hwmc_session_init(struct hwmc_session *l, const struct hwmc_session_cfg *cfg,
                       struct hwmc_session_counts *counts, uint32_t usable, uint64_t now);

/* A frame more in the stream; returns its number. */
uint32_t hwmc_session_post(struct hwmc_session *l, uint32_t stream);

/* True: *tx is to be sent, now. */
bool hwmc_session_next_send(struct hwmc_session *l, struct hwmc_session_tx *tx, uint64_t now);

/* A frame came by `lane`. PLACE: it is the next one, take it; DUP, STALE: drop it. What it
 * acknowledges goes to on_ack. */
enum hwmc_verdict hwmc_session_on_frame(struct hwmc_session *l, uint32_t lane, uint32_t stream,
                                        uint32_t number, uint64_t now);

/* `lane` brought that the peer has all of the stream before `ack`; nak: and a later one, but not
 * this. BAD: it was never sent. */
enum hwmc_verdict hwmc_session_on_ack(struct hwmc_session *l, uint32_t lane, uint32_t stream,
                                      uint32_t ack, bool nak, uint64_t now);

/* `doubts`: the peer's; bits of lanes that there are none of mean nothing. */
void hwmc_session_on_probe(struct hwmc_session *l, uint32_t lane, uint32_t number, uint32_t doubts,
                           uint64_t now);
void hwmc_session_on_answer(struct hwmc_session *l, uint32_t lane, uint32_t number, uint64_t now);

/* Nothing more goes by the lane, and what went may be lost. */
void hwmc_session_on_lost(struct hwmc_session *l, uint32_t lane, uint64_t now);

/* The lane can be tried. Only of one that is OFF. */
void hwmc_session_on_usable(struct hwmc_session *l, uint32_t lane, uint64_t now);

void hwmc_session_on_timer(struct hwmc_session *l, uint64_t now);

/* The same lane to another peer is suspected: asks at once whether this one lives, unless that is
 * known to be doubtful already. What it has in common with that one, a rail of this process, is
 * then left by all of its sessions nearly as soon. */
void hwmc_session_suspect(struct hwmc_session *l, uint32_t lane, uint64_t now);

/* The lanes, a mask, that since the last call have not answered for half of grace_ns after another
 * did: what doubt is for. */
static inline uint32_t hwmc_session_take_suspect(struct hwmc_session *l)
{
    uint32_t suspect = l->suspect;

    l->suspect = 0;
    return suspect;
}

/* The state of a lane, or the lane by which a stream goes, is another than at the last call. */
static inline bool hwmc_session_take_changed(struct hwmc_session *l)
{
    bool changed = l->changed;

    l->changed = false;
    return changed;
}

/* on_timer has something to do no earlier than this, ns; NEVER. */
static inline uint64_t hwmc_session_next_timer(const struct hwmc_session *l)
{
    return l->wake;
}

/* All that was posted is acknowledged. */
bool hwmc_session_is_clear(const struct hwmc_session *l);

/* Asserts what is written above. */
void hwmc_session_check(const struct hwmc_session *l);

#endif /* HWMC_CORE_PATH_SESSION_H_INCLUDED */
