/*
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (C) the hwmc contributors
 *
 * Which algorithm a broadcast takes on a communicator that is set up: what
 * MPIR_CVAR_BCAST_HW_ALGORITHM names; or what the selection file that the user gave says; or else
 * the one that the cost model has for the fastest (core/model). All three are the same on every
 * rank: control variables, a file that MPICH reads alike everywhere, and a function of figures that
 * the first process gave to all.
 */

#include "glue.h"

#define USUAL_FRAG_BYTES 1432u /* 1500, less the headers of IP, UDP and DATA */

void MPIR_Bcast_hw_shape_of(const struct bcast_hw_comm *c, const struct bcast_hw_group *g,
                            struct bcast_hw_shape *shape)
{
    *shape = (struct bcast_hw_shape){
        .ranks = g->cfg.size,
        .hosts = c->hosts,
        .sites = g->site_mem ? g->sites.n : 1,
        .frag_bytes = g->casts ? g->agree.agreed.frag_bytes : 0,
        .trees = g->cfg.trees,
        .seg_bytes = g->cfg.seg_bytes,
    };
}

bool MPIR_Bcast_hw_file_given(void)
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

bool MPIR_Bcast_hw_file_refuses(MPI_Aint count, MPI_Datatype datatype, MPIR_Comm *comm)
{
    return MPIR_Bcast_hw_file_given() && !file_says_hw(count, datatype, comm);
}

enum bcast_hw_algorithm MPIR_Bcast_hw_choose(const struct bcast_hw_comm *c, MPI_Aint bytes,
                                             bool ours)
{
    const struct bcast_hw_shape *shape = &c->side[0].shape;

    if (MPIR_CVAR_BCAST_HW_ALGORITHM == MPIR_CVAR_BCAST_HW_ALGORITHM_two_stage)
        return shape->frag_bytes > 0 ? BCAST_HW_ALGORITHM_TWO_STAGE : BCAST_HW_ALGORITHM_BINOMIAL;
    if (MPIR_CVAR_BCAST_HW_ALGORITHM == MPIR_CVAR_BCAST_HW_ALGORITHM_multilane)
        return BCAST_HW_ALGORITHM_MULTILANE;
    return bcast_hw_model_best(MPIR_Bcast_hw_network(), shape,
                               ours || MPIR_Bcast_hw_file_given() ? BCAST_HW_ALGORITHM_BINOMIAL
                                                                  : BCAST_HW_ALGORITHM_LIMIT,
                               (uint64_t) bytes);
}

/* Before set-up: one rank of each host takes part, and multicast works, in datagrams of Ethernet's
 * usual length. */
static void expect_shape(const struct bcast_hw_comm *c, struct bcast_hw_shape *shape)
{
    *shape = (struct bcast_hw_shape){
        .ranks = c->hosts,
        .hosts = c->hosts,
        .sites = MPIR_Bcast_hw_several_sites() ? 2 : 1,
        .frag_bytes = USUAL_FRAG_BYTES,
        .trees = MPL_MAX(bcast_hw_engine_lanes_on(MPIR_Bcast_hw_engine(), 0), 2),
        .seg_bytes = (uint32_t) MPL_MAX(MPIR_CVAR_BCAST_HW_SEGMENT_BYTES, 1),
    };
}

uint64_t MPIR_Bcast_hw_weight(const struct bcast_hw_comm *c, MPI_Aint bytes)
{
    struct bcast_hw_shape shape;

    expect_shape(c, &shape);
    return bcast_hw_model_gain(MPIR_Bcast_hw_network(), &shape, (uint64_t) bytes);
}

uint64_t MPIR_Bcast_hw_setup_cost(const struct bcast_hw_comm *c)
{
    const int fanout = MPL_MIN(MPL_MAX(MPIR_CVAR_BCAST_HW_FANOUT, 1), BCAST_HW_FANOUT_MAX);
    struct bcast_hw_shape shape;

    expect_shape(c, &shape);
    return bcast_hw_model_setup(MPIR_Bcast_hw_network(), &shape, (uint32_t) fanout);
}
