/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rails: see rails.h.
 */
#include "rails.h"

#include <assert.h>

#include "../core/mask.h"
#include "../port/rail.h"

_Static_assert(BCAST_HW_RAILS_MAX == BCAST_HW_RAIL_BITS,
               "the core numbers as many rails as there are");

void bcast_hw_rails_open(struct bcast_hw_rails *rails, struct bcast_hw_fabric *const *fabrics,
                         const uint32_t *mbit, struct bcast_hw_seal *seal)
{
    rails->mask = 0;
    rails->seal = seal;
    for (uint32_t r = 0; r < BCAST_HW_RAIL_BITS; r++) {
        struct bcast_hw_rails_one *one = &rails->one[r];

        *one = (struct bcast_hw_rails_one){.fabric = fabrics[r]};
        if (!one->fabric)
            continue;
        rails->mask |= (uint8_t) (1u << r);
        one->fabric->ops->query(one->fabric, &one->attr);
        bcast_hw_stripe_init(&rails->stripe.rail[r], mbit[r]);
    }
}

void bcast_hw_rails_attr(const struct bcast_hw_rails *rails, uint32_t mask,
                         struct bcast_hw_fabric_attr *attr)
{
    *attr = (struct bcast_hw_fabric_attr){.max_datagram = SIZE_MAX, .window = SIZE_MAX};
    FOR_EACH (r, mask & rails->mask) {
        const struct bcast_hw_fabric_attr *a = &rails->one[r].attr;

        attr->max_datagram =
            a->max_datagram < attr->max_datagram ? a->max_datagram : attr->max_datagram;
        attr->window = a->window < attr->window ? a->window : attr->window;
    }
    attr->max_datagram -= rails->seal ? BCAST_HW_SEAL : 0;
}

int bcast_hw_rails_draw(struct bcast_hw_rails *rails, uint64_t *group)
{
    struct bcast_hw_rails_one *by = NULL;

    FOR_EACH (r, rails->mask)
        if (!by || rails->one[r].attr.group_bits < by->attr.group_bits)
            by = &rails->one[r];
    return by->fabric->ops->draw(by->fabric, group);
}

uint32_t bcast_hw_rails_join(struct bcast_hw_rails *rails, uint32_t mask, uint64_t group,
                             uint32_t *under_way)
{
    uint32_t joined = 0;

    *under_way = 0;
    FOR_EACH (r, mask & rails->mask) {
        struct bcast_hw_fabric *f = rails->one[r].fabric;
        int err = f->ops->join(f, group);

        if (err == BCAST_HW_OK)
            joined |= 1u << r;
        else if (err == BCAST_HW_AGAIN)
            *under_way |= 1u << r;
    }
    return joined;
}

void bcast_hw_rails_leave(struct bcast_hw_rails *rails, uint32_t mask, uint64_t group)
{
    FOR_EACH (r, mask & rails->mask) {
        struct bcast_hw_fabric *f = rails->one[r].fabric;

        f->ops->leave(f, group);
    }
}

void bcast_hw_rails_refresh(struct bcast_hw_rails *rails, uint32_t mask, uint64_t group)
{
    FOR_EACH (r, mask & rails->mask) {
        struct bcast_hw_fabric *f = rails->one[r].fabric;

        if (f->ops->refresh)
            f->ops->refresh(f, group);
    }
}

static void drop(struct bcast_hw_backlog *b)
{
    b->next = b->n = 0;
    b->bytes = 0;
}

static bool several(uint32_t mask)
{
    return mask & (mask - 1);
}

/* What a fabric refuses for good is lost like any datagram: repair has it. */
static void flush_one(struct bcast_hw_rails *rails, uint32_t r, uint64_t now)
{
    struct bcast_hw_rails_one *one = &rails->one[r];
    struct bcast_hw_backlog *b = &one->backlog;
    struct bcast_hw_fabric *f = one->fabric;
    bool choosing = several(rails->mask);
    int k;

    one->blocked = false;
    if (b->next == b->n)
        return;
    if (choosing)
        bcast_hw_stripe_on_queue(&rails->stripe.rail[r], f->ops->queued(f), now);
    k = f->ops->post(f, b->group, b->out + b->next, b->n - b->next);
    if (choosing)
        bcast_hw_stripe_on_post(&rails->stripe.rail[r], f->ops->queued(f), now);
    if (k < 0) {
        bcast_hw_stripe_on_failure(&rails->stripe.rail[r], now);
        drop(b);
        return;
    }
    for (int end = b->next + k; b->next < end; b->next++)
        b->bytes -= b->out[b->next].head_len + b->out[b->next].body_len;
    if (b->next == b->n)
        drop(b);
    else
        one->blocked = true;
}

