/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * epoch: see epoch.h.
 */
#include "epoch.h"

#include "mask.h"

#include <assert.h>
#include <string.h>

#define WHOLE_TRAIN ((1u << BCAST_HW_TRAIN) - 1)

static uint32_t children(const struct bcast_hw_epoch *e)
{
    return bcast_hw_tree_children(e->cfg.rank, e->cfg.size, e->cfg.fanout);
}

static uint16_t all_children(const struct bcast_hw_epoch *e)
{
    return bcast_hw_tree_all_children(e->cfg.rank, e->cfg.size, e->cfg.fanout);
}

void bcast_hw_epoch_init(struct bcast_hw_epoch *e, const struct bcast_hw_epoch_cfg *cfg)
{
    *e = (struct bcast_hw_epoch){
        .cfg = *cfg,
        .now = cfg->first,
        .before = cfg->first,
        .told_parent = true,
        .scheduled = true,
        .probe_at = BCAST_HW_NEVER,
        .pause = cfg->pause_ns,
    };
    assert(cfg->stay || (cfg->pause_ns > 0 && cfg->pause_max_ns >= cfg->pause_ns));
    e->told = all_children(e);
    bcast_hw_adapt_init(&e->adapt, cfg->adapt_repair && cfg->first.rails != 0, cfg->adapt_period,
                        cfg->channels);
    bcast_hw_adapt_enter(&e->adapt, &e->now);
    bcast_hw_epoch_check(e);
}

bool bcast_hw_epoch_known(const struct bcast_hw_epoch *e)
{
    return e->told == all_children(e);
}

/* Rails of set-up that are not in use. */
static uint8_t left(const struct bcast_hw_epoch *e)
{
    return e->cfg.first.rails & (uint8_t) ~e->now.rails;
}

static uint32_t worst_of(uint32_t losses)
{
    uint32_t most = 0;

    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++)
        most = bcast_hw_loss_of(losses, r) > most ? bcast_hw_loss_of(losses, r) : most;
    return most;
}

/* By maximum. `rank` has the worst of `losses`. */
static void combine(struct bcast_hw_epoch *e, uint32_t losses, uint32_t rank)
{
    uint32_t most = worst_of(losses), so_far = worst_of(e->losses);

    if (most > so_far || (most == so_far && most > 0 && rank < e->worst))
        e->worst = rank;
    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++) {
        uint32_t loss = bcast_hw_loss_of(losses, r), shift = BCAST_HW_LOSS_BITS * r;

        if (loss > bcast_hw_loss_of(e->losses, r))
            e->losses = (e->losses & ~(BCAST_HW_LOSS_ALL << shift)) | loss << shift;
    }
}

/* The rails on which the last train came to this rank and all below it. */
static uint8_t well(const struct bcast_hw_epoch *e)
{
    uint8_t rails = 0;

    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++)
        if (e->got[r] == WHOLE_TRAIN)
            rails |= (uint8_t) (1u << r);
    for (uint32_t i = 0; i < children(e); i++)
        rails &= e->child_train[i] == e->train ? e->child_well[i] : 0;
    return e->train > 0 ? rails : 0;
}

void bcast_hw_epoch_report(struct bcast_hw_epoch *e, struct bcast_hw_watch *w,
                           struct bcast_hw_msg *tx)
{
    combine(e, bcast_hw_watch_losses(w, e->now.rails), e->cfg.rank);
    tx->losses = e->losses;
    tx->root = e->worst;
    tx->train = e->train;
    tx->rails = well(e);
    e->losses = e->worst = 0;
}

void bcast_hw_epoch_on_report(struct bcast_hw_epoch *e, const struct bcast_hw_msg *msg,
                              uint32_t child)
{
    combine(e, msg->losses, msg->root);
    e->child_train[child] = msg->train;
    e->child_well[child] = msg->rails;
}

static void enter_train(struct bcast_hw_epoch *e, uint32_t number)
{
    e->train = number;
    memset(e->got, 0, sizeof(e->got));
    memset(e->due, 0, sizeof(e->due));
}

