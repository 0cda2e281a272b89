/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * notice: all members of a group get to know that one of them cannot be reached by another any
 * more. That ends the group everywhere: who found it takes no part in broadcasts from then on, so
 * others would wait for ever, through it, for somebody whom they can reach. It tells its neighbours
 * in the ring and in the tree of synchronization, and they theirs (PROTOCOL.md, section 13).
 *
 *   QUIET --found here (core/failure/detector, a lane), or LOST came--> UNTOLD
 *   UNTOLD --LOST has gone to all neighbours--> TOLD
 *
 * A connection may use one rail and the one back another rail. So LOST goes by a lane of each rail
 * (hwmc_wires_tell): the rail by which its sender sends all else may be the one that is silent, and
 * its receiver, which needs another one, would find nothing out.
 *
 * LOST may come before its receiver has begun the group, and is dropped there. It is sent once more
 * (hwmc_notice_repeat) to who says anything by lane later, as that one will.
 *
 * Example, ring 0 1 2 3: nothing passes between 1 and 2, else all is well. 1 finds that out: LOST
 * to 0, which tells 3. 2, which would have found it out as well, hears of it from 3.
 *
 * The lost member waits as well, and need not find out itself: it may need other rails than those
 * that are silent. So who can send it messages all the same tells it too.
 *
 * Invariants (hwmc_notice_check): the first loss stands; a member sends LOST once to each
 * neighbour, and once for each message that comes to it later, never for LOST, and never to the
 * member to which nothing goes from here.
 */
#ifndef HWMC_CORE_FAILURE_NOTICE_H_INCLUDED
#define HWMC_CORE_FAILURE_NOTICE_H_INCLUDED

#include "../base/msg.h"

/* What a group waits for. The values are part of the wire protocol. */
#define HWMC_STAGES(X)                                                                             \
    X(SETUP, "set-up")                                                                             \
    X(CAST, "multicast and repair")                                                                \
    X(TREES, "broadcast along trees")                                                              \
    X(SYNC, "synchronization")                                                                     \
    X(END, "closing, in MPI_Finalize")                                                             \
    X(BLOCKS, "exchange")

enum hwmc_stage {
#define X(name, text) HWMC_STAGE_##name,
    HWMC_STAGES(X)
#undef X
        HWMC_STAGE_LIMIT
};

const char *hwmc_stage_text(enum hwmc_stage stage);

enum hwmc_notice_phase {
    HWMC_NOTICE_QUIET, /* nothing is known */
    HWMC_NOTICE_UNTOLD,
    HWMC_NOTICE_TOLD
};

struct hwmc_notice {
    enum hwmc_notice_phase phase;
    uint32_t size;   /* members */
    uint32_t self;   /* this one */
    uint32_t fanout; /* of the tree */
    uint64_t key;    /* names the group in LOST */
    uint32_t next;   /* UNTOLD: which neighbour is told next */
    /* Not QUIET: */
    uint32_t rank;         /* the member that is lost */
    uint32_t finder;       /* the member that cannot reach it */
    uint32_t rails;        /* that its host is silent on, a bit each; 0: a lane told */
    enum hwmc_stage stage; /* in which the finder was */
    bool cut;              /* nothing goes from here to that member, though it may to others */
    uint64_t at;           /* ns: when this rank got to know */
};

void hwmc_notice_init(struct hwmc_notice *n, uint32_t size, uint32_t self, uint32_t fanout,
                      uint64_t key);

/* This rank cannot reach `member`, whose host is silent on `rails`; 0: a lane failed. Messages go
 * to it all the same if not `cut`. It waits for `stage`. Changes nothing where a loss is known. */
void hwmc_notice_on_found(struct hwmc_notice *n, uint32_t member, uint32_t rails, bool cut,
                          enum hwmc_stage stage, uint64_t now);

/* LOST is one that a member of a group of `size` may send. */
bool hwmc_notice_formed(const struct hwmc_msg *msg, uint32_t size);

/* LOST came. TAKEN; DUP: a loss is known already; BAD. */
enum hwmc_verdict hwmc_notice_on_recv(struct hwmc_notice *n, const struct hwmc_msg *msg,
                                      uint64_t now);

/* Fills `tx` with LOST for the next neighbour and returns 1, or returns 0: all are told. */
int hwmc_notice_next_send(struct hwmc_notice *n, struct hwmc_msg *tx);

/* `member` said something: fills `tx` with LOST for it and returns 1, or returns 0. Not QUIET
 * only. */
int hwmc_notice_repeat(const struct hwmc_notice *n, uint32_t member, struct hwmc_msg *tx);

void hwmc_notice_check(const struct hwmc_notice *n);

#endif /* HWMC_CORE_FAILURE_NOTICE_H_INCLUDED */
