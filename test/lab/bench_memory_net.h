/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * bench_memory_net: two engines in one process over a fabric and a lane made of memory, for
 * engine_bench. A fabric copies a datagram when it is posted and once more when the other side
 * polls, as a system would; what it takes for that itself, and for reading the clock, is added up
 * in fabric_ns, to be taken off what the engine takes. Nothing is lost.
 *
 * Invariant: taken <= posted <= taken + CELLS.
 */
#ifndef HWMC_TEST_LAB_BENCH_MEMORY_NET_H_INCLUDED
#define HWMC_TEST_LAB_BENCH_MEMORY_NET_H_INCLUDED

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"

#define SIDES 2
#define CELLS 256u       /* datagrams under way */
#define NOTES 8192u      /* messages of lanes under way */
#define NOTE_BYTES 1024u /* of one, at most */
#define DATAGRAM_MAX 16384u

struct cell {
    unsigned char head[HWMC_AUTH + HWMC_WIRE_HEAD];
    size_t head_len;
    size_t body_len;
    unsigned char body[DATAGRAM_MAX];
};

struct note {
    size_t head_len, body_len;
    unsigned char bytes[NOTE_BYTES];
};

struct side;

struct memory_fabric {
    struct hwmc_fabric base; /* first, as for all fabrics */
    struct side *side;
};

struct memory_lane {
    struct hwmc_lane base; /* first, as above */
    struct side *side;
};

struct side {
    struct side *other;
    struct memory_fabric fabric;
    struct memory_lane lane;
    struct hwmc_engine *engine;
    struct hwmc_counts counts;
    struct hwmc_engine_counts engine_counts;
    struct hwmc_auth *auth;
    size_t datagram;
    bool places;        /* bodies are read to where they are expected */
    uint64_t fabric_ns; /* taken by the fabric itself and its clock */
    uint64_t posted, taken;
    struct cell cells[CELLS]; /* that this side has sent */
    uint64_t noted, read;
    struct note notes[NOTES]; /* the same of the lane */
    unsigned char *buffers;   /* HWMC_BURST of DATAGRAM_MAX bytes: what the last poll gave out */
};

static inline uint64_t wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* ns that a call of wall_ns takes: set by time_clock. */
static uint64_t clock_ns;

static inline void time_clock(void)
{
    enum { TIMES = 1000 };

    clock_ns = UINT64_MAX;
    for (int round = 0; round < 100; round++) {
        uint64_t begun = wall_ns(), each;

        for (int i = 1; i < TIMES; i++)
            wall_ns();
        each = (wall_ns() - begun) / TIMES;
        clock_ns = each < clock_ns ? each : clock_ns;
    }
}

static struct side *side_of_fabric(struct hwmc_fabric *f)
{
    return ((struct memory_fabric *) (void *) f)->side;
}

static struct side *side_of_lane(struct hwmc_lane *l)
{
    return ((struct memory_lane *) (void *) l)->side;
}

static void fabric_query(struct hwmc_fabric *f, struct hwmc_fabric_attr *attr)
{
    *attr = (struct hwmc_fabric_attr){
        .max_datagram = side_of_fabric(f)->datagram, .window = 4u << 20, .group_bits = 18};
}

static int fabric_draw(struct hwmc_fabric *f, uint64_t *group)
{
    (void) f;
    *group = 1;
    return HWMC_OK;
}

static int fabric_join(struct hwmc_fabric *f, uint64_t group)
{
    (void) f;
    (void) group;
    return HWMC_OK;
}

static int fabric_post(struct hwmc_fabric *f, uint64_t group, const struct hwmc_out *out, int n)
{
    const uint64_t begun = wall_ns();
    struct side *s = side_of_fabric(f);
    int k;

    (void) group;
    for (k = 0; k < n && s->posted - s->taken < CELLS; k++) {
        struct cell *c = &s->cells[s->posted++ % CELLS];

        memcpy(c->head, out[k].head, out[k].head_len);
        c->head_len = out[k].head_len;
        c->body_len = out[k].body_len;
        if (c->body_len > 0)
            memcpy(c->body, out[k].body, c->body_len);
    }
    s->fabric_ns += wall_ns() - begun + clock_ns;
    return k;
}