static void count(struct bcast_hw_counts *counts, struct bcast_hw_manner was,
                  struct bcast_hw_manner is, enum bcast_hw_cause cause)
{
    uint64_t left = (uint64_t) __builtin_popcount(was.rails & (uint8_t) ~is.rails);

    counts->rails_left += left;
    counts->left_silent += cause == BCAST_HW_CAUSE_SILENT ? left : 0;
    counts->left_lossy += cause == BCAST_HW_CAUSE_LOSSY ? left : 0;
    counts->rails_returned += (uint64_t) __builtin_popcount(is.rails & (uint8_t) ~was.rails);
    counts->to_push += !was.push && is.push;
    counts->to_pull += was.push && !is.push;
    counts->periods += was.period != is.period;
}

/* Takes the epoch that `number`, `from`, `now`, `cause` and `culprit` say, and has the children
 * told. */
static void begin(struct bcast_hw_epoch *e, const struct bcast_hw_epoch *next)
{
    e->number = next->number;
    e->before = e->now;
    e->from = next->from;
    e->now = next->now;
    e->cause = next->cause;
    e->culprit = next->culprit;
    e->tell = all_children(e);
    e->told = 0;
    e->told_parent = e->cfg.rank == 0;
    FOR_EACH (r, (uint8_t) (e->before.rails ^ e->now.rails))
        e->stand[r] = (struct bcast_hw_rail_stand){e->from, e->cause, e->culprit};
    count(e->cfg.counts, e->before, e->now, e->cause);
}

/* Of the rails in use, those on which somebody hears nothing; else the worst one that loses too
 * much. */
static uint8_t to_leave(const struct bcast_hw_epoch *e, enum bcast_hw_cause *cause)
{
    uint32_t worst = BCAST_HW_LOSSY;
    uint8_t silent = 0, lossy = 0;

    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++) {
        uint32_t loss = e->now.rails >> r & 1 ? bcast_hw_loss_of(e->losses, r) : 0;

        if (loss == BCAST_HW_LOSS_ALL)
            silent |= (uint8_t) (1u << r);
        if (loss > worst) {
            worst = loss;
            lossy = (uint8_t) (1u << r);
        }
    }
    *cause = silent ? BCAST_HW_CAUSE_SILENT : BCAST_HW_CAUSE_LOSSY;
    return silent ? silent : lossy;
}

/* Which rails are to be used from now on; *next: why, and for whom. */
static uint8_t judge_rails(struct bcast_hw_epoch *e, struct bcast_hw_watch *w,
                           struct bcast_hw_epoch *next)
{
    uint8_t leave = 0, back = well(e) & left(e);

    combine(e, bcast_hw_watch_losses(w, e->now.rails), 0);
    if (!e->cfg.stay)
        leave = to_leave(e, &next->cause);
    if (leave == e->now.rails && !e->cfg.by_lanes)
        leave = 0;
    next->culprit = leave ? e->worst : 0;
    if (!leave)
        next->cause = back ? BCAST_HW_CAUSE_BACK : BCAST_HW_CAUSE_PACE;
    e->losses = e->worst = 0;
    return (e->now.rails & (uint8_t) ~leave) | back;
}

bool bcast_hw_epoch_judge(struct bcast_hw_epoch *e, struct bcast_hw_watch *w,
                          const struct bcast_hw_adapt_sample *sample)
{
    struct bcast_hw_epoch next = {.number = e->number + 1, .from = sample->floor + e->cfg.channels};

    assert(e->cfg.rank == 0);
    if (!bcast_hw_epoch_known(e) || sample->floor < e->from)
        return false;
    bcast_hw_adapt_learn(&e->adapt, sample);
    next.now = bcast_hw_adapt_want(&e->adapt);
    next.now.rails = judge_rails(e, w, &next);
    if (bcast_hw_manner_same(next.now, e->now))
        return false;
    begin(e, &next);
    bcast_hw_adapt_enter(&e->adapt, &e->now);
    if (e->now.rails != e->before.rails) {
        e->scheduled = false;
        enter_train(e, e->train + 1); /* what came of the last one is of the past */
    }
    return true;
}

