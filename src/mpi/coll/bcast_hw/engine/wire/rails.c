/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * rails: see engine/wire/rails.h.
 */
#include "rails.h"

#include <assert.h>

#include "../../core/base/mask.h"
#include "../../port/rail.h"

#define BURST_LEAST 16 /* datagrams: 24 kB, as a switch's port or a shaper can hold */
#define AT_ONCE 4      /* bursts in a row, after which the next one is longer */

_Static_assert(HWMC_RAILS_MAX == HWMC_RAIL_BITS, "the core numbers as many rails as there are");

static int least_int(int a, int b)
{
    return a < b ? a : b;
}

/* As many as make whole pieces of what goes out in one. */
static int longest_burst(const struct hwmc_rails_one *one)
{
    const uint32_t piece = hwmc_fabric_burst(one->attr.max_datagram);

    return (int) (HWMC_BURST / piece * piece);
}

void hwmc_rails_rates(struct hwmc_rails *rails, const uint32_t *mbit)
{
    FOR_EACH (r, rails->mask) {
        struct hwmc_rails_one *one = &rails->one[r];
        const uint64_t bytes = (uint64_t) mbit[r] * HWMC_RAILS_BURST_US / 8;
        const uint64_t carried = bytes / one->attr.max_datagram;

        one->most = longest_burst(one);
        if (mbit[r] > 0 && carried < (uint64_t) one->most)
            one->most = carried > BURST_LEAST ? (int) carried : BURST_LEAST;
        one->burst = least_int(one->burst, one->most);
    }
}

void hwmc_rails_open(struct hwmc_rails *rails, struct hwmc_fabric *const *fabrics,
                     const uint32_t *mbit, struct hwmc_auth *auth)
{
    rails->mask = 0;
    rails->auth = auth;
    for (uint32_t r = 0; r < HWMC_RAIL_BITS; r++) {
        struct hwmc_rails_one *one = &rails->one[r];

        *one = (struct hwmc_rails_one){.fabric = fabrics[r], .stuck_at = UINT64_MAX};
        if (!one->fabric)
            continue;
        rails->mask |= (uint8_t) (1u << r);
        one->fabric->ops->query(one->fabric, &one->attr);
        one->most = longest_burst(one);
        one->burst = BURST_LEAST;
        hwmc_stripe_init(&rails->stripe.rail[r], mbit[r]);
    }
}

void hwmc_rails_attr(const struct hwmc_rails *rails, uint32_t mask, struct hwmc_fabric_attr *attr)
{
    *attr = (struct hwmc_fabric_attr){.max_datagram = SIZE_MAX, .window = SIZE_MAX};
    FOR_EACH (r, mask & rails->mask) {
        const struct hwmc_fabric_attr *a = &rails->one[r].attr;

        attr->max_datagram =
            a->max_datagram < attr->max_datagram ? a->max_datagram : attr->max_datagram;
        attr->window = a->window < attr->window ? a->window : attr->window;
    }
    attr->max_datagram -= rails->auth ? HWMC_AUTH : 0;
}

int hwmc_rails_draw(struct hwmc_rails *rails, uint64_t *group)
{
    struct hwmc_rails_one *by = NULL;

    FOR_EACH (r, rails->mask)
        if (!by || rails->one[r].attr.group_bits < by->attr.group_bits)
            by = &rails->one[r];
    return by->fabric->ops->draw(by->fabric, group);
}

uint32_t hwmc_rails_join(struct hwmc_rails *rails, uint32_t mask, uint64_t group,
                         uint32_t *under_way)
{
    uint32_t joined = 0;

    *under_way = 0;
    FOR_EACH (r, mask & rails->mask) {
        struct hwmc_fabric *f = rails->one[r].fabric;
        int err = f->ops->join(f, group);

        if (err == HWMC_OK)
            joined |= 1u << r;
        else if (err == HWMC_AGAIN)
            *under_way |= 1u << r;
    }
    return joined;
}

void hwmc_rails_leave(struct hwmc_rails *rails, uint32_t mask, uint64_t group)
{
    FOR_EACH (r, mask & rails->mask) {
        struct hwmc_fabric *f = rails->one[r].fabric;

        f->ops->leave(f, group);
    }
}

