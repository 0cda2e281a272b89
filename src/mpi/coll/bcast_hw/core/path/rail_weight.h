/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rail_weight: weights of rails along one edge of the trees. Speeds are measured once, when the job
 * starts (wrr.h). Later changes show in the order in which segments come.
 *
 * The receiver: segments are sent in order. A segment is late if another one, more than half a
 * window beyond it, has come before; the rail that brought it is behind. What one poll of the lanes
 * takes has come at one time, so a processor that polls seldom, or one lane after the other, makes
 * no rail late. GRANT names the rails that brought segments since the last GRANT, and those of them
 * that brought any late: a vote each.
 *
 * The sender keeps for a peer a share for each rail, of FULL. Six late votes of the last eight
 * halve it; eight of which one is late at most raise it by an eighth of FULL. Above the speed
 * measured at the start, sixteen votes, none late, raise it by an eighth of what it has; two late
 * ones of eight take that back, and twice as many are needed the next time. Shares count relative
 * to each other: at least one rail has more than a half.
 *
 * A rail whose share falls below a quarter is on probation: its segments also go by another rail,
 * and the receiver takes the first of the two, so nobody waits for it, however slow it is. Its
 * share halves with each late vote and doubles with two others; at a quarter eight of them end the
 * probation. At most eight copies are under way of which no vote has told. If none has for a
 * broadcast, that is a late vote, and the share may go below FLOOR.
 *
 * Example: rails 0 and 1 equal, window 8. Rail 1 falls to a tenth. Segments 1 3 5 7 wait in its
 * queue while 0 2 4 6 come; 1 comes after 6 and is late. Six such votes and rail 1 has 512, six
 * more 256, then 128 on probation.
 *
 * A peer without late rails is not in the table; weighted round-robin by speeds serves it (wrr.h;
 * stripe.h says which scheduler is for what). Of more than PEERS the least recently served is
 * dropped.
 *
 * Invariants (hwmc_rail_weight_check): a rail without speed has no share; others have 1 to FULL, on
 * probation at most a quarter; some rail is not on probation and has at least a half.
 */
#ifndef HWMC_CORE_PATH_RAIL_WEIGHT_H_INCLUDED
#define HWMC_CORE_PATH_RAIL_WEIGHT_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/counts.h"
#include "../base/msg.h"
#include "../place/trees.h"

#define HWMC_RAIL_WEIGHT_RAILS 8u
#define HWMC_RAIL_WEIGHT_FULL 1024u
#define HWMC_RAIL_WEIGHT_FLOOR 8u /* of a shadow that is heard of */
#define HWMC_RAIL_WEIGHT_PEERS 32u
#define HWMC_RAIL_WEIGHT_UNHEARD 8u /* copies under way that no vote has told of */

struct hwmc_rail_weight_cfg {
    uint32_t rails;                         /* that lanes are on; below 2: shares never change */
    uint32_t speed[HWMC_RAIL_WEIGHT_RAILS]; /* in any unit; 0: not used */
};

/* One rail to one peer. */
struct hwmc_rail_weight_rail {
    uint16_t share;
    uint16_t votes;  /* since the share changed */
    uint8_t history; /* the last eight, the latest in bit 0; 1: late */
    uint8_t tries;   /* times it was too much above what was measured */
    uint8_t unheard; /* copies since the last vote */
    bool shadow;
    bool waited;    /* a broadcast has begun since a copy that is unheard of */
    int32_t credit; /* of its share, not dealt yet */
};

struct hwmc_rail_weight_peer {
    uint32_t rank;
    uint32_t used; /* when it was last served; 0: free */
    struct hwmc_rail_weight_rail rail[HWMC_RAIL_WEIGHT_RAILS];
};

/* What came to this rank along one tree. */
struct hwmc_rail_weight_order {
    uint32_t top;    /* segments below: the highest that has come is top - 1 */
    uint32_t before; /* the same, of what came before `at` */
    uint64_t at;     /* when something came last */
    uint32_t parent; /* that came and late are for */
    uint8_t came;    /* rails that brought something since the last GRANT, a bit each */
    uint8_t late;    /* of these, those that brought some of it late */
};

struct hwmc_rail_weight {
    uint32_t rails;
    uint16_t measured[HWMC_RAIL_WEIGHT_RAILS]; /* shares to begin with */
    bool unequal;                              /* not all that are used have FULL */
    uint32_t clock;                            /* counts what is served */
    struct hwmc_counts *counts;
    struct hwmc_rail_weight_order order[HWMC_TREES_MAX];
    struct hwmc_rail_weight_peer peer[HWMC_RAIL_WEIGHT_PEERS];
};

void hwmc_rail_weight_init(struct hwmc_rail_weight *l, const struct hwmc_rail_weight_cfg *cfg,
                           struct hwmc_counts *counts);

/* A broadcast begins: segments of tree `tree` come from `parent`. */
void hwmc_rail_weight_expect(struct hwmc_rail_weight *l, uint32_t tree, uint32_t parent);

/* Segment `index` of tree `tree` has come, by one of the rails of the mask, with at most `window`
 * under way; also if it has come before. */
void hwmc_rail_weight_came(struct hwmc_rail_weight *l, uint32_t tree, uint32_t index, uint8_t rail,
                           uint32_t window, uint64_t now);

/* What the next GRANT in this tree says: rails that brought something, and those that did so
 * late. */
uint8_t hwmc_rail_weight_tell(struct hwmc_rail_weight *l, uint32_t tree, uint8_t *late);

/* A GRANT of `peer` says so. */
void hwmc_rail_weight_on_told(struct hwmc_rail_weight *l, uint32_t peer, uint8_t came,
                              uint8_t late);

/* A broadcast begins in which `peer` is a child. */
void hwmc_rail_weight_serve(struct hwmc_rail_weight *l, uint32_t peer);

/* The rail by which the next segment goes to `peer`, and in *copies those by which it goes too.
 * False: as the deal has it. */
bool hwmc_rail_weight_next(struct hwmc_rail_weight *l, uint32_t peer, uint32_t *rail,
                           uint8_t *copies);

void hwmc_rail_weight_check(const struct hwmc_rail_weight *l);

#endif /* HWMC_CORE_PATH_RAIL_WEIGHT_H_INCLUDED */
