/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * relay_plan: see relay_plan.h.
 */

#include "relay_plan.h"

#include <stdlib.h>
#include <string.h>

/* A piece of a block: what one mate gives to one rank, or gets from it. */
struct piece {
    uint64_t at; /* in `gathered`, or `spread` */
    uint64_t bytes;
};

bool hwmc_relay_plan_init(struct hwmc_relay_plan *p, const struct hwmc_leaders *leaders,
                          uint32_t host)
{
    const size_t ranks = leaders->ranks, mates = hwmc_leaders_on(leaders, host);
    const size_t words = 2 * mates * ranks, hosts = leaders->hosts;
    char *at = malloc((2 * words + 2 * hosts) * sizeof(uint64_t) +
                      2 * mates * sizeof(struct hwmc_shm_range) +
                      2 * hosts * sizeof(struct hwmc_relay_block) + ranks * sizeof(uint32_t));

    *p = (struct hwmc_relay_plan){.leaders = leaders, .host = host, .mates = (uint32_t) mates};
    p->lengths = (uint64_t *) (void *) at;
    if (!at)
        return false;
    p->places = p->lengths + words;
    p->offsets = p->places + words;
    p->gives = (struct hwmc_shm_range *) (void *) (p->offsets + 2 * hosts);
    p->gets = p->gives + mates;
    p->out = (struct hwmc_relay_block *) (void *) (p->gets + mates);
    p->in = p->out + hosts;
    p->by_host = (uint32_t *) (void *) (p->in + hosts);
    memset(p->lengths, 0, words * sizeof(uint64_t));
    for (uint32_t r = 0; r < ranks; r++)
        p->by_host[leaders->first[leaders->host_of[r]] + leaders->number[r]] = r;
    return true;
}

static struct piece piece_at(const struct hwmc_relay_plan *p, uint32_t mate, uint32_t rank,
                             bool gets)
{
    const size_t i = ((size_t) mate * 2 + gets) * p->leaders->ranks + rank;

    return (struct piece){p->places[i], p->lengths[i]};
}

/* Piece `i` of the block to `host`, or from it: givers in the order of ranks, for each of them
 * those who get it. */
static struct piece piece_of(const struct hwmc_relay_plan *p, uint32_t host, bool gets, uint32_t i)
{
    const uint32_t *there = p->by_host + p->leaders->first[host];
    const uint32_t on = hwmc_leaders_on(p->leaders, host);

    if (gets)
        return piece_at(p, i % p->mates, there[i / p->mates], true);
    return piece_at(p, i / on, there[i % on], false);
}

static uint32_t pieces_of(const struct hwmc_relay_plan *p, uint32_t host)
{
    return p->mates * hwmc_leaders_on(p->leaders, host);
}

/* The parts of each mate, one behind the other; the bytes of all. */
static uint64_t lay_parts(struct hwmc_relay_plan *p, struct hwmc_shm_range *of, bool gets)
{
    uint64_t at = 0;

    for (uint32_t mate = 0; mate < p->mates; mate++) {
        const size_t row = ((size_t) mate * 2 + gets) * p->leaders->ranks;

        of[mate].at = at;
        for (uint32_t r = 0; r < p->leaders->ranks; r++) {
            p->places[row + r] = at;
            at += p->lengths[row + r];
        }
        of[mate].bytes = at - of[mate].at;
    }
    return at;
}

/* Where the block lies if its pieces follow each other: *at. Its bytes: *bytes. */
static bool follows(const struct hwmc_relay_plan *p, uint32_t host, bool gets, uint64_t *at,
                    uint64_t *bytes)
{
    bool follow = true;

    *at = *bytes = 0;
    for (uint32_t i = 0; i < pieces_of(p, host); i++) {
        const struct piece piece = piece_of(p, host, gets, i);

        if (piece.bytes == 0)
            continue;
        if (*bytes == 0)
            *at = piece.at;
        follow = follow && piece.at == *at + *bytes;
        *bytes += piece.bytes;
    }
    return follow;
}

