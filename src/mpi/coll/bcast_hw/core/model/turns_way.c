/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * turns_way: see turns_way.h.
 */
#include "turns_way.h"

#include "work.h"

#define MOST (UINT64_C(1) << 32) /* bytes of a block; more is taken for as many */
#define MILLION UINT64_C(1000000)

bool hwmc_turns_win(const struct hwmc_network *net, const struct hwmc_shape *shape, uint64_t bytes)
{
    const uint64_t n = bytes < MOST ? bytes : MOST, others = shape->ranks - 1;
    const uint32_t p = shape->ranks;
    uint64_t f, wire, busy, lost, turns, exchange;

    if (shape->frag_bytes == 0)
        return false;
    f = n > 0 ? (n - 1) / shape->frag_bytes + 1 : 1;
    wire = n * 8000 / (net->mbit_all > 0 ? net->mbit_all : HWMC_GUESSED_MBIT);
    busy = hwmc_max_u64(p * wire, p * f * net->datagram_ns);
    lost = p * f * net->loss_ppm;
    turns = net->latency_ns + busy + busy / MILLION * 2 * net->loss_ppm +
            (lost < MILLION ? lost : MILLION) * 2 * net->latency_ns / MILLION +
            hwmc_model_busy_ns(net, 0, 0, HWMC_TURNS_LOADED(p * n), 1);
    exchange = 2 * net->latency_ns +
               hwmc_max_u64(others * wire, 2 * others * f * net->datagram_ns) +
               hwmc_model_busy_ns(net, 0, 0, others * n, 1);
    return turns < exchange;
}
