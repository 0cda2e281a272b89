/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What core/exchange/exchange.c, which takes what comes, and exchange_send.c share.
 */
#ifndef HWMC_CORE_EXCHANGE_EXCHANGE_IMPL_H_INCLUDED
#define HWMC_CORE_EXCHANGE_EXCHANGE_IMPL_H_INCLUDED

#include "exchange.h"

/* The link with `peer`, made at its first use. */
struct hwmc_exchange_link *hwmc_exchange_link(struct hwmc_exchange *x, uint32_t peer);

/* Ends the exchange if nothing is left. */
void hwmc_exchange_finish(struct hwmc_exchange *x);

static inline uint32_t hwmc_exchange_parts_of(const struct hwmc_exchange *x, uint32_t bytes)
{
    return hwmc_exchange_parts(bytes, x->part);
}

/* That of a port in a trail. */
static inline uint64_t hwmc_exchange_trail_bit(uint8_t port)
{
    const uint32_t p = port % HWMC_EXCHANGE_PORTS;

    return UINT64_C(1) << (p < 63 ? p : 63);
}

/* A block of exchange `of` came, or goes. */
static inline void hwmc_exchange_trace(struct hwmc_exchange_trail *t, uint64_t of, uint8_t port)
{
    t->ports = (t->of == of ? t->ports : 0) | hwmc_exchange_trail_bit(port);
    t->of = of;
}

/* Its memory is free as far as the program has taken the block. */
static inline uint32_t hwmc_exchange_limit(const struct hwmc_exchange *x,
                                           const struct hwmc_block_in *b)
{
    const uint32_t parts = hwmc_exchange_parts_of(x, b->bytes), limit = b->taken + b->window;

    return limit < parts ? limit : parts;
}

static inline bool hwmc_exchange_out_is_sent(const struct hwmc_exchange *x,
                                             const struct hwmc_block_out *b)
{
    return b->refused || x->failed || b->next == hwmc_exchange_parts_of(x, b->bytes);
}

static inline bool hwmc_exchange_out_is_over(const struct hwmc_exchange *x,
                                             const struct hwmc_block_out *b)
{
    return hwmc_exchange_out_is_sent(x, b) && b->done == b->next;
}

#endif /* HWMC_CORE_EXCHANGE_EXCHANGE_IMPL_H_INCLUDED */
