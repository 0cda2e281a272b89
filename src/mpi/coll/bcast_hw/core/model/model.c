/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * model: see model.h.
 */
#include "model.h"

#include <assert.h>

#define MOST_FRAGS (UINT64_C(1) << 32)
#define SEGMENTS 8u
#define SEGMENTS_MAX (1u << 20)
#define PIECE_MAX (UINT32_C(1) << 20)
#define PIECE_FAST_MAX (UINT32_C(256) << 10) /* where it is only for speed */
#define FAST_MBIT 2500u
#define FAST_NS UINT64_C(3000000) /* all channels last so long, if that makes pieces longer */

/* ns that `bytes` take; a message longer than 2^50 bytes is that long. */
static uint64_t wire_ns(uint64_t bytes, uint32_t mbit)
{
    const uint64_t most = UINT64_C(1) << 50;

    return (bytes < most ? bytes : most) * 8000 / mbit;
}

/* What `bytes` of a host take longer while all hosts send. */
static uint64_t slower_ns(const struct hwmc_network *net, uint64_t bytes)
{
    if (bytes <= HWMC_LOADED_FIRST || net->loaded_mbit == 0 || net->loaded_mbit >= net->mbit)
        return 0;
    bytes -= HWMC_LOADED_FIRST;
    return wire_ns(bytes, net->loaded_mbit) - wire_ns(bytes, net->mbit);
}

static uint32_t log2_up(uint32_t n)
{
    uint32_t log = 0;

    while (log < 31 && UINT32_C(1) << log < n)
        log++;
    return log;
}

/* Of one of t trees of degree t over n ranks: a heap of n / t of them, which feed the others. */
static uint32_t tree_depth(uint32_t n, uint32_t t)
{
    uint64_t reached = 1, level = 1, senders = (n + t - 1) / t;
    uint32_t d = 1;

    if (t == 1)
        return n;
    while (reached < senders) {
        level *= t;
        reached += level;
        d++;
    }
    return d + (n > senders);
}

/* From one rank to so many others. */
static uint64_t multicast_ns(const struct hwmc_network *net, uint32_t others, uint32_t frag_bytes,
                             uint64_t bytes)
{
    uint64_t once = wire_ns(bytes, net->mbit_all), million = 1000000;
    uint64_t frags = bytes / frag_bytes + 1, most = million / others + 1;
    uint64_t hit = (frags < most ? frags : most) * others * net->loss_ppm;
    uint64_t busy = (frags < MOST_FRAGS ? frags : MOST_FRAGS) * net->datagram_ns;

    once = busy > once ? busy : once;
    return net->latency_ns + once + once / million * 2 * net->loss_ppm +
           once % million * 2 * net->loss_ppm / million +
           (hit < million ? hit : million) * 2 * net->latency_ns / million;
}

static uint64_t multilane_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                             uint64_t bytes)
{
    uint32_t site = (shape->ranks - 1 + shape->sites - 1) / shape->sites;
    uint64_t segment = bytes < shape->seg_bytes ? bytes : shape->seg_bytes;

    if (shape->trees == 0)
        return UINT64_MAX;
    return net->latency_ns +
           (uint64_t) tree_depth(site, shape->trees) * shape->sites *
               (net->latency_ns + wire_ns(segment, net->mbit)) +
           wire_ns(bytes, net->mbit_all) * ((shape->ranks - 1) / shape->hosts + 1);
}

/* By multicast inside each site, and by trees between a rank of each. Both go on at once, but for a
 * piece. */
static uint64_t in_sites_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                            uint64_t bytes)
{
    const struct hwmc_shape between = {.ranks = shape->sites,
                                       .hosts = shape->sites,
                                       .sites = shape->sites,
                                       .trees = shape->trees,
                                       .seg_bytes = shape->seg_bytes};
    const uint32_t others = (shape->ranks - 1) / shape->sites;
    const uint64_t piece = bytes < HWMC_MODEL_PIECE ? bytes : HWMC_MODEL_PIECE;
    const uint64_t trees = multilane_ns(net, &between, bytes);
    uint64_t inside;

    if (others == 0 || trees == UINT64_MAX)
        return UINT64_MAX;
    inside = multicast_ns(net, others, shape->site_frag_bytes, bytes);
    return (trees > inside ? trees : inside) +
           multicast_ns(net, others, shape->site_frag_bytes, piece);
}

