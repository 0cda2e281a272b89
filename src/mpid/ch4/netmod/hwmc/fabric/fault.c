/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What cannot be handed on at once (a copy, a late one, a corrupt one) lives in one of SLOTS
 * buffers. With all of them in use a datagram passes unspoilt.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime */
#endif

#include "fault.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 64
#define MILLION 1000000u
#define REORDER_NS 1000000u /* the latest for one that nothing follows */
#define NOBODY (-1)

enum slot_state {
    SLOT_FREE,
    SLOT_WAITS, /* to be delivered at `due` */
    SLOT_LENT   /* delivered by the last poll, free at the next */
};

struct slot {
    enum slot_state state;
    uint64_t due;
    uint64_t order; /* among equal `due` the lower goes first */
    size_t len;
    char *data; /* room for the largest datagram */
};

struct hwmc_fault {
    struct hwmc_fabric super;
    struct hwmc_fabric *inner;
    struct hwmc_fault_rules rules;
    bool active; /* the rules are for this rank */
    uint64_t seed;
    uint64_t (*clock)(void);
    uint64_t count; /* datagrams received */
    uint64_t order;
    int held; /* the slot that waits for the next datagram, or NOBODY */
    struct slot slots[SLOTS];
};

/* A poll under way: what it has for the caller. */
struct delivery {
    struct hwmc_in *in;
    int num, max;
};

/* The rules' text. */

static bool read_number(const char **p, uint64_t *value)
{
    const char *s = *p;
    uint64_t v = 0;

    for (; *s >= '0' && *s <= '9'; s++) {
        if (v > (UINT64_MAX - 9) / 10)
            return false;
        v = 10 * v + (uint64_t) (*s - '0');
    }
    if (s == *p)
        return false;
    *p = s;
    *value = v;
    return true;
}

/* A percentage with up to four decimals, as parts of a million. */
static bool read_percent(const char **p, uint32_t *value)
{
    uint64_t v;
    uint32_t unit = MILLION / 100;

    if (!read_number(p, &v) || v > 100)
        return false;
    v *= unit;
    if (**p == '.') {
        for (++*p; **p >= '0' && **p <= '9'; ++*p) {
            unit /= 10;
            v += (uint64_t) (**p - '0') * unit;
        }
    }
    if (v > MILLION)
        return false;
    *value = (uint32_t) v;
    return true;
}

static bool read_value(const char *name, size_t len, const char **p, struct hwmc_fault_rules *r)
{
    const struct {
        const char *name;
        uint32_t *value;
    } percents[] = {{"drop", &r->drop},
                    {"dup", &r->dup},
                    {"corrupt", &r->corrupt},
                    {"reorder", &r->reorder},
                    {"delay", &r->delay}};
    const struct {
        const char *name;
        uint64_t *value;
    } numbers[] = {{"after", &r->after}, {"until", &r->until}, {"seed", &r->seed}};
    uint64_t v;

    for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        if (strlen(percents[i].name) != len || memcmp(percents[i].name, name, len) != 0)
            continue;
        if (!read_percent(p, percents[i].value))
            return false;
        if (percents[i].value != &r->delay)
            return true;
        if (*(*p)++ != ':' || !read_number(p, &v) || v > UINT32_MAX)
            return false;
        r->delay_us = (uint32_t) v;
        return true;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strlen(numbers[i].name) == len && memcmp(numbers[i].name, name, len) == 0)
            return read_number(p, numbers[i].value);
    if (len != 4 || memcmp("rank", name, len) != 0 || !read_number(p, &v) || v > UINT32_MAX)
        return false;
    r->rank = (int64_t) v;
    return true;
}

int hwmc_fault_parse(const char *text, struct hwmc_fault_rules *rules, const char **wrong)
{
    struct hwmc_fault_rules r = {.until = UINT64_MAX, .rank = -1};
    const char *p = text;

    while (*p != '\0') {
        const char *part = p;
        size_t len = strcspn(p, "=,");

        p += len;
        if (*p != '=' || (p++, !read_value(part, len, &p, &r)) || (*p != ',' && *p != '\0')) {
            *wrong = part;
            return HWMC_ERR_INVAL;
        }
        if (*p == ',')
            p++;
    }
    *rules = r;
    return HWMC_OK;
}

/* Chance: the splitmix64 finalizer of a counter. */

