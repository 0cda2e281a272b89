/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * multilane: one broadcast at one rank along t trees over the lanes of all rails, without multicast
 * (Chiba, Endo, Matsuoka 2007; core/place/trees.h has the shape).
 *
 * The message is cut into segments; segment i of tree r is the message's segment i * t + r. A rank
 * passes a segment on as soon as it has that one and all before it of the same tree. Nothing is
 * sent to a rank that is not in the call: a rank that posts sends GRANT to its parent in each tree,
 * for as many segments as it has memory for. So nothing unexpected is ever stored. A rank that has
 * not posted yet keeps one bit for each grant that comes.
 *
 * A grant is for a window of segments beyond those that have come, and is renewed at half of it. So
 * at most a window waits on the way to a child, in this host's queues and in the network, and
 * segments for one child do not delay those for the next. The window must be twice the way's
 * bandwidth times its round trip. The lanes carry shares by their speeds (core/path/wrr.h), which
 * follow what rails carry as the job goes on (core/path/rail_weight.h). A segment may then come
 * twice, and the second one is dropped.
 *
 * Example, p = 3, t = 2, root 0, segments 0 1 2 3: tree 0 is 0 -> 1 -> 2, tree 1 is 0 -> 2 -> 1.
 *   1: grant to 0 (tree 0), to 2 (tree 1)     2: grant to 1 (tree 0), to 0 (tree 1)
 *   0: segments 0 2 to 1, 1 3 to 2            1: 0 2 to 2 as they come    2: 1 3 to 1
 * Cost: depth * (l + s / b) + M / b with segments of s bytes.
 *
 * A root may have the beginning of its message only, and the rest as it goes on: it sends what it
 * has.
 *
 * Ranks may disagree about the message's length. Segments name it, so a rank learns so from them,
 * and fails: it takes nothing more from its parents and sends VOID to its children, which fail in
 * turn. Nobody waits for it, and the others end as usual. A rank whose program takes its memory
 * back before the end fails in the same way.
 *
 *   IDLE --post--> RUN --all here, all passed on, the lanes through with it--> DONE --reset--> IDLE
 *
 * Invariants (hwmc_multilane_check): a segment that was passed on is here and granted; a segment
 * that has come was granted; grants are at most a window beyond what has come; DONE means nothing
 * is left.
 */
#ifndef HWMC_CORE_BCAST_MULTILANE_H_INCLUDED
#define HWMC_CORE_BCAST_MULTILANE_H_INCLUDED

#include "../base/counts.h"
#include "../path/wrr.h"
#include "../path/rail_weight.h"
#include "../base/msg.h"
#include "../place/trees.h"

#define HWMC_MULTILANE_SLOTS 32u    /* children that a rank can have in one tree */
#define HWMC_MULTILANE_CHILDREN 64u /* and in all of them */

enum hwmc_multilane_phase { HWMC_MULTILANE_IDLE, HWMC_MULTILANE_RUN, HWMC_MULTILANE_DONE };

/* What shares that follow the rails need beyond; in memory that the caller keeps. Lane i is on rail
 * i mod weights.rails. */
struct hwmc_multilane_shares {
    struct hwmc_rail_weight weights;
    uint32_t lanes, far_lanes;                /* to a rank of this site, and of another one */
    uint32_t copies[HWMC_MULTILANE_CHILDREN]; /* of segments, that went to this child too */
    uint8_t due[HWMC_MULTILANE_CHILDREN];     /* of its last segment, by these rails, a bit each */
};

/* What is the same for all broadcasts of a communicator at one rank. */
struct hwmc_multilane_cfg {
    uint32_t size; /* ranks, 2 or more */
    uint32_t rank;
    uint32_t t;                     /* trees; from hwmc_trees_count */
    uint32_t window;                /* segments of a tree that a rank takes ahead, 1 or more */
    uint32_t far_window;            /* the same from another site */
    struct hwmc_wrr near, far;      /* on which lane to a rank of this site, and of another one */
    uint32_t max_segments;          /* of one broadcast */
    const struct hwmc_sites *sites; /* NULL: one */
    struct hwmc_multilane_shares *shares; /* NULL: they are as dealt */
    struct hwmc_counts *counts;
};

/* What came for a broadcast before this rank posted it. */
struct hwmc_multilane_unexpected {
    uint32_t granted[HWMC_TREES_MAX]; /* by the children of each tree, a bit each by slot */
    uint32_t refused[HWMC_TREES_MAX]; /* VOID by them */
    bool voided;                      /* by a parent */
};