void hwmc_rails_refresh(struct hwmc_rails *rails, uint32_t mask, uint64_t group)
{
    FOR_EACH (r, mask & rails->mask) {
        struct hwmc_fabric *f = rails->one[r].fabric;

        if (f->ops->refresh)
            f->ops->refresh(f, group);
    }
}

static void drop_backlog(struct hwmc_backlog *b)
{
    b->next = b->n = 0;
    b->bytes = 0;
}

static bool is_several(uint32_t mask)
{
    return mask & (mask - 1);
}

/* It took a whole burst of `bytes`; `queued` bytes are still in this host. */
static void note_burst(struct hwmc_rails_one *one, size_t bytes, size_t queued)
{
    if (queued > bytes / 2) {
        one->burst = least_int(BURST_LEAST, one->most);
        one->at_once = 0;
    } else if (++one->at_once >= AT_ONCE) {
        one->burst = least_int(2 * one->burst, one->most);
        one->at_once = 0;
    }
}

/* It took `k` datagrams, or failed. Whether what waits is lost. */
static bool is_lost(struct hwmc_rails_one *one, int k, uint64_t now)
{
    if (k != 0)
        one->stuck_at = UINT64_MAX;
    else if (one->stuck_at == UINT64_MAX)
        one->stuck_at = now + HWMC_RAILS_STUCK_NS;
    return k < 0 || one->stuck_at <= now;
}

/* Of those that wait, the first ones that go to the same group. */
static int count_alike(const struct hwmc_backlog *b)
{
    int end = b->next;

    while (end < b->n && b->to[end] == b->to[b->next])
        end++;
    return end - b->next;
}

/* Posts the first of those that wait, as far as they go to the same group. Repair brings what the
 * fabric refuses for good, like any lost datagram. True: the fabric took all of these. */
static bool flush_alike(struct hwmc_rails *rails, uint32_t r, uint64_t now)
{
    struct hwmc_rails_one *one = &rails->one[r];
    struct hwmc_backlog *b = &one->backlog;
    struct hwmc_fabric *f = one->fabric;
    bool choosing = is_several(rails->mask);
    const size_t bytes = b->bytes;
    const int n = count_alike(b);
    size_t queued = 0;
    int k;

    one->blocked = false;
    if (n == 0)
        return false;
    if (choosing)
        hwmc_stripe_on_queue(&rails->stripe.rail[r], f->ops->queued(f), now);
    k = f->ops->post(f, b->to[b->next], b->out + b->next, n);
    if (choosing || n >= one->burst)
        queued = f->ops->queued(f);
    if (choosing)
        hwmc_stripe_on_post(&rails->stripe.rail[r], queued, now);
    if (is_lost(one, k, now)) {
        hwmc_stripe_on_failure(&rails->stripe.rail[r], now);
        drop_backlog(b);
        return false;
    }
    for (int end = b->next + k; b->next < end; b->next++)
        b->bytes -= b->out[b->next].head_len + b->out[b->next].body_len;
    if (k >= one->burst)
        note_burst(one, bytes, queued);
    one->blocked = k < n;
    if (b->next == b->n)
        drop_backlog(b);
    return k == n;
}

static void flush_one(struct hwmc_rails *rails, uint32_t r, uint64_t now)
{
    while (flush_alike(rails, r, now))
        ;
}

void hwmc_rails_flush(struct hwmc_rails *rails, uint64_t now)
{
    FOR_EACH (r, rails->mask)
        flush_one(rails, r, now);
}

bool hwmc_rails_idle(const struct hwmc_rails *rails)
{
    FOR_EACH (r, rails->mask)
        if (rails->one[r].backlog.n > 0)
            return false;
    return true;
}

uint32_t hwmc_rails_lend(struct hwmc_rails *rails, const void *memory, size_t bytes)
{
    uint32_t lent = 0;

    FOR_EACH (r, rails->mask) {
        struct hwmc_fabric *f = rails->one[r].fabric;

        if (f->ops->lend && f->ops->lend(f, memory, bytes))
            lent++;
    }
    return lent;
}

bool hwmc_rails_returned(struct hwmc_rails *rails, const void *memory)
{
    bool all = true;

    FOR_EACH (r, rails->mask) {
        struct hwmc_fabric *f = rails->one[r].fabric;

        if (f->ops->lend && !f->ops->returned(f, memory))
            all = false;
    }
    return all;
}