static uint64_t two_stage(const struct hwmc_network *net, const struct hwmc_shape *shape,
                          uint64_t bytes)
{
    if (shape->frag_bytes > 0)
        return multicast_ns(net, shape->ranks - 1, shape->frag_bytes, bytes);
    return shape->site_frag_bytes > 0 ? in_sites_ns(net, shape, bytes) : UINT64_MAX;
}

/* Twice all but a rank's own part. */
static uint64_t scattered_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                             uint64_t bytes)
{
    uint64_t once = wire_ns(bytes, net->mbit);

    return 2 * (once - once / shape->hosts);
}

/* What an algorithm takes longer because other hosts work meanwhile: of two there is one that sends
 * and one that receives, as when the rate was measured. MPICH's use one rail at a time. */
static uint64_t crowded_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                           enum hwmc_algorithm algorithm, uint64_t bytes)
{
    const uint64_t most = UINT64_C(1) << 50, slower = slower_ns(net, bytes);
    const uint64_t once = slower < most ? slower : most, ours = once / (net->mbit_all / net->mbit);

    if (shape->hosts <= 2)
        return 0;
    switch (algorithm) {
        case HWMC_ALGORITHM_TWO_STAGE:
            return ours / 2;
        case HWMC_ALGORITHM_MULTILANE:
            return ours * ((shape->ranks - 1) / shape->hosts + 1);
        case HWMC_ALGORITHM_BINOMIAL:
            return once * (log2_up(shape->hosts) - 1);
        default:
            return 2 * (once - once / shape->hosts);
    }
}

/* What the way between sites adds to each message that crosses it, times how many cross in a
 * row. */
static uint64_t crossings_ns(const struct hwmc_network *net, uint32_t times)
{
    return net->site_latency_ns > net->latency_ns
               ? (net->site_latency_ns - net->latency_ns) * (uint64_t) times
               : 0;
}

static bool is_known(const struct hwmc_network *net, const struct hwmc_shape *shape)
{
    return net->mbit > 0 && shape->ranks >= 2 && shape->hosts >= 1 && shape->sites >= 1;
}

uint64_t hwmc_model_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                       enum hwmc_algorithm algorithm, uint64_t bytes)
{
    uint64_t log = log2_up(shape->hosts), ns = UINT64_MAX;
    uint32_t crossed = log2_up(shape->sites);

    if (!is_known(net, shape))
        return ns;
    assert(net->mbit_all >= net->mbit && net->loss_ppm <= 1000000);
    assert(shape->hosts <= shape->ranks);
    switch (algorithm) {
        case HWMC_ALGORITHM_TWO_STAGE:
            ns = two_stage(net, shape, bytes);
            crossed = shape->sites > 1 ? (shape->frag_bytes > 0 ? 1 : shape->sites) : 0;
            break;
        case HWMC_ALGORITHM_MULTILANE:
            ns = multilane_ns(net, shape, bytes);
            crossed = shape->sites > 1 ? shape->sites : 0;
            break;
        case HWMC_ALGORITHM_BINOMIAL:
            ns = log * (net->latency_ns + wire_ns(bytes, net->mbit));
            break;
        case HWMC_ALGORITHM_DOUBLING:
            ns = 2 * log * net->latency_ns + scattered_ns(net, shape, bytes);
            break;
        case HWMC_ALGORITHM_RING:
            ns = (log + shape->hosts - 1) * net->latency_ns + scattered_ns(net, shape, bytes);
            break;
        case HWMC_ALGORITHM_LIMIT:
            break;
    }
    return ns == UINT64_MAX
               ? ns
               : ns + crossings_ns(net, crossed) + crowded_ns(net, shape, algorithm, bytes);
}

enum hwmc_algorithm hwmc_model_best(const struct hwmc_network *net, const struct hwmc_shape *shape,
                                    enum hwmc_algorithm end, uint64_t bytes)
{
    uint64_t least = UINT64_MAX;
    enum hwmc_algorithm best = HWMC_ALGORITHM_BINOMIAL;

    for (int a = 0; a < (int) end; a++) {
        uint64_t ns = hwmc_model_ns(net, shape, (enum hwmc_algorithm) a, bytes);

        if (ns < least) {
            least = ns;
            best = (enum hwmc_algorithm) a;
        }
    }
    return best;
}

