/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * msg: what the machines say to each other, parsed. The same struct goes out (next_send) and comes
 * in (on_recv); the driver turns it to bytes and back (PROTOCOL.md). Payload never enters: a DATA
 * message names bytes by (bid, index), the driver moves them.
 */
#ifndef HWMC_CORE_BASE_MSG_H_INCLUDED
#define HWMC_CORE_BASE_MSG_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>

#include "reason.h"

#define HWMC_NEVER UINT64_MAX /* a time that does not come; times are in ns */

/* Rails are numbered alike on all ranks, below this; a mask has a bit for each. */
#define HWMC_RAIL_BITS 8u

/* The values are part of the wire protocol. */
#define HWMC_MSG_TYPES(X)                                                                          \
    X(DATA, 1)       /* one fragment, by multicast or as a repair over a lane */                   \
    X(NACK, 2)       /* to the ring predecessor: these fragments are missing here */               \
    X(READY, 3)      /* to the root: the chosen member has joined this broadcast */                \
    X(SYNC_UP, 4)    /* to the tree parent: consumed by the whole subtree */                       \
    X(SYNC_DOWN, 5)  /* to all, or to one child: consumed by every member */                       \
    X(SYNC_ASK, 6)   /* to the tree parent: what is the floor? */                                  \
    X(PROBE, 7)      /* does multicast arrive? in set-up, and of rails that were left */           \
    X(INVITE, 8)     /* set-up, to the children: report to me */                                   \
    X(REPORT, 9)     /* set-up, to the parent: how the subtree stands at a stage */                \
    X(DECIDE, 10)    /* set-up, to the children: what all do next */                               \
    X(GRANT, 11)     /* to the parent in a tree: this rank has called the broadcast */             \
    X(SEGMENT, 12)   /* to a child in a tree: a part of the message */                             \
    X(MEASURE, 13)   /* between two processes, of no communicator: how fast is this lane? */       \
    X(ROOT_NACK, 14) /* to the root: this rank and its successor lack these fragments */           \
    X(EPOCH, 15) /* to the children: the rails from a broadcast on; to the parent: it is known */  \
    X(LOST, 16)  /* to neighbours: a member cannot be reached, the group is broken */              \
    X(SEEK, 17) /* to any member: these fragments are missing here, and who was asked is silent */ \
    X(OFFER, 18) /* to who sent SEEK: some of them are here */

enum hwmc_msg_type {
#define X(name, value) HWMC_MSG_##name = value,
    HWMC_MSG_TYPES(X)
#undef X
        HWMC_MSG_LIMIT
};

/* DATA over a lane: the sender had the fragment when it was asked, so the time since the request
 * is a round trip. MEASURE: to be answered. NACK for everything: what is being multicast is
 * wanted too. SEEK: they are to be sent, not only offered. */
#define HWMC_FLAG_AT_ONCE 1u
/* DATA: the message goes on in the next broadcast. */
#define HWMC_FLAG_MORE 4u
/* GRANT: nothing more is taken. SEGMENT, without payload: nothing more comes. */
#define HWMC_FLAG_VOID 8u
/* SYNC_DOWN: no broadcast follows; the communicator is being freed. */
#define HWMC_FLAG_LAST 2u
/* NACK for everything: nothing comes here by multicast; what the receiver will get that way is
 * wanted too. */
#define HWMC_FLAG_NO_MULTICAST 16u
/* EPOCH: broadcasts are repaired by push. */
#define HWMC_FLAG_PUSH 32u

/* Why a communicator does not use multicast. The values are part of the wire protocol. */
#define HWMC_REASONS(X)                                                                            \
    X(NONE, none, 0, "multicast in use")                                                           \
    X(FABRIC, fabric, 1, "no multicast fabric on a rank's rails")                                  \
    X(MEMORY, memory, 2, "the channel memory of a rank is in use by other communicators")          \
    X(JOIN, join, 3, "a rank could not join the multicast group")                                  \
    X(PROBE, probe, 4, "the probe did not reach a rank: multicast does not pass the network")      \
    X(LANE, lane, 5, "a lane of a rank failed")                                                    \
    X(SPAWNED, spawned, 6, "a rank belongs to another MPI_COMM_WORLD")                             \
    X(RAILS, rails, 7, "no rail works between all ranks")                                          \
    X(NOMEM, nomem, 8, "a rank is out of memory")                                                  \
    X(CLOSED, closed, 9, "it was freed before it was used")

