/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * agree: the set-up of a communicator: all ranks use multicast or none does; in that case lanes may
 * still serve.
 *
 * Three stages, each gathered up the k-ary tree (topo.h) and decided by rank 0, the leader, whose
 * decision goes down the same tree:
 *   OFFER  what every rank can do. Decision: group, seed, generation, payload, window, rails.
 *   JOIN   every rank joins the group on those rails. Decision: the rails on which all are in.
 *   PROBE  the leader multicasts probes on each rail at 0, 1, 3, 7, ... ms until all have reported, as long
 *          as datagrams will be, and from the second time on shorter ones; a rank reports when one of full
 *          length has come on every rail or its deadline has passed. Decision: use multicast on the rails
 *          on which one came to all, with payloads as long as came to all on all of these; or not and why.
 *   FIT    only where those are shorter than at OFFER: every rank makes itself ready for them. Until then no
 *          rank has begun a broadcast.
 * Where multicast is out of the question the stages go on without rails, so that all ranks are ready to
 * use lanes before one of them does; the end is then LANES. Without a way by lanes it is NO.
 * From which broadcast on the outcome holds is agreed as well, since ranks learn of it at different times. A rank that
 * reports PROBE promises not to enter broadcast `bound` without it; agreed.from is the greatest of all bounds, and stays
 * so if FIT follows.
 * Broadcasts are counted from where set-up began. Who has entered none promises to enter none; others go two further,
 * which is what a report up the tree and a decision down it take where each waits for the one before.
 * A rank that will enter none any more stays to the end; what it has not reported yet it reports at once, with
 * reason CLOSED, and set-up ends there.
 * Nothing blocks: a rank starts when its program gets there and goes on with other work. Messages to
 * a rank that has not started are lost, so a starting rank both reports upward and invites its
 * children to repeat their report; the one that comes second gets through. No timer but the probe's.
 *
 * Example, p = 2: rank 1 starts first: REPORT is lost at rank 0. Rank 0 starts: INVITE; rank 1
 * repeats REPORT; DECIDE; both join; REPORT; DECIDE; PROBE; REPORT; DECIDE: YES on both.
 *
 * Invariants (bcast_hw_agree_check): a stage is reported only when all children have reported it;
 * YES, LANES and NO are final; the reason is NONE exactly when nothing failed so far. While the outcome is not known,
 * a rank that has reported PROBE has entered no broadcast from `bound` on; once it is, bound <= agreed.from, and
 * nobody has entered agreed.from without it.
 */
#ifndef BCAST_HW_AGREE_H_INCLUDED
#define BCAST_HW_AGREE_H_INCLUDED

#include "msg.h"
#include "topo.h"

#define BCAST_HW_AGREE_MARGIN                                                                      \
    2u /* broadcasts that a rank that reports may still enter, if it enters any */
#define BCAST_HW_AGREE_NOT_YET UINT32_MAX
#define BCAST_HW_PROBE_FIRST_NS UINT64_C(1000000) /* first pause between probes; doubles */

/* The values up to FIT are part of the wire protocol. */
enum bcast_hw_agree_phase {
    BCAST_HW_AGREE_IDLE,
    BCAST_HW_AGREE_OFFER,
    BCAST_HW_AGREE_JOIN,
    BCAST_HW_AGREE_PROBE,
    BCAST_HW_AGREE_FIT,
    BCAST_HW_AGREE_YES,   /* by multicast */
    BCAST_HW_AGREE_LANES, /* without it */
    BCAST_HW_AGREE_NO
};

