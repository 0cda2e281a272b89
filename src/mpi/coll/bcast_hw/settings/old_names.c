/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * old_names: see old_names.h. CHANGES.md has the same table.
 */

#include "old_names.h"

#include <stdio.h>
#include <string.h>

#define VARIABLE(name) "MPIR_CVAR_HWMC_" name
#define TUNE(key) "MPIR_CVAR_HWMC_TUNE=" key "=..."
#define DEBUG(key) "MPIR_CVAR_HWMC_DEBUG=" key "=..."

/* Names without MPIR_CVAR_; `now` is NULL where there is nothing instead. */
static const struct {
    const char *old, *now;
} names[] = {
    {"BCAST_HW_ENABLE", VARIABLE("ENABLE")},
    {"BCAST_HW_ALGORITHM", VARIABLE("BCAST_ALGORITHM")},
    {"BCAST_HW_REPAIR", VARIABLE("REPAIR")},
    {"BCAST_HW_MIN_RANKS", VARIABLE("MIN_RANKS")},
    {"BCAST_HW_MAX_BYTES", TUNE("max_bytes")},
    {"BCAST_HW_CHANNELS", VARIABLE("CHANNELS")},
    {"BCAST_HW_SYNC_PERIOD", TUNE("sync_period")},
    {"BCAST_HW_FANOUT", TUNE("fanout")},
    {"BCAST_HW_PIECE_BYTES", TUNE("channel")},
    {"BCAST_HW_SEGMENT_BYTES", TUNE("segment")},
    {"BCAST_HW_SEGMENT_WINDOW", TUNE("window")},
    {"BCAST_HW_LANES_ADAPT", TUNE("rail_weight")},
    {"BCAST_HW_SITE", VARIABLE("SITE")},
    {"BCAST_HW_NETWORK", VARIABLE("NETWORK")},
    {"BCAST_HW_COPY_BYTES", TUNE("in_place")},
    {"BCAST_HW_MEMORY", VARIABLE("MEMORY")},
    {"BCAST_HW_ROOT_DELAY", VARIABLE("ROOT_DELAY")},
    {"BCAST_HW_ROOT_DELAY_US", TUNE("root_delay_us")},
    {"BCAST_HW_SETUP_AFTER", TUNE("setup_after")},
    {"BCAST_HW_SETUP_AHEAD", TUNE("setup_ahead")},
    {"BCAST_HW_PREPARE", TUNE("prepare")},
    {"BCAST_HW_JOIN_MS", TUNE("join_ms")},
    {"BCAST_HW_PROBE_MS", TUNE("probe_ms")},
    {"BCAST_HW_INTEGRITY", VARIABLE("INTEGRITY")},
    {"BCAST_HW_LEAVE", VARIABLE("FAILOVER")},
    {"BCAST_HW_PROBE_AGAIN_MS", TUNE("reprobe_ms")},
    {"BCAST_HW_PROBE_AGAIN_MAX_MS", TUNE("reprobe_max_ms")},
    {"BCAST_HW_SIDES", TUNE("leaders")},
    {"BCAST_HW_GONE_MS", VARIABLE("PEER_TIMEOUT_MS")},
    {"BCAST_HW_VERBOSE", VARIABLE("VERBOSE")},
    {"BCAST_HW_FEED_BYTES", NULL},
    {"BCAST_HW_NODE", VARIABLE("SHM")},
    {"BCAST_HW_NODE_MEMORY", VARIABLE("SHM_MEMORY")},
    {"BCAST_HW_NODE_AFTER", TUNE("shm_after")},
    {"BCAST_HW_NODE_TOPOLOGY", DEBUG("topology")},
    {"BCAST_HW_NODE_SELECTION", VARIABLE("SELECTION")},
    {"BCAST_HW_NODE_BARRIER", VARIABLE("BARRIER_ALGORITHM")},
    {"BCAST_HW_NODE_BCAST", VARIABLE("BCAST_ALGORITHM")},
    {"BCAST_HW_NODE_REDUCE", VARIABLE("REDUCE_ALGORITHM")},
    {"BCAST_HW_NODE_SHAPE", TUNE("shm_shape")},
    {"BCAST_HW_NODE_DEGREE", TUNE("shm_degree")},
    {"BCAST_HW_NODE_CHUNK_BYTES", TUNE("shm_chunk")},
    {"BCAST_HW_NODE_INLINE_BYTES", TUNE("shm_inline")},
    {"BCAST_HW_NODE_COPY", TUNE("shm_copy")},
    {"BCAST_HW_NODE_COPY_BYTES", TUNE("shm_copy_min")},
    {"BCAST_HW_NODE_STREAM_BYTES", TUNE("shm_nontemporal")},
    {"BCAST_HW_NODE_PIECE_BYTES", TUNE("shm_piece")},
    {"BCAST_HW_NODE_SHIFT_BYTES", TUNE("shm_shift")},
    {"HWMC_RAIL_LANES", TUNE("rail_lanes")},
    {"HWMC_SITE_LANES", TUNE("site_lanes")},
    {"HWMC_APM_PATH", TUNE("apm_path")},
    {"HWMC_RC_MAX_PEERS", TUNE("rc_max_peers")},
    {"HWMC_RC_TIMEOUT", TUNE("rc_timeout")},
    {"HWMC_SUSPECT_MS", TUNE("suspect_ms")},
    {"HWMC_WAIT_SPINS", NULL},
    {"HWMC_WAIT_YIELD_US", TUNE("wait_yield_us")},
    {"HWMC_NO_MEMORY_MS", TUNE("no_memory_ms")},
    {"HWMC_FAULT", DEBUG("fault")},
    {"HWMC_GROUP", DEBUG("group")},
    {"HWMC_NEAR_RAIL", DEBUG("near_rail")},
};

static const char *const prefixes[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};

/* What follows one of the prefixes; NULL: none does. */
static const char *skip_prefix(const char *item)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(item, prefixes[i], strlen(prefixes[i])) == 0)
            return item + strlen(prefixes[i]);
    return NULL;
}

bool hwmc_old_name(const char *item, char why[HWMC_OLD_WHY])
{
    const char *name = skip_prefix(item);
    const size_t len = name ? strcspn(name, "=") : 0;

    for (size_t i = 0; len > 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i].old) != len || memcmp(names[i].old, name, len) != 0)
            continue;
        if (names[i].now)
            snprintf(why, HWMC_OLD_WHY, "MPIR_CVAR_%s is %s now", names[i].old, names[i].now);
        else
            snprintf(why, HWMC_OLD_WHY, "MPIR_CVAR_%s is gone, and nothing takes its place",
                     names[i].old);
        return true;
    }
    return false;
}
