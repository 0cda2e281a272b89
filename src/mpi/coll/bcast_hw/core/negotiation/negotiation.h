/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * negotiation: the set-up of a communicator (PROTOCOL.md, section 7). At its end either all ranks
 * use multicast, or none does; in that case lanes may still serve.
 *
 * Set-up has three or four stages. In each stage every rank reports to its parent in the k-ary tree
 * (core/place/kary.h) once its children have reported. Rank 0, the leader, then decides, and its
 * decision goes down the same tree:
 *   PROPOSE  A rank reports what it can do. Decision: group, seed, generation, payload of a
 *          datagram, window, rails.
 *   JOIN   A rank joins the group on those rails. Decision: the rails on which all have joined.
 *   PROBE  The leader multicasts probes on each rail at 0, 1, 3, 7, ... ms until all have reported:
 *          of the length that datagrams will have, and from the second time on shorter ones too. A
 *          rank reports when a probe of full length has come on every rail, or at its deadline.
 *          Decision: the rails on which a probe came to all, and the longest payload that came to
 *          all on all of these; or no multicast, with the reason.
 *   FIT    Only if that payload is shorter than at PROPOSE: a rank prepares for it. No rank has
 *          begun a broadcast by the group until then.
 *
 * Outcome. YES: by multicast. If multicast cannot be used but lanes can, the stages go on without
 * rails, so that all ranks are ready to use lanes before one of them does: LANES. Else NO, which
 * ends set-up at once.
 *
 * First broadcast. Ranks learn the outcome at different times, so they also agree on the broadcast
 * from which on it holds. Broadcasts are counted from the beginning of set-up. A rank that reports
 * PROBE promises not to enter broadcast `bound` before it knows the outcome. agreed.from is the
 * greatest bound of all ranks; FIT does not change it. A rank that has entered no broadcast
 * promises 0. Others promise two more than they have entered: a report up the tree and a decision
 * down it take about that many where each broadcast waits for the one before.
 *
 * Leaving. A rank whose program enters no broadcast any more stays in set-up to the end. If it has
 * not reported yet in the current stage, it reports at once with reason CLOSED, which ends set-up.
 *
 * Nothing blocks: a rank starts when its program gets there, and the program goes on meanwhile. A
 * message to a rank that has not started is lost. So a starting rank both reports to its parent and
 * invites its children to repeat their report; whichever of the two starts second gets through.
 * Only PROBE has timers.
 *
 * Example, p = 2: rank 1 starts first: REPORT is lost at rank 0. Rank 0 starts: INVITE; rank 1
 * repeats REPORT; DECIDE; both join; REPORT; DECIDE; PROBE; REPORT; DECIDE: YES on both.
 *
 * Invariants (hwmc_negotiation_check): a rank reports a stage only when all its children have; YES,
 * LANES and NO are final; the reason is NONE exactly if nothing has failed. Before it knows the
 * outcome, a rank that has reported PROBE has entered no broadcast from `bound` on; afterwards
 * bound <= agreed.from. No rank enters broadcast agreed.from without the outcome.
 */
#ifndef HWMC_CORE_NEGOTIATION_NEGOTIATION_H_INCLUDED
#define HWMC_CORE_NEGOTIATION_NEGOTIATION_H_INCLUDED

#include "../base/msg.h"
#include "../place/kary.h"

#define HWMC_NEGOTIATION_MARGIN                                                                    \
    2u /* broadcasts that a rank that reports may still enter, if it enters any */
#define HWMC_NEGOTIATION_NOT_YET UINT32_MAX
#define HWMC_PROBE_FIRST_NS UINT64_C(1000000) /* first pause between probes; doubles */

/* The values up to FIT are part of the wire protocol. */
enum hwmc_negotiation_phase {
    HWMC_NEGOTIATION_IDLE,
    HWMC_NEGOTIATION_PROPOSE,
    HWMC_NEGOTIATION_JOIN,
    HWMC_NEGOTIATION_PROBE,
    HWMC_NEGOTIATION_FIT,
    HWMC_NEGOTIATION_YES,   /* by multicast */
    HWMC_NEGOTIATION_LANES, /* without it */
    HWMC_NEGOTIATION_NO
};

/* How far a rank is in a stage. */
enum hwmc_negotiation_part {
    HWMC_NEGOTIATION_OPEN,       /* its own part is not known */
    HWMC_NEGOTIATION_ANSWERED,   /* its own part is known */
    HWMC_NEGOTIATION_REPORT_DUE, /* its subtree's part is known, and to be sent */
    HWMC_NEGOTIATION_REPORTED    /* ... and is out; leader: decided */
};

