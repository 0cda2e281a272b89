/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * epoch: see epoch.h.
 */
#include "epoch.h"

#include "../base/mask.h"
#include "../base/trace.h"

#include <assert.h>
#include <string.h>

#define WHOLE_TRAIN ((1u << HWMC_TRAIN) - 1)

static uint32_t epoch_children(const struct hwmc_epoch *e)
{
    return hwmc_tree_children(e->cfg.rank, e->cfg.size, e->cfg.fanout);
}

static uint16_t all_children(const struct hwmc_epoch *e)
{
    return hwmc_tree_all_children(e->cfg.rank, e->cfg.size, e->cfg.fanout);
}

void hwmc_epoch_init(struct hwmc_epoch *e, const struct hwmc_epoch_cfg *cfg)
{
    *e = (struct hwmc_epoch){
        .cfg = *cfg,
        .now = cfg->policy.first,
        .before = cfg->policy.first,
        .told_parent = true,
        .scheduled = true,
        .probe_at = HWMC_NEVER,
        .pause = cfg->policy.pause_ns,
    };
    assert(cfg->policy.stay ||
           (cfg->policy.pause_ns > 0 && cfg->policy.pause_max_ns >= cfg->policy.pause_ns));
    e->told = all_children(e);
    hwmc_adapt_init(&e->adapt, cfg->policy.adapt_repair && cfg->policy.first.rails != 0,
                    cfg->policy.adapt_period, cfg->channels);
    hwmc_adapt_enter(&e->adapt, &e->now);
    hwmc_epoch_check(e);
}

bool hwmc_epoch_known(const struct hwmc_epoch *e)
{
    return e->told == all_children(e);
}

/* Rails of set-up that are not in use. */
static uint8_t left_rails(const struct hwmc_epoch *e)
{
    return e->cfg.policy.first.rails & (uint8_t) ~e->now.rails;
}

static uint32_t worst_of(uint32_t losses)
{
    uint32_t most = 0;

    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++)
        most = hwmc_loss_of(losses, r) > most ? hwmc_loss_of(losses, r) : most;
    return most;
}

/* By maximum. `rank` has the worst of `losses`. */
static void combine_losses(struct hwmc_epoch *e, uint32_t losses, uint32_t rank)
{
    uint32_t most = worst_of(losses), so_far = worst_of(e->losses);

    if (most > so_far || (most == so_far && most > 0 && rank < e->worst))
        e->worst = rank;
    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++) {
        uint32_t loss = hwmc_loss_of(losses, r), shift = HWMC_LOSS_BITS * r;

        if (loss > hwmc_loss_of(e->losses, r))
            e->losses = (e->losses & ~(HWMC_LOSS_ALL << shift)) | loss << shift;
    }
}

/* The rails on which the last train came to this rank and all below it. */
static uint8_t well_rails(const struct hwmc_epoch *e)
{
    uint8_t rails = 0;

    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++)
        if (e->got[r] == WHOLE_TRAIN)
            rails |= (uint8_t) (1u << r);
    for (uint32_t i = 0; i < epoch_children(e); i++)
        rails &= e->child_train[i] == e->train ? e->child_well[i] : 0;
    return e->train > 0 ? rails : 0;
}

void hwmc_epoch_report(struct hwmc_epoch *e, struct hwmc_loss_estimate *w, struct hwmc_msg *tx)
{
    combine_losses(e, hwmc_loss_estimate_losses(w, e->now.rails), e->cfg.rank);
    tx->up.losses = e->losses;
    tx->up.worst = e->worst;
    tx->up.train = e->train;
    tx->up.well_rails = well_rails(e);
    e->losses = e->worst = 0;
}

void hwmc_epoch_on_report(struct hwmc_epoch *e, const struct hwmc_msg *msg, uint32_t child)
{
    combine_losses(e, msg->up.losses, msg->up.worst);
    e->child_train[child] = msg->up.train;
    e->child_well[child] = msg->up.well_rails;
}

