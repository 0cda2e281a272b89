/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * net_stage: the way of one message over a group of the network, as a machine that is stepped and
 * never waits.
 *
 * A message goes as one broadcast of the group's stream, or, where it is longer than a channel, as
 * several in a row, its pieces, which the channels pipeline: a root packs and multicasts piece by
 * piece, running ahead of the members by the window; a member unpacks piece by piece. A long
 * message that lies in one piece is neither packed nor unpacked (engine/group/placement). Or it
 * goes along trees, in one piece in any case (core/bcast/multilane), from the start or from the
 * broadcast on that is not multicast, if the group's rails stopped working.
 *
 * Each piece says whether another follows. A member whose own length disagrees keeps in step by
 * that, takes what fits, and ends with ERR_INVAL.
 *
 *   root     SEND -> PACKED -> SENDING -> SEND ... -> SENT -> OVER
 *   member   RECV -> RECEIVING -> UNPACKED -> RECV ...     -> OVER
 *   both     SENT or RECV -> TREES -> BY_TREES -> TREES ... -> OVER
 *   error    any -> [RETREAT ->] OVER
 *
 *   SEND, RECV, TREES    the next broadcast is to be posted: once the stream is open, and, at a
 *                        root, once the piece is here; along trees, once some of it is
 *   PACKED               the piece is where it is sent from
 *   SENDING, RECEIVING, BY_TREES
 *                        it is posted; once it is done it is consumed
 *   UNPACKED             the piece is where the program wants it
 *   SENT                 no more is multicast, but the rails may have some of the program's memory,
 *                        or send from it
 *   RETREAT              after an error: retreat.h
 *
 * Invariants: `at` and `here` only grow; one broadcast of the group is posted at a time; OVER: the
 * group has nothing pinned, no lane or rail touches the message. After an error the group is used
 * no further, except after ERR_INVAL, where all members are still in step: it is given up
 * (engine/group/failure.h), so that the others end too. Without memory for a message in pieces that
 * is left to the caller.
 *
 * Copying is not done under the engine's lock: a step that returns HWMC_STAGE_COPY wants
 * hwmc_net_stage_copy next.
 */

#ifndef HWMC_OP_NET_STAGE_H_INCLUDED
#define HWMC_OP_NET_STAGE_H_INCLUDED

#include <stdbool.h>

#include "../engine/engine.h"
#include "buffer.h"
#include "retreat.h"

enum hwmc_stage_turn {
    HWMC_STAGE_AGAIN, /* step again when something may have come */
    HWMC_STAGE_COPY,  /* copy, then step again */
    HWMC_STAGE_OVER   /* `err` tells how */
};

enum hwmc_net_state {
    HWMC_NET_SEND,
    HWMC_NET_PACKED,
    HWMC_NET_SENDING,
    HWMC_NET_SENT,
    HWMC_NET_RECV,
    HWMC_NET_RECEIVING,
    HWMC_NET_UNPACKED,
    HWMC_NET_TREES,
    HWMC_NET_BY_TREES,
    HWMC_NET_RETREAT,
    HWMC_NET_OVER
};

/* Along trees: where `whole` lies. */
enum hwmc_net_whole {
    HWMC_WHOLE_PROGRAM, /* in the program's memory, or not yet, or no more */
    HWMC_WHOLE_OWN,     /* in memory made for this, */
    HWMC_WHOLE_COPIED,  /* ... which has been packed or unpacked */
    HWMC_WHOLE_EXCESS   /* nowhere: the message is longer than this member knows */
};

struct hwmc_net_cfg {
    struct hwmc_engine *engine;
    struct hwmc_group *group;
    const struct hwmc_buffer *buffer;
    uint32_t root; /* member of the group */
    bool is_root;
    bool along_trees;     /* from the start */
    bool from_host;       /* the root has the message from another rank, so that `available` grows,
                           * and in one piece */
    uint64_t pin_min;     /* longer messages are not copied where they lie in one piece */
    uint64_t withdraw_ns; /* how long lanes may have the program's memory after an error */
};

struct hwmc_net_stage {
    struct hwmc_net_cfg cfg;
    enum hwmc_net_state state;
    enum hwmc_err err;     /* the first one */
    uint64_t theirs, ours; /* ERR_INVAL: bytes that came, and that were expected */
    uint64_t at;           /* the next piece, or the one under way, begins there */
    uint64_t n;            /* its bytes; UNPACKED: as far as there is room for it */
    uint64_t got;          /* UNPACKED: its bytes at the root */
    uint64_t available;    /* root: bytes of the message that are here to be sent */
    uint64_t here;         /* member: bytes of the message that are in the program's memory */
    struct hwmc_retreat retreat;
    void *channel; /* what is copied lies there, or goes there */
    enum hwmc_net_whole lies;
    char *whole; /* along trees: the message from `from` on */
    uint64_t from;
    uint32_t prefix; /* of the broadcast under way */
    uint32_t given;  /* BY_TREES, root: bytes of it that were here */
    bool more;       /* UNPACKED: another piece follows */
    bool pinned;     /* the group has the program's memory */
    char byte;       /* EXCESS: what comes goes there */
};

/* The group is ON; no other stage of it runs. `cfg.buffer` stays until this one is over. */
void hwmc_net_stage_begin(struct hwmc_net_stage *s, const struct hwmc_net_cfg *cfg);

/* Does what can be done. Under the engine's lock. */
enum hwmc_stage_turn hwmc_net_stage_step(struct hwmc_net_stage *s, uint64_t now);

/* Copies what the last step wants; not under the lock. */
void hwmc_net_stage_copy(struct hwmc_net_stage *s);

/* The message will not come, or cannot go on: as after an error of the group. Under the lock. */
void hwmc_net_stage_fail(struct hwmc_net_stage *s, enum hwmc_err err, uint64_t now);

/* A step would do nothing that takes time to be known: a broadcast is under way. Under the lock. */
static inline bool hwmc_net_stage_is_idle(const struct hwmc_net_stage *s)
{
    return (s->state == HWMC_NET_SENDING || s->state == HWMC_NET_RECEIVING ||
            s->state == HWMC_NET_BY_TREES) &&
           s->cfg.group->state != HWMC_GROUP_BROKEN && !hwmc_group_done(s->cfg.group);
}

/* A root that has sent all it has: it waits for the rest of the message, not for the network. */
static inline bool hwmc_net_stage_starves(const struct hwmc_net_stage *s)
{
    if (!s->cfg.is_root || (s->state != HWMC_NET_SEND && s->state != HWMC_NET_TREES))
        return false;
    return s->state == HWMC_NET_SEND ? s->available < s->at + s->n
                                     : s->available <= s->at && s->n > 0;
}

/* A root that waits for both: it sends what it has. */
static inline bool hwmc_net_stage_hungers(const struct hwmc_net_stage *s)
{
    return s->cfg.is_root && s->state == HWMC_NET_BY_TREES && s->given < s->n;
}

/* Asserts what is said above. */
void hwmc_net_stage_check(const struct hwmc_net_stage *s);

#endif /* HWMC_OP_NET_STAGE_H_INCLUDED */