struct bcast_hw_agree {
    enum bcast_hw_agree_phase phase;
    uint32_t size; /* ranks */
    uint32_t rank;
    uint32_t fanout;              /* k */
    uint64_t key;                 /* names the communicator in set-up messages */
    bool by_lanes;                /* lanes will do, alike on all ranks */
    uint64_t probe_ns;            /* how long to wait for a probe */
    struct bcast_hw_terms mine;   /* this rank's and its children's, combined, for the stage */
    struct bcast_hw_terms agreed; /* the leader's last decision; its group is to be joined */
    bool answered;                /* this rank's own part of the stage is known */
    bool reported;                /* the subtree's report of the stage is out (leader: decided) */
    bool report_due;
    bool leaves;         /* its program enters no broadcast any more */
    uint32_t entered;    /* broadcasts that it has entered since set-up began */
    uint32_t bound;      /* promised: none from this one on without the outcome; NOT_YET */
    uint32_t frag_bytes; /* payload of a datagram that this rank is ready for */
    uint32_t
        probe_got[BCAST_HW_RAIL_BITS]; /* payload that the longest probe stood for; 0: none came */
    uint8_t missed;       /* rails on which none had come when the wait for it was over */
    uint32_t probe_bytes; /* leader: the same, of those that are to go now */
    uint8_t probe_due;    /* leader: rails on which one is to go now */
    bool probe_shorter;   /* leader: shorter ones are to follow those */
    uint16_t heard;       /* children that have reported this stage */
    uint16_t invite;      /* children to be invited */
    uint16_t decide;      /* children to be sent `agreed` */
    uint64_t deadline;    /* PROBE: ns; NEVER otherwise */
    uint64_t probe_at;    /* leader: when the next probe goes; NEVER otherwise */
    uint64_t probe_gap;   /* leader: ns to the one after */
};

/* This rank begins. `offer`: its reason (NONE when it can), rails, frag_bytes, window; on rank 0 also the
 * group, seed and generation it proposes. `by_lanes`: broadcasts can do without multicast, alike on all
 * ranks. */
void bcast_hw_agree_start(struct bcast_hw_agree *a, uint32_t size, uint32_t rank, uint32_t fanout,
                          uint64_t key, const struct bcast_hw_terms *offer, bool by_lanes,
                          uint64_t probe_ns);

/* The driver is to join agreed.group on agreed.rails, if any, and say on which of them that worked;
 * `able`: it can take broadcasts at all. */
static inline bool bcast_hw_agree_wants_join(const struct bcast_hw_agree *a)
{
    return a->phase == BCAST_HW_AGREE_JOIN && !a->answered;
}

void bcast_hw_agree_on_joined(struct bcast_hw_agree *a, bool able, uint32_t rails, uint64_t now);

/* The driver is to be ready for agreed.frag_bytes, and to say whether it is. */
static inline bool bcast_hw_agree_wants_fit(const struct bcast_hw_agree *a)
{
    return a->phase == BCAST_HW_AGREE_FIT && !a->answered;
}

void bcast_hw_agree_on_fitted(struct bcast_hw_agree *a, bool able);

/* Rails on which a probe of any length has come, a bit each. */
uint32_t bcast_hw_agree_probed(const struct bcast_hw_agree *a);

/* What set-up means for a broadcast that the program of this rank is in. */
enum bcast_hw_agree_turn {
    BCAST_HW_AGREE_PASS,  /* it goes another way */
    BCAST_HW_AGREE_AWAIT, /* nobody here can know: when the outcome is there, ask again */
    BCAST_HW_AGREE_TAKE   /* it goes by the outcome, which is there */
};

/* The program enters broadcast `number`, counted from where set-up began; numbers rise. */
enum bcast_hw_agree_turn bcast_hw_agree_enter(struct bcast_hw_agree *a, uint32_t number);

/* It enters none any more. */
void bcast_hw_agree_leave(struct bcast_hw_agree *a);

/* A message of set-up for this communicator. TAKEN, DUP, STALE or BAD. */
enum bcast_hw_verdict bcast_hw_agree_on_recv(struct bcast_hw_agree *a,
                                             const struct bcast_hw_msg *msg, uint64_t now);
void bcast_hw_agree_on_timer(struct bcast_hw_agree *a, uint64_t now);
uint64_t bcast_hw_agree_next_timer(const struct bcast_hw_agree *a);

/* Fills `tx` and returns 1, or returns 0. tx->terms stays valid until the next call. */
int bcast_hw_agree_next_send(struct bcast_hw_agree *a, struct bcast_hw_msg *tx, uint64_t now);

static inline bool bcast_hw_agree_over(const struct bcast_hw_agree *a)
{
    return a->phase >= BCAST_HW_AGREE_YES;
}

/* Over, and the children have been told. */
static inline bool bcast_hw_agree_settled(const struct bcast_hw_agree *a)
{
    return bcast_hw_agree_over(a) && a->decide == 0;
}

void bcast_hw_agree_check(const struct bcast_hw_agree *a);

#endif /* BCAST_HW_AGREE_H_INCLUDED */