struct hwmc_negotiation {
    enum hwmc_negotiation_phase phase;
    uint32_t size; /* ranks */
    uint32_t rank;
    uint32_t fanout;               /* k */
    uint64_t key;                  /* names the communicator in set-up messages */
    bool by_lanes;                 /* lanes will do, alike on all ranks */
    uint64_t probe_ns;             /* how long to wait for a probe */
    struct hwmc_parameters mine;   /* this rank's and its children's, combined, for the stage */
    struct hwmc_parameters agreed; /* the leader's last decision; its group is to be joined */
    enum hwmc_negotiation_part part;
    bool leaves;         /* its program enters no broadcast any more */
    uint32_t entered;    /* broadcasts that it has entered since set-up began */
    uint32_t bound;      /* promised: none from this one on without the outcome; NOT_YET */
    uint32_t frag_bytes; /* payload of a datagram that this rank is ready for */
    uint32_t probe_got[HWMC_RAIL_BITS]; /* payload that the longest probe stood for; 0: none came */
    uint8_t missed;       /* rails on which none had come when the wait for it was over */
    uint32_t probe_bytes; /* leader: the same, of those that are to go now */
    uint8_t probe_due;    /* leader: rails on which one is to go now */
    bool probe_shorter;   /* leader: shorter ones are to follow those */
    uint16_t heard;       /* children that have reported this stage */
    uint16_t invite;      /* children to be invited */
    uint16_t decide;      /* children to be sent `agreed` */
    uint64_t deadline;    /* PROBE, not leader: ns; NEVER otherwise */
    uint64_t probe_at;    /* leader: when the next probe goes; NEVER otherwise */
    uint64_t probe_gap;   /* leader: ns to the one after */
};

/* This rank begins. `proposal`: its reason (NONE when it can), rails, frag_bytes, window; on rank 0
 * also the group, seed and generation it proposes. `by_lanes`: broadcasts can do without multicast,
 * alike on all ranks. */
void hwmc_negotiation_start(struct hwmc_negotiation *a, uint32_t size, uint32_t rank,
                            uint32_t fanout, uint64_t key, const struct hwmc_parameters *proposal,
                            bool by_lanes, uint64_t probe_ns);

/* The driver is to join agreed.group on agreed.rails, if any, and say on which of them that worked;
 * `able`: it can take broadcasts at all. */
static inline bool hwmc_negotiation_wants_join(const struct hwmc_negotiation *a)
{
    return a->phase == HWMC_NEGOTIATION_JOIN && a->part == HWMC_NEGOTIATION_OPEN;
}

void hwmc_negotiation_on_joined(struct hwmc_negotiation *a, bool able, uint32_t rails,
                                uint64_t now);

/* The driver is to be ready for agreed.frag_bytes, and to say whether it is. */
static inline bool hwmc_negotiation_wants_fit(const struct hwmc_negotiation *a)
{
    return a->phase == HWMC_NEGOTIATION_FIT && a->part == HWMC_NEGOTIATION_OPEN;
}

void hwmc_negotiation_on_fitted(struct hwmc_negotiation *a, bool able);

/* Rails on which a probe of any length has come, a bit each. */
uint32_t hwmc_negotiation_probed(const struct hwmc_negotiation *a);

/* What set-up means for a broadcast that the program of this rank is in. */
enum hwmc_negotiation_turn {
    HWMC_NEGOTIATION_PASS,  /* it goes another way */
    HWMC_NEGOTIATION_AWAIT, /* nobody here can know: when the outcome is there, ask again */
    HWMC_NEGOTIATION_TAKE   /* it goes by the outcome, which is there */
};

/* The program enters broadcast `number`, counted from where set-up began; numbers rise. */
enum hwmc_negotiation_turn hwmc_negotiation_enter(struct hwmc_negotiation *a, uint32_t number);

/* It enters none any more. */
void hwmc_negotiation_leave(struct hwmc_negotiation *a);

/* A message of set-up for this communicator. TAKEN, DUP, STALE or BAD. */
enum hwmc_verdict hwmc_negotiation_on_recv(struct hwmc_negotiation *a, const struct hwmc_msg *msg,
                                           uint64_t now);
void hwmc_negotiation_on_timer(struct hwmc_negotiation *a, uint64_t now);
uint64_t hwmc_negotiation_next_timer(const struct hwmc_negotiation *a);

/* Fills `tx` and returns 1, or returns 0. tx->parameters stays valid until the next call. */
int hwmc_negotiation_next_send(struct hwmc_negotiation *a, struct hwmc_msg *tx, uint64_t now);

static inline bool hwmc_negotiation_over(const struct hwmc_negotiation *a)
{
    return a->phase >= HWMC_NEGOTIATION_YES;
}

/* Over, and the children have been told. */
static inline bool hwmc_negotiation_settled(const struct hwmc_negotiation *a)
{
    return hwmc_negotiation_over(a) && a->decide == 0;
}

void hwmc_negotiation_check(const struct hwmc_negotiation *a);

#endif /* HWMC_CORE_NEGOTIATION_NEGOTIATION_H_INCLUDED */
