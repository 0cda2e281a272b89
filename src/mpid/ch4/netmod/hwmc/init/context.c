/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPICH's UCX context, where hwmc wants it otherwise than the ucx netmod: it can be waited for, and
 * rendezvous begins where it is faster, inside a host and over TCP.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../wait/sleep.h"
#include "../wires/eager.h"
#include "../rail/rail.h"
#include "../lane/ucx_option.h"
#include "../../../../../mpi/coll/bcast_hw/process/hosts.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <stdio.h>
#include <unistd.h>

#undef ucp_init

/* UCX 1.13 has one length for all transports, or by itself one for each. So it stays UCX's where
 * messages may go to other hosts by RDMA; and where UCX can have a receiver map the sender's
 * memory, which costs less than was measured. It is `most` at most, which is not 0: on several
 * hosts TCP's. There it stays UCX's, too, where the one inside this host is shorter: UCX then has
 * about that one here, and over TCP a segment or more, which is what a round trip is worth. */
static void set_rendezvous(ucp_config_t *config, size_t most)
{
    const bool one = hwmc_is_on_one_host();
    char value[32];
    size_t from;

    if (access("/dev/xpmem", F_OK) == 0 || (!one && access("/sys/class/infiniband", F_OK) == 0))
        return;
    from = hwmc_host_is_shared() ? hwmc_eager_end_in_host() : most;
    if (!one && from < most)
        return;
    from = MPL_MIN(from, most);
    snprintf(value, sizeof(value), "%zu", from);
    if (from != 0)
        hwmc_ucx_option(config, "UCX_RNDV_THRESH", "RNDV_THRESH", value);
}

static uint32_t fastest_port(void)
{
    struct hwmc_rail *ports = MPL_malloc(HWMC_RAIL_PORTS_MAX * sizeof(*ports), MPL_MEM_OTHER);
    const int num = ports ? hwmc_rail_discover(ports, HWMC_RAIL_PORTS_MAX) : 0;
    const uint32_t mbit = num > 0 ? hwmc_rail_fastest(ports, num) : 0;

    MPL_free(ports);
    return mbit;
}

static bool user_sets_segments(void)
{
    return getenv("UCX_TCP_TX_SEG_SIZE") || getenv("UCX_TCP_RX_SEG_SIZE");
}

/* Segments of all processes must fit where any of them receives, and UCX ends a process in which
 * they do not. Processes may have measured different `end`s. One that is alone, or on one host with
 * its MPI_COMM_WORLD, may be connected to one of another, as MPI_Comm_spawn does. */
static void set_received_segments(ucp_config_t *config)
{
    char value[32];

    if (user_sets_segments())
        return;
    snprintf(value, sizeof(value), "%zu", HWMC_EAGER_MAX / 2);
    hwmc_ucx_option(config, "UCX_TCP_RX_SEG_SIZE", "RX_SEG_SIZE", value);
}

/* Over TCP, UCX 1.13 begins rendezvous soon after a segment, of 8 KiB. */
static void set_tcp_segments(ucp_config_t *config, size_t end)
{
    char value[32];

    if (user_sets_segments())
        return;
    snprintf(value, sizeof(value), "%zu", end / 2);
    if (end != 0)
        hwmc_ucx_option(config, "UCX_TCP_TX_SEG_SIZE", "TX_SEG_SIZE", value);
}

/* What follows a rendezvous goes in segments, too. UCX's other way, a whole message straight into
 * the program's memory, takes twice as long from 512 KiB on between hosts of one machine. */
static void set_tcp(ucp_config_t *config, size_t end)
{
    set_tcp_segments(config, end);
    hwmc_ucx_option(config, "UCX_TCP_PUT_ENABLE", "PUT_ENABLE", "n");
}

static void set_lengths(ucp_config_t *config)
{
    size_t end;

    set_received_segments(config);
    if (MPIR_Process.size == 1)
        return;
    if (hwmc_is_on_one_host()) {
        set_rendezvous(config, HWMC_EAGER_MAX);
        return;
    }
    end = hwmc_eager_end_on_wire(hwmc_eager_end_by_tcp(), fastest_port());
    if (end != 0)
        set_rendezvous(config, end);
    set_tcp(config, end);
}

/* UCX gives a descriptor to wait on only to who asked for that when the context was made. Where it
 * cannot, waiting goes without. */
static ucs_status_t open_context(const ucp_params_t *params, const ucp_config_t *config,
                                 ucp_context_h *context)
{
    ucp_params_t more = *params;

    if (hwmc_sleep_wanted()) {
        more.features |= UCP_FEATURE_WAKEUP;
        if (ucp_init(&more, config, context) == UCS_OK) {
            hwmc_sleep_possible();
            return UCS_OK;
        }
    }
    return ucp_init(params, config, context);
}

ucs_status_t MPIDI_HWMC_ucp_init(const ucp_params_t *params, const ucp_config_t *config,
                                 ucp_context_h *context)
{
    ucp_config_t *mine;
    ucs_status_t status;

    if (!hwmc_settings.enable || !hwmc_ucx_has_options() ||
        ucp_config_read(NULL, NULL, &mine) != UCS_OK)
        return open_context(params, config, context);
    set_lengths(mine);
    status = open_context(params, mine, context);
    ucp_config_release(mine);
    return status;
}