static void enter_train(struct hwmc_epoch *e, uint32_t number)
{
    e->train = number;
    memset(e->got, 0, sizeof(e->got));
    memset(e->due, 0, sizeof(e->due));
}

static void count_change(struct hwmc_counts *counts, struct hwmc_policy was, struct hwmc_policy is,
                         enum hwmc_rail_reason reason)
{
    uint64_t left = (uint64_t) __builtin_popcount(was.rails & (uint8_t) ~is.rails);

    counts->rails_disabled += left;
    counts->disabled_silent += reason == HWMC_RAIL_REASON_SILENT ? left : 0;
    counts->disabled_lossy += reason == HWMC_RAIL_REASON_LOSSY ? left : 0;
    counts->rails_returned += (uint64_t) __builtin_popcount(is.rails & (uint8_t) ~was.rails);
    counts->to_push += !was.push && is.push;
    counts->to_pull += was.push && !is.push;
    counts->periods += was.period != is.period;
}

/* Takes the epoch that `number`, `from`, `now`, `cause` and `culprit` say, and has the children
 * told. */
static void epoch_begin(struct hwmc_epoch *e, const struct hwmc_epoch *next)
{
    e->number = next->number;
    e->before = e->now;
    e->from = next->from;
    e->now = next->now;
    e->reason = next->reason;
    e->culprit = next->culprit;
    e->tell = all_children(e);
    e->told = 0;
    e->told_parent = e->cfg.rank == 0;
    FOR_EACH (r, (uint8_t) (e->before.rails ^ e->now.rails))
        e->stand[r] = (struct hwmc_rail_state){e->from, e->reason, e->culprit};
    count_change(e->cfg.counts, e->before, e->now, e->reason);
    hwmc_trace_note(HWMC_TRACE_EPOCH, e->number, hwmc_rail_reason_texts[e->reason], e->now.rails);
}

/* Of the rails in use, those on which somebody hears nothing; else the worst one that loses too
 * much. */
static uint8_t to_leave(const struct hwmc_epoch *e, enum hwmc_rail_reason *reason)
{
    uint32_t worst = HWMC_LOSSY;
    uint8_t silent = 0, lossy = 0;

    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++) {
        uint32_t loss = e->now.rails >> r & 1 ? hwmc_loss_of(e->losses, r) : 0;

        if (loss == HWMC_LOSS_ALL)
            silent |= (uint8_t) (1u << r);
        if (loss > worst) {
            worst = loss;
            lossy = (uint8_t) (1u << r);
        }
    }
    *reason = silent ? HWMC_RAIL_REASON_SILENT : HWMC_RAIL_REASON_LOSSY;
    return silent ? silent : lossy;
}

/* Which rails are to be used from now on; *next: why, and for whom. */
static uint8_t judge_rails(struct hwmc_epoch *e, struct hwmc_loss_estimate *w,
                           struct hwmc_epoch *next)
{
    uint8_t leave = 0, back = well_rails(e) & left_rails(e);

    combine_losses(e, hwmc_loss_estimate_losses(w, e->now.rails), 0);
    if (!e->cfg.policy.stay)
        leave = to_leave(e, &next->reason);
    if (leave == e->now.rails && !e->cfg.by_lanes)
        leave = 0;
    next->culprit = leave ? e->worst : 0;
    if (!leave)
        next->reason = back ? HWMC_RAIL_REASON_BACK : HWMC_RAIL_REASON_PACE;
    e->losses = e->worst = 0;
    return (e->now.rails & (uint8_t) ~leave) | back;
}

bool hwmc_epoch_judge(struct hwmc_epoch *e, struct hwmc_loss_estimate *w,
                      const struct hwmc_adapt_sample *sample)
{
    struct hwmc_epoch next = {.number = e->number + 1, .from = sample->floor + e->cfg.channels};

    assert(e->cfg.rank == 0);
    if (!hwmc_epoch_known(e) || sample->floor < e->from)
        return false;
    hwmc_adapt_learn(&e->adapt, sample);
    next.now = hwmc_adapt_want(&e->adapt);
    next.now.rails = judge_rails(e, w, &next);
    if (hwmc_policy_same(next.now, e->now))
        return false;
    epoch_begin(e, &next);
    hwmc_adapt_enter(&e->adapt, &e->now);
    if (e->now.rails != e->before.rails) {
        e->scheduled = false;
        enter_train(e, e->train + 1); /* what came of the last one is of the past */
    }
    return true;
}

