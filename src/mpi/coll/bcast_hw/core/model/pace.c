/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * pace: see pace.h.
 */
#include "pace.h"

#include "work.h"

#define PART_MESSAGES 10u
#define PART_SLOW (16u << 10)
#define PART_FAST (32u << 10)
#define PART_MOST (256u << 10)
#define SHORT_OVER_RAILS 1024u

/* Bytes that one rail carries meanwhile, in whole KiB. */
static uint64_t carried_by_rail(const struct hwmc_network *net, uint64_t ns)
{
    return hwmc_work_mul(net->mbit, ns) / 8000 / 1024 * 1024;
}

static uint32_t rails_of(const struct hwmc_network *net)
{
    return net->mbit_all > net->mbit ? (net->mbit_all - 1) / net->mbit + 1 : 1;
}

static uint64_t round_trip_ns(const struct hwmc_network *net)
{
    return 2 * hwmc_max_u64(net->latency_ns, net->site_latency_ns);
}

static uint32_t part_of(const struct hwmc_network *net, uint32_t rails)
{
    const uint64_t handled = PART_MESSAGES * (uint64_t) net->message_ns;
    const uint64_t needed =
        carried_by_rail(net, hwmc_max_u64(handled, round_trip_ns(net) / HWMC_PACE_MOST));
    const uint64_t brief = hwmc_min_u64(carried_by_rail(net, HWMC_PACE_NS), PART_FAST);
    uint32_t bytes = rails > 1 ? HWMC_PART_LEAST : PART_SLOW;

    while (bytes < PART_MOST && 2 * (uint64_t) bytes <= needed)
        bytes *= 2;
    return (uint32_t) hwmc_max_u64(bytes, brief);
}

struct hwmc_pace hwmc_pace_of(const struct hwmc_network *net)
{
    const uint32_t rails = rails_of(net), part = part_of(net, rails);
    const uint64_t bytes = carried_by_rail(net, hwmc_max_u64(HWMC_PACE_NS, round_trip_ns(net)));
    const uint64_t each = bytes > part ? (bytes - 1) / part + 1 : 1; /* of a rail */
    const uint64_t ahead = rails > 1 ? 4 * rails * each : each;

    return (struct hwmc_pace){
        .part = part,
        .ahead = (uint32_t) hwmc_min_u64(HWMC_PACE_MOST, ahead),
        .combined = (uint32_t) hwmc_min_u64(HWMC_PACE_MOST / 2, rails > 1 ? ahead : 2 * ahead),
    };
}

uint32_t hwmc_pace_short(const struct hwmc_network *net, uint32_t members)
{
    const uint32_t rails = rails_of(net);

    return rails > 1 ? SHORT_OVER_RAILS
                     : (uint32_t) hwmc_min_u64(hwmc_eager_bytes(members), part_of(net, rails));
}