static bool backlog_borrows(const struct hwmc_backlog *b, const void *memory, size_t bytes)
{
    for (int i = b->next; i < b->n; i++)
        if (b->out[i].body_len > 0 &&
            (uintptr_t) b->out[i].body - (uintptr_t) memory < (uintptr_t) bytes)
            return true;
    return false;
}

void hwmc_rails_forget(struct hwmc_rails *rails, const void *memory, size_t bytes)
{
    FOR_EACH (r, rails->mask)
        if (backlog_borrows(&rails->one[r].backlog, memory, bytes)) {
            drop_backlog(&rails->one[r].backlog);
            rails->one[r].stuck_at = UINT64_MAX;
        }
}

uint8_t hwmc_rails_best(struct hwmc_rails *rails, uint32_t mask, uint64_t now)
{
    uint64_t more[HWMC_RAIL_BITS];

    mask &= rails->mask;
    if (!is_several(mask))
        return (uint8_t) mask; /* nothing to choose */
    FOR_EACH (r, mask) {
        struct hwmc_rails_one *one = &rails->one[r];
        struct hwmc_stripe_rail *stripe = &rails->stripe.rail[r];

        if (stripe->at != now)
            hwmc_stripe_on_queue(stripe, one->fabric->ops->queued(one->fabric), now);
        more[r] = one->backlog.bytes + one->attr.max_datagram;
    }
    return (uint8_t) hwmc_stripe_best(&rails->stripe, mask, more, now);
}

static bool has_room(struct hwmc_rails *rails, uint32_t r, uint64_t group, uint64_t now)
{
    const struct hwmc_rails_one *one = &rails->one[r];
    const struct hwmc_backlog *b = &one->backlog;

    if (!one->blocked && (b->n >= one->burst || (b->n > 0 && b->group != group)))
        flush_one(rails, r, now);
    return b->n < one->burst && (b->n == 0 || b->group == group);
}

struct hwmc_room hwmc_rails_room(struct hwmc_rails *rails, uint32_t mask, uint32_t among,
                                 uint64_t group, uint64_t now)
{
    struct hwmc_room room = {0};

    FOR_EACH (r, mask & rails->mask)
        if (has_room(rails, r, group, now))
            room.each |= (uint8_t) (1u << r);
    room.best = hwmc_rails_best(rails, mask & among, now) & room.each;
    return room;
}

uint32_t hwmc_rails_cast(struct hwmc_rails *rails, const struct hwmc_rails_to *to,
                         const struct hwmc_wire_id *id, uint32_t src, const struct hwmc_msg *msg,
                         const void *body, uint32_t len)
{
    struct hwmc_backlog *b = &rails->one[msg->rail].backlog;
    uint32_t head_len = hwmc_wire_head_len(msg);
    unsigned char *auth = b->head[b->n], *head = auth + HWMC_AUTH;
    uint32_t high = msg->type == HWMC_MSG_DATA ? (uint32_t) (msg->bid >> 32) : 0;

    assert(b->n < (int) HWMC_BURST && (b->n == 0 || b->group == to->group));
    b->group = to->group;
    b->to[b->n] = to->to;
    hwmc_wire_encode(head, id, src, msg, (void *) (uintptr_t) body, len);
    if (rails->auth) {
        hwmc_auth_put(rails->auth, auth, HWMC_AUTH_TO_RAIL(msg->rail), high, head, head_len, body,
                      len);
        head = auth;
        head_len += HWMC_AUTH;
    }
    b->out[b->n] = (struct hwmc_out){
        .head = head,
        .head_len = head_len,
        .body = body,
        .body_len = len,
    };
    b->n++;
    b->bytes += head_len + len;
    return head_len + len;
}

uint64_t hwmc_rails_deadline(const struct hwmc_rails *rails)
{
    uint64_t first = UINT64_MAX;

    FOR_EACH (r, rails->mask) {
        const struct hwmc_rails_one *one = &rails->one[r];
        uint64_t at = one->fabric->ops->deadline(one->fabric);

        first = at < first ? at : first;
        if (one->backlog.n > 0 && one->stuck_at < first)
            first = one->stuck_at;
    }
    return first;
}

void hwmc_rails_close(struct hwmc_rails *rails)
{
    FOR_EACH (r, rails->mask) {
        struct hwmc_fabric *f = rails->one[r].fabric;

        f->ops->close(f);
        rails->one[r].fabric = NULL;
    }
    rails->mask = 0;
}
