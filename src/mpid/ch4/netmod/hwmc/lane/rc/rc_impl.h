/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rc_impl: what the files of the rc lane share.
 *
 *     rc.c         the lane's operations, and progress
 *     exchange.c   the exchange: which process connects to which, and when
 *     conn.c       a connection: its queue pair, its end
 *     send.c       messages to fragments, credits
 *     recv.c       fragments to messages
 *     buffers.c    registered buffers, the shared receive queue
 *     memory.c     the program's memory, registered while it is borrowed
 *     paths.c      ports, asynchronous events, path migration
 *     wish.c       the paths that a program wants
 */
#ifndef HWMC_NETMOD_LANE_RC_RC_IMPL_H_INCLUDED
#define HWMC_NETMOD_LANE_RC_RC_IMPL_H_INCLUDED

#include "../../apm/conn.h"
#include "../../apm/selftest.h"
#include "../../verbs/events.h"
#include "../../verbs/port.h"
#include "rc.h"
#include "rc_wire.h"

#define RC_CREDITS 16u /* fragments that may be on the way to here from a peer */
#define RC_BUFFERS                                                                                 \
    (RC_CREDITS + 4u)              /* receive buffers for a connection: 2 for credits, 2 to spare */
#define RC_SENDS (RC_CREDITS + 2u) /* work requests of a connection's send queue */
#define RC_BOUNCE 128u             /* send buffers of a lane */
#define RC_BATCH 16                /* completions taken at a time */
#define RC_ZERO_COPY_MIN 32768u    /* bytes: registering costs about as much as copying these */
#define RC_REGIONS_MAX 64u         /* of the program's memory at a time; more is copied */
#define RC_QPS_BUCKETS 256u        /* a power of 2 */
#define RC_DRAIN_NS UINT64_C(50000000) /* where a device does not tell that a dead queue is empty */
#define RC_TRUST_NS UINT64_C(1000000000)   /* before a path that hardware left is loaded again */
#define RC_ANSWER_NS UINT64_C(5000000000)  /* that a peer may take in the exchange */
#define RC_REFUSED_NS UINT64_C(1000000000) /* before asking again who refused */
#define RC_BACKOFF_NS UINT64_C(10000000)   /* before the next connection, doubled each time */
#define RC_BACKOFF_MAX 8u                  /* times: 2.56 s */
#define RC_WISH_NS UINT64_C(1000000)       /* before a wish is looked at again, doubled each time */
#define RC_WISH_MAX_NS UINT64_C(128000000)

struct hwmc_lane_rc;

/* A piece of the program's memory, registered while at least one message borrows it. */
struct rc_region {
    struct rc_region *next;
    const void *addr;
    size_t len;
    uint32_t refs; /* 1 or more */
    struct ibv_mr *mr;
};

/* A message that is not through: in its connection's queue until all fragments are posted, then
 * known to their send buffers only. */
struct rc_message {
    struct rc_message *next;
    bool borrowed; /* the body is the caller's, who is told `tag` */
    uint64_t tag;
    uint32_t head_len;
    uint32_t total;           /* head and body */
    bool all_posted;          /* it is in no queue any more */
    uint32_t posted;          /* bytes of it in fragments that are posted, <= total */
    uint32_t out;             /* fragments posted and not completed */
    const uint8_t *body;      /* borrowed, or in `bytes` */
    struct rc_region *region; /* that the body is sent from, or NULL: it is copied into fragments */
    uint8_t bytes[];          /* the head; then the body, if that is not borrowed */
};

/* What a send buffer is used for. */
struct rc_slot {
    struct rc_conn *conn;       /* NULL: free */
    struct rc_message *message; /* of which this is a fragment; NULL: none that anybody waits for */
};

/* A message that comes in fragments; bytes is NULL between messages. */
struct rc_whole {
    uint8_t *bytes; /* total */
    uint32_t head_len, total;
    uint32_t got; /* < total */
};

enum rc_conn_state {
    RC_CONN_MADE,   /* to be open by open_by */
    RC_CONN_OPEN,   /* messages can be sent */
    RC_CONN_FAILED, /* the queue pair is in error, or was never of use; to be buried */
    RC_CONN_DRAINED /* so, and nothing of it is on the way to the completion queue */
};

