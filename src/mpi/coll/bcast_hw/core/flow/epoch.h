/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * epoch: the policy of a group's broadcasts, and how it changes. Rails that stop working are
 * disabled, and enabled when they work again; with none left, broadcasts go along trees. Repair and
 * the period of synchronization follow what is measured (adapt.h). All ranks change at the same
 * broadcast: the policy of broadcast `bid` is a function of the last two epochs. An epoch is a
 * decision of member 0, from the reports of all members.
 *
 * Up, with each synchronization: the losses of a subtree on each rail (loss_estimate.h), the worst
 * of all members; and the rails on which the whole last train of probes came to each of them. Down:
 * an epoch, by lanes along the tree. Its first broadcast is `from` = floor + N, floor being the
 * last that member 0 published. Nobody can begin that broadcast: that needs a higher floor
 * (channel.h), and member 0 publishes none until every rank has acknowledged the epoch. So a rank
 * that begins `from` knows of the epoch, however it learned the floor. Usually nobody waits, since
 * the next floor is due half a window later.
 *
 * Member 0 disables all rails on which some member hears nothing, or else the worst lossy one. It
 * multicasts a train of probes on disabled rails after a pause, again after twice that, and so on.
 * Member 1 echoes each train that came whole, so that member 0 hears something too. A rail on which
 * a whole train came to everybody is enabled. If it has to be disabled again soon, its first pause
 * is longer than the last.
 *
 * Example, p = 3, k = 2, N = 4, period 2, multicast fails from broadcast 2 on. Ranks 1 and 2 have
 * lost 2 to 9 when they send UP 10. Member 0 publishes floor 10 and begins epoch 1: from 14 on,
 * no rails. Both acknowledge, long before all have consumed 12; floor 12 is published, by lanes,
 * and broadcast 14 goes along trees.
 *
 * Invariants (hwmc_epoch_check): rails are some of those of set-up; epochs are taken in order; only
 * the last one may be unacknowledged; the next is not begun before all ranks have consumed what is
 * before `from`.
 */
#ifndef HWMC_CORE_FLOW_EPOCH_H_INCLUDED
#define HWMC_CORE_FLOW_EPOCH_H_INCLUDED

#include "adapt.h"
#include "../base/counts.h"
#include "../base/policy.h"
#include "../base/msg.h"
#include "../place/kary.h"
#include "loss_estimate.h"

#define HWMC_TRAIN 4u  /* probes of a train, on each rail */
#define HWMC_STEADY 8u /* pauses a rail must work for, for the next one to be the first again */

struct hwmc_epoch_cfg {
    uint32_t size; /* ranks */
    uint32_t rank;
    uint32_t fanout;
    uint32_t channels;
    uint32_t frag_bytes; /* payload of a datagram, and so of a probe */
    struct hwmc_policy_cfg policy;
    bool by_lanes; /* broadcasts can do without multicast */
    struct hwmc_counts *counts;
};

/* Since when a rail is in use, or is left. */
struct hwmc_rail_state {
    uint64_t since;               /* the first broadcast; 0: it was so from set-up on */
    enum hwmc_rail_reason reason; /* of that epoch */
    uint32_t culprit;             /* the rank that was worst off then */
};

struct hwmc_epoch {
    struct hwmc_epoch_cfg cfg;
    uint32_t number;              /* epochs so far */
    uint64_t from;                /* the first broadcast of this one */
    struct hwmc_policy now;       /* of broadcasts from there on */
    struct hwmc_policy before;    /* of those before it, as far as they are not consumed by all */
    enum hwmc_rail_reason reason; /* of this epoch */
    uint32_t culprit;             /* the rank that was worst off */
    struct hwmc_rail_state stand[HWMC_RAIL_BITS]; /* of those of set-up; since <= from */
    uint16_t tell;                                /* children to be sent the epoch */
    uint16_t told;                                /* children whose subtree has acknowledged it */
    bool told_parent;            /* this subtree's acknowledgement is out, or needs not to be */
    uint32_t losses;             /* of the subtree, but this rank, since the last report */
    uint32_t worst;              /* the rank that has the worst of them */
    uint32_t train;              /* the number of the last train heard of; member 0: sent */
    uint8_t got[HWMC_RAIL_BITS]; /* of that train, a bit for each probe */
    uint32_t child_train[HWMC_FANOUT_MAX]; /* as each child's subtree told last */
    uint8_t child_well[HWMC_FANOUT_MAX];   /* rails on which all of it came */
    uint8_t due[HWMC_RAIL_BITS]; /* members 0 and 1: probes that are still to go on each rail */
    /* Member 0: */
    struct hwmc_adapt adapt;
    bool scheduled;       /* probe_at is that of this epoch */
    uint64_t probe_at;    /* ns: the next train; NEVER when no rail is left */
    uint64_t pause;       /* ns; before the next train */
    uint64_t returned_at; /* ns: when a rail was last taken up; 0: never */
};