static uint64_t mix_bits(uint64_t seed, uint64_t counter)
{
    uint64_t z = seed + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* What may become of a datagram; the order is part of what a seed means. */
enum kind { DROP, DUP, CORRUPT, REORDER, DELAY, WHICH_BIT, KINDS };

static uint64_t draw_number(const struct hwmc_fault *f, uint64_t index, enum kind kind)
{
    return mix_bits(f->seed, index * KINDS + kind);
}

static bool draw_chance(const struct hwmc_fault *f, uint64_t index, enum kind kind,
                        uint32_t millionths)
{
    return draw_number(f, index, kind) % MILLION < millionths;
}

/* Slots. */

/* Keeps a copy, to be delivered at `due`: the slot, or NOBODY when none is free. */
static int keep_copy(struct hwmc_fault *f, const struct hwmc_in *in, uint64_t due)
{
    struct hwmc_fabric_attr attr;

    for (int i = 0; i < SLOTS; i++) {
        struct slot *s = &f->slots[i];

        if (s->state != SLOT_FREE)
            continue;
        if (s->data == NULL) {
            f->inner->ops->query(f->inner, &attr);
            s->data = malloc(attr.max_datagram);
            if (s->data == NULL)
                return NOBODY;
        }
        memcpy(s->data, in->data, in->len);
        s->len = in->len;
        s->due = due;
        s->order = f->order++;
        s->state = SLOT_WAITS;
        return i;
    }
    return NOBODY;
}

/* The waiting slot that is to go first, or NOBODY. */
static int first_waiting(const struct hwmc_fault *f)
{
    int first = NOBODY;

    for (int i = 0; i < SLOTS; i++) {
        const struct slot *s = &f->slots[i], *best = first == NOBODY ? s : &f->slots[first];

        if (s->state == SLOT_WAITS && (first == NOBODY || s->due < best->due ||
                                       (s->due == best->due && s->order < best->order)))
            first = i;
    }
    return first;
}

static void deliver_due(struct hwmc_fault *f, uint64_t now, struct delivery *d)
{
    while (d->num < d->max) {
        int i = first_waiting(f);

        if (i == NOBODY || f->slots[i].due > now)
            return;
        if (i == f->held)
            f->held = NOBODY;
        f->slots[i].state = SLOT_LENT;
        d->in[d->num++] = (struct hwmc_in){.data = f->slots[i].data, .len = f->slots[i].len};
    }
}

/* Delivers one that is to go now: from the inner fabric's buffer as long as there is room and none
 * waits before it. */
static void deliver_now(struct hwmc_fault *f, const struct hwmc_in *in, uint64_t now,
                        struct delivery *d)
{
    deliver_due(f, now, d);
    if (d->num < d->max)
        d->in[d->num++] = *in;
    else
        keep_copy(f, in, now);
}

static void corrupt_copy(struct hwmc_fault *f, int slot, uint64_t index)
{
    struct slot *s = &f->slots[slot];
    uint64_t bit = draw_number(f, index, WHICH_BIT) % (s->len * 8);

    s->data[bit / 8] = (char) (s->data[bit / 8] ^ (1 << bit % 8));
}

/* One datagram came. */
static void act_on(struct hwmc_fault *f, const struct hwmc_in *in, uint64_t now, struct delivery *d)
{
    const struct hwmc_fault_rules *r = &f->rules;
    uint64_t index = f->count++;
    int before = f->held, slot;

    if (!f->active || index < r->after || index >= r->until) {
        deliver_now(f, in, now, d);
    } else if (!draw_chance(f, index, DROP, r->drop)) {
        if (draw_chance(f, index, DUP, r->dup))
            deliver_now(f, in, now, d);
        if (draw_chance(f, index, DELAY, r->delay)) {
            slot = keep_copy(f, in, now + r->delay_us * UINT64_C(1000));
        } else if (before == NOBODY && draw_chance(f, index, REORDER, r->reorder)) {
            slot = f->held = keep_copy(f, in, now + REORDER_NS);
        } else if (draw_chance(f, index, CORRUPT, r->corrupt)) {
            slot = keep_copy(f, in, now);
        } else {
            slot = NOBODY;
        }
        if (slot == NOBODY)
            deliver_now(f, in, now, d);
        else if (in->len > 0 && draw_chance(f, index, CORRUPT, r->corrupt))
            corrupt_copy(f, slot, index);
    }
    /* The one that was held back has now been overtaken. */
    if (before != NOBODY && before == f->held) {
        f->slots[before].due = now;
        f->slots[before].order = f->order++;
        f->held = NOBODY;
    }
    deliver_due(f, now, d);
}

static int fault_poll(struct hwmc_fabric *fabric, struct hwmc_in *in, int n)
{
    struct hwmc_fault *f = (struct hwmc_fault *) fabric;
    struct delivery d = {.in = in, .max = n};
    struct hwmc_in came[SLOTS / 4];
    uint64_t now = f->clock();
    int room, got;

    for (int i = 0; i < SLOTS; i++)
        if (f->slots[i].state == SLOT_LENT)
            f->slots[i].state = SLOT_FREE;
    deliver_due(f, now, &d);
    room = d.max - d.num;
    if (room > SLOTS / 4)
        room = SLOTS / 4;
    got = room > 0 ? f->inner->ops->poll(f->inner, came, room) : 0;
    for (int i = 0; i < got; i++)
        act_on(f, &came[i], now, &d);
    return d.num;
}

static uint64_t fault_deadline(struct hwmc_fabric *fabric)
{
    struct hwmc_fault *f = (struct hwmc_fault *) fabric;
    uint64_t inner = f->inner->ops->deadline(f->inner);
    int first = first_waiting(f);

    return first != NOBODY && f->slots[first].due < inner ? f->slots[first].due : inner;
}

/* The rest goes to the inner fabric as it is. */

static void fault_query(struct hwmc_fabric *fabric, struct hwmc_fabric_attr *attr)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    inner->ops->query(inner, attr);
}