static enum hwmc_verdict on_acknowledged(struct hwmc_epoch *e, const struct hwmc_msg *msg)
{
    const uint32_t i = hwmc_tree_child_number(e->cfg.rank, msg->peer, e->cfg.size, e->cfg.fanout);
    const uint16_t bit = (uint16_t) (1u << i);

    if (i == e->cfg.fanout || msg->epoch.number != e->number || (e->tell & bit))
        return HWMC_BAD;
    if (e->told & bit)
        return HWMC_DUP;
    e->told |= bit;
    return HWMC_TAKEN;
}

enum hwmc_verdict hwmc_epoch_on_recv(struct hwmc_epoch *e, const struct hwmc_msg *msg,
                                     uint64_t posted, uint64_t consumed, bool *begun)
{
    const struct hwmc_epoch next = {
        .number = msg->epoch.number,
        .from = msg->bid,
        .now = {.rails = msg->epoch.rails,
                .push = msg->flags & HWMC_FLAG_PUSH,
                .period = msg->epoch.period},
        .reason = (enum hwmc_rail_reason) msg->epoch.reason,
        .culprit = msg->epoch.culprit,
    };

    *begun = false;
    if (msg->multicast)
        return HWMC_BAD;
    if (e->cfg.rank == 0 || msg->peer != hwmc_tree_parent(e->cfg.rank, e->cfg.fanout))
        return on_acknowledged(e, msg);
    if (next.number == e->number)
        return HWMC_DUP;
    /* What is before `from` - N is consumed by all, and the last epoch acknowledged. */
    if (next.number != e->number + 1 || !e->told_parent || next.from < posted ||
        next.from < e->from + e->cfg.channels || next.from > consumed + e->cfg.channels ||
        (next.now.rails & ~e->cfg.policy.first.rails) ||
        msg->epoch.reason >= HWMC_RAIL_REASON_LIMIT || next.culprit >= e->cfg.size ||
        (next.now.rails == 0 && !e->cfg.by_lanes) || next.now.period == 0 ||
        next.now.period > e->cfg.channels)
        return HWMC_BAD;
    epoch_begin(e, &next);
    *begun = true;
    return HWMC_TAKEN;
}

enum hwmc_verdict hwmc_epoch_on_probe(struct hwmc_epoch *e, const struct hwmc_msg *msg)
{
    const uint32_t from = e->cfg.rank == 0 ? 1 : 0;

    if (!msg->multicast || msg->rail >= HWMC_RAIL_BITS || msg->probe.number >= HWMC_TRAIN ||
        msg->probe.train == 0 || msg->peer > 1 || msg->peer == e->cfg.rank ||
        msg->probe.bytes != e->cfg.frag_bytes)
        return HWMC_BAD;
    if (msg->peer != from)
        return HWMC_TAKEN; /* the echo is for member 0 */
    if (msg->probe.train < e->train || (e->cfg.rank == 0 && msg->probe.train > e->train))
        return HWMC_STALE;
    if (msg->probe.train > e->train)
        enter_train(e, msg->probe.train);
    if (e->got[msg->rail] == WHOLE_TRAIN)
        return HWMC_DUP;
    e->got[msg->rail] |= (uint8_t) (1u << msg->probe.number);
    if (e->cfg.rank == 1 && e->got[msg->rail] == WHOLE_TRAIN)
        e->due[msg->rail] = HWMC_TRAIN;
    return HWMC_TAKEN;
}

void hwmc_epoch_close(struct hwmc_epoch *e)
{
    e->cfg.policy.stay = true;
    e->probe_at = HWMC_NEVER;
    e->scheduled = true;
    memset(e->due, 0, sizeof(e->due));
}

