/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rails: the fabrics of a process, one a rail, and the datagrams that are encoded and not yet taken
 * by them. Chooses the rail of a fragment that may go on any (core/path/stripe).
 *
 * How many datagrams a rail is given at a time follows what it carries. Short bursts go to a rail
 * that still has most of the last one when it has taken that: it is busy anyway, and long ones
 * would overflow what holds them on the way. A rail that has nothing left, time and again, is
 * faster than this process, and gets as many as go in one piece, but no more than it carries in
 * HWMC_RAILS_BURST_US: what a shaper or the port of a switch does not let through at once is cut on
 * the way, on processors where no adapter does that.
 *
 * A rail that takes nothing for HWMC_RAILS_STUCK_NS is treated as one that fails: what waits is
 * lost, and repair has it. What comes after that is lost at once, until the rail takes something.
 *
 * A datagram's body is borrowed until its fabric has taken it: a group does not begin another
 * broadcast before that (hwmc_rails_idle), and who frees or gives back memory before that has
 * it forgotten. From memory that is lent a fabric may send later still (hwmc_rails_returned).
 */
#ifndef HWMC_ENGINE_WIRE_RAILS_H_INCLUDED
#define HWMC_ENGINE_WIRE_RAILS_H_INCLUDED

#include "../../core/path/stripe.h"
#include "../../port/fabric.h"
#include "auth.h"
#include "wire.h"

#define HWMC_RAILS_BURST_US 200u /* 25 kB at 1 Gbit/s, 64 kB from 2.6 on */

/* ns: while a rail drains at all it takes a datagram in a few ms, or 100 ms at 1 Mbit/s. */
#define HWMC_RAILS_STUCK_NS UINT64_C(1000000000)

/* Datagrams for one fabric, all of one group or its twin (port/fabric.h). */
struct hwmc_backlog {
    uint64_t group;          /* the fabric's */
    uint64_t to[HWMC_BURST]; /* the group of each, or its twin */
    size_t bytes;            /* from `next` on */
    int next;                /* the first not yet taken */
    int n;
    struct hwmc_out out[HWMC_BURST];
    unsigned char head[HWMC_BURST][HWMC_AUTH + HWMC_WIRE_HEAD];
};

struct hwmc_rails_one {
    struct hwmc_fabric *fabric; /* NULL: this host has no such rail */
    struct hwmc_fabric_attr attr;
    struct hwmc_backlog backlog;
    int burst; /* datagrams that it is given at a time, `most` at most */
    int most;
    int at_once;       /* bursts in a row that were gone when it had taken them */
    bool blocked;      /* the fabric took less than it was given; to be tried by the next flush */
    uint64_t stuck_at; /* ns: what waits is lost if nothing is taken until then; UINT64_MAX: the
                        * last call took something */
};

struct hwmc_rails {
    struct hwmc_rails_one one[HWMC_RAIL_BITS];
    struct hwmc_stripe stripe; /* kept where there are several */
    uint8_t mask;              /* of those with a fabric */
    struct hwmc_auth *auth;    /* the engine's; NULL: datagrams have none */
};

/* Takes over `fabrics`, of HWMC_RAIL_BITS places, NULL where there is none; `mbit`: their
 * speeds. `seal`, NULL or not, is borrowed. */
void hwmc_rails_open(struct hwmc_rails *rails, struct hwmc_fabric *const *fabrics,
                     const uint32_t *mbit, struct hwmc_auth *auth);

/* mbit[i]: what rail i carries, Mbit/s, as was measured; 0: not known. */
void hwmc_rails_rates(struct hwmc_rails *rails, const uint32_t *mbit);

/* Of several rails: the shortest datagram, less its authentication code, the smallest window. */
void hwmc_rails_attr(const struct hwmc_rails *rails, uint32_t mask, struct hwmc_fabric_attr *attr);

/* Chooses a group for all rails: by the fabric that draws the fewest bits of its number, which all
 * others can use. OK, or what the fabric says. */
int hwmc_rails_draw(struct hwmc_rails *rails, uint64_t *group);

/* Joins `group` on the rails of `mask`; on which of them it worked. Where it is `under_way`, it is
 * to be called again, or to be left. And leaves it there. */
uint32_t hwmc_rails_join(struct hwmc_rails *rails, uint32_t mask, uint64_t group,
                         uint32_t *under_way);
void hwmc_rails_leave(struct hwmc_rails *rails, uint32_t mask, uint64_t group);

/* Has the network told once more of the memberships on the rails of `mask`. */
void hwmc_rails_refresh(struct hwmc_rails *rails, uint32_t mask, uint64_t group);

/* Hands what waits to the fabrics. */
void hwmc_rails_flush(struct hwmc_rails *rails, uint64_t now);

/* Everything is handed over. */
bool hwmc_rails_idle(const struct hwmc_rails *rails);

/* Fabrics that can may send from these `bytes` bytes until they have returned them; how many. */
uint32_t hwmc_rails_lend(struct hwmc_rails *rails, const void *memory, size_t bytes);

/* They are wanted back: whether they are. If not, to be called again. */
bool hwmc_rails_returned(struct hwmc_rails *rails, const void *memory);

/* `bytes` bytes at `memory` go back to their owner. A rail on which a datagram waits that has its
 * body there drops what waits: it is lost like any datagram. */
void hwmc_rails_forget(struct hwmc_rails *rails, const void *memory, size_t bytes);

/* What of `mask` can take one more datagram for `group` now, having flushed where that was needed;
 * the best of `among`. */
struct hwmc_room hwmc_rails_room(struct hwmc_rails *rails, uint32_t mask, uint32_t among,
                                 uint64_t group, uint64_t now);

/* Of `mask`, one bit: the rail that would have sent a datagram first. */
uint8_t hwmc_rails_best(struct hwmc_rails *rails, uint32_t mask, uint64_t now);

/* Where a datagram goes: to a group, or to its twin. */
struct hwmc_rails_to {
    uint64_t group;
    uint64_t to; /* `group`, or its twin */
};

/* Puts a datagram to those that wait; there is room. Returns its length. */
uint32_t hwmc_rails_cast(struct hwmc_rails *rails, const struct hwmc_rails_to *to,
                         const struct hwmc_wire_id *id, uint32_t src, const struct hwmc_msg *msg,
                         const void *body, uint32_t len);

/* ns at which a fabric has something to do though nothing comes, or what waits is lost; NEVER. */
uint64_t hwmc_rails_deadline(const struct hwmc_rails *rails);

void hwmc_rails_close(struct hwmc_rails *rails);

#endif /* HWMC_ENGINE_WIRE_RAILS_H_INCLUDED */