static size_t fabric_queued(struct hwmc_fabric *f)
{
    (void) f;
    return 0;
}

/* One datagram, whole. */
static void read_whole(const struct cell *c, unsigned char *buffer, struct hwmc_in *in)
{
    memcpy(buffer, c->head, c->head_len);
    if (c->body_len > 0)
        memcpy(buffer + c->head_len, c->body, c->body_len);
    *in = (struct hwmc_in){.data = buffer, .len = c->head_len + c->body_len};
}

static int fabric_poll(struct hwmc_fabric *f, struct hwmc_in *in, int n)
{
    struct side *s = side_of_fabric(f);
    struct side *from = s->other;
    uint64_t begun;
    int k;

    if (from->taken == from->posted)
        return 0;
    begun = wall_ns();
    for (k = 0; k < n && from->taken < from->posted; k++)
        read_whole(&from->cells[from->taken++ % CELLS], s->buffers + (size_t) k * DATAGRAM_MAX,
                   &in[k]);
    s->fabric_ns += wall_ns() - begun + clock_ns;
    return k;
}

/* As many as are as expected, from the next on; is_next is the engine's, and so is its time. */
static int count_expected(const struct side *from, const struct hwmc_expected *e, int n)
{
    int k = 0;

    for (; k < n && from->taken + (uint64_t) k < from->posted; k++) {
        const struct cell *c = &from->cells[(from->taken + (uint64_t) k) % CELLS];
        const size_t at = (size_t) k * e->body, room = at < e->bytes ? e->bytes - at : 0;

        if (c->head_len != e->head || c->body_len > e->body || c->body_len > room ||
            !e->is_next(e->ctx, c->head, (uint32_t) k))
            break;
    }
    return k;
}

static int fabric_poll_into(struct hwmc_fabric *f, const struct hwmc_expected *e,
                            struct hwmc_in *in, int n)
{
    struct side *s = side_of_fabric(f);
    struct side *from = s->other;
    uint64_t begun;
    int k, as_expected;

    if (!s->places || from->taken == from->posted)
        return fabric_poll(f, in, n);
    as_expected = count_expected(from, e, n);
    begun = wall_ns();
    for (k = 0; k < n && from->taken < from->posted; k++) {
        const struct cell *c = &from->cells[from->taken++ % CELLS];
        unsigned char *buffer = s->buffers + (size_t) k * DATAGRAM_MAX;

        if (k >= as_expected) {
            read_whole(c, buffer, &in[k]);
            continue;
        }
        memcpy(buffer, c->head, c->head_len);
        memcpy(e->at + (size_t) k * e->body, c->body, c->body_len);
        in[k] = (struct hwmc_in){buffer, c->head_len, e->at + (size_t) k * e->body, c->body_len};
    }
    s->fabric_ns += wall_ns() - begun + clock_ns;
    return k;
}

static int fabric_fds(struct hwmc_fabric *f, int *fds, int max)
{
    (void) f;
    (void) fds;
    (void) max;
    return 0;
}

static uint64_t fabric_deadline(struct hwmc_fabric *f)
{
    (void) f;
    return UINT64_MAX;
}

static void fabric_close(struct hwmc_fabric *f)
{
    (void) f;
}

static const struct hwmc_fabric_ops fabric_ops = {.name = "memory",
                                                  .query = fabric_query,
                                                  .draw = fabric_draw,
                                                  .join = fabric_join,
                                                  .leave = fabric_join,
                                                  .post = fabric_post,
                                                  .queued = fabric_queued,
                                                  .poll = fabric_poll,
                                                  .poll_into = fabric_poll_into,
                                                  .fds = fabric_fds,
                                                  .deadline = fabric_deadline,
                                                  .close = fabric_close};

static void lane_address(struct hwmc_lane *l, const void **addr, size_t *len)
{
    (void) l;
    *addr = NULL;
    *len = 0;
}

static int lane_ready(struct hwmc_lane *l, uint32_t peer)
{
    (void) l;
    (void) peer;
    return HWMC_OK;
}

