/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rail_weight: see rail_weight.h.
 */
#include "rail_weight.h"

#include <assert.h>
#include <string.h>

#include "wrr.h"

#define FULL HWMC_RAIL_WEIGHT_FULL
#define HALF (FULL / 2)
#define QUARTER (FULL / 4)
#define STEP (FULL / 8)
#define LATE 6u       /* votes of eight that halve a share */
#define LATE_ABOVE 2u /* ... or take one back to what was measured */
#define PROVEN 8u     /* votes that raise it, or end a shadow */
#define HOPEFUL 2u    /* votes that double a shadow's share */
#define TRIES_MAX 6u

void hwmc_rail_weight_init(struct hwmc_rail_weight *l, const struct hwmc_rail_weight_cfg *cfg,
                           struct hwmc_counts *counts)
{
    uint32_t most = 0;

    assert(cfg->rails >= 2 && cfg->rails <= HWMC_RAIL_WEIGHT_RAILS);
    memset(l, 0, sizeof(*l));
    l->rails = cfg->rails;
    l->counts = counts;
    for (uint32_t k = 0; k < l->rails; k++)
        most = cfg->speed[k] > most ? cfg->speed[k] : most;
    for (uint32_t k = 0; k < l->rails; k++) {
        if (most == 0)
            l->measured[k] = FULL;
        else if (cfg->speed[k] == 0)
            continue;
        else if (hwmc_wrr_is_slow(cfg->speed[k], most))
            l->measured[k] = HWMC_RAIL_WEIGHT_FLOOR;
        else
            l->measured[k] = (uint16_t) (((uint64_t) cfg->speed[k] * FULL + most / 2) / most);
        l->unequal = l->unequal || l->measured[k] < FULL;
    }
}

void hwmc_rail_weight_expect(struct hwmc_rail_weight *l, uint32_t tree, uint32_t parent)
{
    struct hwmc_rail_weight_order *o = &l->order[tree];

    if (o->parent != parent)
        o->came = o->late = 0;
    o->parent = parent;
    o->top = o->before = 0;
    o->at = 0;
}

void hwmc_rail_weight_came(struct hwmc_rail_weight *l, uint32_t tree, uint32_t index, uint8_t rail,
                           uint32_t window, uint64_t now)
{
    struct hwmc_rail_weight_order *o = &l->order[tree];
    uint32_t slack = window >= 4 ? window / 2 : 2;

    if (now != o->at) {
        o->before = o->top;
        o->at = now;
    }
    o->came |= rail;
    if (o->before > index && o->before - index > slack + 1)
        o->late |= rail;
    if (index >= o->top)
        o->top = index + 1;
}

uint8_t hwmc_rail_weight_tell(struct hwmc_rail_weight *l, uint32_t tree, uint8_t *late)
{
    struct hwmc_rail_weight_order *o = &l->order[tree];
    uint8_t came = o->came;

    *late = o->late;
    o->came = o->late = 0;
    return came;
}

static struct hwmc_rail_weight_peer *find_peer(struct hwmc_rail_weight *l, uint32_t rank)
{
    for (uint32_t i = 0; i < HWMC_RAIL_WEIGHT_PEERS; i++)
        if (l->peer[i].used && l->peer[i].rank == rank)
            return &l->peer[i];
    return NULL;
}

/* A place in the table, with what was measured. */
static struct hwmc_rail_weight_peer *add_peer(struct hwmc_rail_weight *l, uint32_t rank)
{
    struct hwmc_rail_weight_peer *p = l->peer;

    for (uint32_t i = 1; i < HWMC_RAIL_WEIGHT_PEERS; i++)
        p = l->peer[i].used < p->used ? &l->peer[i] : p;
    memset(p, 0, sizeof(*p));
    p->rank = rank;
    p->used = ++l->clock;
    for (uint32_t k = 0; k < l->rails; k++) {
        p->rail[k].share = l->measured[k];
        p->rail[k].shadow = l->measured[k] == HWMC_RAIL_WEIGHT_FLOOR;
    }
    return p;
}

static uint32_t best_share(const struct hwmc_rail_weight *l, const struct hwmc_rail_weight_peer *p)
{
    uint32_t best = 0;

    for (uint32_t k = 0; k < l->rails; k++)
        if (!p->rail[k].shadow && p->rail[k].share > best)
            best = p->rail[k].share;
    return best;
}

/* Shares are relative: the best rail has more than a half. */
static void scale_shares(const struct hwmc_rail_weight *l, struct hwmc_rail_weight_peer *p)
{
    while (best_share(l, p) <= HALF)
        for (uint32_t k = 0; k < l->rails; k++)
            if (!p->rail[k].shadow)
                p->rail[k].share = (uint16_t) (p->rail[k].share * 2);
}

static void change_share(struct hwmc_rail_weight_rail *r, uint32_t share)
{
    r->share = (uint16_t) share;
    r->history = 0;
    r->votes = 0;
}

static void vote_shadow(struct hwmc_rail_weight *l, struct hwmc_rail_weight_rail *r, bool late,
                        uint32_t least)
{
    if (late) {
        change_share(r, r->share / 2u > least ? r->share / 2u : least);
    } else if (r->share < QUARTER) {
        if (r->votes >= HOPEFUL)
            change_share(r, r->share * 2 < QUARTER ? r->share * 2u : QUARTER);
    } else if (r->votes >= PROVEN) {
        change_share(r, QUARTER);
        r->shadow = false;
        l->counts->lane_regained++;
    }
}