static enum bcast_hw_verdict on_acknowledged(struct bcast_hw_epoch *e,
                                             const struct bcast_hw_msg *msg)
{
    const uint32_t i =
        bcast_hw_tree_child_number(e->cfg.rank, msg->peer, e->cfg.size, e->cfg.fanout);
    const uint16_t bit = (uint16_t) (1u << i);

    if (i == e->cfg.fanout || msg->index != e->number || (e->tell & bit))
        return BCAST_HW_BAD;
    if (e->told & bit)
        return BCAST_HW_DUP;
    e->told |= bit;
    return BCAST_HW_TAKEN;
}

enum bcast_hw_verdict bcast_hw_epoch_on_recv(struct bcast_hw_epoch *e,
                                             const struct bcast_hw_msg *msg, uint64_t posted,
                                             uint64_t consumed, bool *begun)
{
    const struct bcast_hw_epoch next = {
        .number = msg->index,
        .from = msg->bid,
        .now = {.rails = msg->rails, .push = msg->flags & BCAST_HW_FLAG_PUSH, .period = msg->slot},
        .cause = (enum bcast_hw_cause) msg->tree,
        .culprit = msg->root,
    };

    *begun = false;
    if (msg->multicast)
        return BCAST_HW_BAD;
    if (e->cfg.rank == 0 || msg->peer != bcast_hw_tree_parent(e->cfg.rank, e->cfg.fanout))
        return on_acknowledged(e, msg);
    if (next.number == e->number)
        return BCAST_HW_DUP;
    /* What is before `from` - N is consumed by all, and the last epoch acknowledged. */
    if (next.number != e->number + 1 || !e->told_parent || next.from < posted ||
        next.from < e->from + e->cfg.channels || next.from > consumed + e->cfg.channels ||
        (next.now.rails & ~e->cfg.first.rails) || msg->tree >= BCAST_HW_CAUSE_LIMIT ||
        next.culprit >= e->cfg.size || (next.now.rails == 0 && !e->cfg.by_lanes) ||
        next.now.period == 0 || next.now.period > e->cfg.channels)
        return BCAST_HW_BAD;
    begin(e, &next);
    *begun = true;
    return BCAST_HW_TAKEN;
}

enum bcast_hw_verdict bcast_hw_epoch_on_probe(struct bcast_hw_epoch *e,
                                              const struct bcast_hw_msg *msg)
{
    const uint32_t from = e->cfg.rank == 0 ? 1 : 0;

    if (!msg->multicast || msg->rail >= BCAST_HW_RAIL_BITS || msg->tree >= BCAST_HW_TRAIN ||
        msg->index == 0 || msg->peer > 1 || msg->peer == e->cfg.rank ||
        msg->bytes != e->cfg.frag_bytes)
        return BCAST_HW_BAD;
    if (msg->peer != from)
        return BCAST_HW_TAKEN; /* the echo is for the leader */
    if (msg->index < e->train || (e->cfg.rank == 0 && msg->index > e->train))
        return BCAST_HW_STALE;
    if (msg->index > e->train)
        enter_train(e, msg->index);
    if (e->got[msg->rail] == WHOLE_TRAIN)
        return BCAST_HW_DUP;
    e->got[msg->rail] |= (uint8_t) (1u << msg->tree);
    if (e->cfg.rank == 1 && e->got[msg->rail] == WHOLE_TRAIN)
        e->due[msg->rail] = BCAST_HW_TRAIN;
    return BCAST_HW_TAKEN;
}

void bcast_hw_epoch_close(struct bcast_hw_epoch *e)
{
    e->cfg.stay = true;
    e->probe_at = BCAST_HW_NEVER;
    e->scheduled = true;
    memset(e->due, 0, sizeof(e->due));
}