struct hwmc_multilane_child {
    uint32_t rank;
    uint8_t tree, slot;
    bool far;       /* at another site */
    bool refused;   /* it takes nothing more */
    uint32_t limit; /* segments of the tree below are granted */
    uint32_t next;  /* segments of the tree below are with the lane or through */
    uint32_t done;  /* segments, and copies of them, that the lane is through with */
};

struct hwmc_multilane {
    struct hwmc_multilane_cfg cfg;
    enum hwmc_multilane_phase phase;
    uint64_t bid;
    uint32_t root;
    uint32_t bytes;
    uint32_t seg_bytes;
    uint32_t segments;             /* of the message */
    uint32_t left;                 /* segments not here yet */
    uint32_t have[HWMC_TREES_MAX]; /* segments of each tree below are here */
    uint32_t told[HWMC_TREES_MAX]; /* segments of each tree below are granted to the parent */
    uint8_t grant_due;             /* to the parents of these trees */
    uint8_t far;                   /* trees in which the parent is at another site */
    bool failed;                   /* the lengths disagree here, or above; or it was given up */
    uint32_t theirs;               /* failed: the length that others have */
    uint8_t refuse_due;            /* VOID, to the parents of these trees */
    uint64_t void_due;             /* VOID, to these children */
    uint32_t num_children;
    uint32_t turn; /* the child to be served next */
    struct hwmc_multilane_child child[HWMC_MULTILANE_CHILDREN];
    uint64_t *got; /* bitmap of the message's segments, in the caller's memory */
};

/* 64-bit words that `got` needs. */
uint32_t hwmc_multilane_words(uint32_t max_segments);

void hwmc_multilane_init(struct hwmc_multilane *m, const struct hwmc_multilane_cfg *cfg,
                         uint64_t *words);

/* The program calls broadcast `bid`; `early` is what came for it before. `bytes`, in segments of
 * `seg_bytes` each, at most max_segments, both alike on all ranks. IDLE only. */
void hwmc_multilane_post(struct hwmc_multilane *m, uint64_t bid, uint32_t root, uint32_t bytes,
                         uint32_t seg_bytes, const struct hwmc_multilane_unexpected *unexpected);

/* At the root: of the broadcast under way the first `bytes` bytes are here, at first all of them;
 * never fewer than were passed on. */
void hwmc_multilane_here(struct hwmc_multilane *m, uint32_t bytes);

/* The program's memory is of no use any more: of the broadcast under way nothing is taken or sent
 * from here on. What the lanes have of it they have until on_sent. */
void hwmc_multilane_give_up(struct hwmc_multilane *m);

/* GRANT or SEGMENT could be one for this rank in some broadcast. */
bool hwmc_multilane_formed(const struct hwmc_msg *msg, const struct hwmc_multilane_cfg *cfg);

/* Of the broadcast under way. TAKEN or BAD. */
enum hwmc_verdict hwmc_multilane_on_grant(struct hwmc_multilane *m, const struct hwmc_msg *msg);

/* Of the broadcast under way. PLACE: the payload goes to hwmc_multilane_at, before the next
 * call. TAKEN: it has failed. DUP or BAD otherwise. What is taken in one look at the lanes has one
 * `now`. */
enum hwmc_verdict hwmc_multilane_on_segment(struct hwmc_multilane *m, const struct hwmc_msg *msg,
                                            uint64_t now);

/* Where in the message a segment begins, and its length. */
uint32_t hwmc_multilane_at(const struct hwmc_multilane *m, const struct hwmc_msg *msg,
                           uint32_t *len);

/* Fills `tx` and returns 1, or returns 0. SEGMENT with payload (not VOID): tx->token is for
 * on_sent, once the lane needs the bytes no more; tx->rail says which lane. */
int hwmc_multilane_next_send(struct hwmc_multilane *m, struct hwmc_msg *tx);
void hwmc_multilane_on_sent(struct hwmc_multilane *m, uint32_t token);

static inline bool hwmc_multilane_done(const struct hwmc_multilane *m)
{
    return m->phase == HWMC_MULTILANE_DONE;
}

/* How many bytes of the message from its first on are here. */
uint32_t hwmc_multilane_prefix(const struct hwmc_multilane *m);

/* DONE -> IDLE. */
void hwmc_multilane_reset(struct hwmc_multilane *m);

void hwmc_multilane_check(const struct hwmc_multilane *m);

#endif /* HWMC_CORE_BCAST_MULTILANE_H_INCLUDED */