static uint64_t longer_pause(const struct hwmc_epoch *e)
{
    return 2 * e->pause < e->cfg.policy.pause_max_ns ? 2 * e->pause : e->cfg.policy.pause_max_ns;
}

/* Member 0: when the first train of a new epoch is due. */
static void schedule_train(struct hwmc_epoch *e, uint64_t now)
{
    bool soon = e->returned_at > 0 && now - e->returned_at < HWMC_STEADY * e->pause;

    if (e->reason == HWMC_RAIL_REASON_BACK)
        e->returned_at = now;
    else
        e->pause = soon ? longer_pause(e) : e->cfg.policy.pause_ns;
    e->probe_at = left_rails(e) ? now + e->pause : HWMC_NEVER;
    e->scheduled = true;
}

void hwmc_epoch_on_timer(struct hwmc_epoch *e, uint64_t now)
{
    if (e->probe_at > now)
        return;
    enter_train(e, e->train + 1);
    e->cfg.counts->trains++;
    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++)
        e->due[r] = left_rails(e) >> r & 1 ? HWMC_TRAIN : 0;
    e->pause = longer_pause(e);
    e->probe_at = now + e->pause;
}

static void next_probe(struct hwmc_epoch *e, uint8_t rails, struct hwmc_msg *tx)
{
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_PROBE,
        .peer = e->cfg.rank,
        .multicast = true,
        .rail = (uint8_t) __builtin_ctz(rails),
        .probe = {.train = e->train, .bytes = e->cfg.frag_bytes},
    };
    tx->probe.number = (uint8_t) (HWMC_TRAIN - e->due[tx->rail]--);
}

uint8_t hwmc_epoch_casting(const struct hwmc_epoch *e)
{
    uint8_t rails = 0;

    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++)
        rails |= e->due[r] > 0 ? (uint8_t) (1u << r) : 0;
    return rails;
}

static void fill_epoch(const struct hwmc_epoch *e, struct hwmc_msg *tx, uint32_t peer)
{
    *tx = (struct hwmc_msg){
        .type = HWMC_MSG_EPOCH,
        .peer = peer,
        .bid = e->from,
        .flags = e->now.push ? HWMC_FLAG_PUSH : 0,
        .epoch = {.number = e->number,
                  .culprit = e->culprit,
                  .rails = e->now.rails,
                  .period = (uint8_t) e->now.period,
                  .reason = (uint8_t) e->reason},
    };
}

int hwmc_epoch_next_send(struct hwmc_epoch *e, uint8_t rails, struct hwmc_msg *tx, uint64_t now)
{
    if (e->tell) {
        fill_epoch(e, tx, hwmc_tree_take_child(e->cfg.rank, &e->tell, e->cfg.fanout));
        return 1;
    }
    if (!e->told_parent && hwmc_epoch_known(e)) {
        e->told_parent = true;
        fill_epoch(e, tx, hwmc_tree_parent(e->cfg.rank, e->cfg.fanout));
        return 1;
    }
    if (!e->scheduled)
        schedule_train(e, now);
    rails &= hwmc_epoch_casting(e);
    if (rails == 0)
        return 0;
    next_probe(e, rails, tx);
    return 1;
}

void hwmc_epoch_check(const struct hwmc_epoch *e)
{
    assert(!((e->now.rails | e->before.rails) & ~e->cfg.policy.first.rails));
    assert(e->now.period >= 1 && e->now.period <= e->cfg.channels);
    assert(!(e->tell & e->told) && !((e->tell | e->told) & ~all_children(e)));
    assert(e->cfg.rank != 0 || e->told_parent);
    assert(e->told_parent ? hwmc_epoch_known(e) || e->cfg.rank == 0 : true);
    assert(e->number > 0 || e->from == 0);
    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++)
        assert(e->stand[r].since <= e->from);
    assert(e->cfg.rank <= 1 || hwmc_epoch_casting(e) == 0);
}