static uint64_t longer(const struct bcast_hw_epoch *e)
{
    return 2 * e->pause < e->cfg.pause_max_ns ? 2 * e->pause : e->cfg.pause_max_ns;
}

/* The leader: when the first train of a new epoch is due. */
static void schedule(struct bcast_hw_epoch *e, uint64_t now)
{
    bool soon = e->returned_at > 0 && now - e->returned_at < BCAST_HW_STEADY * e->pause;

    if (e->cause == BCAST_HW_CAUSE_BACK)
        e->returned_at = now;
    else
        e->pause = soon ? longer(e) : e->cfg.pause_ns;
    e->probe_at = left(e) ? now + e->pause : BCAST_HW_NEVER;
    e->scheduled = true;
}

void bcast_hw_epoch_on_timer(struct bcast_hw_epoch *e, uint64_t now)
{
    if (e->probe_at > now)
        return;
    enter_train(e, e->train + 1);
    e->cfg.counts->trains++;
    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++)
        e->due[r] = left(e) >> r & 1 ? BCAST_HW_TRAIN : 0;
    e->pause = longer(e);
    e->probe_at = now + e->pause;
}

static void next_probe(struct bcast_hw_epoch *e, uint8_t rails, struct bcast_hw_msg *tx)
{
    *tx = (struct bcast_hw_msg){
        .type = BCAST_HW_MSG_PROBE,
        .peer = e->cfg.rank,
        .multicast = true,
        .rail = (uint8_t) __builtin_ctz(rails),
        .index = e->train,
        .bytes = e->cfg.frag_bytes,
    };
    tx->tree = (uint8_t) (BCAST_HW_TRAIN - e->due[tx->rail]--);
}

uint8_t bcast_hw_epoch_casting(const struct bcast_hw_epoch *e)
{
    uint8_t rails = 0;

    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++)
        rails |= e->due[r] > 0 ? (uint8_t) (1u << r) : 0;
    return rails;
}

static void fill(const struct bcast_hw_epoch *e, struct bcast_hw_msg *tx, uint32_t peer)
{
    *tx = (struct bcast_hw_msg){
        .type = BCAST_HW_MSG_EPOCH,
        .peer = peer,
        .bid = e->from,
        .index = e->number,
        .root = e->culprit,
        .rails = e->now.rails,
        .flags = e->now.push ? BCAST_HW_FLAG_PUSH : 0,
        .slot = (uint8_t) e->now.period,
        .tree = (uint8_t) e->cause,
    };
}

int bcast_hw_epoch_next_send(struct bcast_hw_epoch *e, uint8_t rails, struct bcast_hw_msg *tx,
                             uint64_t now)
{
    if (e->tell) {
        fill(e, tx, bcast_hw_tree_take_child(e->cfg.rank, &e->tell, e->cfg.fanout));
        return 1;
    }
    if (!e->told_parent && bcast_hw_epoch_known(e)) {
        e->told_parent = true;
        fill(e, tx, bcast_hw_tree_parent(e->cfg.rank, e->cfg.fanout));
        return 1;
    }
    if (!e->scheduled)
        schedule(e, now);
    rails &= bcast_hw_epoch_casting(e);
    if (rails == 0)
        return 0;
    next_probe(e, rails, tx);
    return 1;
}

void bcast_hw_epoch_check(const struct bcast_hw_epoch *e)
{
    assert(!((e->now.rails | e->before.rails) & ~e->cfg.first.rails));
    assert(e->now.period >= 1 && e->now.period <= e->cfg.channels);
    assert(!(e->tell & e->told) && !((e->tell | e->told) & ~all_children(e)));
    assert(e->cfg.rank != 0 || e->told_parent);
    assert(e->told_parent ? bcast_hw_epoch_known(e) || e->cfg.rank == 0 : true);
    assert(e->number > 0 || e->from == 0);
    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++)
        assert(e->stand[r].since <= e->from);
    assert(e->cfg.rank <= 1 || bcast_hw_epoch_casting(e) == 0);
}
