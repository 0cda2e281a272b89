/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: the multicast of some ranks of a communicator, its members, at one of them: its set-up
 * (core/negotiation), then its broadcasts (core/bcast/stream) and the channel memory their bytes
 * lie in.
 *
 *   SETUP --agreed--> ON --close--> CLOSING --all members are done--> freed
 *     |    \--not agreed--> OFF --close--> freed
 *     \--close--> SETUP, leaving: as above, then at once as if it were closed only now
 *   SETUP, ON, CLOSING --a member is lost (failure.h)--> BROKEN --close--> freed
 *
 * A rank takes broadcasts from the moment all members have joined (core phase PROBE), since another
 * may learn of the agreement first. If multicast does not work, the group is ON without it:
 * broadcasts go along trees only, and the channels' memory is given back.
 *
 * Memory: channels x piece bytes, from the engine's bound, taken at create and given back when the
 * group is freed; pages are touched only as they are used.
 */
#ifndef HWMC_ENGINE_GROUP_GROUP_H_INCLUDED
#define HWMC_ENGINE_GROUP_GROUP_H_INCLUDED

#include "../../core/negotiation/negotiation.h"
#include "../../core/flow/rejoin.h"
#include "../../core/bcast/stream.h"
#include "agenda.h"
#include "blocks.h"
#include "direct.h"
#include "placement.h"
#include "failure.h"
#include "names.h"
#include "../wire/wires.h"

struct hwmc_groups;

enum hwmc_group_state {
    HWMC_GROUP_SETUP,
    HWMC_GROUP_ON,
    HWMC_GROUP_OFF,
    HWMC_GROUP_CLOSING,
    HWMC_GROUP_BROKEN
};

struct hwmc_group_cfg {
    uint32_t context; /* MPI context id */
    uint32_t part;    /* which of the communicator's groups it is: the driver's */
    uint32_t size;    /* ranks, 2 or more */
    uint32_t rank;
    const uint32_t *world; /* rank in MPI_COMM_WORLD of each rank; copied */
    uint64_t key; /* of this communicator, the same on all members; see comm/leader_group.h */
    struct hwmc_policy_cfg policy; /* without the rails, on which set-up agrees */
    uint32_t channels;
    uint32_t fanout;
    uint32_t piece_bytes; /* the most that one broadcast carries, as wished */
    uint32_t trees;       /* of broadcasts along trees, as wished; 0: there are none */
    uint32_t seg_bytes;   /* of their segments, as wished */
    uint32_t seg_max; /* those of long messages may be so long; at most seg_bytes: they are not */
    uint32_t window;  /* segments of a tree that a rank takes ahead */
    uint32_t far_window; /* the same from another site */
    bool adapt_lanes;    /* shares of rails follow what they carry */
    uint32_t rails;      /* it keeps to these, a bit each; 0: to all there are */
    const uint64_t
        *site; /* of each rank, a name for where it is; NULL: all at one; read at create */
    enum hwmc_delay_kind delay;
    uint64_t delay_ns;
    uint64_t join_ns; /* how long joining the fabrics' group may take */
    uint64_t probe_ns;
    bool direct; /* long messages are received directly, where adapters can */
    bool later;  /* nothing is sent before the next progress */
    bool apart;  /* some cannot hear others' multicast, as all know: it does without any rail */
};

struct hwmc_group {
    struct hwmc_groups *all;
    struct hwmc_wires *wires;
    struct hwmc_group *prev, *next; /* in the list of all */
    struct hwmc_agenda_item item;
    struct hwmc_group *same[HWMC_NAMES_KINDS]; /* next in lists of all.names */
    enum hwmc_group_state state;
    uint32_t number; /* of this process's groups */
    struct hwmc_group_cfg cfg;
    struct hwmc_wire_id id;
    struct hwmc_negotiation negotiation;
    struct hwmc_stream stream; /* ready when `running` */
    struct hwmc_sites sites;
    uint32_t *site_mem; /* theirs; NULL: all ranks are at one site */
    uint32_t *world;
    uint32_t reason; /* OFF, BROKEN, ON without multicast: enum hwmc_reason */
    uint32_t reason_rank;
    struct hwmc_notice loss; /* BROKEN */
    uint32_t piece_bytes;    /* the most that one broadcast carries, as agreed */
    uint32_t joined_rails;   /* in the fabrics' group there */
    uint32_t joining_rails;  /* of the others: where that is under way */
    uint64_t join_at;        /* ns: when to ask for it again; while it is under way */
    uint64_t join_end;       /* ns: when it is given up */
    struct hwmc_rejoin rejoin;
    bool running;    /* the stream runs */
    bool casts;      /* ON: by multicast */
    bool leaving;    /* the program is through with it */
    bool over;       /* closed, and nobody needs it */
    size_t reserved; /* bytes of the engine's bound */
    void *stream_mem;
    struct hwmc_placement placement; /* where its bytes lie */
    struct hwmc_group_direct direct; /* received there by adapters */
    uint32_t noted;                  /* the epoch that the driver has taken note of */
    uint32_t
        shown;   /* to the driver, by cfg.show of the engine: the epoch, counted from 1; 0: none */
    void *place; /* where the driver shows it */
    struct hwmc_blocks blocks;  /* its exchanges */
    unsigned char *along_trees; /* of the broadcast under way there: the program's memory */
    /* Messages with bodies there that lanes have, by lane. */
    uint32_t pinned[HWMC_LANES_MAX];
};