enum hwmc_reason {
#define X(name, lower, value, text) HWMC_REASON_##name = value,
    HWMC_REASONS(X)
#undef X
        HWMC_REASON_LIMIT
};

/* What members agree on at set-up: offers combine upward, the leader's decision comes down. */
struct hwmc_parameters {
    uint32_t stage;      /* enum hwmc_negotiation_phase the parameters belong to */
    uint32_t reason;     /* enum hwmc_reason; NONE: so far so good */
    uint32_t rank;       /* the lowest rank that has that reason */
    uint32_t rails;      /* mask of the rails that all members have; after PROBE: that work */
    uint32_t frag_bytes; /* payload of a datagram: the minimum over members */
    uint32_t window;     /* bytes a member can hold unread: the minimum over members */
    uint32_t generation; /* decision: the leader's number for this communicator */
    uint32_t from;  /* PROBE: broadcasts before this one go another way: the maximum over members */
    uint64_t group; /* decision: the fabric's name for the group */
    uint64_t seed;  /* decision: of the pseudo-random choices */
};

struct hwmc_msg {
    enum hwmc_msg_type type;
    uint32_t flags;
    bool multicast; /* to, or from, the group; otherwise by lane */
    uint8_t rail;   /* multicast: on which rail it came or is to go; SEGMENT: is to go */
    uint8_t rails;  /* DATA: mask of the rails that carry this broadcast; EPOCH: from bid on;
                           * SYNC_UP: on which the last train of probes came to the whole subtree;
                           * SEGMENT: by which it goes; GRANT: that brought some since the last */
    uint32_t peer;  /* rank: the sender coming in, the receiver going out by lane */
    uint64_t bid;   /* which broadcast; SYNC_*: a count; set-up: the communicator's key */
    uint32_t root; /* DATA, AGAIN, GRANT, SEGMENT: the rank that broadcasts; SYNC_UP, EPOCH: the one
                           * that has the worst losses */
    uint32_t index; /* DATA: which fragment; SEGMENT: which of its tree; SYNC_*: members'
                           * broadcasts repaired; EPOCH: its number; PROBE: its train's, or 0 */
    uint32_t frags; /* DATA: how many fragments, 1 or more; NACK, SEEK: 0 when unknown */
    uint32_t
        bytes; /* DATA, GRANT, SEGMENT: length of the message piece in bytes; PROBE: of the fragment
                           * that it stands for */
    uint8_t tree;    /* GRANT, SEGMENT: of which tree; EPOCH: enum hwmc_rail_reason; PROBE: which of
                           * its train */
    uint8_t slot;    /* GRANT, SEGMENT: as the parent's how manyeth child; EPOCH: the period */
    uint8_t late;    /* GRANT: of its rails, those that brought some of it late (rail_weight.h) */
    uint32_t losses; /* SYNC_UP: of the subtree, a few bits a rail (core/flow/loss_estimate.h) */
    uint32_t train;  /* SYNC_UP: the number of that train */
    uint32_t token;  /* SEGMENT going out: to be told when it is through */
    const uint64_t *bits; /* NACK, SEEK with frags > 0, AGAIN: the fragments; borrowed */
    const struct hwmc_parameters *parameters; /* REPORT, DECIDE; borrowed */
};

/* What a driver can multicast now; lanes take everything. */
struct hwmc_room {
    uint8_t each; /* mask of the rails that take a datagram */
    uint8_t best; /* of these, where a fragment goes that may go on any; 0: it is to wait */
};

/* What became of an incoming message. */
enum hwmc_verdict {
    HWMC_PLACE, /* DATA: copy the payload to (bid, index); it was missing */
    HWMC_TAKEN, /* a control message, acted on */
    HWMC_DUP,   /* DATA: already here */
    HWMC_STALE, /* of a broadcast that is over */
    HWMC_BAD    /* contradicts what is known; nothing was changed */
};

#endif /* HWMC_CORE_BASE_MSG_H_INCLUDED */
