/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * scan_way: how the members of a group combine the vectors of those before them. Like reduce_way it
 * is a function of its arguments, in integers, so members that know the same go the same way.
 *
 * p members, M bytes, latency l, bandwidth b of a rail and B of all, o a host's time for a message,
 * taken for as long as the latency:
 *
 *   doubling   log_2 p (l + o + M / b)                      in round i from the member 2^i before
 *   chain      (p - 1) (l + o + s / b) + M / B + M / s o    parts of s bytes
 *
 * Doubling takes memory for log_2 p vectors, so longer ones than HWMC_SCAN_DOUBLING_MAX go along
 * the chain.
 */
#ifndef HWMC_CORE_MODEL_SCAN_WAY_H_INCLUDED
#define HWMC_CORE_MODEL_SCAN_WAY_H_INCLUDED

#include "model.h"

#define HWMC_SCAN_DOUBLING_MAX (UINT64_C(4) << 20)

struct hwmc_scan_way {
    bool chain;    /* else doubling */
    uint32_t part; /* bytes that go at a time */
};

/* `members`: 2 or more. Parts of at most `part` bytes where several follow each other. */
struct hwmc_scan_way hwmc_scan_way_of(const struct hwmc_network *net, uint32_t members,
                                      uint64_t bytes, uint32_t part);

#endif /* HWMC_CORE_MODEL_SCAN_WAY_H_INCLUDED */
