/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * group: one communicator's multicast at one rank: its set-up (core/agree), then its broadcasts
 * (core/stream) and the channel memory their bytes lie in.
 *
 *   SETUP --agreed--> ON --close--> CLOSING --all members are through--> gone
 *     |    \--not agreed--> OFF --close--> gone
 *     \--close--> SETUP, leaving: as above, then at once as if it were closed only now
 *   SETUP, ON, CLOSING --a member is lost (loss.h)--> BROKEN --close--> gone
 *
 * A rank takes broadcasts from the moment all members have joined (core phase PROBE), since another
 * may learn of the agreement first. Where multicast does not work the group is ON without it:
 * broadcasts go along trees only, and the channels' memory is given back.
 *
 * Memory: channels x piece bytes, from the engine's bound, taken at create and given back when
 * gone; pages are touched only as they are used.
 */
#ifndef BCAST_HW_GROUP_H_INCLUDED
#define BCAST_HW_GROUP_H_INCLUDED

#include "../core/agree.h"
#include "../core/rejoin.h"
#include "../core/stream.h"
#include "agenda.h"
#include "homes.h"
#include "loss.h"
#include "names.h"
#include "wire.h"

#define BCAST_HW_LANES_MAX 32u

struct bcast_hw_engine;

enum bcast_hw_group_state {
    BCAST_HW_GROUP_SETUP,
    BCAST_HW_GROUP_ON,
    BCAST_HW_GROUP_OFF,
    BCAST_HW_GROUP_CLOSING,
    BCAST_HW_GROUP_BROKEN
};

struct bcast_hw_group_cfg {
    uint32_t context; /* MPI context id */
    uint32_t part;    /* which of the communicator's groups it is: the driver's */
    uint32_t size;    /* ranks, 2 or more */
    uint32_t rank;
    const uint32_t *world; /* rank in MPI_COMM_WORLD of each rank; copied */
    uint64_t key;          /* of this communicator, the same on all members (see glue) */
    bool push;             /* the repair to begin with */
    bool adapt_repair;     /* ... which changes as losses do */
    bool adapt_period;     /* so does the period, with the pace */
    uint32_t channels;
    uint32_t period;
    uint32_t fanout;
    uint32_t piece_bytes; /* the most that one broadcast carries, as wished */
    uint32_t trees;       /* of broadcasts along trees, as wished; 0: there are none */
    uint32_t seg_bytes;   /* of their segments, as wished */
    uint32_t window;      /* segments of a tree that a rank takes ahead */
    uint32_t far_window;  /* the same from another site */
    bool adapt_lanes;     /* shares of rails follow what they carry */
    uint32_t rails;       /* it keeps to these, a bit each; 0: to all there are */
    const uint64_t
        *site; /* of each rank, a name for where it is; NULL: all at one; read at create */
    enum bcast_hw_delay_kind delay;
    uint64_t delay_ns;
    uint64_t join_ns; /* how long joining the fabrics' group may take */
    uint64_t probe_ns;
    bool later;        /* nothing is sent before the next progress */
    bool stay;         /* rails that stop working in mid-run are not left */
    uint64_t pause_ns; /* after which one that was left is probed; doubles, to the maximum */
    uint64_t pause_max_ns;
};

struct bcast_hw_group {
    struct bcast_hw_engine *engine;
    struct bcast_hw_group *prev, *next; /* in the engine's list */
    struct bcast_hw_agenda_item item;
    struct bcast_hw_group *same[BCAST_HW_NAMES_KINDS]; /* next in lists of engine.names */
    enum bcast_hw_group_state state;
    uint32_t number; /* of this process's groups */
    struct bcast_hw_group_cfg cfg;
    struct bcast_hw_wire_id id;
    struct bcast_hw_agree agree;
    struct bcast_hw_stream stream; /* ready when `running` */
    struct bcast_hw_sites sites;
    uint32_t *site_mem; /* theirs; NULL: all ranks are at one site */
    uint32_t *world;
    uint32_t reason; /* OFF, BROKEN, ON without multicast: enum bcast_hw_reason */
    uint32_t reason_rank;
    struct bcast_hw_loss loss; /* BROKEN */
    bool untold;               /* ... which the neighbours do not know from here */
    uint32_t piece_bytes;      /* the most that one broadcast carries, as agreed */
    uint32_t joined_rails;     /* in the fabrics' group there */
    uint32_t joining_rails;    /* of the others: where that is under way */
    uint64_t join_at;          /* ns: when to ask for it again; while it is under way */
    uint64_t join_end;         /* ns: when it is given up */
    struct bcast_hw_rejoin rejoin;
    bool running;    /* the stream runs */
    bool casts;      /* ON: by multicast */
    bool leaving;    /* the program is through with it */
    bool over;       /* closed, and nobody needs it */
    size_t reserved; /* bytes of the engine's bound */
    void *stream_mem;
    struct bcast_hw_homes homes; /* where its bytes lie */
    uint32_t noted;              /* the epoch that the driver has taken note of */
    bool shown;                  /* to the driver, by cfg.show of the engine */
    uint32_t shown_epoch;        /* ... with this epoch */
    void *place;                 /* where the driver shows it */
    unsigned char *along_trees;  /* of the broadcast under way there: the program's memory */
    /* Messages with bodies there that lanes have, by lane. */
    uint32_t lent[BCAST_HW_LANES_MAX];
};

