/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 */

#include "mpidimpl.h"
#include "hwmc_impl.h"
#include "hwmc_rails.h"
#include "fabric/fault.h"
#include "fabric/udp.h"

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_HWMC_RAILS
      category    : CH4_HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        The network ports for multicast: names of interfaces or subnets, as eth0,eth1 or
        10.77.0.0/24, up to 8, separated by commas. Those in subnets that all hosts of a communicator
        share are used, in the order that rank 0 has them. Empty: every port that is up, is no bridge
        and is not slower than a quarter of the fastest, that of the multicast route first; loopback
        when there is none.

    - name        : MPIR_CVAR_HWMC_FAULT
      category    : CH4_HWMC
      type        : string
      default     : ""
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_DETAIL
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        For tests: spoils the multicast datagrams that come. Any of drop=PCT, dup=PCT, corrupt=PCT,
        reorder=PCT, delay=PCT:USEC, after=N, until=N, seed=N, rank=R, separated by commas.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

#define WINDOW ((size_t) 4 << 20) /* bytes that shall be able to wait in a socket */

int MPIDI_HWMC_rails_choose(struct MPIDI_HWMC_rails *rails)
{
    int mpi_errno = MPI_SUCCESS;
    struct bcast_hw_rail ports[HWMC_RAIL_PORTS_MAX];
    const char *spec = MPIR_CVAR_HWMC_RAILS ? MPIR_CVAR_HWMC_RAILS : "";
    char wrong[BCAST_HW_RAIL_NAME_MAX];
    int num, chosen;

    rails->num = rails->num_job = 0;
    num = hwmc_rail_discover(ports, HWMC_RAIL_PORTS_MAX);
    if (num < 0)
        goto fn_exit;
    chosen = hwmc_rail_select(ports, num, spec, rails->mine, BCAST_HW_RAILS_MAX, wrong);
    MPIR_ERR_CHKANDJUMP1(chosen < 0 && wrong[0] != '\0', mpi_errno, MPI_ERR_OTHER, "**hwmc_rail",
                         "**hwmc_rail %s", wrong);
    rails->num = MPL_MAX(chosen, 0);

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

void MPIDI_HWMC_rails_write(const struct MPIDI_HWMC_rails *rails, char *text)
{
    hwmc_match_write(rails->mine, rails->num, text);
}

void MPIDI_HWMC_rails_match(struct MPIDI_HWMC_rails *rails, const char *text, int *mbit)
{
    rails->num_job = MPL_MAX(hwmc_match_read(text, rails->mine, rails->num, rails->at), 0);
    for (int i = 0; i < (int) BCAST_HW_RAIL_BITS; i++)
        mbit[i] = i < rails->num_job && rails->at[i] >= 0 ? (int) rails->mine[rails->at[i]].mbit
                                                          : INT_MAX;
}

/* Spoils what the fabric receives, where a test asks for that. */
static int wrap_fault(struct bcast_hw_fabric **fabric)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_fault_rules rules;
    const char *wrong;

    if (!MPIR_CVAR_HWMC_FAULT || !*MPIR_CVAR_HWMC_FAULT)
        goto fn_exit;
    MPIR_ERR_CHKANDJUMP1(hwmc_fault_parse(MPIR_CVAR_HWMC_FAULT, &rules, &wrong) != BCAST_HW_OK,
                         mpi_errno, MPI_ERR_OTHER, "**hwmc_fault", "**hwmc_fault %s", wrong);
    MPIR_ERR_CHKANDJUMP(
        hwmc_fault_open(*fabric, &rules, (uint32_t) MPIR_Process.rank, NULL, fabric) != BCAST_HW_OK,
        mpi_errno, MPI_ERR_OTHER, "**nomem");

fn_exit:
    return mpi_errno;
fn_fail:
    goto fn_exit;
}

/* *fabric stays NULL where there can be no multicast: that is no error. */
static int open_one(const struct bcast_hw_rail *rail, const struct hwmc_udp_params *params,
                    struct bcast_hw_fabric **fabric)
{
    int mpi_errno = MPI_SUCCESS;

    if (hwmc_udp_open(rail, params, fabric) == BCAST_HW_OK) {
        mpi_errno = wrap_fault(fabric);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    (*fabric)->ops->close(*fabric);
    *fabric = NULL;
    goto fn_exit;
}

static uint32_t fastest(const int *mbit)
{
    int max = 0;

    for (unsigned i = 0; i < BCAST_HW_RAIL_BITS; i++)
        if (mbit[i] < INT_MAX)
            max = MPL_MAX(max, mbit[i]);
    return (uint32_t) max;
}

int MPIDI_HWMC_rails_open(const struct MPIDI_HWMC_rails *rails, const int *mbit, unsigned port,
                          uint32_t group, struct bcast_hw_engine_cfg *cfg)
{
    int mpi_errno = MPI_SUCCESS;
    struct hwmc_udp_params params = {
        .port = (uint16_t) port,
        .ttl = 1,
        .loop = MPIR_Bcast_hw_host_is_shared(),
        .group = group,
        .window = WINDOW,
    };

    for (int i = 0; i < rails->num_job; i++) {
        cfg->mbit[i] = (uint32_t) mbit[i];
        if (rails->at[i] < 0 || hwmc_rail_is_slow(cfg->mbit[i], fastest(mbit)))
            continue;
        mpi_errno = open_one(&rails->mine[rails->at[i]], &params, &cfg->fabrics[i]);
        MPIR_ERR_CHECK(mpi_errno);
    }

fn_exit:
    return mpi_errno;
fn_fail:
    for (int i = 0; i < rails->num_job; i++)
        if (cfg->fabrics[i])
            cfg->fabrics[i]->ops->close(cfg->fabrics[i]);
    goto fn_exit;
}