static int fault_draw(struct hwmc_fabric *fabric, uint64_t *group)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return inner->ops->draw(inner, group);
}

static int fault_join(struct hwmc_fabric *fabric, uint64_t group)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return inner->ops->join(inner, group);
}

static int fault_leave(struct hwmc_fabric *fabric, uint64_t group)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return inner->ops->leave(inner, group);
}

static void fault_refresh(struct hwmc_fabric *fabric, uint64_t group)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    if (inner->ops->refresh)
        inner->ops->refresh(inner, group);
}

static int fault_post(struct hwmc_fabric *fabric, uint64_t group, const struct hwmc_out *out, int n)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return inner->ops->post(inner, group, out, n);
}

static bool fault_lend(struct hwmc_fabric *fabric, const void *memory, size_t bytes)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return inner->ops->lend && inner->ops->lend(inner, memory, bytes);
}

static bool fault_returned(struct hwmc_fabric *fabric, const void *memory)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return !inner->ops->lend || inner->ops->returned(inner, memory);
}

static size_t fault_queued(struct hwmc_fabric *fabric)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return inner->ops->queued(inner);
}

static int fault_fds(struct hwmc_fabric *fabric, int *fds, int max)
{
    struct hwmc_fabric *inner = ((struct hwmc_fault *) fabric)->inner;

    return inner->ops->fds(inner, fds, max);
}

static void fault_close(struct hwmc_fabric *fabric)
{
    struct hwmc_fault *f = (struct hwmc_fault *) fabric;

    f->inner->ops->close(f->inner);
    for (int i = 0; i < SLOTS; i++)
        free(f->slots[i].data);
    free(f);
}

static const struct hwmc_fabric_ops fault_ops = {
    .name = "fault",
    .query = fault_query,
    .draw = fault_draw,
    .join = fault_join,
    .leave = fault_leave,
    .refresh = fault_refresh,
    .post = fault_post,
    .lend = fault_lend,
    .returned = fault_returned,
    .queued = fault_queued,
    .poll = fault_poll,
    .fds = fault_fds,
    .deadline = fault_deadline,
    .close = fault_close,
};

static uint64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

int hwmc_fault_open(struct hwmc_fabric *inner, const struct hwmc_fault_rules *rules,
                    uint32_t world_rank, uint64_t (*clock)(void), struct hwmc_fabric **fabric)
{
    struct hwmc_fault *f = calloc(1, sizeof(*f));

    if (f == NULL)
        return HWMC_ERR_NOMEM;
    f->super.ops = &fault_ops;
    f->inner = inner;
    f->rules = *rules;
    f->active = rules->rank < 0 || rules->rank == world_rank;
    f->seed = mix_bits(rules->seed, world_rank);
    f->clock = clock != NULL ? clock : monotonic_ns;
    f->held = NOBODY;
    *fabric = &f->super;
    return HWMC_OK;
}
