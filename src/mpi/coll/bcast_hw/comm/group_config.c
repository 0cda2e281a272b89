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

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_BCAST_HW_LEAVE
      category    : BCAST_HW
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        If true, a communicator leaves rails on which multicast stops working in mid-run, and takes
        them up when it works again; with none left its broadcasts go along trees. If false, what is
        lost is repaired for ever.

    - name        : MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MS
      category    : BCAST_HW
      type        : int
      default     : 100
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        Milliseconds after which a rail that was left is probed; then after twice that, and so on.

    - name        : MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MAX_MS
      category    : BCAST_HW
      type        : int
      default     : 60000
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_ALL_EQ
      description : >-
        The longest pause (in milliseconds) between probes of a rail that was left.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

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
    cfg->policy.stay = !MPIR_CVAR_BCAST_HW_LEAVE;
    cfg->policy.pause_ns = ns_of(MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MS);
    cfg->policy.pause_max_ns =
        ns_of(MPL_MAX(MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MS, MPIR_CVAR_BCAST_HW_PROBE_AGAIN_MAX_MS));
}

/* How much is under way: as the network needs it, unless the user says. */
static void configure_windows(struct hwmc_group_cfg *cfg)
{
    const struct hwmc_network *net = hwmc_network_now();
    uint32_t piece = clamp(MPIR_CVAR_BCAST_HW_PIECE_BYTES, 0, 1 << 28);
    uint32_t window = clamp(MPIR_CVAR_BCAST_HW_SEGMENT_WINDOW, 0, 1 << 20);
    bool far = hwmc_several_sites();

    cfg->piece_bytes = piece > 0 ? piece : hwmc_model_piece(net, far, cfg->channels);
    cfg->window = window > 0 ? window : hwmc_model_segments(net, false, cfg->trees, cfg->seg_bytes);
    cfg->far_window =
        window > 0 ? window : hwmc_model_segments(net, true, cfg->trees, cfg->seg_bytes);
}

void hwmc_configure_group(struct hwmc_group_cfg *cfg)
{
    cfg->policy.first.push = MPIR_CVAR_BCAST_HW_REPAIR == MPIR_CVAR_BCAST_HW_REPAIR_push;
    cfg->policy.adapt_repair = MPIR_CVAR_BCAST_HW_REPAIR == MPIR_CVAR_BCAST_HW_REPAIR_auto;
    cfg->channels = clamp(MPIR_CVAR_BCAST_HW_CHANNELS, 1, HWMC_CHANNELS_MAX);
    cfg->policy.adapt_period = MPIR_CVAR_BCAST_HW_SYNC_PERIOD <= 0;
    cfg->policy.first.period =
        clamp(MPIR_CVAR_BCAST_HW_SYNC_PERIOD > 0 ? MPIR_CVAR_BCAST_HW_SYNC_PERIOD
                                                 : (int) (cfg->channels + 1) / 2,
              1, cfg->channels);
    cfg->fanout = clamp(MPIR_CVAR_BCAST_HW_FANOUT, 1, HWMC_FANOUT_MAX);
    cfg->trees = MPL_MAX(hwmc_wires_lanes_on(&hwmc_process_engine()->wires, cfg->rails),
                         2); /* two trees may share a lane */
    cfg->seg_bytes = clamp(MPIR_CVAR_BCAST_HW_SEGMENT_BYTES, 1, 1 << 28);
    cfg->adapt_lanes = MPIR_CVAR_BCAST_HW_LANES_ADAPT;
    configure_windows(cfg);
    cfg->delay_ns = (uint64_t) clamp(MPIR_CVAR_BCAST_HW_ROOT_DELAY_US, 0, 10000000) * 1000;
    cfg->join_ns = (uint64_t) clamp(MPIR_CVAR_BCAST_HW_JOIN_MS, 1, 600000) * 1000000;
    configure_epochs(cfg);
    cfg->probe_ns = (uint64_t) clamp(MPIR_CVAR_BCAST_HW_PROBE_MS, 1, 600000) * 1000000;
    switch (MPIR_CVAR_BCAST_HW_ROOT_DELAY) {
        case MPIR_CVAR_BCAST_HW_ROOT_DELAY_fixed:
            cfg->delay = HWMC_DELAY_FIXED;
            break;
        case MPIR_CVAR_BCAST_HW_ROOT_DELAY_adaptive:
            cfg->delay = HWMC_DELAY_ADAPTIVE;
            break;
        case MPIR_CVAR_BCAST_HW_ROOT_DELAY_random:
            cfg->delay = HWMC_DELAY_RANDOM;
            break;
        default:
            cfg->delay = HWMC_DELAY_NONE;
            break;
    }
}
