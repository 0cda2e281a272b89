/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * What control variables say of a group, and what the network needs.
 */

#include "leader_group.h"
#include "../process/process.h"
#include "../process/sites.h"
#include "../select/network.h"
#include "../settings/settings.h"

/* Of a group of one message: few are under way, but synchronization is not to come with each. There
 * are more channels for a short one, as far as their memory goes, bytes. */
#define CHANNELS_ONLY 4u
#define CHANNELS_ONLY_MEMORY (64 << 10)

/* A site's gateway multicasts a piece once all of it has come. In shorter pieces, so many for one,
 * the beginning of a message goes on sooner. */
#define SITE_PIECES 4u

static uint32_t clamp(int value, uint32_t low, uint32_t high)
{
    return value < (int) low ? low : value > (int) high ? high : (uint32_t) value;
}

static uint64_t ns_of(int ms)
{
    return (uint64_t) (ms > 1 ? ms : 1) * 1000000;
}

static void configure_epochs(struct hwmc_group_cfg *cfg)
{
    cfg->policy.stay = !hwmc_settings.ways.failover;
    cfg->policy.pause_ns = ns_of(hwmc_settings.tune.reprobe_ms);
    cfg->policy.pause_max_ns =
        ns_of(MPL_MAX(hwmc_settings.tune.reprobe_ms, hwmc_settings.tune.reprobe_max_ms));
}

static uint32_t channels_for_one(MPI_Aint bytes)
{
    return (uint32_t) MPL_MAX(CHANNELS_ONLY_MEMORY / bytes, (MPI_Aint) CHANNELS_ONLY);
}

/* How many broadcasts are under way, and how long they are. */
static void configure_channels(struct hwmc_group_cfg *cfg, MPI_Aint only, bool by_all)
{
    const uint32_t piece = clamp(hwmc_settings.tune.channel, 0, 1 << 28);

    cfg->channels = clamp(hwmc_settings.net.channels, 1, HWMC_CHANNELS_MAX);
    cfg->piece_bytes =
        piece > 0 ? piece
                  : hwmc_model_piece(hwmc_network_now(), hwmc_several_sites(), cfg->channels);
    if (only <= 0)
        return;
    cfg->channels = by_all ? cfg->channels : MPL_MIN(cfg->channels, channels_for_one(only));
    cfg->piece_bytes = (uint32_t) MPL_MIN((MPI_Aint) cfg->piece_bytes, only);
}

/* Inside a site. */
static uint32_t site_piece(uint32_t channels)
{
    const uint32_t piece = hwmc_model_piece(hwmc_network_now(), false, channels);

    return hwmc_settings.tune.channel > 0 ? clamp(hwmc_settings.tune.channel, 1, 1 << 28)
                                          : piece / SITE_PIECES;
}

/* How much is under way along trees: as the network needs it, unless the user says. */
static void configure_windows(struct hwmc_group_cfg *cfg)
{
    const struct hwmc_network *net = hwmc_network_now();
    uint32_t window = clamp(hwmc_settings.tune.window, 0, 1 << 20);

    cfg->window = window > 0 ? window : hwmc_model_segments(net, false, cfg->trees, cfg->seg_bytes);
    cfg->far_window =
        window > 0 ? window : hwmc_model_segments(net, true, cfg->trees, cfg->seg_bytes);
}

void hwmc_configure_site(struct hwmc_group_cfg *cfg, MPI_Aint only, bool by_all)
{
    hwmc_configure_group(cfg, only, by_all);
    cfg->piece_bytes = MPL_MIN(cfg->piece_bytes, site_piece(cfg->channels));
}

void hwmc_configure_group(struct hwmc_group_cfg *cfg, MPI_Aint only, bool by_all)
{
    configure_channels(cfg, only, by_all);
    cfg->policy.first.push = hwmc_settings.net.repair == HWMC_SET_REPAIR_PUSH;
    cfg->policy.adapt_repair = hwmc_settings.net.repair == HWMC_SET_REPAIR_AUTO;
    cfg->policy.adapt_period = hwmc_settings.tune.sync_period <= 0;
    cfg->policy.first.period =
        clamp(hwmc_settings.tune.sync_period > 0 ? hwmc_settings.tune.sync_period
                                                 : (int) (cfg->channels + 1) / 2,
              1, cfg->channels);
    cfg->fanout = clamp(hwmc_settings.tune.fanout, 1, HWMC_FANOUT_MAX);
    cfg->trees = MPL_MAX(hwmc_wires_lanes_on(&hwmc_process_engine()->wires, cfg->rails),
                         2); /* two trees may share a lane */
    cfg->seg_bytes = clamp(hwmc_settings.tune.segment, 1, 1 << 28);
    cfg->seg_max = hwmc_model_is_fast(hwmc_network_now())
                       ? clamp(hwmc_settings.tune.segment_max, 1, 1 << 28)
                       : 0;
    cfg->adapt_lanes = hwmc_settings.tune.rail_weight;
    cfg->direct = hwmc_settings.tune.direct != 0;
    configure_windows(cfg);
    cfg->delay_ns = (uint64_t) clamp(hwmc_settings.tune.root_delay_us, 0, 10000000) * 1000;
    cfg->join_ns = (uint64_t) clamp(hwmc_settings.tune.join_ms, 1, 600000) * 1000000;
    configure_epochs(cfg);
    cfg->probe_ns = (uint64_t) clamp(hwmc_settings.tune.probe_ms, 1, 600000) * 1000000;
    switch (hwmc_settings.net.root_delay) {
        case HWMC_SET_ROOT_DELAY_FIXED:
            cfg->delay = HWMC_DELAY_FIXED;
            break;
        case HWMC_SET_ROOT_DELAY_ADAPTIVE:
            cfg->delay = HWMC_DELAY_ADAPTIVE;
            break;
        case HWMC_SET_ROOT_DELAY_RANDOM:
            cfg->delay = HWMC_DELAY_RANDOM;
            break;
        default:
            cfg->delay = HWMC_DELAY_NONE;
            break;
    }
}