struct rc_conn {
    uint32_t peer;
    uint32_t at; /* in the lane's conns */
    struct rc_conn *next_of_qp;
    struct hwmc_apm_conn apm; /* apm.qp is NULL until made */
    struct rc_end mine;       /* as the peer was told */
    enum rc_conn_state state;
    bool was_open;            /* failed: messages could be sent before */
    bool proven;              /* something came or was acknowledged */
    bool spoiled;             /* something came that makes no sense: nothing more is taken */
    uint64_t bury_at;         /* failed: ns, when drained or not */
    uint64_t open_by;         /* MADE: ns: not open by then it has failed */
    uint64_t trust_at;        /* ns; UINT64_MAX: no path is in doubt */
    uint32_t credits;         /* fragments that the peer has buffers for, <= RC_CREDITS_MAX */
    uint32_t credits_max;     /* as the peer told */
    uint32_t posted;          /* work requests not completed, <= RC_SENDS */
    uint32_t used;            /* fragments taken whose buffers are not posted again yet */
    uint32_t owed;            /* credits to return, <= RC_CREDITS */
    struct rc_message *first; /* to be posted; last is undefined while it is NULL */
    struct rc_message *last;
    struct rc_whole whole;
};

enum rc_peer_state {
    RC_PEER_NONE,
    RC_PEER_WANTED, /* active: to be connected at `at`; passive: the peer has been asked, and may
                     * answer until `at` */
    RC_PEER_CONNECTING, /* in the exchange */
    RC_PEER_OPEN,
    RC_PEER_FAILED, /* has a connection to be buried */
    RC_PEER_REFUSED /* until `at` */
};

struct rc_peer {
    enum rc_peer_state state;
    uint8_t fails;        /* connections in a row that were of no use, <= RC_BACKOFF_MAX */
    bool wanted;          /* FAILED: to be connected again */
    uint8_t wish;         /* the path that the program wants, as in rc.h; ANY: as it is */
    uint32_t epoch;       /* of the last connection, 0: none yet */
    uint64_t at;          /* ns; active: not before that is the next connection begun */
    struct rc_conn *conn; /* in CONNECTING, OPEN and FAILED */
};

/* What was heard and is not acted on yet. */
struct rc_heard {
    struct rc_heard *next;
    uint32_t peer;
    struct rc_exchange exchange;
};

struct rc_buffers {
    uint8_t *bounce; /* RC_BOUNCE send buffers of RC_FRAGMENT bytes */
    struct ibv_mr *bounce_mr;
    struct rc_slot slot[RC_BOUNCE];
    uint32_t free_slot[RC_BOUNCE];
    uint32_t num_free;
    uint8_t **slab; /* each RC_BUFFERS receive buffers; max_conns */
    struct ibv_mr **slab_mr;
    uint32_t num_slabs;
};

struct rc_ports {
    struct hwmc_apm_port port[RC_PORTS_MAX]; /* [0] is the rail's */
    enum ibv_mtu mtu[RC_PORTS_MAX];
    bool active[RC_PORTS_MAX];
    uint8_t num; /* 1..RC_PORTS_MAX */
    enum hwmc_lane_rc_apm apm;
    const char *reason;
};

struct hwmc_lane_rc {
    struct hwmc_lane super;
    struct hwmc_lane_rc_params params;
    struct hwmc_verbs_port port;
    struct hwmc_verbs_listener *listener;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_srq *srq;
    int epoll;
    bool dead; /* the device is gone: nothing can be connected */
    uint32_t inline_max;
    uint32_t max_conns; /* what the caller, the shared queue and the completion queue allow */

    struct rc_buffers buffers;
    struct rc_ports ports;
    struct rc_region *regions;
    uint32_t num_regions;

    struct rc_peer *peers;  /* params.size */
    struct rc_conn **conns; /* max_conns; the first num_conns are */
    uint32_t num_conns;
    uint32_t num_failed; /* of them */
    uint32_t num_queued; /* messages in the connections' queues */
    bool starved;        /* credits are due that found no send buffer */
    uint32_t turn;       /* the connection that posts first */
    struct rc_conn *of_qp[RC_QPS_BUCKETS];
    uint32_t num_wishes; /* peers of which a path is wanted */
    uint64_t wish_at;    /* ns: when that is looked at again, if there are any */
    uint64_t wish_step;  /* ns: and after how long then */
    uint64_t wake;       /* ns: nothing is due before: connecting, burying, trusting */

    struct rc_heard *heard; /* in order */
    struct rc_heard **heard_end;

    struct ibv_wc wc[RC_BATCH]; /* taken by arm, for poll */
    int num_wc;
};

static inline struct hwmc_lane_rc *rc_lane(const struct hwmc_lane *l)
{
    return (struct hwmc_lane_rc *) l;
}

uint64_t rc_now(void);

static inline bool rc_has_failed(const struct rc_conn *c)
{
    return c->state >= RC_CONN_FAILED;
}

static inline void rc_wake_at(struct hwmc_lane_rc *l, uint64_t at)
{
    l->wake = at < l->wake ? at : l->wake;
}

/* peer.c. */

/* Sends a message of the exchange, with this end of the connection where it belongs. False: it is
 * lost. */
bool rc_peer_tell(struct hwmc_lane_rc *l, uint32_t peer, enum rc_exchange_type type,
                  uint32_t epoch);

/* The connection is of no use any more: it is buried, and the caller told, when what is on the way
 * has come. The peer is told if `tell`. */