static int lane_send(struct hwmc_lane *l, uint32_t peer, const void *head, size_t head_len,
                     const void *body, size_t body_len)
{
    struct side *s = side_of_lane(l);
    struct note *n = &s->notes[s->noted % NOTES];

    (void) peer;
    if (s->noted - s->read == NOTES || head_len + body_len > NOTE_BYTES)
        return HWMC_ERR_NOMEM;
    s->noted++;
    n->head_len = head_len;
    n->body_len = body_len;
    memcpy(n->bytes, head, head_len);
    if (body_len > 0)
        memcpy(n->bytes + head_len, body, body_len);
    return HWMC_OK;
}

static int lane_send_from(struct hwmc_lane *l, uint32_t peer, const void *head, size_t head_len,
                          const void *body, size_t body_len, uint64_t tag)
{
    (void) tag;
    return lane_send(l, peer, head, head_len, body, body_len);
}

static int lane_poll(struct hwmc_lane *l)
{
    struct side *s = side_of_lane(l);
    struct side *from = s->other;
    int n = 0;

    for (; from->read < from->noted; n++) {
        const struct note *m = &from->notes[from->read++ % NOTES];

        hwmc_engine_on_lane(s->engine, m->bytes, m->head_len, m->bytes + m->head_len, m->body_len);
    }
    return n;
}

static int lane_fd(struct hwmc_lane *l)
{
    (void) l;
    return -1;
}

static int lane_ok(struct hwmc_lane *l)
{
    (void) l;
    return HWMC_OK;
}

static uint64_t lane_deadline(struct hwmc_lane *l)
{
    (void) l;
    return UINT64_MAX;
}

static void lane_close(struct hwmc_lane *l)
{
    (void) l;
}

static const struct hwmc_lane_ops lane_ops = {.name = "memory",
                                              .address = lane_address,
                                              .ready = lane_ready,
                                              .send = lane_send,
                                              .send_from = lane_send_from,
                                              .poll = lane_poll,
                                              .fd = lane_fd,
                                              .arm = lane_ok,
                                              .deadline = lane_deadline,
                                              .flush = lane_ok,
                                              .close = lane_close,
                                              .cut = lane_close};

/* Opens both sides, for datagrams of `payload` bytes beside header and code. `places`: bodies are
 * read to where they belong. Ends the program without memory. */
static void open_net(struct side *sides, uint32_t payload, enum hwmc_integrity integrity,
                     bool places)
{
    static const unsigned char secret[HWMC_AUTH_SECRET] = {1};
    const bool keyed = integrity == HWMC_INTEGRITY_KEYED;

    for (uint32_t i = 0; i < SIDES; i++) {
        struct side *s = &sides[i];
        struct hwmc_wires_cfg cfg = {
            .job = 7, .world_rank = i, .integrity = integrity, .memory = SIZE_MAX};

        memset(s, 0, sizeof(*s));
        s->other = &sides[1 - i];
        s->fabric = (struct memory_fabric){{&fabric_ops}, s};
        s->lane = (struct memory_lane){{&lane_ops}, s};
        s->datagram = HWMC_WIRE_CAST_HEAD + (keyed ? HWMC_AUTH : 0) + payload;
        s->places = places;
        s->auth = keyed ? hwmc_auth_create(i, secret) : NULL;
        s->buffers = malloc((size_t) HWMC_BURST * DATAGRAM_MAX);
        s->engine = hwmc_engine_create(&s->counts, &s->engine_counts);
        if (!s->buffers || !s->engine || (keyed && !s->auth)) {
            fprintf(stderr, "no memory\n");
            exit(1);
        }
        cfg.auth = s->auth;
        cfg.fabrics[0] = &s->fabric.base;
        cfg.lane = &s->lane.base;
        hwmc_engine_open(s->engine, &cfg);
    }
}

static void close_net(struct side *sides)
{
    for (uint32_t i = 0; i < SIDES; i++) {
        hwmc_engine_close(sides[i].engine);
        hwmc_engine_destroy(sides[i].engine);
        if (sides[i].auth)
            hwmc_auth_destroy(sides[i].auth);
        free(sides[i].buffers);
    }
}

#endif /* HWMC_TEST_LAB_BENCH_MEMORY_NET_H_INCLUDED */
