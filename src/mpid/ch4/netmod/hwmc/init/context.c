/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * MPICH's UCX context, where hwmc wants it otherwise than the ucx netmod: it can be waited for, and
 * inside a host rendezvous begins where it is faster.
 */

#include "mpidimpl.h"
#include "../base/global.h"
#include "../wait/sleep.h"
#include "../wires/eager.h"
#include "../lane/ucx_option.h"
#include "../../../../../mpi/coll/bcast_hw/settings/settings.h"

#include <stdio.h>
#include <unistd.h>

#undef ucp_init

/* UCX 1.13 has one length for all transports, so it stays UCX's where messages go to other hosts;
 * and where UCX can have a receiver map the sender's memory, which costs less than was measured. */
static size_t rendezvous_from(void)
{
    if (!hwmc_settings.enable || MPIR_Process.size == 1 || MPIR_Process.num_nodes != 1 ||
        access("/dev/xpmem", F_OK) == 0)
        return 0;
    return hwmc_eager_measure();
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
    const size_t from = rendezvous_from();
    ucp_config_t *mine;
    ucs_status_t status;
    char value[32];

    if (from == 0 || ucp_config_read(NULL, NULL, &mine) != UCS_OK)
        return open_context(params, config, context);
    snprintf(value, sizeof(value), "%zu", from);
    hwmc_ucx_option(mine, "UCX_RNDV_THRESH", "RNDV_THRESH", value);
    status = open_context(params, mine, context);
    ucp_config_release(mine);
    return status;
}