void rc_peer_fail(struct hwmc_lane_rc *l, struct rc_conn *c, bool tell);

/* There is a wish for the peer, and no more: it is met, or cannot be. It dies with a connection,
 * for it may be why that failed. */
void rc_peer_drop_wish(struct hwmc_lane_rc *l, uint32_t peer, bool met);

/* conns.c: the lane's connections, in a list and by queue pair. */

void rc_conns_enter(struct hwmc_lane_rc *l, struct rc_conn *c);
void rc_conns_leave(struct hwmc_lane_rc *l, struct rc_conn *c);

/* NULL: none of this lane. */
struct rc_conn *rc_conns_of_qp(const struct hwmc_lane_rc *l, uint32_t qp_num);

/* exchange.c. */

/* OK, AGAIN, ERR_PEER, as the lane's ready. */
int rc_exchange_ready(struct hwmc_lane_rc *l, uint32_t peer);

/* Acts on what was heard; returns how many. */
int rc_exchange_progress(struct hwmc_lane_rc *l);

/* Begins connections that are due; sets `wake`. */
void rc_exchange_timers(struct hwmc_lane_rc *l);

/* Buries the failed connections that are drained; returns how many. */
int rc_exchange_bury(struct hwmc_lane_rc *l);

/* Gives up all connections at once, and what they have not sent. */
void rc_exchange_cut(struct hwmc_lane_rc *l);

/* lane/rc/conn.c. */

/* A connection with a queue pair in INIT, and its end; NULL: a limit, or no memory. */
struct rc_conn *rc_conn_make(struct hwmc_lane_rc *l, uint32_t peer);

/* To RTR and RTS. False: the device does not, or the ends do not go together. */
bool rc_conn_join(struct hwmc_lane_rc *l, struct rc_conn *c, const struct rc_end *theirs);

/* Gives back everything, borrowed bodies too. */
void rc_conn_unmake(struct hwmc_lane_rc *l, struct rc_conn *c);

/* lane/rc/send.c. */

int rc_send(struct hwmc_lane_rc *l, uint32_t peer, const void *head, size_t head_len,
            const void *body, size_t body_len, bool borrowed, uint64_t tag);

/* Posts what credits and buffers allow, credits too where that is due. */
void rc_send_pump(struct hwmc_lane_rc *l, struct rc_conn *c);
void rc_send_pump_all(struct hwmc_lane_rc *l);

/* A fragment is through, or given up; its buffer is free. */
void rc_send_done(struct hwmc_lane_rc *l, uint32_t slot);

/* Gives up all messages of the connection, whose queue pair is gone. */
void rc_send_drop(struct hwmc_lane_rc *l, struct rc_conn *c);

/* lane/rc/recv.c. */

/* Takes up to RC_BATCH completions; returns how many. */
int rc_recv_batch(struct hwmc_lane_rc *l);

/* buffers.c. */

int rc_buffers_open(struct hwmc_lane_rc *l);
void rc_buffers_close(struct hwmc_lane_rc *l);

/* Sees that there are receive buffers for `conns` connections. OK, ERR_NOMEM, ERR_DEVICE. */
int rc_buffers_grow(struct hwmc_lane_rc *l, uint32_t conns);

/* Posts `n` receive buffers again. */
void rc_buffers_post(struct hwmc_lane_rc *l, const uint64_t *ids, int n);

uint8_t *rc_buffers_received(const struct hwmc_lane_rc *l, uint64_t id);
bool rc_buffers_is_received(const struct hwmc_lane_rc *l, uint64_t id);

/* memory.c. */

/* The body registered, or NULL: it is to be copied. */
struct rc_region *rc_memory_get(struct hwmc_lane_rc *l, const void *addr, size_t len);
void rc_memory_put(struct hwmc_lane_rc *l, struct rc_region *r);

/* paths.c. */

int rc_paths_open(struct hwmc_lane_rc *l);

/* Sets the paths of a new connection between the ends: c->apm. */
void rc_paths_choose(const struct hwmc_lane_rc *l, struct rc_conn *c, const struct rc_end *theirs);

/* Does for the connection what is due: specify, load, migrate, or fail. */
void rc_paths_step(struct hwmc_lane_rc *l, struct rc_conn *c);

/* Loads paths again that hardware left some time ago. */
void rc_paths_timers(struct hwmc_lane_rc *l, uint64_t now);

/* Acts on asynchronous events; returns how many. */
int rc_paths_events(struct hwmc_lane_rc *l);

/* The device can be used no more: all connections fail. */
void rc_paths_lose(struct hwmc_lane_rc *l);

/* wish.c. */

/* Asks hardware for what is wanted and not met yet, where it is time. */
void rc_wish_timers(struct hwmc_lane_rc *l);

#endif /* HWMC_NETMOD_LANE_RC_RC_IMPL_H_INCLUDED */