void hwmc_epoch_init(struct hwmc_epoch *e, const struct hwmc_epoch_cfg *cfg);

/* In which a broadcast goes that is not consumed by all. Known alike to all ranks that can begin
 * it. */
static inline struct hwmc_policy hwmc_epoch_policy(const struct hwmc_epoch *e, uint64_t bid)
{
    return bid >= e->from ? e->now : e->before;
}

/* Rails that were enabled since that broadcast, as far as the last epoch says. What it brought on
 * them, before they were disabled, says nothing of them any more. */
static inline uint8_t hwmc_epoch_anew(const struct hwmc_epoch *e, uint64_t bid)
{
    return bid < e->from ? e->now.rails & (uint8_t) ~e->before.rails : 0;
}

/* All ranks know of the epoch: of member 0, as far as it can tell. */
bool hwmc_epoch_known(const struct hwmc_epoch *e);

/* Member 0 publishes no floor above this. */
static inline uint64_t hwmc_epoch_limit(const struct hwmc_epoch *e)
{
    return hwmc_epoch_known(e) ? UINT64_MAX : e->from - e->cfg.channels;
}

/* SYNC_UP is about to go: adds what is to be told with it. */
void hwmc_epoch_report(struct hwmc_epoch *e, struct hwmc_loss_estimate *w, struct hwmc_msg *tx);

/* SYNC_UP came, from child number `child`. */
void hwmc_epoch_on_report(struct hwmc_epoch *e, const struct hwmc_msg *msg, uint32_t child);

/* Member 0 published sample->floor: begins an epoch if one is due, and returns whether. */
bool hwmc_epoch_judge(struct hwmc_epoch *e, struct hwmc_loss_estimate *w,
                      const struct hwmc_adapt_sample *sample);

/* EPOCH came; this rank has begun the broadcasts below `posted` and consumed those below
 * `consumed`. TAKEN, DUP or BAD; *begun: the parent said so, and it is another one. */
enum hwmc_verdict hwmc_epoch_on_recv(struct hwmc_epoch *e, const struct hwmc_msg *msg,
                                     uint64_t posted, uint64_t consumed, bool *begun);

/* PROBE came. TAKEN, STALE or BAD. */
enum hwmc_verdict hwmc_epoch_on_probe(struct hwmc_epoch *e, const struct hwmc_msg *msg);

/* No broadcast follows: nothing is probed any more. */
void hwmc_epoch_close(struct hwmc_epoch *e);

void hwmc_epoch_on_timer(struct hwmc_epoch *e, uint64_t now);

/* ns or NEVER. */
static inline uint64_t hwmc_epoch_next_timer(const struct hwmc_epoch *e)
{
    return e->probe_at;
}

/* Fills `tx` and returns 1, or returns 0. `rails`: that take a multicast now. */
int hwmc_epoch_next_send(struct hwmc_epoch *e, uint8_t rails, struct hwmc_msg *tx, uint64_t now);

/* The rails on which a probe is to go. */
uint8_t hwmc_epoch_casting(const struct hwmc_epoch *e);

void hwmc_epoch_check(const struct hwmc_epoch *e);

#endif /* HWMC_CORE_FLOW_EPOCH_H_INCLUDED */
