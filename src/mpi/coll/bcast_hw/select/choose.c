/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which algorithm a broadcast takes on a communicator that is set up: the one that
 * MPIR_CVAR_HWMC_BCAST_ALGORITHM names, or the one in the user's selection file, or the fastest by
 * the cost model (core/model/model). All three are the same on every rank: control variables, a
 * file that MPICH reads alike everywhere, and a function of figures that the first process gave to
 * all.
 */

#include "choose.h"
#include "network.h"
#include "../engine/engine.h"
#include "../process/process.h"
#include "../process/sites.h"
#include "../settings/settings.h"

#define USUAL_FRAG_BYTES 1432u /* 1500, less the headers of IP, UDP and DATA */

bool hwmc_is_forced(void)
{
    return hwmc_settings.enable &&
           (MPIR_CVAR_BCAST_INTRA_ALGORITHM == MPIR_CVAR_BCAST_INTRA_ALGORITHM_hw ||
            MPIR_CVAR_IBCAST_INTRA_ALGORITHM == MPIR_CVAR_IBCAST_INTRA_ALGORITHM_hw);
}

void hwmc_shape_of(uint32_t hosts, const struct hwmc_group *g, struct hwmc_shape *shape)
{
    *shape = (struct hwmc_shape){
        .ranks = g->cfg.size,
        .hosts = hosts,
        .sites = g->site_mem ? g->sites.n : 1,
        .frag_bytes = g->casts ? g->negotiation.agreed.frag_bytes : 0,
        .trees = g->cfg.trees,
        .seg_bytes = g->cfg.seg_bytes,
    };
}

bool hwmc_file_given(void)
{
    const char *file = MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE;

    return file && *file;
}

/* MPICH's selection by the user's file names hwmc's algorithm for this broadcast. */
static bool file_says_hw(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    MPIR_Csel_coll_sig_s sig = {
        .coll_type = MPIR_CSEL_COLL_TYPE__BCAST,
        .comm_ptr = comm,
        .u.bcast.count = count,
        .u.bcast.datatype = datatype,
    };
    const MPII_Csel_container_s *found;

    if (!comm->csel_comm)
        return false;
    found = MPIR_Csel_search(comm->csel_comm, sig);
    return found && found->id == MPII_CSEL_CONTAINER_TYPE__ALGORITHM__MPIR_Bcast_intra_hw;
}

bool hwmc_file_refuses(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    return hwmc_file_given() && !file_says_hw(count, datatype, comm);
}

bool hwmc_bcast_is_said(void)
{
    return hwmc_is_forced() || hwmc_file_given() || hwmc_settings.net.bcast != HWMC_SET_NET_AUTO;
}

enum hwmc_algorithm hwmc_choose(const struct hwmc_shape *shape, MPI_Aint bytes, bool ours)
{
    if (hwmc_settings.net.bcast == HWMC_SET_NET_TWO_STAGE)
        return shape->frag_bytes > 0 || shape->site_frag_bytes > 0 ? HWMC_ALGORITHM_TWO_STAGE
                                                                   : HWMC_ALGORITHM_BINOMIAL;
    if (hwmc_settings.net.bcast == HWMC_SET_NET_MULTILANE)
        return HWMC_ALGORITHM_MULTILANE;
    return hwmc_model_best(hwmc_network_now(), shape,
                           ours || hwmc_file_given() ? HWMC_ALGORITHM_BINOMIAL
                                                     : HWMC_ALGORITHM_LIMIT,
                           (uint64_t) bytes);
}

void hwmc_expect_shape(uint32_t hosts, struct hwmc_shape *shape)
{
    *shape = (struct hwmc_shape){
        .ranks = hosts,
        .hosts = hosts,
        .sites = hwmc_several_sites() ? 2 : 1,
        .frag_bytes = USUAL_FRAG_BYTES,
        .trees = MPL_MAX(hwmc_wires_lanes_on(&hwmc_process_engine()->wires, 0), 2),
        .seg_bytes = (uint32_t) MPL_MAX(hwmc_settings.tune.segment, 1),
    };
}

uint64_t hwmc_weight(uint32_t hosts, MPI_Aint bytes)
{
    struct hwmc_shape shape;

    hwmc_expect_shape(hosts, &shape);
    return hwmc_model_gain(hwmc_network_now(), &shape, (uint64_t) bytes);
}

uint64_t hwmc_setup_cost(uint32_t hosts)
{
    const int fanout = MPL_MIN(MPL_MAX(hwmc_settings.tune.fanout, 1), HWMC_FANOUT_MAX);
    struct hwmc_shape shape;

    hwmc_expect_shape(hosts, &shape);
    return hwmc_model_setup(hwmc_network_now(), &shape, (uint32_t) fanout);
}