static void ease_rail(struct hwmc_rail_weight *l, struct hwmc_rail_weight_peer *p, uint32_t k)
{
    struct hwmc_rail_weight_rail *r = &p->rail[k];
    uint32_t measured = l->measured[k];

    if (r->share > measured && measured >= QUARTER) {
        r->tries += r->tries < TRIES_MAX;
        change_share(r, measured);
    } else {
        change_share(r, r->share / 2u);
    }
    r->shadow = r->share < QUARTER;
    l->counts->lane_eased++;
}

static void lift_rail(const struct hwmc_rail_weight *l, struct hwmc_rail_weight_rail *r, uint32_t k)
{
    bool above = r->share >= l->measured[k];
    uint32_t to = above ? FULL : l->measured[k], more = above ? r->share / 8u : STEP;

    if (r->votes >= (above ? 2 * PROVEN << r->tries : PROVEN))
        change_share(r, r->share + more < to ? r->share + more : to);
}

static void vote_rail(struct hwmc_rail_weight *l, struct hwmc_rail_weight_peer *p, uint32_t k,
                      bool late, uint32_t least)
{
    struct hwmc_rail_weight_rail *r = &p->rail[k];
    uint32_t of_eight;

    l->counts->lane_late += late;
    r->unheard = 0;
    r->waited = false;
    r->history = (uint8_t) (r->history << 1 | late);
    r->votes += r->votes < UINT16_MAX;
    of_eight = (uint32_t) __builtin_popcount(r->history);
    if (late && r->share >= l->measured[k])
        r->votes = 0;
    if (r->shadow)
        vote_shadow(l, r, late, least);
    else if (of_eight >= (r->share > l->measured[k] ? LATE_ABOVE : LATE))
        ease_rail(l, p, k);
    else if (of_eight <= 1 && r->share < FULL)
        lift_rail(l, r, k);
    scale_shares(l, p);
}

void hwmc_rail_weight_on_told(struct hwmc_rail_weight *l, uint32_t peer, uint8_t came, uint8_t late)
{
    struct hwmc_rail_weight_peer *p = find_peer(l, peer);

    came &= (uint8_t) ((1u << l->rails) - 1);
    if (!p && came && (l->unequal || (came & late)))
        p = add_peer(l, peer);
    for (uint32_t k = 0; p && k < l->rails; k++)
        if ((came >> k & 1) && l->measured[k] > 0)
            vote_rail(l, p, k, late >> k & 1, HWMC_RAIL_WEIGHT_FLOOR);
}

void hwmc_rail_weight_serve(struct hwmc_rail_weight *l, uint32_t peer)
{
    struct hwmc_rail_weight_peer *p = find_peer(l, peer);

    if (!p)
        return;
    p->used = ++l->clock;
    for (uint32_t k = 0; k < l->rails; k++) {
        struct hwmc_rail_weight_rail *r = &p->rail[k];

        if (r->unheard == 0)
            continue;
        if (r->waited)
            vote_rail(l, p, k, true, 1);
        else
            r->waited = true;
    }
}

/* Each rail gains its share. A segment costs what all rails gain that are no shadows: `price`. */
static uint32_t next_rail(const struct hwmc_rail_weight *l, struct hwmc_rail_weight_peer *p,
                          int32_t *price)
{
    uint32_t best = HWMC_RAIL_WEIGHT_RAILS;

    *price = 0;
    for (uint32_t k = 0; k < l->rails; k++) {
        struct hwmc_rail_weight_rail *r = &p->rail[k];

        r->credit += r->share;
        if (r->shadow || r->share == 0)
            continue;
        *price += r->share;
        if (best == HWMC_RAIL_WEIGHT_RAILS || r->credit > p->rail[best].credit)
            best = k;
    }
    p->rail[best].credit -= *price;
    return best;
}

bool hwmc_rail_weight_next(struct hwmc_rail_weight *l, uint32_t peer, uint32_t *rail,
                           uint8_t *copies)
{
    struct hwmc_rail_weight_peer *p = find_peer(l, peer);
    int32_t price;

    *copies = 0;
    if (!p)
        return false;
    *rail = next_rail(l, p, &price);
    for (uint32_t k = 0; k < l->rails; k++) {
        struct hwmc_rail_weight_rail *r = &p->rail[k];

        if (!r->shadow || r->credit < price)
            continue;
        r->credit = 0;
        if (r->unheard < HWMC_RAIL_WEIGHT_UNHEARD) {
            r->unheard++;
            *copies |= (uint8_t) (1u << k);
        }
    }
    return true;
}

void hwmc_rail_weight_check(const struct hwmc_rail_weight *l)
{
    for (uint32_t i = 0; i < HWMC_RAIL_WEIGHT_PEERS; i++) {
        const struct hwmc_rail_weight_peer *p = &l->peer[i];
        bool one = false;

        for (uint32_t k = 0; p->used && k < l->rails; k++) {
            const struct hwmc_rail_weight_rail *r = &p->rail[k];

            assert((r->share == 0) == (l->measured[k] == 0) && r->share <= FULL);
            assert(!r->shadow || r->share <= QUARTER);
            assert(r->unheard <= HWMC_RAIL_WEIGHT_UNHEARD);
            one = one || (!r->shadow && r->share > HALF);
        }
        assert(!p->used || one);
        (void) one;
    }
}