/* Begins set-up. NULL without memory. The group is the engine's; the caller's to use until
 * close. */
struct bcast_hw_group *bcast_hw_group_create(struct bcast_hw_engine *e,
                                             const struct bcast_hw_group_cfg *cfg, uint64_t now);

/* No broadcast follows on it, on any member; all are consumed here. The group goes when nobody
 * needs it any more; the caller forgets it. Never waits. */
void bcast_hw_group_close(struct bcast_hw_group *g, uint64_t now);

/* The next broadcast can be posted. When not: bcast_hw_group_stall, progress, ask again. ON
 * only. */
bool bcast_hw_group_open(const struct bcast_hw_group *g);
void bcast_hw_group_stall(struct bcast_hw_group *g, uint64_t now);

/* The next message, of `bytes`, lies, or is to lie, at `memory`, of the program's: its broadcasts
 * are sent from there and placed there as far as they have not begun to come. Until return, which a
 * root calls when all is sent, or after an error: what is not sent then is lost. */
void bcast_hw_group_lend(struct bcast_hw_group *g, void *memory, size_t bytes);
bool bcast_hw_group_sent(const struct bcast_hw_group *g);
void bcast_hw_group_return(struct bcast_hw_group *g);

/* The call that a broadcast along trees belongs to ends before the broadcast: nothing more of it
 * comes to its memory or is sent from there. As long as lanes have some of that still, the group
 * lends it. */
void bcast_hw_group_withdraw(struct bcast_hw_group *g, uint64_t now);
bool bcast_hw_group_lends(const struct bcast_hw_group *g);

/* Where the `bytes` bytes of the next broadcast go (root, before post) or of the last posted one
 * are (member, once done). */
void *bcast_hw_group_next_bytes(struct bcast_hw_group *g, uint32_t bytes);
const void *bcast_hw_group_last_bytes(struct bcast_hw_group *g);

/* The next broadcast is multicast; otherwise it is to go along trees, alike on all members. Open
 * only. */
static inline bool bcast_hw_group_casts_next(const struct bcast_hw_group *g)
{
    return bcast_hw_stream_next_rails(&g->stream) != 0;
}

/* `more`: the next broadcast continues the message. */
void bcast_hw_group_post_root(struct bcast_hw_group *g, uint32_t bytes, bool more, uint64_t now);
void bcast_hw_group_post_member(struct bcast_hw_group *g, uint32_t root, uint64_t now);

/* Of root and members: a broadcast along trees, of `bytes` bytes at `memory`, which is the group's
 * until it is consumed. Open only. */
void bcast_hw_group_post_trees(struct bcast_hw_group *g, uint32_t root, void *memory,
                               uint32_t bytes, uint64_t now);
static inline bool bcast_hw_group_done(const struct bcast_hw_group *g)
{
    return bcast_hw_stream_done(&g->stream);
}

/* How many bytes of the last posted broadcast, from its first on, are where the program wants them;
 * `known` of them were. 0 as long as they lie in a channel. */
uint32_t bcast_hw_group_prefix(const struct bcast_hw_group *g, uint32_t known);

void bcast_hw_group_consume(struct bcast_hw_group *g, uint64_t now);

/* For the engine: a message for this group came; timers; sends. `payload` is DATA's. */
void bcast_hw_group_on_recv(struct bcast_hw_group *g, const struct bcast_hw_wire_in *in,
                            uint64_t now);
void bcast_hw_group_on_sent(struct bcast_hw_group *g, uint32_t lane, uint32_t token);
void bcast_hw_group_pump(struct bcast_hw_group *g, uint64_t now);

/* There is room for the multicast that waited for some. */
bool bcast_hw_group_unblocked(struct bcast_hw_group *g, uint64_t now);

/* Leaves the fabric's group, gives its memory back. */
void bcast_hw_group_free(struct bcast_hw_group *g);

#endif /* BCAST_HW_GROUP_H_INCLUDED */