/* Begins set-up. NULL without memory. The group is one of `all`; the caller's to use until
 * close. */
struct hwmc_group *hwmc_group_create(struct hwmc_groups *all, const struct hwmc_group_cfg *cfg,
                                     uint64_t now);

/* No broadcast follows on it, on any member; all are consumed here. The group goes when nobody
 * needs it any more; the caller forgets it. Never waits. */
void hwmc_group_close(struct hwmc_group *g, uint64_t now);

/* The next broadcast can be posted. When not: hwmc_group_stall, progress, ask again. ON
 * only. */
bool hwmc_group_open(const struct hwmc_group *g);
void hwmc_group_stall(struct hwmc_group *g, uint64_t now);

/* The next message, of `bytes`, lies, or is to lie, at `memory`, of the program's: its broadcasts
 * are sent from there and placed there as far as they have not begun to come. A root lends it to
 * the rails besides, and a member has them receive to there (direct.h). Until unpin, which a root
 * calls when all is sent, and has left, or after an error: what is not sent then is lost. */
void hwmc_group_pin(struct hwmc_group *g, void *memory, size_t bytes);
void hwmc_group_lend(struct hwmc_group *g);
void hwmc_group_receive(struct hwmc_group *g);
bool hwmc_group_sent(struct hwmc_group *g);
void hwmc_group_unpin(struct hwmc_group *g);

/* After an error: what rails have not taken of that memory is lost. Whether none sends from it any
 * more; else to be called again. */
bool hwmc_group_recall(struct hwmc_group *g);

/* The call that a broadcast along trees belongs to ends before the broadcast: nothing more of it
 * comes to its memory or is sent from there. As long as lanes have some of that still, the group
 * pins it. */
void hwmc_group_withdraw(struct hwmc_group *g, uint64_t now);
bool hwmc_group_pins(const struct hwmc_group *g);

/* Where the `bytes` bytes of the next broadcast go (root, before post) or of the first
 * posted one that is not consumed are (member, once done). */
void *hwmc_group_next_bytes(struct hwmc_group *g, uint32_t bytes);
const void *hwmc_group_last_bytes(struct hwmc_group *g);

/* The next broadcast is multicast; otherwise it is to go along trees, alike on all members. Open
 * only. */
static inline bool hwmc_group_casts_next(const struct hwmc_group *g)
{
    return hwmc_stream_next_rails(&g->stream) != 0;
}

/* `more`: the next broadcast continues the message. */
void hwmc_group_post_root(struct hwmc_group *g, uint32_t bytes, bool more, uint64_t now);
void hwmc_group_post_member(struct hwmc_group *g, uint32_t root, uint64_t now);

/* Of root and members: a broadcast along trees, of `bytes` bytes at `memory`, which is the group's
 * until it is consumed. Open only. */
void hwmc_group_post_trees(struct hwmc_group *g, uint32_t root, void *memory, uint32_t bytes,
                           uint64_t now);
/* The same where the root has only its first `here` bytes yet; and it has so many of them. */
void hwmc_group_begin_trees(struct hwmc_group *g, uint32_t root, void *memory, uint32_t bytes,
                            uint32_t here, uint64_t now);
void hwmc_group_more_trees(struct hwmc_group *g, uint32_t here, uint64_t now);

static inline bool hwmc_group_done(const struct hwmc_group *g)
{
    return hwmc_stream_done(&g->stream);
}

/* How many bytes of the first posted one that is not consumed, from its first on, are where the
 * program wants them; `known` of them were. 0 as long as they lie in a channel. */
uint32_t hwmc_group_prefix(const struct hwmc_group *g, uint32_t known);

void hwmc_group_consume(struct hwmc_group *g, uint64_t now);

/* The next exchange (core/exchange/exchange.h): ON only, and the last one is over. Its parts are
 * ready and taken as hwmc_exchange_ready and _take say; hwmc_group_pump_blocks then sends what that
 * makes due, and nothing else of the group's: a pump of everything takes 700 instructions more.
 * `exchanged`: it is over at this rank, and g->blocks.exchange.failed says how. */
void hwmc_group_exchange(struct hwmc_group *g, const struct hwmc_blocks_plan *plan, uint64_t now);
void hwmc_group_pump_blocks(struct hwmc_group *g);
static inline bool hwmc_group_exchanged(const struct hwmc_group *g)
{
    return hwmc_exchange_over(&g->blocks.exchange);
}

/* For the engine: a message for this group came, which is over when it returns; timers; sends. */
void hwmc_group_on_recv(struct hwmc_group *g, struct hwmc_wire_in *in, uint64_t now);
void hwmc_group_on_sent(struct hwmc_group *g, uint32_t lane, uint32_t token);
void hwmc_group_pump(struct hwmc_group *g, uint64_t now);

/* There is room for the multicast that waited for some. */
bool hwmc_group_unblocked(struct hwmc_group *g, uint64_t now);

/* Leaves the fabric's group, gives its memory back. */
void hwmc_group_free(struct hwmc_group *g);

#endif /* HWMC_ENGINE_GROUP_GROUP_H_INCLUDED */
