/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * msg: what the machines say to each other, parsed: fields that all messages have, and a struct for
 * each type. The same goes out (next_send) and comes in (on_recv); the driver turns it to bytes and
 * back (PROTOCOL.md). Payload never enters: a DATA message names bytes by (bid, index), the driver
 * moves them.
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
    X(OFFER, 18)        /* to who sent SEEK: some of them are here */                              \
    X(BLOCK, 19)        /* a part of a block from one member to another */                         \
    X(BLOCK_GRANT, 20)  /* to who sends a block: so many of its parts may come */                  \
    X(BLOCK_CREDIT, 21) /* to any member: so many short blocks may come unasked */

enum hwmc_msg_type {
#define X(name, value) HWMC_MSG_##name = value,
    HWMC_MSG_TYPES(X)
#undef X
        HWMC_MSG_LIMIT
};

/* DATA over a lane: the sender had the fragment when it was asked, so the time since the request
 * is a round trip. MEASURE: to be answered. NACK for everything: what is being multicast is
 * wanted too. SEEK: they are to be sent, not only offered. BLOCK, without payload: so long it
 * is. */
#define HWMC_FLAG_AT_ONCE 1u
/* DATA: the message goes on in the next broadcast. */
#define HWMC_FLAG_MORE 4u
/* GRANT, BLOCK_GRANT: nothing more is taken. SEGMENT, BLOCK, without payload: nothing more
 * comes. */
#define HWMC_FLAG_VOID 8u
/* SYNC_DOWN: no broadcast follows; the communicator is being freed. */
#define HWMC_FLAG_LAST 2u
/* NACK for everything: nothing comes here by multicast; what the receiver will get that way is
 * wanted too. */
#define HWMC_FLAG_NO_MULTICAST 16u
/* EPOCH: broadcasts are repaired by push. */
#define HWMC_FLAG_PUSH 32u
/* DATA by multicast: its root had not all of the broadcasts before this one when it began. */
#define HWMC_FLAG_APART 64u
/* BLOCK: a part of a long block, which its receiver has asked for. */
#define HWMC_FLAG_GRANTED 128u
/* SYNC_UP, SYNC_DOWN: all of the subtree, or all members, are ready to receive directly
 * (core/flow/direct.h). DATA by multicast: it goes to the group for that. */
#define HWMC_FLAG_DIRECT 128u

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

/* What each type of message says besides the fields that all have (struct hwmc_msg). */

/* DATA. The payload is the driver's. */
struct hwmc_msg_data {
    uint32_t root;  /* the rank that broadcasts */
    uint32_t frags; /* how many fragments the broadcast has, 1 or more */
    uint32_t bytes; /* length of the message piece */
    uint32_t index; /* which fragment this is */
    uint8_t rails;  /* mask of the rails that carry the broadcast */
};

/* NACK, ROOT_NACK, SEEK. */
struct hwmc_msg_nack {
    uint32_t root;        /* the rank that broadcasts */
    uint32_t frags;       /* how many fragments the broadcast has; 0 when unknown */
    uint32_t bytes;       /* length of the message piece; with frags */
    const uint64_t *bits; /* frags > 0: which fragments; borrowed */
};

/* OFFER, READY. */
struct hwmc_msg_offer {
    uint32_t root;  /* the rank that broadcasts */
    uint32_t frags; /* how many fragments the broadcast has; READY: 0 when unknown */
    uint32_t bytes; /* length of the message piece; with frags */
};

/* SYNC_UP; bid is how many broadcasts the whole subtree has consumed. */
struct hwmc_msg_sync_up {
    uint32_t repaired;  /* broadcasts that members of the subtree had repaired */
    uint32_t losses;    /* of the subtree, a few bits for each rail (core/flow/loss_estimate.h) */
    uint32_t worst;     /* the rank that has the worst of them */
    uint32_t train;     /* the number of the last train of probes */
    uint8_t well_rails; /* on which that train came to the whole subtree */
};

/* SYNC_DOWN; bid is how many broadcasts all members have consumed. SYNC_ASK says nothing else. */
struct hwmc_msg_sync_down {
    uint32_t repaired; /* broadcasts that members had repaired */
};

/* PROBE. */
struct hwmc_msg_probe {
    uint32_t train; /* the number of its train; 0: it is of set-up */
    uint32_t bytes; /* of the fragment that it stands for */
    uint8_t number; /* which of its train it is */
};

