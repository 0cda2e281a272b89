/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rails: the fabrics of a process, one a rail, and the datagrams that are encoded and not yet taken
 * by them. Chooses the rail of a fragment that may go on any (core/stripe).
 *
 * A datagram's body is borrowed until its fabric has taken it: a group does not begin another
 * broadcast before that (bcast_hw_rails_idle), and who frees or gives back memory before that has
 * it forgotten.
 */
#ifndef BCAST_HW_RAILS_H_INCLUDED
#define BCAST_HW_RAILS_H_INCLUDED

#include "../core/stripe.h"
#include "../port/fabric.h"
#include "seal.h"
#include "wire.h"

#define BCAST_HW_CAST_BATCH 16

/* Datagrams for one fabric, all of one group. */
struct bcast_hw_backlog {
    uint64_t group; /* the fabric's */
    size_t bytes;   /* from `next` on */
    int next;       /* the first not yet taken */
    int n;
    struct bcast_hw_out out[BCAST_HW_CAST_BATCH];
    unsigned char head[BCAST_HW_CAST_BATCH][BCAST_HW_SEAL + BCAST_HW_WIRE_HEAD];
};

struct bcast_hw_rails_one {
    struct bcast_hw_fabric *fabric; /* NULL: this host has no such rail */
    struct bcast_hw_fabric_attr attr;
    struct bcast_hw_backlog backlog;
    bool blocked; /* the fabric took less than it was given; to be tried by the next flush */
};

struct bcast_hw_rails {
    struct bcast_hw_rails_one one[BCAST_HW_RAIL_BITS];
    struct bcast_hw_stripe stripe; /* kept where there are several */
    uint8_t mask;                  /* of those with a fabric */
    struct bcast_hw_seal *seal;    /* the engine's; NULL: datagrams have none */
};

/* Takes over `fabrics`, of BCAST_HW_RAIL_BITS places, NULL where there is none; `mbit`: their
 * speeds. `seal`, NULL or not, is borrowed. */
void bcast_hw_rails_open(struct bcast_hw_rails *rails, struct bcast_hw_fabric *const *fabrics,
                         const uint32_t *mbit, struct bcast_hw_seal *seal);

/* Of several rails: the shortest datagram, less its seal, the smallest window. */
void bcast_hw_rails_attr(const struct bcast_hw_rails *rails, uint32_t mask,
                         struct bcast_hw_fabric_attr *attr);

/* Chooses a group for all rails: by the fabric that draws the fewest bits of its number, which all
 * others can use. OK, or what the fabric says. */
int bcast_hw_rails_draw(struct bcast_hw_rails *rails, uint64_t *group);

/* Joins `group` on the rails of `mask`; on which of them it worked. Where it is `under_way`, it is
 * to be called again, or to be left. And leaves it there. */
uint32_t bcast_hw_rails_join(struct bcast_hw_rails *rails, uint32_t mask, uint64_t group,
                             uint32_t *under_way);
void bcast_hw_rails_leave(struct bcast_hw_rails *rails, uint32_t mask, uint64_t group);

/* Has the network told once more of the memberships on the rails of `mask`. */
void bcast_hw_rails_refresh(struct bcast_hw_rails *rails, uint32_t mask, uint64_t group);

/* Hands what waits to the fabrics. */
void bcast_hw_rails_flush(struct bcast_hw_rails *rails, uint64_t now);

/* Everything is handed over. */
bool bcast_hw_rails_idle(const struct bcast_hw_rails *rails);

/* `bytes` bytes at `memory` go back to their owner. A rail on which a datagram waits that has its
 * body there drops what waits: it is lost like any datagram. */
void bcast_hw_rails_forget(struct bcast_hw_rails *rails, const void *memory, size_t bytes);

/* What of `mask` can take one more datagram for `group` now, having flushed where that was needed;
 * the best of `among`. */
struct bcast_hw_room bcast_hw_rails_room(struct bcast_hw_rails *rails, uint32_t mask,
                                         uint32_t among, uint64_t group, uint64_t now);

/* Of `mask`, one bit: the rail that would have sent a datagram first. */
uint8_t bcast_hw_rails_best(struct bcast_hw_rails *rails, uint32_t mask, uint64_t now);

/* Puts a datagram to those that wait; there is room. Returns its length. */
uint32_t bcast_hw_rails_cast(struct bcast_hw_rails *rails, uint64_t group,
                             const struct bcast_hw_wire_id *id, uint32_t src,
                             const struct bcast_hw_msg *msg, const void *body, uint32_t len);

/* ns at which a fabric has something to do though nothing comes; NEVER. */
uint64_t bcast_hw_rails_deadline(const struct bcast_hw_rails *rails);

void bcast_hw_rails_close(struct bcast_hw_rails *rails);

#endif /* BCAST_HW_RAILS_H_INCLUDED */