/* Sets each block: its place in `gathered` or `spread`, or, apart, in *apart bytes of them all. */
static void lay_blocks(const struct hwmc_relay_plan *p, bool gets, uint64_t *apart)
{
    struct hwmc_relay_block *of = gets ? p->in : p->out;

    for (uint32_t host = 0; host < p->leaders->hosts; host++) {
        uint64_t at = 0, bytes = 0;
        const bool lies = host == p->host || follows(p, host, gets, &at, &bytes);

        of[host] = (struct hwmc_relay_block){NULL, bytes, !lies};
        p->offsets[2 * host + gets] = lies ? at : *apart;
        *apart += lies ? 0 : bytes;
    }
}

static void place_blocks(const struct hwmc_relay_plan *p, bool gets, unsigned char *apart)
{
    struct hwmc_relay_block *of = gets ? p->in : p->out;
    unsigned char *parts = gets ? p->spread : p->gathered;

    for (uint32_t host = 0; host < p->leaders->hosts; host++)
        if (of[host].bytes > 0)
            of[host].memory = (of[host].apart ? apart : parts) + p->offsets[2 * host + gets];
}

bool hwmc_relay_plan_lay(struct hwmc_relay_plan *p, void *gathered, void *spread)
{
    const uint64_t given = lay_parts(p, p->gives, false), got = lay_parts(p, p->gets, true);
    uint64_t apart = 0, bytes;

    lay_blocks(p, false, &apart);
    lay_blocks(p, true, &apart);
    bytes = apart + (gathered ? 0 : given) + (spread ? 0 : got);
    if (!p->memory || bytes > p->room) {
        free(p->memory);
        p->memory = malloc(bytes + 1);
        p->room = bytes;
    }
    if (!p->memory)
        return false;
    p->gathered = gathered ? gathered : p->memory + apart;
    p->spread = spread ? spread : p->memory + apart + (gathered ? 0 : given);
    place_blocks(p, false, p->memory);
    place_blocks(p, true, p->memory);
    return true;
}

struct hwmc_relay_block hwmc_relay_plan_out(struct hwmc_relay_plan *p, uint32_t host)
{
    const struct hwmc_relay_block b = p->out[host];
    unsigned char *to = b.memory;

    for (uint32_t i = 0; b.apart && i < pieces_of(p, host); i++) {
        const struct piece piece = piece_of(p, host, false, i);

        if (piece.bytes > 0)
            memcpy(to, p->gathered + piece.at, piece.bytes);
        to += piece.bytes;
    }
    return b;
}

struct hwmc_relay_block hwmc_relay_plan_in(const struct hwmc_relay_plan *p, uint32_t host)
{
    return p->in[host];
}

void hwmc_relay_plan_came(struct hwmc_relay_plan *p, uint32_t host)
{
    const unsigned char *from = p->in[host].memory;

    for (uint32_t i = 0; p->in[host].apart && i < pieces_of(p, host); i++) {
        const struct piece piece = piece_of(p, host, true, i);

        if (piece.bytes > 0)
            memcpy(p->spread + piece.at, from, piece.bytes);
        from += piece.bytes;
    }
}

bool hwmc_relay_plan_own(struct hwmc_relay_plan *p)
{
    const uint32_t *mates = p->by_host + p->leaders->first[p->host];
    bool agree = true;

    for (uint32_t giver = 0; giver < p->mates; giver++)
        for (uint32_t getter = 0; getter < p->mates; getter++) {
            const struct piece from = piece_at(p, giver, mates[getter], false);
            const struct piece to = piece_at(p, getter, mates[giver], true);
            const uint64_t bytes = from.bytes < to.bytes ? from.bytes : to.bytes;

            if (bytes > 0)
                memcpy(p->spread + to.at, p->gathered + from.at, bytes);
            agree = agree && from.bytes == to.bytes;
        }
    return agree;
}

void hwmc_relay_plan_free(struct hwmc_relay_plan *p)
{
    free(p->memory);
    free(p->lengths);
    p->memory = NULL;
    p->lengths = NULL;
}