/* GRANT. */
struct hwmc_msg_grant {
    uint32_t root;      /* the rank that broadcasts */
    uint32_t limit;     /* segments of the tree below this one may be sent */
    uint32_t bytes;     /* length of the message */
    uint8_t tree;       /* which tree */
    uint8_t slot;       /* which child of the receiver the sender is in it */
    uint8_t rails;      /* that brought segments since the last GRANT */
    uint8_t late_rails; /* those of them that brought some late (core/path/rail_weight.h) */
};

/* SEGMENT. The payload is the driver's. */
struct hwmc_msg_segment {
    uint32_t root;  /* the rank that broadcasts */
    uint32_t index; /* which segment of its tree */
    uint32_t bytes; /* length of the message */
    uint32_t token; /* going out: to be told when it is through */
    uint8_t tree;   /* which tree */
    uint8_t slot;   /* which child of the sender the receiver is in it */
    uint8_t rails;  /* mask: the rail that it goes by */
    uint8_t lane;   /* going out: by which lane */
};

/* MEASURE; bid is the number of the question. */
struct hwmc_msg_measure {
    uint32_t lane;
    uint32_t bytes; /* of the payload; 0: a short question, or an answer */
};

/* EPOCH; bid is its first broadcast. */
struct hwmc_msg_epoch {
    uint32_t number;  /* of the epoch */
    uint32_t culprit; /* the rank that has the worst losses */
    uint8_t rails;    /* mask of those in use from then on */
    uint8_t period;   /* of synchronization */
    uint8_t reason;   /* enum hwmc_rail_reason */
};

/* LOST. */
struct hwmc_msg_lost {
    uint32_t rank;   /* the member that cannot be reached */
    uint32_t finder; /* the member that found that */
    uint32_t stage;  /* in which enum hwmc_stage it was */
    uint8_t rails;   /* mask: its host was silent on these; 0: its lane failed */
};

/* BLOCK, BLOCK_GRANT, BLOCK_CREDIT; bid is the number of the exchange. A BLOCK's payload is the
 * driver's. */
struct hwmc_msg_block {
    uint32_t index; /* which part; GRANT: parts below this one may come; CREDIT: so many blocks */
    uint32_t bytes; /* length of the block */
    uint32_t token; /* going out: to be told when it is through */
    uint8_t port;   /* which block of those between the two */
    uint8_t lane;   /* going out: by which lane */
};

struct hwmc_msg {
    enum hwmc_msg_type type;
    uint8_t flags;
    bool multicast; /* to, or from, the group; otherwise by lane */
    uint8_t rail;   /* multicast: on which rail it came or is to go */
    uint32_t peer;  /* rank: the sender coming in, the receiver going out by lane */
    uint64_t bid;   /* which broadcast; SYNC_*: a count; set-up, LOST: the communicator's key;
                       BLOCK*: which exchange */
    union {         /* by type; SYNC_ASK and INVITE have none */
        struct hwmc_msg_data data;
        struct hwmc_msg_nack nack;   /* NACK, ROOT_NACK, SEEK */
        struct hwmc_msg_offer offer; /* OFFER, READY */
        struct hwmc_msg_sync_up up;
        struct hwmc_msg_sync_down down;
        struct hwmc_msg_probe probe;
        struct hwmc_msg_grant grant;
        struct hwmc_msg_segment segment;
        struct hwmc_msg_measure measure;
        struct hwmc_msg_epoch epoch;
        struct hwmc_msg_lost lost;
        struct hwmc_msg_block block;              /* BLOCK, BLOCK_GRANT, BLOCK_CREDIT */
        const struct hwmc_parameters *parameters; /* REPORT, DECIDE; borrowed */
    };
};

/* What a driver can multicast now; lanes take everything. */
struct hwmc_room {
    uint8_t each; /* mask of the rails that take a datagram */
    uint8_t best; /* of these, where a fragment goes that may go on any; 0: it is to wait */
};

/* What became of an incoming message. */
enum hwmc_verdict {
    HWMC_PLACE, /* DATA, SEGMENT, BLOCK: copy the payload to (bid, index); it was missing */
    HWMC_KEEP,  /* BLOCK*: of an exchange that begins later: give it again then */
    HWMC_TAKEN, /* a control message, acted on */
    HWMC_DUP,   /* DATA: already here */
    HWMC_STALE, /* of a broadcast that is over */
    HWMC_BAD    /* contradicts what is known; nothing was changed */
};

#endif /* HWMC_CORE_BASE_MSG_H_INCLUDED */