void bcast_hw_rails_flush(struct bcast_hw_rails *rails, uint64_t now)
{
    FOR_EACH (r, rails->mask)
        flush_one(rails, r, now);
}

bool bcast_hw_rails_idle(const struct bcast_hw_rails *rails)
{
    FOR_EACH (r, rails->mask)
        if (rails->one[r].backlog.n > 0)
            return false;
    return true;
}

static bool borrows(const struct bcast_hw_backlog *b, const void *memory, size_t bytes)
{
    for (int i = b->next; i < b->n; i++)
        if (b->out[i].body_len > 0 &&
            (uintptr_t) b->out[i].body - (uintptr_t) memory < (uintptr_t) bytes)
            return true;
    return false;
}

void bcast_hw_rails_forget(struct bcast_hw_rails *rails, const void *memory, size_t bytes)
{
    FOR_EACH (r, rails->mask)
        if (borrows(&rails->one[r].backlog, memory, bytes))
            drop(&rails->one[r].backlog);
}

uint8_t bcast_hw_rails_best(struct bcast_hw_rails *rails, uint32_t mask, uint64_t now)
{
    uint64_t more[BCAST_HW_RAIL_BITS];

    mask &= rails->mask;
    if (!several(mask))
        return (uint8_t) mask; /* nothing to choose */
    FOR_EACH (r, mask) {
        struct bcast_hw_rails_one *one = &rails->one[r];
        struct bcast_hw_stripe_rail *stripe = &rails->stripe.rail[r];

        if (stripe->at != now)
            bcast_hw_stripe_on_queue(stripe, one->fabric->ops->queued(one->fabric), now);
        more[r] = one->backlog.bytes + one->attr.max_datagram;
    }
    return (uint8_t) bcast_hw_stripe_best(&rails->stripe, mask, more, now);
}

static bool has_room(struct bcast_hw_rails *rails, uint32_t r, uint64_t group, uint64_t now)
{
    const struct bcast_hw_rails_one *one = &rails->one[r];
    const struct bcast_hw_backlog *b = &one->backlog;

    if (!one->blocked && (b->n == BCAST_HW_CAST_BATCH || (b->n > 0 && b->group != group)))
        flush_one(rails, r, now);
    return b->n < BCAST_HW_CAST_BATCH && (b->n == 0 || b->group == group);
}

struct bcast_hw_room bcast_hw_rails_room(struct bcast_hw_rails *rails, uint32_t mask,
                                         uint32_t among, uint64_t group, uint64_t now)
{
    struct bcast_hw_room room = {0};

    FOR_EACH (r, mask & rails->mask)
        if (has_room(rails, r, group, now))
            room.each |= (uint8_t) (1u << r);
    room.best = bcast_hw_rails_best(rails, mask & among, now) & room.each;
    return room;
}

uint32_t bcast_hw_rails_cast(struct bcast_hw_rails *rails, uint64_t group,
                             const struct bcast_hw_wire_id *id, uint32_t src,
                             const struct bcast_hw_msg *msg, const void *body, uint32_t len)
{
    struct bcast_hw_backlog *b = &rails->one[msg->rail].backlog;
    uint32_t head_len = bcast_hw_wire_head_len(msg);
    unsigned char *seal = b->head[b->n], *head = seal + BCAST_HW_SEAL;
    uint32_t high = msg->type == BCAST_HW_MSG_DATA ? (uint32_t) (msg->bid >> 32) : 0;

    assert(b->n < BCAST_HW_CAST_BATCH && (b->n == 0 || b->group == group));
    b->group = group;
    bcast_hw_wire_encode(head, id, src, msg, (void *) (uintptr_t) body, len);
    if (rails->seal) {
        bcast_hw_seal_put(rails->seal, seal, BCAST_HW_SEAL_TO_RAIL(msg->rail), high, head, head_len,
                          body, len);
        head = seal;
        head_len += BCAST_HW_SEAL;
    }
    b->out[b->n] = (struct bcast_hw_out){
        .head = head,
        .head_len = head_len,
        .body = body,
        .body_len = len,
    };
    b->n++;
    b->bytes += head_len + len;
    return head_len + len;
}

uint64_t bcast_hw_rails_deadline(const struct bcast_hw_rails *rails)
{
    uint64_t first = UINT64_MAX;

    FOR_EACH (r, rails->mask) {
        struct bcast_hw_fabric *f = rails->one[r].fabric;
        uint64_t at = f->ops->deadline(f);

        first = at < first ? at : first;
    }
    return first;
}

void bcast_hw_rails_close(struct bcast_hw_rails *rails)
{
    FOR_EACH (r, rails->mask) {
        struct bcast_hw_fabric *f = rails->one[r].fabric;

        f->ops->close(f);
        rails->one[r].fabric = NULL;
    }
    rails->mask = 0;
}