/* The least of those from `first` on and before `end`. */
static uint64_t least_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                         enum hwmc_algorithm first, enum hwmc_algorithm end, uint64_t bytes)
{
    uint64_t least = UINT64_MAX;

    for (int a = (int) first; a < (int) end; a++) {
        uint64_t ns = hwmc_model_ns(net, shape, (enum hwmc_algorithm) a, bytes);

        least = ns < least ? ns : least;
    }
    return least;
}

uint64_t hwmc_model_busy_ns(const struct hwmc_network *net, uint64_t busiest, uint64_t messages,
                            uint64_t bytes, uint32_t members)
{
    const uint64_t most = UINT64_C(1) << 30; /* messages */
    uint64_t crowd = 0;

    if (net->loaded_ns > net->latency_ns)
        crowd = (messages < most ? messages : most) * (net->loaded_ns - net->latency_ns) / members;
    return (crowd > busiest ? crowd : busiest) + slower_ns(net, bytes / members);
}

uint64_t hwmc_model_crowd(const struct hwmc_network *net)
{
    return net->latency_ns > 0 && net->loaded_ns > net->latency_ns
               ? net->loaded_ns / net->latency_ns
               : 1;
}

uint64_t hwmc_model_ours_ns(const struct hwmc_network *net, const struct hwmc_shape *shape,
                            uint64_t bytes)
{
    return least_ns(net, shape, HWMC_ALGORITHM_TWO_STAGE, HWMC_ALGORITHM_BINOMIAL, bytes);
}

uint64_t hwmc_model_gain(const struct hwmc_network *net, const struct hwmc_shape *shape,
                         uint64_t bytes)
{
    uint64_t ours = hwmc_model_ours_ns(net, shape, bytes);
    uint64_t theirs = least_ns(net, shape, HWMC_ALGORITHM_BINOMIAL, HWMC_ALGORITHM_LIMIT, bytes);

    return ours < theirs ? theirs - ours : 0;
}

uint64_t hwmc_model_setup(const struct hwmc_network *net, const struct hwmc_shape *shape,
                          uint32_t fanout)
{
    const uint64_t hop = shape->sites > 1 ? net->site_latency_ns : net->latency_ns;
    uint64_t levels = 0;

    assert(fanout >= 1);
    for (uint32_t r = shape->ranks - 1; r > 0; r = (r - 1) / fanout)
        levels++;
    return (8 * levels + 1) * hop;
}

static uint64_t under_way(const struct hwmc_network *net, bool far)
{
    uint64_t latency = far ? net->site_latency_ns : net->latency_ns;
    const uint64_t second = UINT64_C(1000000000);

    return 2 * (2 * (latency < second ? latency : second)) * net->mbit_all / 8000;
}

uint32_t hwmc_model_segments(const struct hwmc_network *net, bool far, uint32_t trees,
                             uint32_t seg_bytes)
{
    uint64_t needed;

    assert(trees > 0 && seg_bytes > 0);
    /* Twice that: what comes over one rail waits for what comes over another before it counts. */
    needed = 2 * under_way(net, far) / trees / seg_bytes + 1;
    if (needed < SEGMENTS)
        return SEGMENTS;
    return needed < SEGMENTS_MAX ? (uint32_t) needed : SEGMENTS_MAX;
}

bool hwmc_model_is_fast(const struct hwmc_network *net)
{
    return net->mbit_all > FAST_MBIT;
}

uint32_t hwmc_model_piece(const struct hwmc_network *net, bool far, uint32_t channels)
{
    uint64_t needed, fast;
    uint32_t bytes = HWMC_MODEL_PIECE;

    assert(channels > 0);
    needed = under_way(net, far) / channels;
    fast = FAST_NS * net->mbit_all / 8000 / channels;
    while ((bytes < needed && bytes < PIECE_MAX) || (bytes < fast && bytes < PIECE_FAST_MAX))
        bytes *= 2;
    return bytes;
}

bool hwmc_model_is_long(const struct hwmc_network *net, uint64_t block)
{
    return net->mbit_all > 0 && wire_ns(block, net->mbit_all) >= 4 * net->latency_ns;
}
